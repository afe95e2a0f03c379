"""The recorded sessions that ship: valid, clean, one continuing the other, the same wherever they are read from."""

from __future__ import annotations

import io
import json
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from segue import examples
from segue.cli.main import run
from segue.packets import checking, lineage, schema

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "examples").glob("*.json"))


def test_there_are_two_and_both_are_named() -> None:
    assert [path.name for path in FILES] == [examples.FIRST, examples.SECOND]
    for path in FILES:
        assert examples.read(path.name) == path.read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_they_are_valid_and_clean(path: Path) -> None:
    report = checking.check(path.read_bytes())
    assert (report.errors, report.findings, report.warnings) == ([], [], [])
    assert report.version == "0.2"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_they_show_what_a_good_packet_has(path: Path) -> None:
    packet = schema.parse(path.read_bytes())
    assert packet.success_criteria
    assert packet.constraints
    assert any(decision.locked and decision.consequences for decision in packet.decisions)
    assert any(attempt.outcome != "succeeded" for attempt in packet.attempts)
    assert packet.open_questions
    assert packet.project is not None


def test_the_second_continues_the_first() -> None:
    first, second = (schema.parse(path.read_bytes()) for path in FILES)
    assert second.parent_id == first.id
    assert not first.parent_id
    assert second.created > first.created
    assert lineage.trace(second.id, {first.id: "", second.id: first.id}).ids == (second.id, first.id)
    report = checking.check(FILES[1].read_bytes(), parent=first)
    assert report.warnings == []


def test_the_command_prints_the_second() -> None:
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(written):
        assert run(["example"]) == 0
    printed = written.buffer.getvalue() if isinstance(written.buffer, io.BytesIO) else b""
    assert json.loads(printed) == json.loads(FILES[1].read_bytes())
    assert checking.check(printed.rstrip(b"\n")).exit_code == 0


def test_they_are_in_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"examples": "segue/_examples"}
