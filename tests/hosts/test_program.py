"""Whether the program of an entry answers, and which programs are started to find out."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from segue.hosts import Surroundings, install, status
from segue.hosts.program import ask

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from segue.hosts.program import Answer

posix = pytest.mark.skipif(os.name == "nt", reason="starts a POSIX script")


def script(folder: Path, text: str, mode: int = 0o755) -> Path:
    path = folder / "segue"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


@posix
@pytest.mark.parametrize(
    ("text", "answer"),
    [('test "$1" = --version && echo 1', "answers"), ("exit 3", "fails"), ("kill $$", "fails")],
)
def test_a_program_is_asked_for_its_version(text: str, answer: Answer, tmp_path: Path) -> None:
    path = script(tmp_path, text)
    assert ask(str(path), {}) == answer
    assert ask("segue", {"PATH": str(tmp_path)}) == answer


@posix
def test_a_program_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(str(tmp_path / "segue"), {}) == "missing"
    assert ask("segue", {"PATH": str(tmp_path)}) == "missing"
    script(tmp_path, "exit 0", 0o644)
    assert ask(str(tmp_path / "segue"), {}) == "missing"
    script(tmp_path, "exit 0")
    monkeypatch.chdir(tmp_path)
    assert ask("./segue", {"PATH": str(tmp_path)}) == "missing"  # relative to wherever the host starts
    (tmp_path / "segue").write_bytes(b"\x7fELF, not really")
    assert ask(str(tmp_path / "segue"), {}) == "fails"
    assert ask("seg\0ue", {}) == "missing"


class Asked:
    """Answers for every program, and remembers which it was asked for."""

    def __init__(self) -> None:
        self.programs: list[str] = []

    def __call__(self, program: str, environment: Mapping[str, str]) -> Answer:
        self.programs.append(program)
        return "answers"


def test_what_a_project_brings_along_is_not_started(around: Surroundings) -> None:
    assert around.root is not None
    asked = Asked()
    entry = {"type": "stdio", "command": str(around.root / "segue"), "args": ["mcp"]}
    handler = {"type": "command", "command": f"{around.root}/bin/segue hook stop"}
    (around.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"segue": entry}}))
    (around.root / ".claude").mkdir()
    (around.root / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    states = [state for state in status("claude-code", around, ask=asked) if state.scope == "project"]
    assert [(state.installed, state.program) for state in states] == [("other command", "not tried")] * 2
    assert asked.programs == []
    install("claude-code", "project", around)
    states = [state for state in status("claude-code", around, ask=asked) if state.scope == "project"]
    assert [(state.installed, state.program) for state in states] == [("yes", "answers")] * 2
    assert asked.programs == ["segue"] * 2


def test_what_the_users_own_files_name_is_asked(around: Surroundings) -> None:
    asked = Asked()
    for host in ("claude-code", "cursor", "vscode", "codex"):
        install(host, "user", around)
        assert all(state.program == "answers" for state in status(host, around, ask=asked) if state.scope == "user")
    assert set(asked.programs) == {around.executable}
    foreign = json.dumps({"mcpServers": {"segue": {"command": "/opt/other"}}})
    (around.home / ".cursor" / "mcp.json").write_text(foreign)
    assert status("cursor", around, ask=asked)[-1].program == "not tried"
    assert "/opt/other" not in asked.programs
