"""The tree of errors: what programs may rely on."""

from __future__ import annotations

import pickle

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
