"""Long random histories of one store: after every step links, places, index and word counts agree, and nobody but the
user replaced what the user said."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from memory_rows import listed, require_sound

import segue
from segue.memories.item import AuthorClass

TEXTS = [f"{who} {what} {number}." for who in ("Ada", "Ben") for what in ("bakes", "never bakes") for number in (1, 2)]
WHO: tuple[AuthorClass, ...] = ("user", "user", "agent", "external")
Step = Callable[[segue.Segue, random.Random, Path, AuthorClass], object]


def _id(opened: segue.Segue, chance: random.Random) -> str:
    return chance.choice([each.id for each in listed(opened)] or ["mem_nobody"])


def _remember(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    ref = chance.choice(["", "", "", "book#1", "book#2"])
    tags = chance.sample(["a", "b", "c"], 2)
    return opened.memories.remember(chance.choice(TEXTS), author_class=who, ref=ref, tags=tags)


def _propose(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    return opened.memories.propose(chance.choice(TEXTS))


def _turn(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    place = chance.randrange(3)
    return opened.memories.remember(
        chance.choice(TEXTS[:2]), author_class=who, thread="t", position=place, ref=f"chat#{place}"
    )


def _edit(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    content = chance.choice([None, *TEXTS])
    return opened.memories.edit(_id(opened, chance), content=content, author_class=who, tags=[chance.choice("abc")])


def _supersede(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    old = _id(opened, chance)
    if chance.random() < 0.5:
        return opened.memories.supersede(old, by=_id(opened, chance), author_class=who)
    return opened.memories.supersede(old, chance.choice(TEXTS), author_class=who)


def _review(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    waiting = opened.memories.pending().memories
    if not waiting:
        return None
    memory = chance.choice(waiting)
    if chance.random() < 0.5:
        return opened.memories.reject(memory.id)
    return opened.memories.approve(memory.id, memory.content_hash)


def _forget(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    return opened.memories.forget(_id(opened, chance))


def _forget_source(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    source = chance.choice(["book", "chat", *(each for each, _ in opened.memories.sources())])
    return opened.memories.forget_source(source, confirmed=opened.memories.said_by(source)[1])


def _read(opened: segue.Segue, chance: random.Random, folder: Path, who: AuthorClass) -> object:
    for name in ("one.md", "two.md"):
        texts = chance.sample(TEXTS, chance.randrange(1, 5))
        (folder / name).write_text("\n".join(f"#\n\n{text}\n" for text in texts), "utf-8")
    return opened.ingestion.ingest(folder, form="markdown")


# What anybody may do, and what the user alone does.
SAYING: list[Step] = [_remember, _remember, _propose, _turn, _edit, _supersede, _supersede]
DECIDING: list[Step] = [_review, _forget, _forget_source, _read, _read]


def _users_words(opened: segue.Segue) -> set[tuple[str, str]]:
    active = listed(opened, statuses=["active"], author_classes=["user"])
    return {(each.id, each.content) for each in active}


@pytest.mark.parametrize("seed", range(4))
def test_a_store_stays_sound(location: str, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "notes"
    folder.mkdir()
    with segue.open(location, embedder="none") as opened:
        for _ in range(60):
            step, who = chance.choice(SAYING + DECIDING), chance.choice(WHO)
            before = _users_words(opened)
            with suppress(segue.Refused, segue.NotFound, segue.Conflict, segue.InvalidInput):
                step(opened, chance, folder, who)
            require_sound(opened)
            if step in SAYING and who != "user":
                assert before <= _users_words(opened), "what the user said was replaced without him"
        for memory in listed(opened):
            story = opened.memories.history(memory.id)
            assert memory.id not in {each.id for each in (*story.older, *story.newer)}
        assert opened.store.doctor() == []
