"""Reading and editing random TOML: values, comments and bytes survive."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import Failed
from segue.hosts import toml, toml_editor
from segue.hosts.jsonc import Unreadable

KEYS = ("mcp_servers",)
ENTRY = {"command": "/opt/segue", "args": ["mcp"]}

names = st.sampled_from(["a", "b-1", "segue ", "mcp_servers.segue", "é", '"', "#", "[x]", "=", ""])
texts = st.sampled_from(["", "x", "# no", "[mcp_servers.segue]", "a = 1", '"', "'", "é\u2028", "\\", "}", "\t"])
comments = st.sampled_from(["", "# x", "# [mcp_servers.segue]", '# "', "# '''", "# ] }", "#"])
spaces = st.sampled_from(["", " ", "\t"])


@st.composite
def keys(draw: st.DrawFn, name: str) -> str:
    """A key in one of the forms that TOML has for it."""
    forms = [json.dumps(name, ensure_ascii=draw(st.booleans()))]
    if "'" not in name:
        forms.append(f"'{name}'")
    if name and all(char.isascii() and (char.isalnum() or char in "-_") for char in name):
        forms += [name, name]
    return draw(st.sampled_from(forms))


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> str:
    """A value: a text of each kind, a number, a time, a list over lines with comments, an inline table."""
    text = draw(texts)
    forms = [json.dumps(text), "1_000", "-0.5e3", "nan", "true", "1979-05-27 07:32:00Z", "07:32:00"]
    if '"' not in text and "\\" not in text:
        forms += [f'"""\n{text}\n{text}"""', f'"""{text}"quoted\\""""']
    if "'" not in text:
        forms += [f"'{text}'", f"'''{text}\n''{text}'''"]
    if depth:
        inner = [draw(values(depth - 1)) for _ in range(draw(st.integers(0, 2)))]
        flat = [item for item in inner if "\n" not in item]
        forms.append("[" + "".join(f"\n {item}, {draw(comments)}\n" for item in inner) + "]")
        forms.append("{ " + ", ".join(f"k{number} = {item}" for number, item in enumerate(flat)) + " }")
    return draw(st.sampled_from(forms))


@st.composite
def lines(draw: st.DrawFn, prefix: str) -> list[str]:
    """Some pairs, with space, comments and empty lines around them; the names start with `prefix`."""
    found = []
    for number in range(draw(st.integers(0, 3))):
        key = draw(keys(f"{prefix}{number}{draw(names)}"))
        pair = f"{draw(spaces)}{key}{draw(spaces)}={draw(spaces)}{draw(values())}"
        found += [draw(comments)] * draw(st.integers(0, 1))
        found.append(f"{pair} {draw(comments)}" if draw(st.booleans()) else pair)
    return found


@st.composite
def servers(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Servers of others, as lines before the first table and as lines of tables of their own."""
    written = draw(values(1))
    form = draw(st.integers(0, 6))
    if form == 0:
        return [f"mcp_servers = {{ o = {written} }}" if "\n" not in written else "mcp_servers = {}"], []
    if form == 1:
        return [f"mcp_servers.o.command = {written}"], []
    table = draw(keys("mcp_servers"))
    if form == 2:
        return [], [f"[{table}]", f"o = {written}", draw(comments)]
    if form == 3:
        return [], [f"[ {table} .{draw(keys('o'))}]{draw(spaces)}{draw(comments)}", f"command = {written}"]
    if form == 4:
        return [], [f"[{table}]", f"o.command = {written}", f"[{table}.p]"]
    return [], []


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A document: pairs, tables and arrays of tables in random order, with random line ends."""
    top, own = draw(servers())
    blocks = [own]
    for number in range(draw(st.integers(0, 2))):
        header = draw(st.sampled_from([f"[t{number}]", f"[[t{number}]]", f"[t{number}.{draw(keys(draw(names)))}]"]))
        blocks.append([header, *draw(lines("k"))])
    ordered = draw(st.permutations(blocks))
    text = "\n".join([*draw(lines("r")), *top, *(line for block in ordered for line in block)])
    text += draw(st.sampled_from(["", "\n", "\n\n", "\n# the end", " "]))
    raw = text.replace("\n", "\r\n").encode() if draw(st.booleans()) else text.encode()
    return b"\xef\xbb\xbf" + raw if draw(st.booleans()) else raw


def without_entry(value: dict[str, Any]) -> dict[str, Any]:
    others = {name: server for name, server in value.get("mcp_servers", {}).items() if name != "segue"}
    rest = {name: item for name, item in value.items() if name != "mcp_servers"}
    return {**rest, "mcp_servers": others} if others else rest


@settings(max_examples=200, deadline=None, derandomize=True)
@given(documents())
def test_a_random_document_survives(raw: bytes) -> None:
    before = toml.read(raw)
    installed = toml_editor.put(raw, KEYS, "segue", ENTRY)
    after = toml.read(installed)
    assert after.value["mcp_servers"]["segue"] == ENTRY
    assert without_entry(after.value) == without_entry(before.value)
    assert after.comments_outside([]) == before.comments_outside([])
    assert toml_editor.put(installed, KEYS, "segue", ENTRY) == installed
    moved = toml_editor.put(installed, (*KEYS, "segue"), "command", "/new")
    assert toml_editor.get(moved, KEYS, "segue") == {**ENTRY, "command": "/new"}
    assert toml_editor.put(moved, (*KEYS, "segue"), "command", ENTRY["command"]) == installed
    removed = toml_editor.drop(installed, KEYS, "segue", raw)
    assert removed == raw


@settings(max_examples=100, deadline=None, derandomize=True)
@given(documents())
def test_without_knowledge_of_the_original_the_entry_alone_goes(raw: bytes) -> None:
    removed = toml_editor.drop(toml_editor.put(raw, KEYS, "segue", ENTRY), KEYS, "segue", None)
    before = toml.read(raw)
    if removed is None:
        assert without_entry(before.value) == {} and not before.comments
    else:
        assert without_entry(toml.read(removed).value) == without_entry(before.value)
        assert toml.read(removed).comments_outside([]) == before.comments_outside([])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=40) | st.text("[]{}\"'=,.#\\ \n\raé0-_:", max_size=30).map(str.encode))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        installed = toml_editor.put(raw, KEYS, "segue", ENTRY)
    except Unreadable:
        return
    assert toml_editor.get(installed, KEYS, "segue") == ENTRY
    assert toml_editor.drop(installed, KEYS, "segue", raw) == raw


def test_places_are_byte_offsets() -> None:
    raw = "\ufeffé = 1 # ü\n".replace("é", '"é"').encode() + b"[ a . 'b c' ] # h\n  d.e = [ 1, # x\n 2 ]\n"
    document = toml.read(raw)
    first, header, last = document.statements
    assert isinstance(first, toml.Pair) and isinstance(header, toml.Header) and isinstance(last, toml.Pair)
    assert (first.path, raw[first.start : first.end], raw[first.value_start : first.end]) == (
        ("é",),
        '"é" = 1'.encode(),
        b"1",
    )
    assert (header.path, raw[header.start : header.end]) == (("a", "b c"), b"[ a . 'b c' ]")
    assert (last.path, raw[last.value_start : last.end]) == (("a", "b c", "d", "e"), b"[ 1, # x\n 2 ]")
    assert document.comments_outside([]) == ["# ü".encode(), b"# h", b"# x"]


@pytest.mark.parametrize(
    ("raw", "pairs"),
    [
        ('a = """x"""""\nb = 1\n', {("a",): '"""x"""""', ("b",): "1"}),
        ("a = '''x''''\nb = 1\n", {("a",): "'''x''''", ("b",): "1"}),
        ('a = """x\\"""y"""\nb = 1\n', {("a",): '"""x\\"""y"""', ("b",): "1"}),
        ("a = 1979-05-27 07:32:00Z\nb = 1979-05-27 # x\n", {("a",): "1979-05-27 07:32:00Z", ("b",): "1979-05-27"}),
        ("a = [1979-05-27 07:32:00.5, 2]\n", {("a",): "[1979-05-27 07:32:00.5, 2]"}),
        ('a = { b = [ "]", { c = \'}\' } ] }\n\'d e\'."f\\u0067" = 2', {
            ("a",): '{ b = [ "]", { c = \'}\' } ] }', ("d e", "fg"): "2",
        }),
    ],
)  # fmt: skip
def test_where_each_value_stands(raw: str, pairs: dict[tuple[str, ...], str]) -> None:
    found = toml.read(raw.encode()).statements
    assert {
        pair.path: raw.encode()[pair.value_start : pair.end].decode() for pair in found if isinstance(pair, toml.Pair)
    } == pairs


@pytest.mark.parametrize("wrong", [b"", b"a = 1\n[mcp_servers.segue]\n", b"[[["])
def test_an_edit_that_goes_wrong_is_not_made(wrong: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_editor, "_appended", lambda *_: wrong)
    with pytest.raises(Failed, match="not made"):
        toml_editor.put(b"a = 1\n", KEYS, "segue", ENTRY)


def test_an_edit_that_loses_a_comment_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    appended = toml_editor._appended
    monkeypatch.setattr(toml_editor, "_appended", lambda raw, *rest: appended(raw.replace(b"# x", b""), *rest))
    with pytest.raises(Failed, match="not made"):
        toml_editor.put(b"a = 1 # x\n", KEYS, "segue", ENTRY)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"a = 1\na = 2\n", "it is not TOML: cannot overwrite a value"),
        (b"\xff", "byte 0 is not UTF-8"),
        (b"\xff\xfea\0", "it is UTF-16; save it as UTF-8"),
        (b"a = " + b"[" * 100_000, "nested too deeply|not TOML"),
        (b"a = " + b"9" * 10_000, "a number that is too long|not TOML"),
    ],
)
def test_the_reason_is_said(raw: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        toml.read(raw)
