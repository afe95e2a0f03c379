"""What a clipboard does to a capsule, undone and told."""

from __future__ import annotations

import zlib

import pytest
from capsule_samples import BASE

from segue.capsules import check, clean, render, stamp

STAMPED = render(stamp(BASE.replace("no preamble", 'no "preamble" - it\'s...')))


def test_a_sound_text_is_left_alone() -> None:
    assert clean(STAMPED).to_json() == {"text": STAMPED, "changes": []}
    assert clean(STAMPED.encode()).changes == ()


CASES = {
    "fence": ("```text\n" + STAMPED + "```\n", ["Markdown fence"]),
    "tilde fence": ("~~~\n" + STAMPED + "~~~", ["Markdown fence"]),
    "prose": ("Here it is:\n\n```\n" + STAMPED + "```\nGood luck!\n", ["Markdown fence", "2 lines before and after"]),
    "quoted": ("".join(f"> {line}\n" for line in STAMPED.splitlines()), ["beginning of lines (>) removed, levels: 1"]),
    "quoted, bare blank lines": (
        "".join(f"> {line}\n" if line else ">\n" for line in STAMPED.splitlines()),
        ["beginning of lines (>) removed, levels: 1"],
    ),
    "quoted twice": ("".join(f"> > {line}\n" for line in STAMPED.splitlines()), ["levels: 2"]),
    "quoted fence": ("> ```\n" + "".join(f"> {line}\n" for line in STAMPED.splitlines()) + "> ```\n", ["fence", "(>)"]),
    "Windows": (STAMPED.replace("\n", "\r\n"), ["carriage returns made line feeds"]),
    "old Mac": (STAMPED.replace("\n", "\r"), ["carriage returns made line feeds"]),
    "indented": (STAMPED.replace("\n", "\n    ").removesuffix("    "), ["indent of 2"]),
    "indented by a tab": ("\t" + STAMPED.replace("\n", "\n\t"), ["indent of"]),
    "typographic": (
        STAMPED.replace('"preamble"', "\u201cpreamble\u201d")
        .replace("it's...", "it\u2019s\u2026")
        .replace(" - ", " \u2013 "),
        ["typographic quotes, dashes and dots in 1 line"],
    ),
    "wide spaces": (STAMPED.replace("read in pages", "read\u00a0in\u202fpages"), ["wide spaces in 1 line"]),
    "byte order mark": ("\ufeff" + STAMPED, ["invisible characters removed: 1"]),
    "zero width": (STAMPED.replace("read in", "read\u200b in"), ["invisible characters removed: 1"]),
    "spaces at line ends": (STAMPED.replace("\n", "  \n"), ["spaces at the end of"]),
    "no line feed at the end": (STAMPED.removesuffix("\n"), ["line feed at the end added"]),
    "empty lines around": ("\n\n" + STAMPED + "\n\n", ["empty lines before and after"]),
    "everything": (
        "Sure:\r\n\r\n> ```text\r\n"
        + "".join(f"> {line}  \r\n" for line in STAMPED.replace('"preamble"', "\u201cpreamble\u201d").splitlines())
        + "> ```",
        ["carriage", "fence", "left out", "(>)", "typographic", "spaces at the end"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_was_done_is_undone_and_told(name: str) -> None:
    text, told = CASES[name]
    assert not check(text).valid
    cleaned = clean(text)
    assert cleaned.text == STAMPED
    assert check(cleaned.text).valid
    for words in told:
        assert any(words in change for change in cleaned.changes), (words, cleaned.changes)
    assert len(cleaned.changes) >= len(told)
    assert clean(text.encode()) == cleaned
    assert clean(cleaned.text).changes == ()


def test_a_file_that_was_stamped_without_a_final_line_feed() -> None:
    body = BASE.removesuffix("\n")
    head, rest = render(stamp(body + "\n")).removesuffix("\n").split("INTEGRITY", 1)
    line = f"INTEGRITY: crc32={zlib.crc32(body.encode()):08x} chars={len(head) + len('INTEGRITY' + rest)}"
    text = head + line + "\n" + rest.split("\n", 1)[1]
    assert check(text).valid
    assert clean(text).text == text
    assert clean(f"```\n{text}\n```").text == text


def test_of_two_capsules_none_is_chosen() -> None:
    assert clean(BASE + BASE).text == BASE + BASE


def test_what_is_wrong_otherwise_is_left_for_the_check() -> None:
    text = BASE.replace("read in pages", "read in pag\u00e9s").replace("CHOICE |", "WISH |").replace("\n", "\r\n")
    cleaned = clean(text)
    assert {problem.code for problem in check(cleaned.text).errors} == {"C1", "C7"}


@pytest.mark.parametrize("text", ["", "\n", ">", "```", "hello", "===END===", b"\xff\xfe"])
def test_any_text_may_come(text: str | bytes) -> None:
    assert not check(clean(text).text).valid
