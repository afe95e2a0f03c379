"""Text that others wrote: on one line, nothing hidden, no Markdown block begun."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import untrusted

LINE_BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
HIDDEN = {
    "\x00": "\\x00",
    "\x07": "\\x07",
    "\x1b": "\\x1b",
    "\x7f": "\\x7f",
    "\x9b": "\\x9b",
    "\u00ad": "\\xad",
    "\u061c": "\\u061c",
    "\u115f": "\\u115f",
    "\u180e": "\\u180e",
    "\u200b": "\\u200b",
    "\u200e": "\\u200e",
    "\u202a": "\\u202a",
    "\u202e": "\\u202e",
    "\u2060": "\\u2060",
    "\u2066": "\\u2066",
    "\u2069": "\\u2069",
    "\u3164": "\\u3164",
    "\ufeff": "\\ufeff",
    "\ud800": "\\ud800",
    "\U000e0041": "\\U000e0041",
    "\U000e0100": "\\U000e0100",
}
FORBIDDEN = {
    chr(point)
    for start, stop in (
        (0x00, 0x1F),
        (0x7F, 0x9F),
        (0x200E, 0x200F),
        (0x2028, 0x202E),
        (0x2060, 0x206F),
        (0xD800, 0xDFFF),
    )
    for point in range(start, stop + 1)
} | {"\u00ad", "\u061c", "\u200b", "\ufeff", *map(chr, range(0xE0000, 0xE0FFF))}
# Weighted towards what does harm; plain text() rarely draws it.
hostile = st.text(
    st.sampled_from([*"".join(LINE_BREAKS), *HIDDEN, " ", "\t", "#", "-", "`", "é", "a", "\u200d"]) | st.characters()
)


@pytest.mark.parametrize(("char", "shown"), HIDDEN.items(), ids=ascii)
def test_hidden_characters_are_shown(char: str, shown: str) -> None:
    assert untrusted.visible(f"a{char}b") == f"a{shown}b"
    assert untrusted.one_line(f"a{char}b") == f"a{shown}b"
    assert untrusted.paragraph(f"é{char}é") == f"é{shown}é"


@pytest.mark.parametrize("text", ["plain", "a\nb\tc", "Grüße", "日本語", "ราคา", "👩‍💻", "نامه‌ای", "a\u0301", "❤️"])
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert untrusted.visible(text) == text


def test_joiners_stay_where_scripts_need_them_and_nowhere_else() -> None:
    assert untrusted.visible("pass\u200dword \u200cx") == "pass\\u200dword \\u200cx"
    assert untrusted.visible("é\u200dx x\u200dé") == "é\\u200dx x\\u200dé"


@pytest.mark.parametrize("gap", LINE_BREAKS, ids=ascii)
def test_every_line_break_is_shown_on_one_line(gap: str) -> None:
    assert untrusted.one_line(f"a{gap}b") == "a ⏎ b"
    assert untrusted.one_line(f"a  {gap}{gap}  b{gap}") == "a ⏎ b"


@settings(derandomize=True, max_examples=300, deadline=None, database=None)
@given(hostile)
def test_one_line_is_one_line_of_visible_characters(text: str) -> None:
    line = untrusted.one_line(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip(" \t")
    assert not set(line) & FORBIDDEN
    line.encode()


@pytest.mark.parametrize(
    "text",
    [
        "# x",
        "#",
        "#x",
        "####### x",
        "---",
        "***",
        "___",
        "===",
        "- x",
        "* x",
        "+ x",
        "-",
        "> x",
        ">x",
        "```sh",
        "~~~",
        "| a | b |",
        "<script>",
        "1. x",
        "12) x",
        "1.",
        "[x]: https://example.com",
        r"[a\]b]:x",
        "  # x",
        "\n\n# x",
        "\u2028# x",
        "\u3000# x",
        "\x1f---",
    ],
)
def test_paragraph_begins_no_block(text: str) -> None:
    line = untrusted.paragraph(text)
    assert line[0] == "\\"
    assert line[1:] == untrusted.one_line(text)


@pytest.mark.parametrize(
    "text", ["x # y", "-x", "*bold*", "--flag", "1.5 seconds", "`code` first", "~/x", "a > b", "[x] done", "[x](y)", ""]
)
def test_paragraph_leaves_ordinary_beginnings(text: str) -> None:
    assert untrusted.paragraph(text) == text


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("日本語文", 3, "日本…"), ("ab", 1, "…"), ("ab", 0, "…"), ("", 0, "")],
)
def test_shorten(text: str, width: int, expected: str) -> None:
    assert untrusted.shorten(text, width) == expected
