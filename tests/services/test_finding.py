"""How a packet is named: by its id, or by an ending of it that only one has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import segue

Draft = Callable[..., dict[str, Any]]
CREATED = "2026-05-04T09:30:00Z"


def _save(segue_: segue.Segue, draft: Draft, *packet_ids: str) -> None:
    for packet_id in packet_ids:
        segue_.packets.save(draft(id=packet_id, created_at=CREATED))


@pytest.mark.parametrize("given", ["M4R7ZZZZ", "m4r7zzzz", "…M4R7ZZZZ", "...m4r7zzzz", "  …M4R7ZZZZ\n", "7ZZZZ"])
def test_an_ending_names_a_packet(segue_: segue.Segue, draft: Draft, given: str) -> None:
    _save(segue_, draft, "01HQ000000000000ABM4R7ZZZZ", "01HQ000000000000ABM4R7YYYY")
    assert segue_.packets.get(given).id == "01HQ000000000000ABM4R7ZZZZ"
    assert segue_.packets.rm(given).id == "01HQ000000000000ABM4R7ZZZZ"


def test_an_ending_of_several_is_ambiguous(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, *(f"packet-{index}-same" for index in range(7)))
    for act in (segue_.packets.get, segue_.packets.raw, segue_.packets.rm, segue_.packets.chain, segue_.packets.resume):
        with pytest.raises(segue.Ambiguous) as refused:
            act("same")
        assert refused.value.code == "packet.ambiguous"
        assert refused.value.details["matches"] == [f"packet-{index}-same" for index in range(6)]
        assert "packet-5-same" not in refused.value.message
    assert segue_.packets.count() == 7


def test_a_whole_id_wins_over_an_ending(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, "packet-0001", "big-packet-0001")
    assert segue_.packets.get("packet-0001").id == "packet-0001"
    assert segue_.packets.get("BIG-PACKET-0001").id == "big-packet-0001"
    _save(segue_, draft, "PACKET-0001")
    assert segue_.packets.get("PACKET-0001").id == "PACKET-0001"
    assert segue_.packets.get("packet-0001").id == "packet-0001"
    with pytest.raises(segue.Ambiguous):
        segue_.packets.get("Packet-0001")


@pytest.mark.parametrize("given", ["", "…", "   ", "nobody", "x" * 10_000, "\0", "packet\0", "\udc80", "%", "_", "\\"])
def test_what_names_nothing(segue_: segue.Segue, draft: Draft, given: str) -> None:
    _save(segue_, draft, "packet-0001")
    with pytest.raises(segue.NotFound) as refused:
        segue_.packets.get(given)
    assert refused.value.code == "packet.not_found"
    assert not isinstance(refused.value, segue.Ambiguous)
    with pytest.raises(segue.NotFound):
        segue_.packets.save(draft(goal="Another."), continues=given or "nobody")


@pytest.mark.parametrize(
    "packet_id",
    [
        "a/slash/../and more",
        "'single' and \"double\"",
        "100% of them",
        "under_score_",
        "back\\slash\\",
        "*glob?[a-z]",
        "paquet-ÉTÉ-0001",
        "İstanbul-İİİİ",
        "Straße-GROSS",
        "пакет-ОДИН",
        "東京都千代田区千代田一",
        "📦📦📦📦📦📦📦📦📦📦",
        "…ellipsis…packet",
        "..." + "dots-packet",
        "x" * 64,
        "1234567890",
    ],
)
def test_ids_of_every_kind(segue_: segue.Segue, draft: Draft, packet_id: str) -> None:
    _save(segue_, draft, packet_id, "another-packet-here")
    assert segue_.packets.get(packet_id).id == packet_id
    assert segue_.packets.get(packet_id[-6:]).id == packet_id
    child = segue_.packets.save(draft(goal="Next."), continues=packet_id)
    assert child.parent_id == packet_id
    assert [line.id for line in segue_.packets.chain(child.id).packets] == [child.id, packet_id]
    assert [line.id for line in segue_.packets.ls(parent=packet_id).packets] == [child.id]
    assert segue_.packets.rm(packet_id).id == packet_id
    assert segue_.packets.chain(child.id).missing == packet_id


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("nobody", "'nobody'"),
        ("a\nb", "'a ⏎ b'"),
        ("\x1b[31m", r"'\x1b[31m'"),
        ("\udc80", r"\udc80"),
        ("x" * 99, "x" * 63 + "…"),
    ],
)
def test_a_refusal_says_which_id_was_meant(segue_: segue.Segue, draft: Draft, given: str, shown: str) -> None:
    _save(segue_, draft, "packet-0001")
    for act in (segue_.packets.get, segue_.capsules.get, lambda each: segue_.packets.diff("0001", each)):
        with pytest.raises(segue.NotFound) as refused:
            act(given)
        assert shown in refused.value.message
        assert refused.value.message.isprintable()
        assert "x" * 65 not in refused.value.message


def test_an_id_that_begins_as_a_short_one_is_found_by_its_whole_text(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, "…packet-0001", "another-packet-0001")
    assert segue_.packets.get("…packet-0001").id == "…packet-0001"
    with pytest.raises(segue.Ambiguous):
        segue_.packets.get("packet-0001")
    segue_.packets.rm("…packet-0001")
    assert segue_.packets.get("…packet-0001").id == "another-packet-0001"


def test_wildcards_in_an_ending_are_characters(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, "packet-a%b", "packet-axb", "packet-a_b")
    assert segue_.packets.get("a%b").id == "packet-a%b"
    assert segue_.packets.get("a_b").id == "packet-a_b"
    with pytest.raises(segue.NotFound):
        segue_.packets.get("%b-")


def test_another_scope_is_never_seen(location: str, segue_: segue.Segue, draft: Draft) -> None:
    """Rows of somebody else's scope in the same database: neither found, nor listed, nor matched, nor written."""
    from datetime import UTC, datetime

    from segue.services.packets import Packets

    other = Packets(
        segue_._database, "01OTHERSCOPE", project=lambda: segue_.project, clock=lambda: datetime(2026, 5, 4, tzinfo=UTC)
    )
    theirs = other.save(draft(id="packet-0001", created_at=CREATED, tags=["theirs"]))
    for act in (segue_.packets.get, segue_.packets.raw, segue_.packets.rm, segue_.packets.chain):
        for given in (theirs.id, "0001"):
            with pytest.raises(segue.NotFound):
                act(given)
    assert segue_.packets.ls().packets == segue_.packets.ls(tag="theirs").packets == []
    mine = segue_.packets.submit(draft(id="packet-0001", created_at=CREATED, goal="Mine."))
    assert mine.outcome == "created"
    assert segue_.packets.submit(draft(tags=["theirs"])).outcome == "created"
    assert other.get("packet-0001") == theirs
    assert [line.tags for line in other.ls().packets] == [("theirs",)]
