"""The tree of errors: what programs may rely on."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pytest

from segue.base import errors


@pytest.mark.parametrize(
    ("kind", "exit_code", "parent"),
    [
        (errors.InvalidInput, 3, errors.SegueError),
        (errors.Refused, 4, errors.SegueError),
        (errors.Conflict, 4, errors.Refused),
        (errors.NotFound, 5, errors.SegueError),
        (errors.Ambiguous, 5, errors.NotFound),
        (errors.Failed, 1, errors.SegueError),
    ],
)
def test_kinds(kind: type[errors.SegueError], exit_code: int, parent: type[errors.SegueError]) -> None:
    error = kind("part.reason", "say what to do", {"n": 1})
    assert isinstance(error, parent)
    assert (error.exit_code, error.code, error.message, error.details) == (
        exit_code,
        "part.reason",
        "say what to do",
        {"n": 1},
    )
    assert str(error) == "say what to do"


def test_an_error_crosses_a_process_border_whole() -> None:
    error = errors.Conflict("packet.exists", "another body is stored", {"id": "x"})
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is errors.Conflict
    assert (copy.code, copy.message, copy.details) == (error.code, error.message, error.details)


def test_details_are_a_copy() -> None:
    details = {"n": 1}
    error = errors.Failed("file.write", "disk full", details)
    details["n"] = 2
    assert error.details == {"n": 1}
    assert errors.Failed("file.write", "disk full").details == {}


def test_a_code_has_one_exit_code() -> None:
    """Whoever goes by a code knows what kind of error it is, wherever it was raised."""
    raised: dict[str, dict[int, list[str]]] = {}
    sources = Path(errors.__file__).parents[1]
    for path in sorted(sources.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            kind = _kind(call.func) if isinstance(call, ast.Call) and call.args else None
            if kind is None or not isinstance(call, ast.Call) or not isinstance(call.args[0], ast.Constant):
                continue
            place = f"{path.relative_to(sources)}:{call.lineno}"
            raised.setdefault(str(call.args[0].value), {}).setdefault(kind.exit_code, []).append(place)
    assert len(raised) > 200
    assert {code: places for code, places in raised.items() if len(places) > 1} == {}


def _kind(called: ast.expr) -> type[errors.SegueError] | None:
    kind = getattr(errors, called.id, None) if isinstance(called, ast.Name) else None
    return kind if isinstance(kind, type) and issubclass(kind, errors.SegueError) else None
