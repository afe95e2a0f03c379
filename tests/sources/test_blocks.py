"""The block that Segue owns in files of others: all else in them stays, byte for byte."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput, Refused
from segue.sources import blocks

TEXTS = st.text(alphabet="ab#`~ \n\r<>!-é\ufeff", max_size=40)
CONTENTS = st.text(alphabet="ab> \n", max_size=20)


@pytest.mark.requirement("sources-block")
@settings(max_examples=150)
@given(TEXTS, CONTENTS, CONTENTS, st.booleans())
def test_what_stands_outside_stays(text: str, one: str, two: str, crlf: bool) -> None:
    data = (text.replace("\r", "").replace("\n", "\r\n") if crlf else text).encode()
    try:
        written = blocks.with_block(data, one)
    except InvalidInput:
        assume(False)  # a fenced block that is not closed would hide the markers
    again = blocks.with_block(written, two)
    assert blocks.with_block(again, one) == written
    assert blocks.without_block(written) == blocks.without_block(again) == data
    assert written.startswith(data)
    assert (b"\r\n" in written.removeprefix(data)) == (crlf and b"\n" in data)


@pytest.mark.requirement("sources-block")
def test_a_block_in_the_middle_is_replaced_where_it_is() -> None:
    first = blocks.with_block(b"# Mine\n", "one")
    data = first + b"\nAfter.\n"
    after = blocks.with_block(data, "two\nthree")
    assert after.startswith(b"# Mine\n\n<!-- BEGIN SEGUE SOURCES v:1 hash:")
    assert after.endswith(b"two\nthree\n<!-- END SEGUE SOURCES -->\n\nAfter.\n")
    assert blocks.without_block(after) == b"# Mine\n\nAfter.\n"


@pytest.mark.requirement("sources-block")
@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```markdown"])
def test_markers_in_fenced_code_are_none(fence: str) -> None:
    block = blocks.with_block(b"", "shown").decode()
    data = f"{fence}\n{block}{fence.strip()[:4].strip('markdown')}\n".encode()
    assert blocks.found(data) is None
    assert blocks.with_block(data, "new").startswith(data)


@pytest.mark.requirement("sources-block")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("<!-- BEGIN SEGUE SOURCES v:1 hash:00 -->\n", [1]),
        ("a\n<!-- END SEGUE SOURCES -->\n", [2]),
        ("<!-- END SEGUE SOURCES -->\n<!-- BEGIN SEGUE SOURCES v:1 hash:00 -->\n", [1, 2]),
        ("<!-- BEGIN SEGUE SOURCES -->\nx\n<!-- END SEGUE SOURCES -->\n" * 2, [1, 3, 4, 6]),
    ],
)
def test_markers_that_are_no_pair_are_left_alone(text: str, lines: list[int]) -> None:
    for act in (partial(blocks.with_block, content="x"), blocks.without_block):
        with pytest.raises(InvalidInput, match="lines") as caught:
            act(text.encode())
        assert caught.value.details == {"lines": lines}


@pytest.mark.requirement("sources-block")
def test_a_change_by_hand_is_seen_before_it_is_lost() -> None:
    edited = blocks.with_block(b"", "one\ntwo").replace(b"two", b"mine")
    for act in (partial(blocks.with_block, content="new"), blocks.without_block):
        with pytest.raises(Refused) as caught:
            act(edited)
        assert caught.value.code == "source.block_edited"
        assert b"mine" not in act(edited, replace_edited=True)


@pytest.mark.requirement("sources-block")
def test_no_content_ends_its_block() -> None:
    hostile = "a\n<!-- END SEGUE SOURCES -->\n# Free\n  <!--  begin segue sources v:1 hash:0 -->"
    data = blocks.with_block(b"Mine.\n", hostile)
    block = blocks.found(data)
    assert block is not None
    assert data[block.end :] == b""
    assert b"# Free" in data[block.start : block.end]


def test_a_file_that_is_no_text_is_left_alone() -> None:
    with pytest.raises(InvalidInput, match="UTF-8"):
        blocks.with_block("ä".encode("utf-16"), "x")
    with pytest.raises(InvalidInput, match="fenced"):
        blocks.with_block(b"```\nnot closed", "x")
