"""UserPromptSubmit, measured by prompts and memories that were written before its rules were read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import segue
from hosts.hook_samples import NOW, Host

if TYPE_CHECKING:
    from collections.abc import Mapping

CORPUS = Path(__file__).parents[1] / "corpora" / "recall"
Told = list[tuple[frozenset[str], frozenset[str]]]  # for each prompt what it wants, and what was told


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("recall") / "acme"
    folder.mkdir()
    host = Host(folder, folder.parent / "segue.db")
    memories = _read("memories.jsonl")
    with segue.open(host.store, directory=folder, clock=lambda: NOW) as opened:
        labels = {opened.memories.remember(each["text"], kind=each["kind"]).memory.id: each["id"] for each in memories}
    rules = frozenset(each["id"] for each in memories if each["kind"] == "constraint")
    result = []
    for number, asked in enumerate(_read("prompts.jsonl")):
        said = host.told("user-prompt-submit", prompt=asked["prompt"], session_id=f"corpus-{number}")
        wanted, shown = frozenset(asked["wants"]), _shown(said, labels)
        # All rules together came along; some of them alone were found.
        result.append((wanted, shown - (rules - wanted) if rules <= shown else shown))
    return result


def _shown(said: str, labels: Mapping[str, str]) -> frozenset[str]:
    return frozenset(label for memory_id, label in labels.items() if memory_id in said)


def test_the_corpus_is_whole(told: Told) -> None:
    assert len(told) == 40
    assert sum(not wanted for wanted, _ in told) == 20


def test_what_is_told_is_to_the_point(told: Told) -> None:
    shown = sum(len(shown) for _, shown in told)
    assert shown >= 15
    assert sum(len(wanted & shown) for wanted, shown in told) >= 0.9 * shown


def test_prompts_that_call_for_nothing_are_told_nothing(told: Told) -> None:
    quiet = [shown for wanted, shown in told if not wanted]
    assert sum(not shown for shown in quiet) >= 0.9 * len(quiet)


def test_most_of_what_is_wanted_is_found(told: Told) -> None:
    asked = [(wanted, shown) for wanted, shown in told if wanted]
    assert sum(wanted <= shown for wanted, shown in asked) >= 0.75 * len(asked)
