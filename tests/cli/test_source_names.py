"""A person who reads a list or a pack sees which of it a source says, and which source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sources import folders

if TYPE_CHECKING:
    from cli.shell import InPlace

OURS = "Run the tests before each commit."
THEIRS = "Run `make test`."


@pytest.fixture
def both(cli: InPlace) -> InPlace:
    """A memory of the user's own, and records of the source `notes` about the same."""
    folders.write(cli.shell.root / "notes", title="Team notes")
    assert cli("remember", OURS).code == 0
    assert cli("source", "add", "../notes").code == 0
    return cli


@pytest.mark.parametrize(
    "command",
    [
        ("search", "run the tests"),
        ("search", "run the tests", "--why"),
        ("query", "--find", "run the tests"),
        ("memories", "ls"),
    ],
    ids=" ".join,
)
def test_a_list_names_the_source_of_what_is_not_the_users_own(both: InPlace, command: tuple[str, ...]) -> None:
    out = both(*command).out
    assert f"[notes] {THEIRS}" in out
    assert f" {OURS}" in out and f"] {OURS}" not in out


def test_a_pack_in_a_terminal_names_it_too(both: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segue.cli.output.is_terminal", lambda: True)
    out = both("context", "run the tests").out
    assert f"[notes] {THEIRS}" in out and f"] {OURS}" not in out


def test_all_of_a_record_is_shown_with_who_says_it(both: InPlace) -> None:
    found = both("search", "make test", "--json").json["hits"]
    (theirs,) = [each["memory"] for each in found if each["memory"]["content"] == THEIRS]
    shown = both("expand", theirs["id"])
    assert shown.out == f"{THEIRS}\n"
    assert shown.err.rstrip().endswith(theirs["provenance"]["ref"])
