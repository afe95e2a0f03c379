"""Drafts: what is filled in, and what a chat has wrapped around one."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from segue.packets import drafts

from .examples import minimal

NOW = datetime(2026, 5, 4, 9, 30, 0, 123_000, tzinfo=UTC)


def test_a_document_with_an_id_is_left_as_it_is() -> None:
    document = minimal()
    assert drafts.complete(document, NOW) == (document, False)


def test_id_and_time_are_filled_in() -> None:
    draft = {key: value for key, value in minimal().items() if key not in ("id", "created_at")}
    document, fresh = drafts.complete(draft, NOW)
    assert fresh
    assert document == draft | {"id": document["id"], "created_at": "2026-05-04T09:30:00Z"}
    assert len(document["id"]) == 26
    assert "id" not in draft
    kept, _ = drafts.complete(draft | {"created_at": "2026-01-01T00:00:00Z"}, NOW)
    assert kept["created_at"] == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "wrapped",
    [
        "```json\n{}\n```",
        "```\n{}\n```\n",
        "~~~\n{}\n~~~",
        "Here it is:\n\n  ```json\n{}\n  ```\n\nSave it with `segue save`.",
        "First:\n```sh\nls\n```\nthen:\n```json\n{}\n```",
        "\r\n```json\r\n{}\r\n```\r\n",
    ],
)
def test_a_packet_comes_out_of_its_fence(wrapped: str) -> None:
    document = minimal(goal="Grüße an 導入.")
    found = drafts.unwrapped(wrapped.replace("{}", json.dumps(document, ensure_ascii=False, indent=2)).encode())
    assert found is not None
    assert json.loads(found) == document


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"  \n{}",
        b"nonsense",
        b"\xff\x00",
        b"```json\n[1]\n```",
        b"```json\n{}",
        b"```json\n{}\n```\n```json\n{}\n```",
        b'{"goal": "```\\n{}\\n```"}',
    ],
)
def test_what_is_not_wrapped_like_that_is_left_alone(data: bytes) -> None:
    assert drafts.unwrapped(data) is None
