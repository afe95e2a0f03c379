"""Codex's `config.toml`: installed twice and uninstalled, the bytes from before come back."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from hosts.single import install, status, uninstall
from segue.base.errors import Conflict, InvalidInput
from segue.hosts.host import HOSTS, SCOPES, Scope, Surroundings

if TYPE_CHECKING:
    from pathlib import Path

BOM = b"\xef\xbb\xbf"
ENTRY = 'command = "segue"\nargs = ["mcp"]\nenv_vars = ["SEGUE_HOME", "SEGUE_DB"]\n'
OWN = f"[mcp_servers.segue]\n{ENTRY}"
OTHER = '[mcp_servers.other]\ncommand = "npx"\nargs = ["-y", "other"]\n'

TEXTS: dict[str, str] = {
    "empty": "",
    "blank": "\n",
    "spaces": "  \n\t\n",
    "comment alone": "# nothing yet\n",
    "comment alone, no line end": "# nothing yet",
    "one key": 'model = "m"\n',
    "one key, no line end": 'model = "m"',
    "one key, blank lines after": 'model = "m"\n\n\n',
    "one key, spaces after": 'model = "m"  \n  ',
    "unknown keys": "x = 1\n[a.b]\nc = [1.5, 1e3, -0, inf, nan, 0xF]\n\n[[d]]\ne = 1979-05-27 07:32:00Z\n[[d]]\n",
    "one server": OTHER,
    "one server, comments": f"# servers\n{OTHER}# mine\nenabled = true # for now\n\n# the end\n",
    "one server, a table after it": f'{OTHER}\n[mcp_servers.other.env]\nA = "b"\n\n[tui]\nx = 1\n',
    "one server, quoted": "[ mcp_servers . \"my server\" ]\ncommand = 'x'\n",
    "one server, dotted": 'mcp_servers.other.command = "x"\n\n[tui]\nx = 1\n',
    "one server, dotted in its table": '[mcp_servers]\nother.command = "x"\n',
    "one server, in its table": '[mcp_servers]\nother = { command = "x" }\n',
    "servers in one line": 'mcp_servers = { other = { command = "x", args = ["a, }"] } } # mine\nx = 1\n',
    "servers in one line, dotted": 'mcp_servers = { other.command = "x" }\n',
    "servers in one line, none": "mcp_servers = {}\n",
    "servers in one line, none with space": "mcp_servers = {  } # none\n",
    "empty table of servers": "[mcp_servers]\n",
    "empty table of servers, comment": "[mcp_servers]\n# none yet\n",
    "our table in a comment": f"# {OWN.splitlines()[0]}\n# command = 1\n",
    "our table in a string": f"a = \"\"\"\n{OWN}\"\"\"\nb = '''\n[mcp_servers.segue]'''\n",
    "quotation marks at the end of strings": "a = \"\"\"x\"\"\"\"\"\nb = '''y'''''\nc = 'z' # '\"\n",
    "escapes": 'a = "\\"#[\\\\" # \\\nb = """\\"""x \\\n   y"""\n"c\\u0064" = 1\n',
    "lists over lines": "a = [ # one\n  1, # ]\n  [2, { b = '}' }],\n  # three\n]\n",
    "other places": '[projects."/p"]\ntrust_level = "trusted"\n\n[profiles.x.mcp_servers.segue]\ncommand = "x"\n',
    "indented": "\t[a]\n\t  b = 1\n  [c]\n\td = 2 # x\n",
    "long": "".join(f'[t{number}]\nx = "{number}" # {number}\n' for number in range(600)),
    "deep": "a = " + "[" * 60 + "]" * 60 + "\n[" + ".".join(["x"] * 60) + "]\ny = 1\n",
}

CORPUS: dict[str, bytes] = {name: text.encode() for name, text in TEXTS.items()}
CORPUS |= {f"{name}, CRLF": text.replace(b"\n", b"\r\n") for name, text in list(CORPUS.items()) if b"\n" in text}
CORPUS |= {f"{name}, BOM": BOM + CORPUS[name] for name in ("empty", "one key", "one server", "one server, CRLF")}
CORPUS["mixed line ends"] = b'a = 1\r\nb = """x\r\ny\nz"""\n[c]\r\n'

BROKEN: dict[str, bytes] = {
    "cut": b"[mcp_servers",
    "JSON": b'{"mcp_servers": {}}',
    "no value": b"a =\n",
    "bare text": b"a = b\n",
    "open string": b'a = "b\n',
    "open list": b"a = [1\n",
    "two equal keys": b"a = 1\na = 2\n",
    "two equal tables": b"[a]\n[a]\n",
    "two equal servers": b"[mcp_servers.segue]\n[mcp_servers.'segue']\n",
    "servers are a list": b"mcp_servers = []\n",
    "servers are a text": b'mcp_servers = "x"\n',
    "servers are an array of tables": b"[[mcp_servers]]\n",
    "UTF-16": "a = 1\n".encode("utf-16"),
    "Latin-1": b'a = "\xe9"\n',
    "NUL": b"a = 1\x00\n",
    "lone carriage return": b"a = 1\rb = 2\n",
    "too deep": b"a = " + b"[" * 100_000 + b"]" * 100_000,
    "too long a number": b"a = " + b"1" * 5000 + b"\n",
}

everywhere = pytest.mark.parametrize("scope", SCOPES)
each_text = pytest.mark.parametrize("original", CORPUS.values(), ids=CORPUS)


def file_of(scope: Scope, around: Surroundings) -> Path:
    path = HOSTS["codex"].files[scope](around)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def value(data: bytes) -> dict[str, Any]:
    return tomllib.loads(data.decode("utf-8-sig"), parse_float=str)


def tree(around: Surroundings) -> dict[str, bytes | None]:
    """Every file and folder below the test's folder."""
    top = around.home.parent
    return {str(p.relative_to(top)): p.read_bytes() if p.is_file() else None for p in top.rglob("*")}


@everywhere
@each_text
def test_installed_twice_and_uninstalled_the_bytes_come_back(
    original: bytes, scope: Scope, around: Surroundings
) -> None:
    path = file_of(scope, around)
    path.write_bytes(original)
    before = tree(around)

    first = install("codex", scope, around)
    installed = path.read_bytes()
    second = install("codex", scope, around)

    assert (first.action, second.action) == ("changed", "unchanged")
    assert path.read_bytes() == installed != original
    assert first.backup is not None and first.backup.read_bytes() == original
    found = value(installed)
    command = "segue" if scope == "project" else around.executable
    assert found["mcp_servers"].pop("segue") == {
        "command": command, "args": ["mcp"], "env_vars": ["SEGUE_HOME", "SEGUE_DB"],
    }  # fmt: skip
    assert found == {"mcp_servers": {}, **value(original)}
    assert (
        b"\n" not in installed.replace(b"\r\n", b"") or b"\r\n" not in original or original == CORPUS["mixed line ends"]
    )

    assert uninstall("codex", scope, around).action == "removed"
    assert tree(around) == before


@each_text
def test_an_edit_elsewhere_stays_and_everything_else_comes_back(original: bytes, around: Surroundings) -> None:
    path = file_of("user", around)
    path.write_bytes(original)
    install("codex", "user", around)
    edited = b"# edited in between\n"
    data = path.read_bytes()
    start = len(BOM) if data.startswith(BOM) else 0
    path.write_bytes(data[:start] + edited + data[start:])
    assert uninstall("codex", "user", around).action == "removed"
    expected = original[:start] + edited + original[start:]
    if original.strip(BOM + b" \t\r\n").startswith(b"mcp_servers = {") and b"none" in original:
        expected = expected.replace(b"{  }", b"{}")  # the space between the braces alone is not kept
    assert path.read_bytes() == expected


@everywhere
def test_a_file_and_folder_that_were_not_there_go_away_again(scope: Scope, around: Surroundings) -> None:
    before = tree(around)
    change = install("codex", scope, around)
    assert (change.action, change.backup) == ("created", None)
    assert install("codex", scope, around).action == "unchanged"
    assert uninstall("codex", scope, around).action == "removed"
    assert tree(around) == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OWN, None),
        (f"{OWN}\n{OTHER}", OTHER),
        (f"{OTHER}\n{OWN}\n# of the end\n[tui]\nx = 1\n", f"{OTHER}\n# of the end\n[tui]\nx = 1\n"),
        (
            f'{OTHER}\n[mcp_servers.segue]\n# ours\ncommand = "segue"\n\nargs = ["mcp"]\n\n[tui]\n',
            f"{OTHER}\n[tui]\n",
        ),
        (f'{OTHER}\n{OWN}\n[mcp_servers.segue.env]\nA = "b"\n\n[tui]\n', f"{OTHER}\n[tui]\n"),
        (f'{OWN}\n[tui]\nx = 1\n\n[mcp_servers.segue.tools.save]\napproval_mode = "auto"\n', "[tui]\nx = 1\n"),
        (
            '[mcp_servers]\nsegue = { command = "segue", args = ["mcp"] } # ours\nb = {}\n',
            "[mcp_servers]\nb = {}\n",
        ),
        ('[mcp_servers]\na = {}\nsegue.command = "segue"\nsegue.args = ["mcp"]\n', "[mcp_servers]\na = {}\n"),
        (
            'x = 1\nmcp_servers.segue = { command = "segue", args = ["mcp"] }\n[tui]\n',
            "x = 1\n[tui]\n",
        ),
        (
            'mcp_servers = { a = 1, segue = { command = "segue", args = ["mcp"] }, b = 2 }\n',
            "mcp_servers = { a = 1, b = 2 }\n",
        ),
        ('mcp_servers = { segue = { command = "segue", args = ["mcp"] }, b = 2 }\n', "mcp_servers = { b = 2 }\n"),
        ('mcp_servers = { segue = { command = "segue", args = ["mcp"] } }\n', "mcp_servers = {}\n"),
    ],
)
def test_the_entry_alone_is_taken_out_wherever_it_stands(text: str, expected: str | None, around: Surroundings) -> None:
    path = file_of("project", around)
    path.write_text(text)
    uninstall("codex", "project", around)
    assert (path.read_text() if path.exists() else None) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.segue]\nargs = ['mcp', '--x'] # a\ncommand = '/old/segue' # b\nstartup_timeout_sec = 20.0\n",
        "[mcp_servers]\nsegue = { args = ['mcp'], command = '/old/segue', enabled = true }\n",
        "mcp_servers = { segue.command = '/old/segue', segue.args = ['mcp'] }\n",
        '[mcp_servers.\'segue\'.env]\nA = \'b\'\n[mcp_servers.segue]\n"command" = """/old/segue"""\nargs = [\'mcp\']\n',
    ],
)
def test_an_entry_from_an_older_place_is_brought_up_to_date_and_keeps_the_rest(text: str, around: Surroundings) -> None:
    path = file_of("user", around)
    path.write_text(text)
    assert next(s for s in status("codex", around) if s.scope == "user").differs
    assert install("codex", "user", around).action == "changed"
    new = f'"{around.executable}"'
    assert path.read_text() == text.replace("'/old/segue'", new).replace('"""/old/segue"""', new)
    assert install("codex", "user", around).action == "unchanged"
    assert not next(s for s in status("codex", around) if s.scope == "user").differs


@pytest.mark.parametrize(
    "foreign",
    [
        '[mcp_servers.segue]\ncommand = "node" # mine\n',
        '[mcp_servers.segue]\nurl = "http://localhost"\n',
        "[mcp_servers]\nsegue = 1\n",
        '[mcp_servers]\nsegue.command = "segue"\n',
    ],
)
def test_an_entry_of_another_program_is_replaced_only_by_force(foreign: str, around: Surroundings) -> None:
    path = file_of("project", around)
    text = f"{foreign}\n{OTHER}"
    path.write_text(text)
    for change in (install, uninstall):
        with pytest.raises(Conflict) as caught:
            change("codex", "project", around)
        assert caught.value.code == "hosts.other_entry"
    assert path.read_text() == text
    install("codex", "project", around, force=True)
    found = value(path.read_bytes())["mcp_servers"]
    assert found["segue"]["command"] == "segue" and list(found["other"]) == ["command", "args"]
    uninstall("codex", "project", around)
    assert path.read_text() == text
    uninstall("codex", "project", around, force=True)
    assert "segue" not in value(path.read_bytes()).get("mcp_servers", {})


def test_a_path_is_written_as_a_text_that_codex_reads_back(around: Surroundings) -> None:
    program = '/opt/é "x"\\\x7f\u2028/segue'
    odd = Surroundings(around.home, {}, around.root, program)
    install("codex", "user", odd)
    assert value(file_of("user", around).read_bytes())["mcp_servers"]["segue"]["command"] == program


@everywhere
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_left_alone_and_named(text: bytes, scope: Scope, around: Surroundings) -> None:
    path = file_of(scope, around)
    path.write_bytes(text)
    before = tree(around)
    for change in (install, uninstall):
        with pytest.raises(InvalidInput) as caught:
            change("codex", scope, around, force=True)
        assert caught.value.code == "hosts.unreadable"
        assert str(path) in caught.value.message
    state = next(state for state in status("codex", around) if state.scope == scope)
    assert state.installed == "unreadable" and state.detail
    assert tree(around) == before
