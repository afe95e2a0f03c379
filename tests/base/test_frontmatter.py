"""Front matter: strings stay strings, and a small file cannot grow large."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import frontmatter
from segue.base.frontmatter import parse, split


def test_every_scalar_stays_the_text_that_was_written() -> None:
    text = "a: no\nb: 1.10\nc: 2026-09-01\nd: ~\ne: 0x1F\nf: 'on'\ng:\nh: 12:30:45\ni: !!python/name:os.system x\n"
    assert parse(text) == {
        "a": "no",
        "b": "1.10",
        "c": "2026-09-01",
        "d": "~",
        "e": "0x1F",
        "f": "on",
        "g": "",
        "h": "12:30:45",
        "i": "x",
    }


def test_lists_mappings_blocks_and_aliases() -> None:
    text = "tags: &t [style, 'a: b']\nmore: {deep: *t, flat: [x]}\ntext: |\n  one\n  two\n"
    tags = ["style", "a: b"]
    assert parse(text) == {"tags": tags, "more": {"deep": tags, "flat": ["x"]}, "text": "one\ntwo\n"}


def test_head_and_body_and_lines() -> None:
    found = split("---\r\ntitle: T\r\n---\r\n\r\nBody.\r\n")
    assert (found.values, found.body, found.body_line) == ({"title": "T"}, "\r\nBody.\r\n", 4)
    assert split("\ufeff---\ntitle: T\n...\nBody.").values == {"title": "T"}
    assert split("---\n---\nBody.").values == {}


@pytest.mark.parametrize("text", ["Body.", "---\nno end", "text\n---\na: b\n---\n", "", "--- a\n---\n"])
def test_what_is_no_head_is_body(text: str) -> None:
    found = split(text)
    assert (found.values, found.body, found.fault) == ({}, text, "")


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a: b: c\n", "no valid YAML", 2),
        ("ok: 1\nkey: [1, 2\n", "no valid YAML", 4),
        ("- a\n- b\n", "no mapping", 2),
        ("a: 1\na: 2\n", "stands twice", 3),
        ("? [a]\n: b\n", "is no text", 2),
        ("a: *nowhere\n", "anchor that is not there", 2),
        ("a: " + "[" * 40 + "]" * 40 + "\n", "nested deeper", 2),
        ("a: \x01\n", "no valid YAML", 2),
        ('a: "\\U00110000"\n', "names no character", 2),
        ("a: [" + "x, " * 6_000 + "]\n", "more than 5,000 values", 2),
        ("a: &a x\n" + "".join(f"k{n}: *a\n" for n in range(60)), "more than 50 aliases", 53),
    ],
)
def test_faults_name_their_line_and_leave_the_body(text: str, message: str, line: int) -> None:
    found = split(f"---\n{text}---\nBody.\n")
    assert message in found.fault
    assert (found.fault_line, found.values, found.body) == (line, {}, "Body.\n")


def test_aliases_of_aliases_are_counted_in_full() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 7))
    with pytest.raises(ValueError, match="aliases counted in full"):
        parse(bomb)


def test_an_endless_head_is_body_and_a_long_text_is_refused() -> None:
    assert split("---\n" + "a: b\n" * 20_000 + "---\nx").values == {}
    with pytest.raises(ValueError, match="longer than"):
        parse("a: " + "x" * frontmatter.MAX_CHARS)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from([*"ab:-[]{}&*!|>'\"%@`#,? \n\t\\x0\u2028é\0", "---\n", "<<: ", "\\U00110000", "!!"]),
        max_size=24,
    )
)
def test_any_text_is_a_mapping_or_a_fault(tokens: list[str]) -> None:
    try:
        assert isinstance(parse("".join(tokens)), dict)
    except ValueError as error:
        assert str(error)


def test_strict_reading_refuses_tags_and_a_head_without_an_end() -> None:
    assert split("---\na: no\n---\nBody.", strict=True) == split("---\na: no\n---\nBody.")
    for head in ("a: !!str x", "a: ! x", "a: [!x b]", "a: !x [b]", "!!map\na: b", "? !x a\n: b"):
        found = split(f"---\n{head}\n---\nBody.", strict=True)
        assert "has a tag" in found.fault
        assert (found.values, found.fault_line) == ({}, 2)
        assert split(f"---\n{head}\n---\nBody.").fault == ""
    found = split("---\nno end", strict=True)
    assert ("nothing closes" in found.fault, found.fault_line, found.body) == (True, 1, "---\nno end")


def test_each_key_has_its_line() -> None:
    found = split("---\n# comment\na: 1\n\nb:\n  c: 2\n  d: [x]\ne: |\n  f: 3\n---\nBody.")
    assert found.lines == {"a": 3, "b": 5, "e": 8}
