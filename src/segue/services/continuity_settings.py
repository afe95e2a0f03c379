"""What a project's `segue.toml` says about its continuity.

    [continuity]
    ledgers = ["PROJECT_STUDY_LOG.md", "PROJECT_STUDY_QA.md"]  # the files that are the project's authority
    validator = ["make", "check-records"]  # run in the project's root, without a shell
    state = "continuity-state.json"  # what a handoff is made of before a compaction

All are optional. The validator is started only by `segue receipt issue` and `prepare` and their library calls, never
by hooks, MCP or HTTP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput
from segue.continuity.receipt import is_inside
from segue.services.projects import read_settings, settings_file

if TYPE_CHECKING:
    from pathlib import Path

LEDGERS = ("PROJECT_STUDY_LOG.md", "PROJECT_STUDY_QA.md")

_TABLE = "continuity"
_MEMBERS = frozenset({"ledgers", "validator", "state"})
_MOST_LEDGERS, _MOST_WORDS, _LONGEST = 64, 64, 4_096


@dataclass(frozen=True, slots=True)
class ContinuitySettings:
    """`ledgers` and `state` are paths relative to the project, `state` "" where none is named.

    `validator` is a program and its arguments, empty for none.
    """

    ledgers: tuple[str, ...] = LEDGERS
    validator: tuple[str, ...] = ()
    state: str = ""


def read(directory: Path) -> ContinuitySettings:
    """Return the settings that count in a folder. Raises InvalidInput `config.invalid`, which names the file."""
    file = settings_file(directory)
    if file is None:
        return ContinuitySettings()
    return parse(read_settings(file).get(_TABLE, {}), str(file))


def parse(table: Any, name: str) -> ContinuitySettings:
    """Return the settings of a table `[continuity]` of the file `name`. Raises InvalidInput `config.invalid`."""

    def invalid(message: str) -> InvalidInput:
        return InvalidInput("config.invalid", f"{name}: [{_TABLE}] {message}")

    if not isinstance(table, dict):
        raise invalid("is a table")
    unknown = sorted(set(table) - _MEMBERS)
    if unknown:
        raise invalid("holds ledgers, validator and state, and nothing else")
    ledgers, validator = table.get("ledgers", list(LEDGERS)), table.get("validator", [])
    if not _are_texts(ledgers, _MOST_LEDGERS) or not all(is_inside(each) for each in ledgers):
        raise invalid("ledgers is a list of paths in the project")
    if not _are_texts(validator, _MOST_WORDS):
        raise invalid("validator is a list: a program and its arguments")
    state = table.get("state", "")
    if not isinstance(state, str) or (state and not is_inside(state)):
        raise invalid("state is the path of a file in the project")
    return ContinuitySettings(tuple(dict.fromkeys(ledgers)), tuple(validator), state)


def _are_texts(value: Any, most: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= most
        and all(isinstance(each, str) and 0 < len(each) <= _LONGEST and "\0" not in each for each in value)
    )
