"""Finding the newest session of a project in trees that look like those of the hosts."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from segue.transcripts import locate
from segue.transcripts.locate import Found, claude_project_name, find_newest

if TYPE_CHECKING:
    from pathlib import Path

UUID = "7d3c1a52-0c1e-4a39-9a57-0d6f5d3f1b{:02d}"


class Machine:
    """A home with a project and the folders of both hosts."""

    def __init__(self, root: Path) -> None:
        self.project = root / "home" / "shop"
        self.project.mkdir(parents=True)
        self.claude = root / "claude"
        self.codex = root / "codex"

    def claude_session(self, cwd: Path | None, age: int, number: int = 1, **names: str) -> Path:
        name = names.get("folder") or claude_project_name(os.path.realpath(cwd or self.project))
        path = self.claude / "projects" / name / f"{names.get('stem', UUID.format(number))}.jsonl"
        record: dict[str, Any] = {"type": "user", "sessionId": "s", "message": {"content": "Hello."}}
        if cwd is not None:
            record["cwd"] = str(cwd)
        return self._write(path, [{"type": "mode", "mode": "x", "sessionId": "s"}, record], age)

    def codex_session(self, cwd: Path, age: int, *, day: str = "2026/09/01", more: Any = (), **meta: Any) -> Path:
        path = self.codex / "sessions" / day / f"rollout-2026-09-01T08-00-00-{UUID.format(age % 100)}.jsonl"
        head = {"type": "session_meta", "payload": {"id": "x", "cwd": str(cwd), "source": "cli", **meta}}
        return self._write(path, [head, *more], age)

    def _write(self, path: Path, records: list[Any], age: int) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
        moment = 1_790_000_000 - age
        os.utime(path, (moment, moment))
        return path

    def find(self, **options: Any) -> Found | None:
        return find_newest(self.project, self.claude, self.codex, **options)

    def found(self, **options: Any) -> Path | None:
        found = self.find(**options)
        return found.path if found else None


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_names_of_directories() -> None:
    assert claude_project_name("/Users/a.b/my_app") == "-Users-a-b-my-app"
    assert claude_project_name("/home/ana/cafe\u0301") == "-home-ana-caf-"


def test_nothing_where_there_is_nothing(machine: Machine) -> None:
    assert machine.find() is None
    assert find_newest(machine.project, None, None) is None


def test_the_newest_of_one_host(machine: Machine) -> None:
    machine.claude_session(machine.project, age=50, number=1)
    newest = machine.claude_session(machine.project, age=10, number=2)
    found = machine.find()
    assert found == Found(newest, "claude-code", datetime.fromtimestamp(1_790_000_000 - 10, UTC))


@pytest.mark.parametrize(("claude_age", "codex_age", "host"), [(5, 9, "claude-code"), (9, 5, "codex")])
def test_the_newest_of_both_hosts(machine: Machine, claude_age: int, codex_age: int, host: str) -> None:
    machine.claude_session(machine.project, claude_age)
    machine.codex_session(machine.project, codex_age)
    found = machine.find()
    assert found is not None
    assert found.host == host


def test_sessions_of_sub_directories_count_and_those_of_neighbours_do_not(machine: Machine) -> None:
    inside = machine.project / "web"
    beside = machine.project.with_name("shop-web")
    machine.claude_session(beside, age=1)  # its folder begins like one of a sub-directory
    machine.codex_session(beside, age=2)
    expected = machine.claude_session(inside, age=30)
    assert machine.found() == expected


def test_a_folder_that_two_projects_share_is_told_by_the_directory_in_the_lines(machine: Machine) -> None:
    other = machine.project.with_name("sh.op")
    folder = claude_project_name(os.path.realpath(machine.project))
    machine.claude_session(other, age=1, number=1, folder=folder)
    expected = machine.claude_session(machine.project, age=20, number=2)
    assert machine.found() == expected


def test_names_over_200_characters_are_cut_and_hashed(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.project = tmp_path / ("a" * 120) / ("b" * 120)
    machine.project.mkdir(parents=True)
    name = claude_project_name(os.path.realpath(machine.project))
    assert len(name) > 200
    expected = machine.claude_session(machine.project, age=3, folder=name[:200] + "-1x2y3z")
    assert machine.found() == expected


def test_a_given_folder_name(machine: Machine) -> None:
    expected = machine.claude_session(machine.project, age=3, folder="my-shop")
    assert machine.found() is None
    assert machine.found(project_dir_name="my-shop") == expected


def test_a_linked_project_directory_is_resolved(machine: Machine) -> None:
    expected = machine.claude_session(machine.project, age=3)
    link = machine.project.parent / "link"
    link.symlink_to(machine.project)
    found = find_newest(link, machine.claude, None)
    assert found is not None
    assert found.path == expected


def test_worktrees_count_when_they_are_given(machine: Machine) -> None:
    worktree = machine.project.with_name("shop-fix")
    expected = machine.claude_session(worktree, age=3)
    assert machine.found() is None
    assert machine.found(worktrees=[worktree]) == expected


def test_only_sessions_are_taken(machine: Machine) -> None:
    machine.claude_session(machine.project, age=1, stem="agent-1234")
    machine.claude_session(machine.project, age=2, stem="notes")
    assert machine.found() is None


def test_a_session_without_a_directory_counts_in_its_own_folder_only(machine: Machine) -> None:
    expected = machine.claude_session(None, age=1)
    assert machine.found() == expected
    machine.claude_session(None, age=0, folder=claude_project_name(os.path.realpath(machine.project)) + "-web")
    assert machine.found() == expected


def test_the_directory_of_a_codex_session_may_move(machine: Machine) -> None:
    elsewhere = machine.project.with_name("other")
    moved = {"type": "turn_context", "payload": {"cwd": str(machine.project)}}
    filler = [{"type": "event_msg", "payload": {"type": "token_count"}}] * 200
    expected = machine.codex_session(elsewhere, age=3, more=[*filler, moved])
    assert machine.found() == expected


def test_codex_sub_agents_do_not_count(machine: Machine) -> None:
    machine.codex_session(machine.project, age=1, source={"subagent": "review"})
    assert machine.found() is None


def test_old_days_count_when_the_file_was_written_to_last(machine: Machine) -> None:
    machine.codex_session(machine.project, age=20, day="2026/09/03")
    resumed = machine.codex_session(machine.project, age=10, day="2025/12/31")
    assert machine.found() == resumed


def test_flat_codex_files_and_archives(machine: Machine) -> None:
    text = f"<environment_context>\n<cwd>{machine.project}</cwd>\n</environment_context>"
    content = [{"type": "input_text", "text": text}]
    records = [{"id": "x", "timestamp": "t"}, {"type": "message", "role": "user", "content": content}]
    path = machine.codex / "archived_sessions" / "rollout-2025-06-10T08-00-00-x.jsonl"
    assert machine._write(path, records, 4) == machine.found()


def test_only_the_newest_files_are_opened(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "MAX_OPENED", 3)
    machine.claude_session(machine.project, age=90)
    for age in (1, 2, 3):
        machine.codex_session(machine.project.with_name("other"), age)
    assert machine.found() is None


def test_damaged_and_odd_files_are_passed_over(machine: Machine) -> None:
    folder = machine.claude / "projects" / claude_project_name(os.path.realpath(machine.project))
    folder.mkdir(parents=True)
    (folder / f"{UUID.format(7)}.jsonl").write_bytes(b'\xff\xfe{"cwd": 4}\n{"cwd": "\\u0000"}\n')
    (folder / f"{UUID.format(8)}.jsonl").mkdir()
    (machine.codex / "sessions" / "nonsense").mkdir(parents=True)
    expected = machine.codex_session(machine.project, age=50)
    assert machine.found() == expected
