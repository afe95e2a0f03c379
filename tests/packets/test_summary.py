"""A packet as text for people: every field is there, and none can write a line of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from segue.packets import summary
from segue.packets.model import Packet

from .examples import full, minimal
from .test_resume import HOSTILE, poisoned

NOW = datetime(2026, 5, 4, 9, 35, tzinfo=UTC)


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def test_every_text_of_the_packet_is_shown() -> None:
    shown = summary.render(Packet.from_document(full()), NOW)
    for text in texts({key: value for key, value in full().items() if key != "ltm_version"}):
        assert text in shown
    assert "v0.2" in shown
    assert "5 min ago" in shown
    assert "[locked] Use WAL." in shown
    assert "[failed] A bigger timeout." in shown


def test_an_age_that_is_a_date_is_not_said_twice() -> None:
    later = datetime(2026, 7, 4, tzinfo=UTC)
    shown = summary.render(Packet.from_document(minimal()), later).splitlines()
    assert "Created:    2026-05-04T09:30:00Z" in shown
    # In another zone it was another day.
    elsewhere = summary.render(Packet.from_document(minimal(created_at="2026-05-04T01:00:00+09:00")), later)
    assert "Created:    2026-05-04T01:00:00+09:00 (2026-05-03)" in elsewhere.splitlines()


def test_what_is_absent_is_left_out() -> None:
    shown = summary.render(Packet.from_document(minimal()), NOW, ["Published: no"])
    assert "Published: no" in shown.splitlines()
    for label in ("Continues", "Project", "Tags", "Author", "Constraints", "Decisions", "Methods", "Attempts"):
        assert label not in shown


def test_hostile_text_adds_no_line() -> None:
    plain = summary.render(Packet.from_document(poisoned("x")), NOW).splitlines()
    for text in HOSTILE:
        shown = summary.render(Packet.from_document(poisoned(text)), NOW)
        assert len(shown.splitlines()) == len(plain)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
