"""What a command imports: the quick ones leave the database and the servers alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cli.shell import ENOUGH_SECONDS, FIRST, SECOND, Shell

# Not pydantic: Typer itself imports it to read arguments, so only `--version`, which needs no Typer, is without.
HEAVY = {"sqlalchemy", "alembic", "fastapi", "mcp", "numpy", "questionary", "psycopg", "starlette", "anyio"}
_SCRIPT = """
import json, sys
from segue.__main__ import main
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def imported(shell: Shell, *arguments: str) -> set[str]:
    """The names of the packages that are loaded when the command has ended well."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *arguments],
        env=shell.environment,
        cwd=shell.project,
        capture_output=True,
        timeout=ENOUGH_SECONDS,
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    assert not code, done.stderr
    assert "segue" in names
    return set(names)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("check", str(FIRST), "--json"),
        ("example",),
        ("prompt", "handoff"),
        ("capsule", "from-packet", str(FIRST)),
        ("capsule", "prompt", "compress"),
    ],
)
def test_without_a_store(shell: Shell, arguments: tuple[str, ...]) -> None:
    assert imported(shell, *arguments) & HEAVY == set()


def test_the_version_reads_no_arguments(shell: Shell) -> None:
    assert "pydantic" not in imported(shell, "--version")


def test_with_a_store(shell: Shell) -> None:
    assert "alembic" in imported(shell, "save", str(FIRST))  # the first one makes the tables
    # What is saved becomes memories, which are made ready for search.
    assert imported(shell, "save", str(SECOND)) & HEAVY == {"sqlalchemy", "numpy"}
    for arguments in (("resume",), ("ls", "--json"), ("capsule", "ls"), ("source", "ls")):
        found = imported(shell, *arguments) & HEAVY
        assert found == {"sqlalchemy"}, arguments


def test_installing_into_a_host_opens_no_store(shell: Shell) -> None:
    assert imported(shell, "hosts", "install", "cursor") & HEAVY == set()
    assert not shell.segue_home.exists()
