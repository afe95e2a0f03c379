"""What findings do to a save: they block it, and one decision for the whole packet lets it pass."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import segue
from segue.base.errors import InvalidInput, Refused

from .examples import AWS_KEY, GITHUB_TOKEN, encoded, minimal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.app import Segue


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Segue]:
    with segue.open(tmp_path / "segue.db", directory=tmp_path, clock=lambda: datetime(2026, 5, 4, tzinfo=UTC)) as store:
        yield store


@pytest.mark.requirement("packets-31", "packets-68")
@pytest.mark.parametrize("text", [f"use {AWS_KEY}", "see /home/x", "see ~/x"])
def test_any_finding_blocks_and_nothing_is_stored(opened: Segue, text: str) -> None:
    data = encoded(minimal(constraints=[text]))
    with pytest.raises(Refused) as raised:
        opened.packets.save(data)
    assert raised.value.code == "packet.redaction"
    assert "redactable" in raised.value.message
    assert opened.packets.count() == 0


@pytest.mark.requirement("packets-68")
def test_the_refusal_names_fields_and_never_the_text(opened: Segue) -> None:
    with pytest.raises(Refused) as raised:
        opened.packets.save(encoded(minimal(constraints=[AWS_KEY], goal=GITHUB_TOKEN)))
    assert raised.value.details == {"redaction": ["goal/gh-token", "constraints[0]/aws-key"]}
    assert AWS_KEY not in raised.value.message
    assert GITHUB_TOKEN[:12] not in raised.value.message


@pytest.mark.requirement("packets-42", "packets-68")
def test_one_decision_lets_the_whole_packet_pass(opened: Segue) -> None:
    document = minimal(goal=f"use {AWS_KEY}", constraints=["see /home/x", GITHUB_TOKEN])
    saved = opened.packets.submit(encoded(document), allow_unredacted=True)
    assert saved.outcome == "created"
    assert [item.kind for item in saved.findings] == [
        "goal/aws-key",
        "constraints[0]/abs-path",
        "constraints[1]/gh-token",
    ]
    assert saved.packet.document() == document


def test_the_override_is_for_findings_only(opened: Segue) -> None:
    with pytest.raises(InvalidInput) as raised:
        opened.packets.save(encoded(minimal(goal="")), allow_unredacted=True)
    assert raised.value.code == "packet.schema"


def test_core_only_lets_extended_findings_pass(opened: Segue) -> None:
    assert opened.packets.save(encoded(minimal(goal="see ~/x")), core_only=True).goal == "see ~/x"
