"""Installing twice and uninstalling on a corpus of configuration files: the bytes from before come back."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from hosts.single import install, status, uninstall
from segue.base.errors import InvalidInput
from segue.hosts import HOSTS, Surroundings
from segue.hosts.host import SCOPES, Scope

if TYPE_CHECKING:
    from pathlib import Path

BOM = b"\xef\xbb\xbf"
OTHER = '{"command": "npx", "args": ["-y", "other"], "env": {"A": "${env:A}"}}'

TEXTS: dict[str, str] = {
    "empty": "",
    "blank": "\n",
    "spaces": "  \n\t\n",
    "comment alone": "// nothing yet\n",
    "comment alone, no line end": "/* nothing yet */",
    "empty object": "{}",
    "empty object, line end": "{}\n",
    "empty object, space": "{ }\n",
    "empty object, two lines": "{\n}\n",
    "empty object, blank line": "{\n\n}\n",
    "empty object, block comment": "{ /* none */ }\n",
    "empty object, line comment": "{\n  // none\n}\n",
    "no servers": '{\n  "theme": "dark"\n}\n',
    "no servers, no line end": '{\n  "theme": "dark"\n}',
    "no servers, trailing comma": '{\n  "theme": "dark",\n}\n',
    "no servers, comments before the end": '{\n  "a": 1 // one\n  // two\n  /* three\n     four */\n}\n',
    "no servers, comma before a comment": '{\n  "a": 1, // one\n  // two\n}\n',
    "no servers, one line": '{"theme":"dark"}',
    "no servers, one line with spaces": '{ "theme": "dark" }\n',
    "no servers, one line, trailing comma": '{"a": [1, 2,], }\n',
    "no servers, closes on the last line": '{\n  "a": 1 }\n',
    "empty servers": '{\n  "mcpServers": {}\n}\n',
    "empty servers, one line": '{"mcpServers":{}}',
    "empty servers, spaces": '{ "mcpServers": { } }\n',
    "empty servers, two lines": '{\n  "mcpServers": {\n  }\n}\n',
    "empty servers, comment": '{\n  "mcpServers": {\n    // "old": {"command": "old"}\n  }\n}\n',
    "empty servers, block comment": '{\n  "mcpServers": { /* none */ }\n}\n',
    "empty servers, last comma": '{\n  "mcpServers": {},\n}\n',
    "one server": f'{{\n  "mcpServers": {{\n    "other": {OTHER}\n  }}\n}}\n',
    "one server, tabs": f'{{\n\t"mcpServers": {{\n\t\t"other": {OTHER}\n\t}}\n}}\n',
    "one server, four spaces": f'{{\n    "mcpServers": {{\n        "other": {OTHER}\n    }}\n}}\n',
    "one server, no indentation": f'{{\n"mcpServers": {{\n"other": {OTHER}\n}}\n}}\n',
    "one server, one line": f'{{"mcpServers": {{"other": {OTHER}}}}}',
    "one server, compact": '{"mcpServers":{"other":{"command":"x","args":[]}},"n":1}',
    "one server, comma in front": f'{{\n  "a": 1\n, "mcpServers": {{\n    "other": {OTHER}\n  }}\n}}\n',
    "one server, trailing commas": f'{{\n  "mcpServers": {{\n    "other": {OTHER},\n  }},\n}}\n',
    "one server, comma on its own line": f'{{\n  "mcpServers": {{\n    "other": {OTHER}\n    ,\n  }}\n}}\n',
    "one server, comment after": f'{{\n  "mcpServers": {{\n    "other": {OTHER} // mine, and "quoted"\n  }}\n}}\n',
    "one server, comma and comment": f'{{\n  "mcpServers": {{\n    "other": {OTHER}, // mine\n    // }}\n  }}\n}}\n',
    "one server, spaced colons": '{\n  "mcpServers" : {\n    "other" : {"command" : "x"}\n  }\n}\n',
    "comments everywhere": (
        '// a\n{ // b\n  /* c */ "mcpServers" /* d */ : /* e */ { // f\n'
        '    "other": {"url": "http://x/*y*/"} /* g */\n'
        "    /* h // */\n  } // i\n  // j\n}\n// k\n"
    ),
    "comment opens the line": '{\n  "mcpServers": {\n    /* x */ "other": {"command": "x"}\n  }\n}\n',
    "unknown keys": '{"x": null, "mcpServers": {"b": {}, "a": {"d": true}}, "y": [1.5, 1e3, -0], "é": "\\u00e9"}\n',
    "escaped key": '{\n  "mcp\\u0053ervers": {\n    "other": {}\n  }\n}\n',
    "lone surrogate": '{"history": ["cut \\ud83d"], "mcpServers": {}}\n',
    "long number": '{\n  "n": 1' + "0" * 5000 + "\n}\n",
    "separators in strings": '{\n  "a": "x\u2028y\u0085z // no, } comment /* ,} */",\n  "mcpServers": {}\n}\n',
    "other places": '{\n  "projects": {"/p": {"mcpServers": {"segue": {"command": "x"}}}},\n  "mcpServers": {}\n}\n',
}

CORPUS: dict[str, bytes] = {name: text.encode() for name, text in TEXTS.items()}
CORPUS |= {f"{name}, CRLF": text.replace(b"\n", b"\r\n") for name, text in list(CORPUS.items()) if b"\n" in text}
CORPUS |= {f"{name}, BOM": BOM + CORPUS[name] for name in ("empty", "empty object", "one server", "one server, CRLF")}
CORPUS["mixed line ends"] = b'{\r\n  "a": 1,\r\n  "mcpServers": {\n  }\r\n}\n'

BROKEN: dict[str, bytes] = {
    "cut": b'{"mcpServers": {',
    "two values": b"{} {}",
    "text": b"mcpServers:\n  segue: {}\n",
    "lone comma": b"{,}",
    "two commas": b'{"a": 1,,}',
    "two commas in a list": b'{"a": [1,,2]}',
    "single quotes": b"{'mcpServers': {}}",
    "bare key": b"{mcpServers: {}}",
    "open comment": b'{"a": 1 /* }',
    "open string": b'{"a": "b\n}',
    "not a number": b'{"a": NaN}',
    "leading zero": b'{"a": 01}',
    "two equal keys": b'{"mcpServers": {}, "mcpServers": {}}',
    "two equal servers": b'{"mcpServers": {"segue": {}, "se\\u0067ue": {}}}',
    "list": b"[]",
    "string": b'"mcpServers"',
    "servers are a list": b'{"mcpServers": []}',
    "servers are null": b'{"mcpServers": null}',
    "UTF-16": '{"mcpServers": {}}'.encode("utf-16"),
    "Latin-1": b'{"a": "\xe9"}',
    "NUL": b'{"a": 1}\x00',
    "too deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "carriage return in a comment": b'{"a": 1 // x\r, "b": 2\n}',
    "no-break space": '{"a":\u00a01}'.encode(),
}

EVERYWHERE = [(host.name, scope) for host in HOSTS.values() if host.format == "jsonc" for scope in SCOPES]
everywhere = pytest.mark.parametrize(("host", "scope"), EVERYWHERE)
each_text = pytest.mark.parametrize("original", CORPUS.values(), ids=CORPUS)

_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


def plain(data: bytes) -> Any:
    """Read JSON with comments by other means than the code under test."""
    text = _TOKEN.sub(lambda match: match.group(1) or " ", data.decode("utf-8-sig"))
    return json.loads(_TRAILING.sub(lambda match: match.group(1) or " ", text) or "{}", parse_int=str)


def as_of(host: str, text: bytes) -> bytes:
    """The same text with the name that this host gives to the table of servers."""
    (key,) = HOSTS[host].keys
    escaped = f"{key[:-7]}\\u{ord(key[-7]):04x}{key[-6:]}"
    return text.replace(b"mcp\\u0053ervers", escaped.encode()).replace(b"mcpServers", key.encode())


def file_of(host: str, scope: Scope, around: Surroundings) -> Path:
    path = HOSTS[host].files[scope](around)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def tree(around: Surroundings) -> dict[str, bytes | None]:
    """Return every file and folder below the test's folder."""
    top = around.home.parent
    return {str(p.relative_to(top)): p.read_bytes() if p.is_file() else None for p in top.rglob("*")}


@everywhere
@each_text
def test_installed_twice_and_uninstalled_the_bytes_come_back(
    original: bytes, host: str, scope: Scope, around: Surroundings
) -> None:
    path = file_of(host, scope, around)
    original = as_of(host, original)
    path.write_bytes(original)
    before = tree(around)

    first = install(host, scope, around)
    installed = path.read_bytes()
    second = install(host, scope, around)

    assert (first.action, second.action) == ("changed", "unchanged")
    assert path.read_bytes() == installed != original
    assert first.backup is not None and first.backup.read_bytes() == original
    _check_value(original, installed, host, scope)

    assert uninstall(host, scope, around).action == "removed"
    assert tree(around) == before


def _check_value(original: bytes, installed: bytes, host: str, scope: Scope) -> None:
    command = "segue" if scope == "project" else "/opt/tools/bin/segue"
    entry = {"command": command, "args": ["mcp"]}
    if host != "cursor":
        entry = {"type": "stdio", **entry}
    value = plain(installed)
    (key,) = HOSTS[host].keys
    assert value[key].pop("segue") == entry
    old = plain(original) if original.strip(BOM + b" \r\n\t") and b"nothing yet" not in original else {}
    assert value == {key: {}, **old}


@each_text
def test_what_is_added_is_strict_and_in_the_style_of_the_file(original: bytes, around: Surroundings) -> None:
    path = file_of("cursor", "project", around)
    path.write_bytes(original)
    install("cursor", "project", around)
    installed = path.read_bytes()
    bare = installed.replace(b"\r\n", b"")
    if b"\r\n" in original and b"mixed" not in original and original.count(b"\n") == original.count(b"\r\n"):
        assert b"\n" not in bare
    elif b"\r" not in original:
        assert b"\r" not in installed
    assert installed.startswith(BOM) == original.startswith(BOM)
    for line in installed.splitlines():
        assert line.rstrip() == line or line in original, "no space is added at the end of a line"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "one server, tabs",
            (
                f'{{\n\t"mcpServers": {{\n\t\t"other": {OTHER},\n\t\t"segue": {{\n\t\t\t"command": "segue",\n'
                '\t\t\t"args": ["mcp"]\n\t\t}\n\t}\n}\n'
            ),
        ),
        (
            "one server, comment after",
            (
                f'{{\n  "mcpServers": {{\n    "other": {OTHER}, // mine, and "quoted"\n    "segue": {{\n'
                '      "command": "segue",\n      "args": ["mcp"]\n    }\n  }\n}\n'
            ),
        ),
        (
            "one server, compact",
            '{"mcpServers":{"other":{"command":"x","args":[]},"segue":{"command":"segue","args":["mcp"]}},"n":1}',
        ),
        ("empty servers, one line", '{"mcpServers":{"segue":{"command":"segue","args":["mcp"]}}}'),
        (
            "empty object",
            '{\n  "mcpServers": {\n    "segue": {\n      "command": "segue",\n      "args": ["mcp"]\n    }\n  }\n}',
        ),
        (
            "no servers, one line with spaces",
            '{ "theme": "dark", "mcpServers": {"segue": {"command": "segue", "args": ["mcp"]}} }\n',
        ),
        (
            "one server, trailing commas",
            (
                f'{{\n  "mcpServers": {{\n    "other": {OTHER},\n    "segue": {{\n      "command": "segue",\n'
                '      "args": ["mcp"]\n    }\n  },\n}\n'
            ),
        ),
    ],
)
def test_the_style_of_the_file(name: str, expected: str, around: Surroundings) -> None:
    path = file_of("cursor", "project", around)
    path.write_bytes(CORPUS[name])
    install("cursor", "project", around)
    assert path.read_bytes().decode() == expected


@everywhere
def test_a_file_and_folder_that_were_not_there_go_away_again(host: str, scope: Scope, around: Surroundings) -> None:
    before = tree(around)
    change = install(host, scope, around)
    assert (change.action, change.backup) == ("created", None)
    assert change.diff.startswith("--- /dev/null\n") and change.note
    assert plain(change.path.read_bytes())[HOSTS[host].keys[0]]["segue"]["args"] == ["mcp"]
    assert install(host, scope, around).action == "unchanged"
    assert uninstall(host, scope, around).action == "removed"
    assert tree(around) == before
    assert uninstall(host, scope, around).action == "unchanged"


def test_a_folder_that_was_there_or_holds_something_stays(around: Surroundings) -> None:
    folder = around.home / ".cursor"
    folder.mkdir()
    install("cursor", "user", around)
    uninstall("cursor", "user", around)
    assert list(folder.iterdir()) == []
    folder.rmdir()
    install("cursor", "user", around)
    (folder / "rules.md").write_text("mine")
    uninstall("cursor", "user", around)
    assert [path.name for path in folder.iterdir()] == ["rules.md"]


# Edits between installation and removal


@each_text
def test_an_edit_elsewhere_stays_and_everything_else_comes_back(original: bytes, around: Surroundings) -> None:
    path = file_of("cursor", "project", around)
    path.write_bytes(original)
    install("cursor", "project", around)
    edited = b"// edited in between\n"
    data = path.read_bytes()
    start = len(BOM) if data.startswith(BOM) else 0
    path.write_bytes(data[:start] + edited + data[start:])
    assert uninstall("cursor", "project", around).action == "removed"
    assert path.read_bytes() == original[:start] + edited + original[start:]


def test_servers_that_were_added_in_between_stay(around: Surroundings) -> None:
    path = file_of("claude-code", "project", around)
    for original in (b"{}\n", b'{\n  "mcpServers": {\n    "a": {}\n  }\n}\n', None):
        path.unlink(missing_ok=True)
        if original is not None:
            path.write_bytes(original)
        install("claude-code", "project", around)
        text = path.read_bytes()
        added = text.replace(
            b'"args": ["mcp"]\n    }\n', b'"args": ["mcp"]\n    }, // Segue\n    "b": {"command": "b"}\n'
        )
        assert added != text
        path.write_bytes(added)
        uninstall("claude-code", "project", around)
        value = plain(path.read_bytes())
        assert value["mcpServers"] == {**({"a": {}} if original and b"a" in original else {}), "b": {"command": "b"}}
        assert b"// Segue" in path.read_bytes()


def test_a_file_written_anew_by_its_host_loses_the_entry_alone(around: Surroundings) -> None:
    path = file_of("claude-code", "user", around)
    path.write_bytes(b'{"a":1}')
    install("claude-code", "user", around)
    value = json.loads(path.read_bytes())
    value["started"] = 2
    path.write_text(json.dumps(value, indent=4))
    uninstall("claude-code", "user", around)
    assert path.read_text() == '{\n    "a": 1,\n    "started": 2\n}'


def test_without_a_backup_the_file_was_ours(around: Surroundings) -> None:
    path = file_of("claude-code", "project", around)
    path.write_text('{"mcpServers":{"segue":{"command":"segue","args":["mcp"]}}}')
    assert install("claude-code", "project", around).action == "unchanged"
    uninstall("claude-code", "project", around)
    assert not path.exists()
    path.write_text('{"mcpServers":{"segue":{"command":"segue","args":["mcp"]}},"b":[]}')
    change = uninstall("claude-code", "project", around)
    assert path.read_text() == '{"b":[]}'
    assert change.backup is not None and b"segue" in change.backup.read_bytes()


def test_a_backup_of_a_file_that_was_deleted_says_nothing_about_the_new_one(around: Surroundings) -> None:
    path = file_of("claude-code", "project", around)
    path.write_bytes(b'{"mcpServers": {}}')
    install("claude-code", "project", around)
    path.unlink()
    install("claude-code", "project", around)
    uninstall("claude-code", "project", around)
    assert tree(around) == {"home": None, "project": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"mcpServers": {"segue": E, "b": {}}}', '{"mcpServers": {"b": {}}}'),
        ('{"mcpServers": {"a": {}, "segue": E, "b": {}}}', '{"mcpServers": {"a": {}, "b": {}}}'),
        ('{"mcpServers": {"a": {}, "segue": E,}}', '{"mcpServers": {"a": {},}}'),
        ('{"mcpServers": {"a": {}, // c\n"segue": E}}', '{"mcpServers": {"a": {} // c\n}}'),
        ('{"mcpServers": { // c\n"segue": E, "b": {}}}', '{"mcpServers": { // c\n "b": {}}}'),
        ('{"mcpServers": {"segue": E /* c */, "b": {}}}', '{"mcpServers": { /* c */ "b": {}}}'),
        ('{"mcpServers": { /* c */ "segue": E}}', '{"mcpServers": { /* c */}}'),
        ('{"a": 1, "mcpServers": {"segue": E}, "b": 2}', '{"a": 1, "b": 2}'),
        ('{"a": 1, "mcpServers": {"segue": E},}', '{"a": 1,}'),
        ('// c\n{"mcpServers": {"segue": E}}\n', "// c\n{}\n"),
        ('{"mcpServers" /* c */: {"segue" /* gone */: E}}', '{"mcpServers" /* c */: {}}'),
        (
            '{"mcpServers": {"b": {}, "segue": {// gone\n"command": "segue", "args": ["mcp"]}}}',
            '{"mcpServers": {"b": {}}}',
        ),
        ('{\n  "mcpServers": {\n    "segue": E,\n    "b": {}\n  }\n}', '{\n  "mcpServers": {\n    "b": {}\n  }\n}'),
    ],
)
def test_the_entry_alone_is_taken_out_wherever_it_stands(text: str, expected: str, around: Surroundings) -> None:
    path = file_of("cursor", "project", around)
    path.write_text(text.replace("E", '{"command": "segue", "args": ["mcp"]}'))
    uninstall("cursor", "project", around)
    assert path.read_text() == expected


# What is refused


@everywhere
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_left_alone_and_named(text: bytes, host: str, scope: Scope, around: Surroundings) -> None:
    path = file_of(host, scope, around)
    path.write_bytes(as_of(host, text))
    before = tree(around)
    for change in (install, uninstall):
        with pytest.raises(InvalidInput) as caught:
            change(host, scope, around, force=True)
        assert caught.value.code == "hosts.unreadable"
        assert str(path) in caught.value.message and caught.value.details["path"] == str(path)
    state = next(state for state in status(host, around) if state.scope == scope)
    assert (state.path, state.installed) == (path, "unreadable") and state.detail
    assert tree(around) == before


# Dry run


@everywhere
@pytest.mark.parametrize("original", [None, CORPUS["empty"], CORPUS["one server"], CORPUS["empty servers, CRLF"]])
def test_a_dry_run_writes_nothing_and_says_what_would_be_done(
    original: bytes | None, host: str, scope: Scope, around: Surroundings
) -> None:
    if original is not None:
        file_of(host, scope, around).write_bytes(as_of(host, original))
    before = tree(around)
    planned = install(host, scope, around, dry_run=True)
    assert tree(around) == before
    assert planned == install(host, scope, around)
    assert "+" in planned.diff and '"segue"' in planned.diff
    before = tree(around)
    planned = uninstall(host, scope, around, dry_run=True)
    assert tree(around) == before
    done = uninstall(host, scope, around)
    assert (planned.path, planned.action, planned.diff) == (done.path, done.action, done.diff)
    assert "-" in planned.diff and install(host, scope, around).diff != planned.diff
