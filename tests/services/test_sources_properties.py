"""Whatever a source says in turn, and whether it can be read: what is served is what its newest snapshot says."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from source_samples import Scripted, record, source

import segue
from segue.base.errors import Failed, Refused, SegueError

if TYPE_CHECKING:
    from collections.abc import Mapping

PLACE, NAME = "/made-up/notes", "notes"
IDS = ("a", "b", "c", "d")
FAULTS = {
    "lost": Refused("source.access", "the server refuses access (403)"),
    "silent": Failed("source.unreachable", "no answer"),
}
# Of each record whether it is there, what it says, and which of the records before it it supersedes.
SNAPSHOT = st.dictionaries(
    st.sampled_from(IDS), st.tuples(st.sampled_from(["One.", "Two.", "Three."]), st.sets(st.sampled_from(IDS)))
)
STEPS = st.lists(SNAPSHOT | st.sampled_from(["lost", "silent", "rm"]), min_size=1, max_size=6)


def files(snapshot: Mapping[str, tuple[str, set[str]]]) -> dict[str, bytes]:
    earlier = {each: sorted(old for old in snapshot[each][1] if old < each) for each in snapshot}
    return source({each: record(snapshot[each][0], supersedes=earlier[each]) for each in sorted(snapshot)})


def expected(snapshot: Mapping[str, tuple[str, set[str]]]) -> dict[str, str]:
    """What is served of a snapshot: what none of its records supersedes."""
    over = {old for each, (_, olds) in snapshot.items() for old in olds if old < each and old in snapshot}
    return {f"source:{NAME}#{each}": text for each, (text, _) in snapshot.items() if each not in over}


@pytest.mark.requirement("sources-refresh")
@settings(max_examples=12)
@given(STEPS)
@example(
    [
        {"a": ("One.", set()), "b": ("One.", set()), "c": ("One.", {"a", "b"})},
        {"a": ("One.", set()), "b": ("One.", {"a"})},
    ]
)
def test_what_is_served_is_what_the_newest_snapshot_says(steps: list[Mapping[str, tuple[str, set[str]]] | str]) -> None:
    readers = Scripted({})
    served: dict[str, str] = {}
    known: dict[str, str] | None = None  # of the snapshot, None without a source
    with (
        tempfile.TemporaryDirectory() as folder,
        segue.open(Path(folder, "segue.db"), directory=Path(folder), embedder="none") as opened,
    ):
        sources = opened.sources.reading(readers)
        opened.memories.remember("One.")
        for step in steps:
            if isinstance(step, str):
                readers.fault = FAULTS.get(step)
                if step == "rm" and known is not None:
                    sources.rm(NAME)
                    known, served = None, {}
                elif known is not None:
                    with contextlib.suppress(SegueError):
                        sources.refresh(NAME)
                    served = {} if step == "lost" else served
            else:
                readers.fault, readers.places[PLACE] = None, files(step)
                if known is None:
                    sources.add(sources.look(PLACE, name=NAME))
                else:
                    sources.refresh(NAME)
                known = served = expected(step)
            active = opened.memories.ls(statuses=["active"], limit=500).memories
            theirs = {each.provenance.ref: each.content for each in active if each.provenance.origin == "record"}
            assert theirs == served
            assert [each.content for each in active if each.provenance.origin == "text"] == ["One."]
        assert opened.store.doctor() == []
