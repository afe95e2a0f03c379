"""What parser and check say of a document: the same."""

from __future__ import annotations

from typing import Any

from segue.base.errors import InvalidInput
from segue.packets import checking, schema

from .examples import encoded


def problem(document: Any) -> str:
    """Return the message of the first broken rule, "" where there is none; parser and check must agree."""
    data = document if isinstance(document, bytes) else encoded(document)
    report = checking.check(data)
    try:
        schema.parse(data)
    except InvalidInput as error:
        assert not report.valid
        assert report.exit_code == 3
        assert report.errors[0].message == error.message
        assert report.errors[0].code == error.code
        return error.message
    assert report.valid
    assert report.packet is not None
    return ""


def refuses(document: Any, *said: str) -> None:
    message = problem(document)
    assert message
    for part in said:
        assert part in message


def accepts(document: Any) -> None:
    assert problem(document) == ""
