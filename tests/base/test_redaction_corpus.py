"""The labelled corpus: every label is found, nothing else is, in the half of the authors and in the other one."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from segue.base import redaction

CORPUS = Path(__file__).parent.parent / "corpora" / "redaction"


def entries(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / name).read_text("utf-8").splitlines() if line]


def labels(entry: dict[str, Any]) -> set[str]:
    return {named(finding) for finding in redaction.scan_text("".join(entry["pieces"]))}


def named(finding: redaction.Finding) -> str:
    """Return the label as the corpus writes it, with `ext/` beyond the core set."""
    return finding.kind.removeprefix(finding.path + "/")


@pytest.mark.requirement("packets-31")
@pytest.mark.parametrize("half", ["a", "b"])
def test_recall(half: str) -> None:
    missed: dict[str, list[str]] = defaultdict(list)
    for entry in entries(f"findings-{half}.jsonl"):
        for label in set(entry["labels"]) - labels(entry):
            missed[label].append(entry["id"])
    assert dict(missed) == {}


@pytest.mark.parametrize("half", ["a", "b"])
def test_precision(half: str) -> None:
    wrong: dict[str, list[str]] = defaultdict(list)
    for entry in entries(f"clean-{half}.jsonl"):
        for label in labels(entry):
            wrong[label].append(entry["id"])
    assert dict(wrong) == {}


def test_the_corpus_is_large_enough() -> None:
    for kind in ("findings", "clean"):
        first, second = (len(entries(f"{kind}-{half}.jsonl")) for half in ("a", "b"))
        assert first + second >= 200
        assert second >= 100


def test_nothing_findable_is_left_of_the_corpus_when_masked() -> None:
    for half in ("a", "b"):
        for entry in entries(f"findings-{half}.jsonl"):
            text, found = redaction.mask(redaction.Field("goal", "".join(entry["pieces"]), True))
            assert set(entry["labels"]) <= {named(item) for item in found}
            assert redaction.scan_text(text) == [], entry["id"]
