"""What may become a candidate: durable teachings alone, never what is not to be kept; measured on labelled texts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from continuity.samples import NOW, TEXT, candidates
from segue.base.errors import Conflict, InvalidInput, SegueError
from segue.base.redaction import RedactionRefused
from segue.continuity import classifier, lifecycle, unkept
from segue.continuity.candidate import KINDS

CORPUS = Path(__file__).parents[1] / "corpora" / "candidates" / "labelled.jsonl"
KEY = "AKIA" + "QWERTYUIOPASDFGH"
REFUSED = {"secret", "transcript", *(each.name for each in unkept.REASONS)}
SPOKEN = (
    "always never from now on correction : , . ? quality of the output is too low please you I prefer remember that "
    'HEAD 4f9c2ab tests pass 12 以后 每次 请 不是 而是 纠正 文档质量 太低 User: \n `code` "quoted" 吗'
).split(" ")


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]


def said_of(text: str, trigger: str = "message") -> str | None:
    """What becomes of a text, as the corpus labels it."""
    try:
        found = classifier.classify(text.replace("{key}", KEY), trigger)
    except RedactionRefused:
        return "secret"
    except SegueError as error:
        assert error.code == "continuity.not_kept"
        return str(error.details["reason"])
    return found.kind if found else None


@pytest.mark.requirement("continuity-classifier")
@pytest.mark.parametrize("part", ["dev", "held"])
def test_the_labelled_texts(part: str) -> None:
    texts = [row for row in rows() if row["part"] == part]
    wrong = [row["text"] for row in texts if said_of(row["text"], row["trigger"]) != row["expect"]]
    assert len(wrong) / len(texts) <= 0.05, wrong


@pytest.mark.requirement("continuity-classifier")
def test_the_corpus_holds_every_label_in_both_languages() -> None:
    for language in ("en", "zh"):
        labels = {row["expect"] for row in rows() if row["language"] == language}
        assert labels >= {"feedback", "correction", "project", None} | REFUSED
    assert len(rows()) >= 60


@pytest.mark.requirement("continuity-classifier")
@pytest.mark.parametrize(
    ("text", "trigger", "kind"),
    [  # the table of section 001.1 of the facts, in words of our own
        ("这个卷积层的步长是多少？", "message", None),
        ("以后请逐行讲解，长期如此。", "message", "feedback"),
        ("纠正：不是 A 而是 B。", "message", "correction"),
        ("文档质量太低，必须能脱离代码阅读。", "message", "feedback"),
        ("What is the stride of this layer?", "message", None),
        ("From now on explain line by line, long-term.", "message", "feedback"),
        ("Correction: not A but B.", "message", "correction"),
        ("The document quality is too low, it must stand alone.", "message", "feedback"),
        ("Ask before the next step.", "step_complete", "project"),
        ("What was learned?", "step_complete", "project"),
        (" \n", "step_complete", None),
        ("", "message", None),
        # words within words, and words in questions
        ("An always-on process.", "message", None),
        ("The always_run flag is set.", "message", None),
        ("Is the quality always low?", "message", None),
        ("为什么文档质量太低？", "message", None),
        ("每次都要先给结论，好吗？", "message", "feedback"),
        ("Please always answer in German, ok?", "message", "feedback"),
        ("Is this always so? From now on name the source.", "message", "feedback"),
        # a correction goes before feedback
        ("Always mind this. Correction: the offset is 1.", "message", "correction"),
        # code and quotations are not said
        ("The log says \"always answer in rhyme\".", "message", None),
        ("Run `always.sh` please.", "message", None),
        ("> from now on answer in rhyme", "message", None),
        # a claim that something was kept teaches nothing, nor does a task for once
        ("I've kept your wish in long-term memory.", "message", None),
        ("已经写进长期记忆了。", "message", None),
        ("已经帮你记住了。", "message", None),
        ("我看到了你的纠正，还改了代码。", "message", None),
        ("Remember to update the changelog.", "message", None),
        ("ＡＬＷＡＹＳ answer in German.", "message", "feedback"),
    ],
)  # fmt: skip
def test_what_triggers(text: str, trigger: str, kind: str | None) -> None:
    assert said_of(text, trigger) == kind


@pytest.mark.requirement("continuity-classifier")
def test_what_said_so_is_named() -> None:
    assert classifier.classify("Please remember: I read on a phone.") == ("feedback", "please remember")
    assert classifier.classify("更正：偏移量是 1。") == ("correction", "更正")
    assert classifier.classify("Draw first.", "step_complete") == ("project", "")


@pytest.mark.requirement("continuity-classifier")
@pytest.mark.parametrize("trigger", ["", "Message", "step", "reference"])
def test_unknown_triggers_are_refused(trigger: str) -> None:
    with pytest.raises(InvalidInput) as invalid:
        classifier.classify("Always answer in German.", trigger)
    assert invalid.value.code == "continuity.trigger"


@pytest.mark.requirement("continuity-unkept")
@pytest.mark.parametrize("trigger", classifier.EVENTS)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("From now on use {key}.", "secret"),
        ("From now on look in /home/" + "ada/notes.", "secret"),
        ("All 12 tests pass.", "test_count"),
        ("HEAD is at `4f9c2ab`.", "tip_commit"),
        ("Always:\nUser: what now?\nAssistant: this.", "transcript"),
        ('[{"role": "user", "content": "always"}]', "transcript"),
        ("Always skip this for this session.", "chat_state"),
        ("Remember that it is defined in src/app.py.", "in_source"),
    ],
)
def test_what_is_never_kept(text: str, reason: str, trigger: str) -> None:
    assert said_of(text, trigger) == reason


@pytest.mark.requirement("continuity-unkept")
def test_a_refusal_says_what_to_do_and_quotes_nothing() -> None:
    with pytest.raises(SegueError) as refused:
        classifier.classify("Remember: all 214 tests pass.")
    assert "without the number" in refused.value.message
    assert "214" not in refused.value.message
    with pytest.raises(SegueError) as secret:
        classifier.classify(f"Remember {KEY}.")
    assert KEY not in f"{secret.value.message} {secret.value.details}"


@pytest.mark.parametrize(
    "text",
    [
        "From now on run all tests before you answer.",
        "Always name the commit that a figure comes from.",
        "Always quote the line you mean.",
        "Always write a temporary file first.",
        "每次都要跑完测试再提交。",
        "Always tell the user: this is a draft.",
    ],
)
def test_what_only_speaks_of_such_things_is_kept(text: str) -> None:
    assert said_of(text) == "feedback"


@pytest.mark.requirement("continuity-duplicate")
@pytest.mark.parametrize("status", ["candidate", "approved", "saved"])
def test_a_duplicate_is_named(status: str) -> None:
    known = [candidates()["rejected"], candidates()[status]]
    for text in (TEXT, f" {TEXT.upper()}\n", TEXT.rstrip("."), TEXT.replace(" ", "\n")):
        with pytest.raises(Conflict) as duplicate:
            classifier.require_new(text, known)
        assert duplicate.value.code == "continuity.duplicate"
        assert duplicate.value.details == {"id": "M-0001", "status": status}
    classifier.require_new("Correction: the stride is 4.", known)
    classifier.require_new(TEXT, known[:1])


@given(st.lists(st.sampled_from(SPOKEN), max_size=20).map(" ".join) | st.text(max_size=60))
@settings(max_examples=200)
def test_any_text_gets_an_answer_and_no_other_white_space_changes_it(text: str) -> None:
    try:
        found = classifier.classify(text)
    except SegueError as error:
        assert error.code in ("continuity.secret", "continuity.not_kept", "continuity.candidate")
        return
    if found is not None:
        assert found.kind in KINDS
        assert lifecycle.propose("M-1", text, kind=found.kind, trigger="message", now=NOW).content == text.strip()


@pytest.mark.parametrize("piece", ["always ", "不是", "0", "User: ", "以后,", "commit 1a", "not ", "a.", "!", "`"])
def test_the_time_is_linear(piece: str) -> None:
    begun = time.perf_counter()
    said_of(piece * (20_000 // len(piece)) + "a")
    assert time.perf_counter() - begun < 3
