"""Reading and editing random JSON with comments: values, comments and bytes survive."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.hosts import editor, jsonc

KEYS = ("mcpServers",)
ENTRY = {"command": "/opt/segue", "args": ["mcp"]}

keys = st.one_of(st.sampled_from(["mcpServers", "a", "segue", "//", "/*", ",}", "é", '"', "\\"]), st.text(max_size=4))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 9),
    st.text(max_size=6),
    st.sampled_from(["// x", "/* ,} */", "{,}", '\\"']),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)
tables = st.dictionaries(keys.filter(lambda key: key != "segue"), values, max_size=3)
documents = st.builds(
    lambda rest, servers: rest if servers is None else {**rest, "mcpServers": servers},
    st.dictionaries(keys.filter(lambda key: key != "mcpServers"), values, max_size=3),
    st.none() | tables,
)
comment_texts = st.sampled_from(["", " x", ' "', " }", " ,", " ]{", " /*", " é", " \\", " //", ": 1"])


@st.composite
def fillers(draw: st.DrawFn) -> str:
    """Space and comments that may stand between two tokens."""
    parts = draw(st.lists(st.sampled_from(["", " ", "  ", "\n", "\t", "NL", "line", "block"]), max_size=3))
    text = ""
    for part in parts:
        if part == "line":
            text += "//" + draw(comment_texts) + "\n"
        elif part == "block":
            text += "/*" + draw(comment_texts) + ("*" if draw(st.booleans()) else "") + "*/"
        else:
            text += "\n    " if part == "NL" else part
    return text


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, Any]:
    """A document written with random space, comments and trailing commas, and its value."""
    value = draw(documents)

    def fill() -> str:
        return draw(fillers())

    def write(item: Any) -> str:
        if not isinstance(item, dict | list) or not item:
            if isinstance(item, dict | list):
                return ("{%s}" if isinstance(item, dict) else "[%s]") % fill()
            return json.dumps(item, ensure_ascii=draw(st.booleans()))
        if isinstance(item, list):
            parts = [fill() + write(part) + fill() for part in item]
        else:
            parts = [f"{fill()}{json.dumps(k)}{fill()}:{fill()}{write(v)}{fill()}" for k, v in item.items()]
        last = "," + fill() if draw(st.integers(0, 3)) == 0 else ""
        text = ",".join(parts) + last
        return "[" + text + "]" if isinstance(item, list) else "{" + text + "}"

    text = fill() + write(value) + fill()
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text, value


def known(value: Any) -> Any:
    """Numbers as the reader keeps them."""
    if isinstance(value, dict):
        return {key: known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [known(item) for item in value]
    return ("number", str(value)) if isinstance(value, int) and not isinstance(value, bool) else value


@settings(max_examples=200, deadline=None, derandomize=True)
@given(texts())
def test_a_random_document_survives(sample: tuple[str, Any]) -> None:
    text, value = sample
    raw = text.encode()
    before = jsonc.read(raw, KEYS)
    assert before.value == known(value)

    installed = editor.put(raw, KEYS, "segue", ENTRY)
    after = jsonc.read(installed, KEYS)
    servers = {**known(value.get("mcpServers", {})), "segue": ENTRY}
    assert after.value == {**known(value), "mcpServers": servers}
    assert after.comments_in(0, len(installed)) == before.comments_in(0, len(raw))
    assert editor.get(installed, KEYS, "segue") == ENTRY
    assert editor.put(installed, KEYS, "segue", ENTRY) == installed

    removed = editor.drop(installed, KEYS, "segue", raw)
    assert removed == raw


@settings(max_examples=100, deadline=None, derandomize=True)
@given(texts())
def test_without_knowledge_of_the_original_the_entry_alone_goes(sample: tuple[str, Any]) -> None:
    text, value = sample
    installed = editor.put(text.encode(), KEYS, "segue", ENTRY)
    removed = editor.drop(installed, KEYS, "segue", None)
    expected = known(value)
    found = {} if removed is None else jsonc.read(removed).value
    for side in (expected, found):
        if not side.get("mcpServers", True):
            del side["mcpServers"]
    assert found == expected


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=40) | st.text('{}[]",:/*\\ \n\raé0-', max_size=30).map(str.encode))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        value = jsonc.read(raw, KEYS).value
    except jsonc.Unreadable:
        return
    assert value is None or isinstance(value, dict)
    assert editor.drop(editor.put(raw, KEYS, "segue", ENTRY), KEYS, "segue", raw) == raw


def test_places_are_byte_offsets() -> None:
    raw = '\ufeff{ "é": 1, // ü\n "mcpServers": {"x" : {}, } }'.encode()
    document = jsonc.read(raw, KEYS)
    root, servers = document.tables
    assert raw[root.start : root.end].startswith(b"{ ") and raw[servers.start : servers.end] == b'{"x" : {}, }'
    member = servers.members[0]
    assert (raw[member.start : member.key_end], raw[member.value_start : member.end]) == (b'"x"', b"{}")
    assert document.trailing_comma(servers) and not document.trailing_comma(root)
    assert document.comments_in(0, len(raw)) == ["// ü".encode()]
    assert len(document.code) == len(raw)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"a": 1\n"b": 2}', "expecting ',' delimiter at line 2, column 1"),
        (b'{"a": "\0"}', "invalid control character at line 1, column 8"),
        (b'{"a": 1, "a": 2}', "the key 'a' stands twice"),
        (b'{"a": Infinity}', "Infinity is not a JSON number"),
        (b"[1]", "its outermost value is not an object"),
        (b'{"mcpServers": 1}', "'mcpServers' is not an object"),
        (b"\xff", "byte 0 is not UTF-8"),
        ("{}".encode("utf-16-le"), "not JSON"),
        (b"\xff\xfe{\0}\0", "it is UTF-16; save it as UTF-8"),
        (b"\xfe\xff\0{\0}", "it is UTF-16; save it as UTF-8"),
    ],
)
def test_the_reason_is_said(raw: bytes, reason: str) -> None:
    with pytest.raises(jsonc.Unreadable, match=reason):
        jsonc.read(raw, KEYS)


def test_nothing_heavy_is_imported_before_a_file_is_edited() -> None:
    heavy = ("tree_sitter", "tree_sitter_json", "typer", "mcp")
    code = f"import sys, segue.hosts; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
