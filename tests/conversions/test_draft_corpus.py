"""The labelled sessions: each field of their drafts is mostly right, and not empty for fear of being wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import drafts
from segue.conversions.draft import NO_GOAL, NO_NEXT_STEP

PRECISION = dict.fromkeys(drafts.FIELDS, 0.9) | {"tags": 0.85}
RECALL = {
    "goal": 0.9,
    "decisions": 0.75,
    "constraints": 0.9,
    "attempts": 0.85,
    "files": 0.95,
    "open_questions": 0.9,
    "next_step": 0.9,
    "tags": 0.85,
}


@pytest.fixture(scope="module")
def total() -> dict[str, drafts.Score]:
    return drafts.measure()


def test_the_corpus_is_whole() -> None:
    names = drafts.names()
    hosts = [drafts.labels_of(name)["host"] for name in names]
    assert len(names) == 20
    assert (hosts.count("claude-code"), hosts.count("codex")) == (14, 6)
    for name in names:
        lines = (drafts.CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()
        assert 15 <= len(lines) <= 80, name
        assert all(isinstance(json.loads(line), dict) for line in lines)
        assert set(drafts.FIELDS) <= set(drafts.labels_of(name)), name


@pytest.mark.parametrize("field", drafts.FIELDS)
def test_precision_and_recall_of_each_field(total: dict[str, drafts.Score], field: str) -> None:
    score = total[field]
    assert score.entries >= 10, "too few entries to judge"
    assert score.precision >= PRECISION[field], score.wrong
    assert score.recall >= RECALL[field], score.missed


@pytest.mark.parametrize("name", drafts.names())
def test_no_session_is_drafted_badly(name: str) -> None:
    scores = drafts.scores(name).values()
    wrong = [text for score in scores for text in score.wrong]
    assert len(wrong) <= 0.2 * sum(score.entries for score in scores), wrong


@pytest.mark.parametrize("name", drafts.names())
def test_no_lure_is_taken(name: str) -> None:
    said = json.dumps(drafts.drafted(name), ensure_ascii=False).lower()
    for lure in ("kafka", "generated mock", "rewrite everything", "four spaces", "french", "keep v1 forever", "/home/"):
        assert lure not in said


def test_the_scorer_sees_what_is_wrong_and_what_is_missing() -> None:
    label = {"says": "", "words": [["bucket", "limiter"], ["redis"]], "outcome": "failed"}
    assert drafts.agrees({"text": "A Limiter in Redis", "outcome": "failed"}, label)
    assert not drafts.agrees({"text": "A Limiter in Redis", "outcome": "succeeded"}, label)
    assert not drafts.agrees({"text": "A Limiter in memory", "outcome": "failed"}, label)
    empty = {"ltm_version": "0.2", "goal": NO_GOAL, "next_step": NO_NEXT_STEP, "tags": []}
    assert all(drafts.entries(empty, field) == [] for field in drafts.FIELDS)
