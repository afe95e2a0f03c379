"""The claim guard as a pure function: which files a sentence names, and what a receipt proves of a text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.continuity import claims, guard, named_files
from segue.continuity.guard import Proof

CLAIM = "I've saved this to memory."
ORDINARY = "All tests pass, and the parser is quicker now."


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("I recorded it in `MEMORY.md`.", ["MEMORY.md"]),
        ("**log.md** is saved.", ["log.md"]),
        ('Saved in [the log](notes/log.md), see "qa.md".', ["notes/log.md", "qa.md"]),
        ("Saved to notes\\log.md and ./docs/x.md.", ["notes/log.md", "docs/x.md"]),
        ("Saved to C:\\notes\\log.md.", ["C:/notes/log.md"]),
        ("Saved to `my notes.md` and `notes/progress`.", ["my notes.md", "notes/progress"]),
        ("Saved to docs/ and `.project-study-memory/`.", [".project-study-memory/", "docs/"]),
        ("已保存到 进度.md，也写进了（日志.md）。", ["进度.md", "日志.md"]),
        ("已保存到PROJECT_STUDY_LOG.md。", ["已保存到PROJECT_STUDY_LOG.md"]),
        ("Saved log.md, and log.md again.", ["log.md"]),
        ("Saved to gro\u0308ße.md.", ["größe.md"]),
        ("Saved and/or stored, e.g. in v1.2 by json.dumps or `save()`.", []),
        ("See https://example.org/a.md and //x/b.md.", []),
        ("", []),
    ],
)
def test_the_files_that_a_sentence_names(sentence: str, names: list[str]) -> None:
    assert list(named_files.named(sentence)) == names


@pytest.mark.parametrize(
    ("name", "proven", "here", "left"),
    [
        ("log.md", ["log.md"], [], False),
        ("log.md", ["notes/log.md"], [], False),
        ("notes/log.md", ["a/notes/log.md"], [], False),
        ("log.md", ["notes/log.md"], ["log.md"], True),  # that one is meant
        ("catalog.md", ["log.md"], [], True),
        ("log.md", ["catalog.md"], [], True),
        ("docs/a.md", ["docs/"], ["docs/a.md"], False),
        ("docs/sub/a.md", ["docs/"], ["docs/sub/a.md"], False),
        ("docs/sub/", ["docs/"], ["docs/sub/"], False),
        ("docs/a.md", ["docs/"], [], True),  # nothing proves what is not there
        ("docs/a.md", ["doc/"], ["docs/a.md"], True),
        ("docs", ["docs/"], [], False),
        ("docs/../log.md", ["docs/"], [], True),
        ("../log.md", ["log.md"], [], True),
        ("/elsewhere/log.md", ["log.md"], [], True),
        ("已保存到进度.md", ["notes/进度.md"], [], False),
        ("已保存到进度.md", ["进度.md"], ["已保存到进度.md"], True),
        ("旧进度.md", ["度.md"], [], False),
        ("xlog.md", ["log.md"], [], True),
        ("其它/log.md", ["log.md"], [], True),
        ("größe.md", ["gro\u0308ße.md"], [], False),
        ("größe.md", ["notes/gro\u0308ße.md"], [], False),
    ],
)
def test_what_a_receipt_covers(name: str, proven: list[str], here: list[str], left: bool) -> None:
    assert bool(named_files.Paths(proven, here.__contains__).without([name])) is left


@pytest.mark.requirement("continuity-guard")
@pytest.mark.parametrize(
    ("text", "proof", "refused"),
    [
        (ORDINARY, None, 0),
        ("It was not saved.\n\n" + ORDINARY, None, 0),
        ("The log was not saved, but your preference is saved.", None, 1),
        (CLAIM, None, 1),
        (CLAIM, Proof("TX-0001", text="exact"), 0),
        (CLAIM, Proof("TX-0001", text="exact", paths=frozenset({"a.md"})), 0),
        (CLAIM, Proof("TX-0001", text="exact", changed=("a.md",)), 1),
        (CLAIM, Proof("TX-0001", fault="it does not hold"), 1),
        (CLAIM, Proof("TX-0001", text="exact", fault="it does not hold"), 1),
        (CLAIM, Proof("TX-0001", text="other"), 1),
        (CLAIM, Proof("TX-0001", paths=frozenset({"MEMORY.md"})), 1),  # it names no file
        ("I recorded it in MEMORY.md.", Proof("TX-0001", paths=frozenset({"m/MEMORY.md"})), 0),
        ("I recorded it in MEMORY.md.", Proof("TX-0001", text="other", paths=frozenset({"m/MEMORY.md"})), 1),
        ("I recorded it in MEMORY.md.", Proof("TX-0001", paths=frozenset({"a.md"}), changed=("m/MEMORY.md",)), 1),
        ("I recorded it in MEMORY.md and log.md.", Proof("TX-0001", paths=frozenset({"MEMORY.md"})), 1),
        ("I recorded it in MEMORY.md.\n\nYour preference is saved.", Proof("TX-1", paths=frozenset({"MEMORY.md"})), 1),
        ("记录已写入 MEMORY.md。记忆已保存。", Proof("TX-1", paths=frozenset({"MEMORY.md"})), 1),
        ("记忆已保存到MEMORY.md。", Proof("TX-1", paths=frozenset({"MEMORY.md"})), 0),
        ("Persistence saved. The formal document has been generated. readiness_status: ready", None, 3),
    ],
)
def test_which_claims_are_refused(text: str, proof: Proof | None, refused: int) -> None:
    verdict = guard.judged(claims.find(text), proof)
    assert len(verdict.unproven) == refused
    assert verdict.passes is (refused == 0)
    assert verdict.to_json()["verdict"] == ("refused" if refused else "passes")


@pytest.mark.requirement("continuity-guard")
@pytest.mark.parametrize(
    ("text", "proof", "why", "needs"),
    [
        (CLAIM, None, "no receipt is bound to this text", "`segue receipt issue FILE… --response REPLY.txt`"),
        (CLAIM, Proof("TX-0002", text="other"), "TX-0002 is bound to another text", "--response"),
        (CLAIM, Proof("TX-0002", text="exact", changed=("a.md", "b.md")), "a.md was changed after TX-0002", ""),
        (CLAIM, Proof("TX-0002"), "TX-0002 is bound to files alone, and the sentence names none", ""),
        ("Recorded in MEMORY.md.", Proof("TX-0002", changed=("MEMORY.md",)), "MEMORY.md was changed after TX-0002", ""),
        ("Recorded in MEMORY.md.", Proof("TX-0002"), "TX-0002 does not speak of MEMORY.md", "issue MEMORY.md`"),
        ("Recorded in `MEMORY.md` and `a $(b).md`.", None, "no receipt is bound", "issue MEMORY.md 'a $(b).md'`"),
    ],
)
def test_each_refusal_says_why_and_what_would_prove_it(text: str, proof: Proof | None, why: str, needs: str) -> None:
    (refused,) = guard.judged(claims.find(text), proof).unproven
    assert refused.why.startswith(why)
    assert needs in refused.needs
    told = refused.to_json()
    assert text[told["start"] : told["end"]] == told["sentence"]
    assert list(told) == ["sentence", "start", "end", "says", "subject", "why", "needs"]


NAMES = st.sampled_from(["log.md", "notes/log.md", "MEMORY.md", "进度.md", "docs/"])
SAID = st.lists(st.sampled_from([CLAIM, "Recorded in MEMORY.md.", "记忆已保存。", ORDINARY, "Not saved."]), max_size=6)


@settings(max_examples=60, deadline=None)
@given(SAID.map("\n\n".join), st.sets(NAMES), st.sets(NAMES))
def test_a_weaker_proof_never_proves_more(text: str, paths: set[str], fewer: set[str]) -> None:
    def refused(proof: Proof | None) -> set[int]:
        return {each.claim.start for each in guard.judged(claims.find(text), proof).unproven}

    every = {each.start for each in claims.find(text)}
    assert refused(None) == every
    assert refused(Proof("TX-1", text="exact", paths=frozenset(paths))) == set()
    assert refused(Proof("TX-1", text="other", paths=frozenset(paths))) == every
    assert refused(Proof("TX-1", paths=frozenset(paths & fewer))) >= refused(Proof("TX-1", paths=frozenset(paths)))


def test_many_names_and_paths_take_no_longer_than_both() -> None:
    paths = frozenset(f"notes/{number}/进度-{number}.md" for number in range(2_000))
    text = (
        "".join(f"我已把规则保存到记忆新进度-{number}x.md。\n\n" for number in range(2_000))
        + "已" * 50_000
        + "记忆已保存到b.md"
    )
    found = claims.find(text)
    assert len(found) >= 2_000
    start = time.process_time()
    assert len(guard.judged(found, Proof("TX-0001", paths=paths)).unproven) == len(found)
    assert time.process_time() - start < 3


@pytest.mark.parametrize("unit", ["a/", "`", "`a.md` ", "a.md ", "进度.md", ".md", "\\", "(", "a."])
def test_names_are_found_in_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    named_files.named(text)
    assert time.process_time() - start < 2
