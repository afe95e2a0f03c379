"""What the documents for operators say holds: the first five minutes, the statements for Citus, the named tests."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import httpx2
import pytest

import forks
from segue.storage.tables import REFERENCE_TABLES, metadata
from test_documents import ROOT, blocks

SELF_HOSTING = ROOT / "docs" / "self-hosting.md"
SECURITY = ROOT / "docs" / "security-model.md"
ENOUGH_SECONDS = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Reader:
    """Somebody who types what the document shows, with a home of their own, into one shell after the other."""

    def __init__(self, folder: Path, home: str, address: str) -> None:
        self._folder, self._address = folder, address
        path = f"{Path(forks.program('segue')).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {"HOME": str(folder), "SEGUE_HOME": str(folder / home), "PATH": path}

    def type(self, block: str) -> str:
        commands = block.replace("http://127.0.0.1:8787", self._address)
        done = subprocess.run(
            ["bash", "-ec", commands], cwd=self._folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def test_a_team_in_five_minutes(tmp_path: Path) -> None:
    """The blocks of the first section, as they stand, but for the port; `server run` goes on in another terminal."""
    shutil.copy(ROOT / "examples" / "session-2.json", tmp_path / "packet.json")
    draft = {"ltm_version": "0.2", "goal": "Ship the importer.", "next_step": "Write the failing test."}
    (tmp_path / "next.json").write_text(json.dumps(draft))
    server, ada, bo = blocks(SELF_HOSTING, "bash")[:3]
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    operator = Reader(tmp_path, "server", address)
    setup, run = server.rsplit("\n", 2)[0], server.rstrip("\n").rsplit("\n", 1)[1]
    assert run == "segue server run"
    operator.type(setup)
    assert (tmp_path / "root-token").stat().st_mode & 0o077 == 0
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [forks.REAL["segue"], *run.split()[1:], "--port", str(port)],
            env=operator.environment,
            stdout=log,
            stderr=log,
            cwd=tmp_path,
        )
        try:
            wait_until_ready(address, process, tmp_path / "log")
            Reader(tmp_path, "ada", address).type(ada)
            told = Reader(tmp_path, "bo", address).type(bo)
        finally:
            process.terminate()
            process.wait(ENOUGH_SECONDS)
    goal = json.loads((tmp_path / "packet.json").read_bytes())["goal"]
    assert f"joined crew at {address} as Bo" in told
    assert "team crew: pulled 1" in told
    assert goal[:30] in told


def wait_until_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + ENOUGH_SECONDS
    with httpx2.Client(base_url=address, trust_env=False) as client:
        while time.monotonic() < deadline:
            assert process.poll() is None, log.read_text()
            try:
                if client.get("/readyz").status_code == 200:
                    return
            except httpx2.TransportError:
                time.sleep(0.05)
    raise AssertionError(log.read_text())


def test_the_statements_for_citus_name_every_table() -> None:
    statements = "\n".join(blocks(SELF_HOSTING, "sql"))
    copied = re.findall(r"create_reference_table\('(\w+)'\)", statements)
    spread = re.findall(r"create_distributed_table\('(\w+)', 'scope_id'(?:, colocate_with => 'packets')?\)", statements)
    assert len(copied) == len(set(copied)) and len(spread) == len(set(spread))
    assert set(copied) == REFERENCE_TABLES
    assert set(spread) == set(metadata.tables) - REFERENCE_TABLES
    assert statements.count("create_") == len(copied) + len(spread)
    order = [*copied, *spread]
    for name in order:  # a table comes after those that it refers to
        referred = {key.column.table.name for key in metadata.tables[name].foreign_keys}
        assert all(order.index(each) < order.index(name) for each in referred), name


def test_what_the_image_runs() -> None:
    """The commands of the image are such that a server runs: its arguments are those of the command line."""
    lines = (ROOT / "deploy" / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    entry, command = (
        json.loads(re.findall(rf"^{word} (\[.*\])$", lines, re.MULTILINE)[-1]) for word in ("ENTRYPOINT", "CMD")
    )
    program = forks.program(*entry)
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True)
    assert "--workers" in done.stdout
    for source, _ in re.findall(r"^COPY (?!--from)(\S+) (\S+)$", lines, re.MULTILINE):
        assert (ROOT / source).exists(), source


@pytest.mark.parametrize("document", [SECURITY], ids=["security-model.md"])
def test_the_tests_that_are_named_exist(document: Path) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", document.read_text("utf-8"))
    assert named
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        found = {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
        assert not name or name in found, f"{path}::{name}"
