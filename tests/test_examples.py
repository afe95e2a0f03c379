"""The examples that ship: sessions that are valid, clean and continue one another, memories, and an agent's loop."""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import segue
from segue import examples
from segue.base import redaction
from segue.cli.main import run
from segue.memories import making
from segue.memories.item import LAYERS
from segue.packets import checking, lineage, schema
from segue.services.serving import Serving

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "examples").glob("session-*.json"))
LOOP = ROOT / "examples" / "agent_loop.py"


def test_there_are_these_and_all_are_named() -> None:
    assert [path.name for path in FILES] == [examples.FIRST, examples.SECOND]
    found = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_file())
    assert found == sorted([examples.FIRST, examples.SECOND, examples.MEMORIES, LOOP.name])
    for name in (examples.FIRST, examples.SECOND, examples.MEMORIES):
        assert examples.read(name) == (ROOT / "examples" / name).read_bytes()


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


def test_the_memories_are_thirty_of_every_layer() -> None:
    document = json.loads(examples.read(examples.MEMORIES))
    assert "made-up" in document["about"]
    given = document["memories"]
    assert len({each["content"] for each in given}) == len(given) == 30
    assert {each["layer"] for each in given} == set(LAYERS)
    for each in given:
        each.pop("days_ago")
        assert making.checked(making.item(**each)).content == each["content"]
        assert redaction.credentials("content", each["content"]) == []


# -- the loop ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def stocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's store, with the memories that ship."""
    location = tmp_path / "segue.db"
    monkeypatch.setenv("SEGUE_DB", str(location))
    with segue.open(location) as opened:
        for each in json.loads(examples.read(examples.MEMORIES))["memories"]:
            each.pop("days_ago")
            opened.memories.remember(**each)
    return location


@pytest.fixture
def loop() -> ModuleType:
    spec = importlib.util.spec_from_file_location("segue_agent_loop", LOOP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TURNS = ["change the importer of Harbor", "and its report?", "change the importer of Harbor", "which port is next?"]


def test_an_agent_is_sent_nothing_twice(stocked: Path, loop: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an id nor a text, unless a memory that was sent in part comes whole."""
    sent: list[list[tuple[str, str, bool]]] = []
    whole = Serving.envelope

    def watched(serving: Serving) -> dict[str, Any]:
        wire = whole(serving)
        sent.append([(each["ref"], each["content"], each["why"]["truncated"]) for each in wire["items"]])
        return wire

    monkeypatch.setattr(Serving, "envelope", watched)
    held: list[dict[str, str]] = []

    def answer(holds: dict[str, str], said: str) -> str:
        held.append(dict(holds))
        return said.upper()

    assert loop.run(TURNS, "chat-1", answer) == [said.upper() for said in TURNS]
    every = [each for turn in sent for each in turn]
    entire = [ref for ref, _, truncated in every if not truncated]
    assert len({(ref, text) for ref, text, _ in every}) == len(every) > 10
    assert len(set(entire)) == len(entire)
    assert sent[0]
    assert sent[2] == []  # asked again: all of it is there
    for number, holds in enumerate(held, 1):
        assert holds == {ref: text for turn in sent[:number] for ref, text, _ in turn}
    with segue.open(stocked) as opened:
        assert set(held[-1]) == set(opened.sessions.show("chat-1").state.known)


def test_an_agent_drops_what_went_cold_and_what_was_replaced(stocked: Path, loop: ModuleType) -> None:
    held: list[set[str]] = []

    def answer(holds: dict[str, str], said: str) -> str:
        held.append(set(holds))
        if len(held) == 1:
            with segue.open(stocked) as opened:
                replaced.append(opened.memories.supersede(min(holds), "The importer reads it whole again.").replaced[0])
        return said

    replaced: list[str] = []
    loop.run(["change the importer of Harbor", *["the style of texts for crews"] * 6], "chat-2", answer)
    assert replaced[0] in held[0]
    assert replaced[0] not in held[1]
    with segue.open(stocked) as opened:
        assert held[-1] == set(opened.sessions.show("chat-2").state.known)


def test_the_loop_is_a_program(stocked: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(LOOP), *TURNS], capture_output=True, encoding="utf-8", timeout=120, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert [line.rpartition(": ")[0] for line in lines] == [repr(said) for said in TURNS]
    assert lines[0].endswith(" memories held")


def test_they_are_in_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"examples": "segue/_examples"}
