"""What is left of a text when the host's scaffolding and Segue's own words are out, and how soon, whatever it holds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from segue.base.own import HOOK_BEGIN, HOOK_END, PACK_END, PACK_TITLE, without_packs
from segue.packets.resume import TITLE
from segue.transcripts import speech

if TYPE_CHECKING:
    from collections.abc import Callable

ITEM = "- [mem_01M8PBRV2827QFJPV89F1ZEA17] Rows are read by header."
HOOK = (
    f"{HOOK_BEGIN}\n\n{TITLE}\n\n## Goal\n\nSay </system-reminder> aloud.\n\nPacket:    01J\n\n{ITEM}\n\n{HOOK_END}\n"
)
PACK = f"{PACK_TITLE}\n\n{ITEM}\n\n{PACK_END}\n"


@pytest.mark.parametrize("spoken", [speech.from_claude, speech.from_codex])
@pytest.mark.parametrize("own", [HOOK, PACK, HOOK + PACK, f"{ITEM}\n"])
def test_what_hooks_said_is_no_human_speech(spoken: Callable[[str], str], own: str) -> None:
    assert spoken(own) == ""
    assert spoken(f"Build the shop.\n{own}And the cart.") == "Build the shop.\nAnd the cart."


def test_what_hooks_said_is_known_with_the_line_ends_of_windows() -> None:
    text = f"Build the shop.\n{HOOK}{PACK}And the cart.".replace("\n", "\r\n")
    assert speech.from_claude(text) == "Build the shop.\r\nAnd the cart."


def test_what_hooks_said_ends_no_reminder() -> None:
    text = f"Build it.<system-reminder>\nSessionStart hook additional context:\n{HOOK}</system-reminder> Now."
    assert speech.from_claude(text) == "Build it. Now."


def test_a_text_without_the_end_is_left_alone() -> None:
    for text in (f"{HOOK_BEGIN}\nI pasted this.", f"{PACK_TITLE}\nI pasted this.", f"{HOOK_END}\nand {HOOK_BEGIN}"):
        assert without_packs(text) == text
    far = f"{HOOK_BEGIN}\n{'x' * 50_000}\n"
    assert without_packs(f"{far}{HOOK}after") == f"{far}after"
    assert without_packs(f"{HOOK_BEGIN}\n{HOOK}after") == "after"


@pytest.mark.parametrize(
    "text",
    [
        f"{HOOK_BEGIN}\n" * 40_000,
        f"{PACK_TITLE}\n" * 40_000,
        f"{TITLE}\nPacket: x\n" * 40_000,
        "\n" * 1_000_000 + "[mem_",
        f"{'> ' * 500_000}{HOOK_BEGIN}",
        f"{ITEM}\n" * 20_000,
        "<system-reminder>" * 60_000,
        "<system-reminder></system-reminder>" * 30_000,
    ],
    ids=["hooks", "packs", "resume blocks", "line feeds", "quotes", "items", "reminders", "empty reminders"],
)
def test_a_megabyte_of_marks_takes_no_time(text: str) -> None:
    for spoken in (speech.from_claude, speech.from_codex):
        started = time.process_time()
        spoken(text)
        assert time.process_time() - started < 2.0  # by the square of the length it would be minutes
