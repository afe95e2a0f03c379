"""The stream of lines and the door to all hosts: detection, damage, memory."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.transcripts.events import Meta, UserText
from segue.transcripts.lines import Records
from segue.transcripts.reader import read, read_file

if TYPE_CHECKING:
    from segue.transcripts.reader import Host

FIXTURES = Path(__file__).parent.parent / "conversions" / "fixtures"
PROMPT = b'{"type":"user","sessionId":"s","message":{"role":"user","content":"%s"}}\n'


def texts(data: bytes, host: Host | None = None) -> list[str]:
    return [event.text for event in read(io.BytesIO(data), host) if isinstance(event, UserText)]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_host_is_told_from_the_lines(path: Path) -> None:
    *_, last = read_file(path)
    assert isinstance(last, Meta)
    assert last.host == ("codex" if path.stem.startswith("codex") else "claude-code")


def test_nothing_comes_from_a_file_that_is_of_no_host() -> None:
    assert list(read([b'{"a":1}\n', b"[]\n", b"x\n"])) == []
    assert list(read([])) == []


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot read") as caught:
        list(read_file(tmp_path / "none.jsonl"))
    assert caught.value.code == "transcript.read"


def test_lines_that_do_not_parse_are_skipped_and_counted() -> None:
    data = PROMPT % b"one" + b"{oops\n" + b"[1]\n" + b"\r\n" + PROMPT % b"two" + b'{"type":"us'
    told = list(read(io.BytesIO(data)))
    assert [event.text for event in told if isinstance(event, UserText)] == ["one", "two"]
    assert isinstance(told[-1], Meta)
    assert told[-1].skipped == 3


def test_byte_order_mark_carriage_returns_and_separators_inside_strings() -> None:
    line = (PROMPT % "a\u2028b\u0085c".encode()).rstrip(b"\n") + b"\r\n"
    assert texts(b"\xef\xbb\xbf" + line) == ["a\u2028b\u0085c"]


def test_bad_bytes_and_half_characters_are_replaced() -> None:
    assert texts(PROMPT % b"caf\xe9") == ["caf\ufffd"]
    assert texts(PROMPT % rb"cut \ud83d here") == ["cut \ufffd here"]
    assert texts(PROMPT % rb"cut \ude00 \ud83d\ude00 here") == ["cut \ufffd \U0001f600 here"]


@pytest.mark.parametrize("as_file", [True, False])
def test_lines_that_are_too_long_are_skipped(as_file: bool) -> None:
    lines = [PROMPT % b"one", PROMPT % (b"x" * 300_000), PROMPT % b"two"]
    records = Records(io.BytesIO(b"".join(lines)) if as_file else lines, max_line=1_000)
    assert [record["message"]["content"] for record in records] == ["one", "two"]
    assert records.skipped == 1


def test_a_long_last_line_without_end_is_skipped() -> None:
    records = Records(io.BytesIO(PROMPT % b"one" + b"x" * 200_000), max_line=1_000)
    assert len(list(records)) == 1
    assert records.skipped == 1


def _large_file(path: Path, size: int) -> int:
    """Write a session of `size` bytes with large results; return the number of its turns."""
    output = "a line of output, nothing more\n" * 1_500
    written = turns = 0
    with path.open("wb") as file:
        while written < size:
            turns += 1
            prompt: dict[str, Any] = {
                "type": "user",
                "uuid": f"u{turns}",
                "parentUuid": f"r{turns - 1}" if turns > 1 else None,
            }
            prompt |= {"sessionId": "s", "cwd": "/home/ana/shop", "message": {"content": f"Step {turns} of the move."}}
            block = {"type": "tool_result", "tool_use_id": f"t{turns}", "content": output}
            result: dict[str, Any] = {
                "type": "user",
                "uuid": f"r{turns}",
                "parentUuid": f"u{turns}",
                "message": {"content": [block]},
            }
            result["toolUseResult"] = {"stdout": output}
            written += file.write(orjson.dumps(prompt) + b"\n" + orjson.dumps(result) + b"\n")
    return turns


def test_a_large_file_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    turns = _large_file(path, 20_000_000)
    tracemalloc.start()
    try:
        heard = sum(isinstance(event, UserText) for event in read_file(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert heard == turns
    assert peak < 3_000_000


_LINES = [line for path in sorted(FIXTURES.glob("*.jsonl")) for line in path.read_bytes().split(b"\n") if line]


@settings(max_examples=120, deadline=None, derandomize=True)
@given(data=st.binary(max_size=400), host=st.sampled_from([None, "claude-code", "codex"]))
def test_any_bytes_are_read_without_an_exception(data: bytes, host: Host | None) -> None:
    list(read(io.BytesIO(data), host))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data(), host=st.sampled_from([None, "claude-code", "codex"]))
def test_real_lines_with_any_value_in_any_place_are_read_without_an_exception(
    data: st.DataObject, host: Host | None
) -> None:
    record = orjson.loads(data.draw(st.sampled_from([line for line in _LINES if line.startswith(b'{"')][:200])))
    place = record
    while isinstance(place, dict) and place:
        key = data.draw(st.sampled_from(sorted(place)))
        inner = place[key][0] if isinstance(place[key], list) and place[key] else place[key]
        if not isinstance(inner, dict) or not inner or data.draw(st.booleans()):
            place[key] = data.draw(_JSON)
            break
        place = inner
    list(read([orjson.dumps(record, option=orjson.OPT_NON_STR_KEYS)], host))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_damaged_files_are_read_without_an_exception(data: st.DataObject) -> None:
    text = bytearray(b"\n".join(data.draw(st.lists(st.sampled_from(_LINES), min_size=1, max_size=6))))
    for _ in range(data.draw(st.integers(1, 8))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    list(read(io.BytesIO(bytes(text))))
