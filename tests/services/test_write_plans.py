"""What a single write reads does not grow with the store: every statement goes by an index that narrows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from plans import by_indexes

import segue
from segue.memories.source import source_of
from segue.services.known_names import ScopeNames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from segue.memories.memory import Memory

SMALL = ("settings", "entity_aliases", "memory_state", "context_pins")  # what a person or a session makes, not a store


@pytest.fixture
def opened(locate: Callable[[str], str], project_directory: Path) -> Iterator[segue.Segue]:
    """A store that is not so small any more that each write weighs all of its vectors."""
    with segue.open(locate("sqlite"), directory=project_directory) as found:
        for number in range(3):
            found.packets.save(packet(number))
        for number in range(30):
            found.memories.remember(f"Loaf {number} is of rye.", entities=["Ada"], project="Bakery")
        yield found


def packet(number: int) -> dict[str, Any]:
    constraints = [f"Rule {number} and {each} hold." for each in range(5)]
    return {"ltm_version": "0.2", "goal": f"Bake {number}.", "next_step": "Knead.", "constraints": constraints}


def write(opened: segue.Segue, what: str, some: Memory, saved: str) -> None:
    memories = opened.memories
    if what == "save":
        opened.packets.save(packet(9))
    elif what == "remember":
        memories.remember("Oats are for Ada.", entities=["Ada"], project="Bakery")
    elif what == "say again":
        memories.remember(some.content, project=some.project)
    elif what == "propose":
        memories.propose("Ada wants wheat.", entities=["Ada"])
    elif what == "approve":
        proposal = memories.propose("Ada wants wheat.", entities=["Ada"]).memory
        memories.approve(proposal.id, proposal.content_hash)
    elif what == "edit":
        memories.edit(some.id, content="No loaf is left.")
    elif what == "remove":
        opened.packets.rm(saved)
    elif what == "undo":
        source = source_of("packet", saved)
        opened.memories.forget_source(source, confirmed=opened.memories.said_by(source)[1])
    elif what == "supersede":
        memories.supersede(some.id, "No loaf is left.")
    else:
        memories.forget(some.id)


@pytest.mark.parametrize("fresh", [False, True], ids=["running", "fresh"])
@pytest.mark.parametrize("what", "save|remember|say again|propose|approve|edit|supersede|remove|undo|forget".split("|"))
def test_a_write_reads_by_indexes(opened: segue.Segue, what: str, fresh: bool) -> None:
    some = opened.memories.ls(limit=5).memories[4]
    saved = opened.packets.ls().packets[0].id
    used = opened.at(opened.directory) if fresh else opened
    if fresh:
        used._given = replace(used._given, names=ScopeNames)  # what is kept in memory is read anew
    with by_indexes(opened, SMALL, least=5):
        write(used, what, some, saved)
