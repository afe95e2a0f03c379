"""`segue save` without FILE: a draft from the project and its newest recorded session, edited, then stored."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest

from cli.shell import FIRST, FIRST_ID, InPlace, Shell

FIXTURES = Path(__file__).resolve().parents[1] / "conversions" / "fixtures"
SESSION = "7d3c1a52-0c1e-4a39-9a57-0d6f5d3f1b01"
RECORDED_IN = "/home/" + "ana/shop"


def record_claude(shell: Shell, name: str = "claude-coupons.jsonl") -> Path:
    """Put a recorded session of this project into the folder where Claude Code keeps them."""
    real = os.path.realpath(shell.project)
    folder = shell.root / "claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", real)
    folder.mkdir(parents=True)
    recorded = (FIXTURES / name).read_bytes().replace(RECORDED_IN.encode(), real.encode())
    (folder / f"{SESSION}.jsonl").write_bytes(recorded)
    return shell.root / "claude"


def record_codex(shell: Shell, name: str = "codex-traps.jsonl") -> Path:
    """Put a recorded session of this project into the folder where Codex keeps them."""
    folder = shell.root / "codex" / "sessions" / "2026" / "09" / "01"
    folder.mkdir(parents=True)
    real = os.path.realpath(shell.project)
    recorded = (FIXTURES / name).read_bytes().replace(RECORDED_IN.encode(), real.encode())
    (folder / f"rollout-2026-09-01T08-00-00-{SESSION}.jsonl").write_bytes(recorded)
    return shell.root / "codex"


def editor(shell: Shell, script: str) -> dict[str, str]:
    """An environment whose editor is a Python script that works on `path`."""
    program = shell.root / "editor"
    head = "#!/usr/bin/env python3\nimport json, pathlib, sys\npath = pathlib.Path(sys.argv[1])\n"
    program.write_text(head + script, "utf-8")
    program.chmod(0o755)
    return {"EDITOR": str(program)}


def test_print_without_any_session(shell: Shell) -> None:
    result = shell.run("save", "--print", "--now", "2026-05-04T09:30:00Z")
    assert result.code == 0
    assert result.json["ltm_version"] == "0.2"
    assert "id" not in result.json
    assert result.json["project"]["name"] == "project"
    assert shell.ids() == []


def test_print_from_a_claude_code_session(shell: Shell) -> None:
    result = shell.run("save", "--print", env={"CLAUDE_CONFIG_DIR": str(record_claude(shell))})
    assert result.code == 0
    assert "coupon" in result.json["goal"].lower()
    assert result.json["attempts"]
    assert str(shell.project) not in result.out
    assert shell.ids() == []


def test_print_from_a_codex_session(shell: Shell) -> None:
    alone = shell.run("save", "--print").json
    result = shell.run("save", "--print", env={"CODEX_HOME": str(record_codex(shell))})
    assert result.code == 0
    assert result.json["goal"] != alone["goal"]


def test_sessions_are_looked_for_in_the_home_too(shell: Shell) -> None:
    record_claude(shell).rename(shell.home / ".claude")
    assert "coupon" in shell.run("save", "--print").json["goal"].lower()


def test_another_projects_session_is_not_taken(shell: Shell) -> None:
    environment = {"CLAUDE_CONFIG_DIR": str(record_claude(shell))}
    other = shell.root / "other"
    other.mkdir()
    assert "coupon" not in shell.run("save", "--print", env=environment, cwd=other).out.lower()


def test_a_printed_draft_can_be_saved(shell: Shell) -> None:
    draft = shell.run("save", "--print", env={"CLAUDE_CONFIG_DIR": str(record_claude(shell))}).stdout
    saved = shell.run("save", "-", stdin=draft)
    assert saved.code == 0, saved.err
    assert shell.ids() == [saved.out.strip()]


def test_print_with_a_file_still_saves_it(cli: InPlace) -> None:
    assert cli("save", FIRST, "--print").out == f"{FIRST_ID}\n"


def test_without_a_terminal_it_is_refused(cli: InPlace) -> None:
    result = cli("save", "--json")
    assert (result.code, result.error["code"]) == (4, "save.no_terminal")
    assert cli("save").code == 4
    assert cli.ids() == []


def test_the_edited_draft_is_stored(shell: Shell) -> None:
    change = (
        "draft = json.loads(path.read_text())\ndraft['goal'] = 'Ship the shop.'\npath.write_text(json.dumps(draft))"
    )
    result = shell.terminal("save", "--now", "2026-05-04T09:30:00Z", env=editor(shell, change))
    assert result.code == 0, result.out
    (saved,) = shell.ids()
    assert result.out.replace("\r\n", "\n").endswith(f"{saved}\n")
    assert shell.run("show", "--json", saved).json["goal"] == "Ship the shop."


def test_the_draft_is_private_while_it_is_edited(shell: Shell) -> None:
    look = "import os, stat\nprint('mode', oct(stat.S_IMODE(os.stat(path).st_mode)), path.name)\nsys.exit(3)"
    result = shell.terminal("save", env=editor(shell, look))
    assert result.code == 1
    assert "mode 0o600 packet.json" in result.out
    assert "nothing was saved" in result.out
    assert shell.ids() == []


def test_visual_wins_over_editor_and_may_have_arguments(shell: Shell) -> None:
    program = editor(shell, "path = pathlib.Path(sys.argv[-1])\npath.write_text('[' + sys.argv[2] + ']')")["EDITOR"]
    result = shell.terminal("save", env={"VISUAL": f"{program} --wait '1, 2'", "EDITOR": "false"})
    assert result.code == 3, result.out
    (kept,) = shell.segue_home.glob("draft-*.json")
    assert kept.read_text("utf-8") == "[1, 2]"


def test_an_emptied_draft_saves_nothing(shell: Shell) -> None:
    result = shell.terminal("save", env=editor(shell, "path.write_text('  \\n')"))
    assert result.code == 4
    assert "nothing was saved" in result.out
    assert shell.ids() == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("path.write_text('{ half')", 3),
        ("path.write_text(json.dumps({'ltm_version': '0.2', 'goal': 'Mend.'}))", 3),
        (
            "path.write_text(json.dumps({'ltm_version': '0.2', 'goal': 'Use ' + 'AKIA' + 'Q' * 16, 'next_step': 'x'}))",
            4,
        ),
    ],
)
def test_a_refused_draft_is_kept(shell: Shell, change: str, code: int) -> None:
    result = shell.terminal("save", env=editor(shell, change))
    assert result.code == code
    (kept,) = shell.segue_home.glob("draft-*.json")
    assert str(kept) in result.out.replace("\r\n", "")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert shell.ids() == []
    text = kept.read_text("utf-8")
    assert text == "{ half" or json.loads(text)["ltm_version"] == "0.2"


def test_each_refused_draft_is_kept_under_its_own_time(shell: Shell) -> None:
    for second in (1, 2):
        environment = editor(shell, f"path.write_text('[{second}]')")
        shell.terminal("save", "--now", f"2026-05-04T09:30:0{second}Z", env=environment)
    kept = {each.name: each.read_text("utf-8") for each in shell.segue_home.glob("draft*")}
    assert kept == {"draft-20260504T093001.json": "[1]", "draft-20260504T093002.json": "[2]"}


@pytest.mark.parametrize(("key", "code", "count"), [(b"n\r", 4, 0), (b"\r", 4, 0), (b"y\r", 0, 1)])
def test_a_draft_that_was_left_alone_is_asked_about(shell: Shell, key: bytes, code: int, count: int) -> None:
    question = b"Save the draft as it is?"
    result = shell.terminal("save", answers=((question, key),), env=editor(shell, "pass"))
    assert (result.code, len(shell.ids())) == (code, count), result.out
    assert ("nothing was saved" in result.out) is (count == 0)
    assert list(shell.segue_home.glob("draft*")) == []  # nobody's work is in it


def test_a_draft_says_which_session_it_was_made_from(shell: Shell) -> None:
    alone = shell.run("save", "--print")
    assert alone.err.startswith("no recorded session of Claude Code or Codex was found")
    folder = record_claude(shell)
    made = shell.run("save", "--print", env={"CLAUDE_CONFIG_DIR": str(folder)})
    (session,) = folder.rglob("*.jsonl")
    assert made.err == f"drafted from {session}\n"
    edited = shell.terminal("save", env=editor(shell, "sys.exit(3)"), columns=200)
    assert "no recorded session of Claude Code or Codex was found" in edited.out


@pytest.mark.parametrize("options", [("--continue",), ("--continue", "packet-0001"), ("--carry", "methods")])
def test_print_does_not_go_with_continuing(cli: InPlace, options: tuple[str, ...]) -> None:
    result = cli("save", "--print", *options, "--json")
    assert (result.code, result.error["code"]) == (2, "cli.usage")


def test_an_editor_that_does_not_start(shell: Shell) -> None:
    result = shell.terminal("save", env={"EDITOR": str(shell.root / "nothing")})
    assert result.code == 1
    assert "did not start" in result.out
