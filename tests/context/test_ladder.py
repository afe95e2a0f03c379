"""The ladder: which rung is taken in which room."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packing_samples import PROFILE, SENTENCES, candidate, valued

from segue.context import ladder
from segue.context.profiles import CLAUDE, Profile

SAID = "The importer retries a failed call five times. Then it stops. Somebody must look at it, and say why it failed."
SUMMARY = "Importer: five retries, then it stops and waits for a person."
HEAD = "The importer retries a failed call five times."


@pytest.mark.requirement("context-ladder")
def test_the_rungs_from_top_to_bottom() -> None:
    memory = candidate(SAID, summary=SUMMARY)
    taken: list[tuple[str, str]] = []
    for room in range(CLAUDE.cost(SAID) - 1, 0, -1):
        packed = ladder.compressed(memory, room, CLAUDE)
        if packed is None:
            break
        assert packed.cost == CLAUDE.cost(packed.content) <= room
        if (packed.compressed, packed.content) not in taken:
            taken.append((packed.compressed, packed.content))
    assert taken[:2] == [("summary", SUMMARY), ("head", HEAD)]
    assert [how for how, _ in taken[2:]] == ["cut"] * len(taken[2:])
    assert taken[2] == ("cut", "The importer retries a failed call five…")
    assert taken[-1] == ("cut", "The importer retries a failed…")
    assert room < CLAUDE.cost(taken[-1][1]) + 3


@pytest.mark.requirement("context-ladder")
def test_a_rung_that_is_no_shorter_is_skipped() -> None:
    memory = candidate(HEAD, summary=HEAD + " Always.")
    packed = ladder.compressed(memory, CLAUDE.cost(HEAD), CLAUDE)
    assert packed is not None
    assert packed.compressed == "cut"
    assert ladder.compressed(candidate("Short, no more."), CLAUDE.cost("Short, no more.") - 1, CLAUDE) is None


@pytest.mark.requirement("context-ladder")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("First. Second.", "First."),
        ("Use v1.2 of it, e.g. the newest. Second.", "Use v1.2 of it, e.g. the newest."),
        ("Really? Yes.", "Really?"),
        ("Use one queue\nWhy: it is enough", "Use one queue"),
        ("A line that goes\non in small letters. Second.", "A line that goes\non in small letters."),
        ("先备份数据库。然后再升级。", "先备份数据库。"),
        ("本当ですか？はい。", "本当ですか？"),
        ("هل يعمل الخادم؟ نعم.", "هل يعمل الخادم؟"),
        ("सर्वर चल रहा है। फिर रुकता है।", "सर्वर चल रहा है।"),
        ("سرور چل رہا ہے۔ پھر رکتا ہے۔", "سرور چل رہا ہے۔"),
        ("ไม่มีจุดจบของประโยค", "ไม่มีจุดจบของประโยค"),
        ("word " * 200 + "end. Second.", ""),
        ("  ", ""),
    ],
)
def test_the_head_sentence(text: str, expected: str) -> None:
    assert ladder.head(text) == expected


@pytest.mark.requirement("context-ladder")
@pytest.mark.parametrize(
    ("text", "characters", "expected"),
    [
        ("Never deploy the importer on a Friday afternoon", 30, "Never deploy the importer on a…"),
        ("Never deploy the importer on a Friday afternoon", 33, "Never deploy the importer on a…"),
        ("Never deploy the importer, on a Friday afternoon", 27, "Never deploy the importer…"),
        (
            "服务器每天晚上自动重启一次所以夜里不要运行任何长时间的导入任务",
            24,
            "服务器每天晚上自动重启一次所以夜里不要运行任何长…",
        ),
        ("x" * 60, 40, "x" * 40 + "…"),
        ("word " + "x" * 60, 40, "word " + "x" * 35 + "…"),  # the word alone would be too little
        ("กำกำกำกำกำกำกำกำกำกำกำกำกี่กี่กี่กี่", 26, "กำกำกำกำกำกำกำกำกำกำกำกำกี่"[:24] + "…"),
        ("z" * 24 + "👩‍💻👩‍💻👩‍💻", 26, "z" * 24 + "…"),
        ("z" * 24 + "👍🏽👍🏽👍🏽", 25, "z" * 24 + "…"),
    ],
)
def test_the_cut_is_made_at_a_word_and_inside_no_character(text: str, characters: int, expected: str) -> None:
    class Characters(Profile):
        def tokens(self, text: str) -> int:
            return len(text)

    reader = Characters("characters", 1, 1, 1.0, CLAUDE.weights)
    assert ladder.cut(text, reader.cost("x" * characters + "…"), reader) == expected


@pytest.mark.requirement("context-ladder")
def test_too_little_is_no_cut() -> None:
    text = "importer " * 40
    shortest = CLAUDE.cost(text[:24] + "…")
    assert ladder.cut(text, shortest - 1, CLAUDE) == ""
    assert len(ladder.cut(text, shortest, CLAUDE)) > 16
    assert ladder.cut("Twenty-four letters here", 1_000, CLAUDE) == ""
    assert ladder.cut(" ", 1_000, CLAUDE, shortest=1) == ""


@given(SENTENCES, st.just("") | SENTENCES, st.integers(0, 120), PROFILE)
@settings(max_examples=120, deadline=None)
def test_every_rung_fits_and_says_only_what_was_said(content: str, summary: str, room: int, profile: Profile) -> None:
    memory = candidate(content, summary=summary)
    packed = ladder.compressed(memory, room, profile)
    if packed is None:
        return
    assert packed.cost == profile.cost(packed.content) <= room
    assert len(packed.content) < len(content)
    if packed.compressed == "summary":
        assert packed.content == summary
    elif packed.compressed == "head":
        assert content.startswith(packed.content)
    else:
        assert packed.compressed == "cut"
        kept = packed.content.removesuffix("…")
        assert content.startswith(kept)
        assert len(kept) >= 12
        following = content[len(kept)]
        assert not unicodedata.category(following).startswith("M")
        assert "\u200d" not in (following, kept[-1])


@pytest.mark.requirement("context-ladder")
def test_the_most_useful_steps_down_first_and_the_room_is_shared() -> None:
    losers = {
        4: valued("Alpha first. " * 20, 0.2, 100),
        1: valued("Bravo first. " * 20, 0.1, 100),
        2: valued("Gamma first. " * 20, 0.2, 100),
        3: valued("Fits", 0.0, 13),
    }
    one = CLAUDE.cost("Alpha first.")
    assert list(ladder.recover(losers, one, CLAUDE)) == [2]
    assert list(ladder.recover(losers, 2 * one, CLAUDE)) == [2, 4]
    found = ladder.recover(losers, 3 * one + 13, CLAUDE)
    assert [(key, each.content, each.compressed) for key, each in found.items()] == [
        (2, "Gamma first.", "head"),
        (4, "Alpha first.", "head"),
        (1, "Bravo first.", "head"),
        (3, "Fits", ""),
    ]
    assert ladder.recover(losers, 12, CLAUDE) == {}
