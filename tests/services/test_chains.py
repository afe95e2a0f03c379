"""Packets that continue one another: continue, carry, chain, diff, cycles."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

import segue
from segue.storage.tables import packets as table

Draft = Callable[..., dict[str, Any]]
CREATED = "2026-05-04T09:30:00Z"


def _save(segue_: segue.Segue, draft: Draft, packet_id: str, parent_id: str = "", **members: Any) -> segue.Packet:
    parent = {"parent_id": parent_id} if parent_id else {}
    return segue_.packets.save(draft(id=packet_id, created_at=CREATED, **parent, **members))


def test_continue_by_id(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, "packet-0001")
    _save(segue_, draft, "packet-0002")
    done = segue_.packets.submit(draft(goal="Next."), continues="0001")
    assert done.packet.parent_id == "packet-0001"
    assert segue_.packets.get(done.packet.id).parent_id == "packet-0001"
    assert done.warnings == []


def test_continue_without_id_takes_this_projects_newest(segue_: segue.Segue, draft: Draft) -> None:
    with pytest.raises(segue.NotFound) as nothing:
        segue_.packets.save(draft(), continues="newest")
    assert nothing.value.code == "packet.none"
    assert segue_.packets.count() == 0
    first = segue_.packets.save(draft())
    second = segue_.packets.save(draft(goal="Second."), continues="newest")
    third = segue_.packets.save(draft(goal="Third."), continues="newest")
    assert [second.parent_id, third.parent_id] == [first.id, second.id]


def test_the_same_state_does_not_continue_itself(segue_: segue.Segue, draft: Draft) -> None:
    first = segue_.packets.save(draft())
    again = segue_.packets.submit(draft(), continues="newest")
    assert (again.outcome, again.packet) == ("unchanged", first)
    second = segue_.packets.save(draft(goal="Second."), continues="newest")
    again = segue_.packets.submit(draft(goal="Second."), continues="newest")
    assert (again.outcome, again.packet) == ("unchanged", second)
    assert segue_.packets.count() == 2


def test_a_packet_with_its_own_id_continues_what_it_is_told(segue_: segue.Segue, draft: Draft) -> None:
    first = segue_.packets.save(draft())
    own = draft(id="packet-with-id", created_at=CREATED)
    assert segue_.packets.save(own, continues=first.id).parent_id == first.id


def test_continue_replaces_the_parent_that_the_draft_names(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, "packet-0001")
    saved = segue_.packets.save(draft(goal="Next.", parent_id="nobody-has-this"), continues="packet-0001")
    assert saved.parent_id == "packet-0001"


def test_carry(segue_: segue.Segue, draft: Draft) -> None:
    method = {"name": "dry-run", "when_applicable": "Before a release.", "how": "Run it."}
    locked = {"what": "One transaction.", "why": "No half imports.", "locked": True}
    _save(
        segue_,
        draft,
        "packet-0001",
        methods=[method],
        constraints=["Python 3.11."],
        decisions=[locked, {"what": "Blue.", "why": "Taste."}],
    )
    nothing = segue_.packets.save(draft(goal="One."), continues="packet-0001")
    assert (nothing.methods, nothing.constraints, nothing.decisions) == ((), (), ())
    one = segue_.packets.save(draft(goal="Two."), continues="packet-0001", carry=["methods"])
    assert ([each.name for each in one.methods], one.constraints, one.decisions) == (["dry-run"], (), ())
    whole = ("methods", "constraints", "locked-decisions")
    every = segue_.packets.save(draft(goal="Three.", constraints=["No network."]), continues="packet-0001", carry=whole)
    assert every.constraints == ("No network.", "Python 3.11.")
    assert [each.what for each in every.decisions] == ["One transaction."]
    assert segue_.packets.get(every.id) == every
    named = segue_.packets.save(draft(goal="Four.", parent_id="packet-0001"), carry=["constraints"])
    assert (named.parent_id, named.constraints) == ("packet-0001", ("Python 3.11.",))


def test_carry_that_cannot_be_done_stores_nothing(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, "packet-0001", constraints=[f"{index} " + "x" * 1020 for index in range(20)])
    mine = [f"{index} " + "y" * 1020 for index in range(20)]
    cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({}, {"continues": "packet-0001", "carry": ["everything"]}, "packet.carry"),
        ({}, {"carry": ["methods"]}, "packet.carry"),
        ({"constraints": mine}, {"continues": "packet-0001", "carry": ["constraints"]}, "packet.schema"),
        ({"constraints": mine[:12]}, {"continues": "packet-0001", "carry": ["constraints"]}, "packet.size"),
    ]
    for members, options, code in cases:
        with pytest.raises(segue.InvalidInput) as refused:
            segue_.packets.save(draft(goal="Next.", **members), **options)
        assert refused.value.code == code
    assert segue_.packets.count() == 1


def test_a_chain_from_the_packet_to_its_oldest_ancestor(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, "packet-0001")
    _save(segue_, draft, "packet-0002", "packet-0001")
    _save(segue_, draft, "packet-0003", "packet-0002", tags=["a"])
    _save(segue_, draft, "packet-003b", "packet-0002")
    _save(segue_, draft, "packet-0004", "packet-0003")
    chain = segue_.packets.chain("0003")
    assert [line.id for line in chain.packets] == ["packet-0003", "packet-0002", "packet-0001"]
    assert chain.packets[0].tags == ("a",)
    assert ([line.id for line in chain.children], chain.missing) == (["packet-0004"], "")
    assert [line.id for line in segue_.packets.chain("0002").children] == ["packet-003b", "packet-0003"]
    assert segue_.packets.chain("0001").packets[0].id == "packet-0001"


def test_a_chain_without_id_is_the_newests(segue_: segue.Segue, draft: Draft) -> None:
    with pytest.raises(segue.NotFound):
        segue_.packets.chain()
    first = segue_.packets.save(draft())
    second = segue_.packets.save(draft(goal="Second."), continues=first.id)
    assert [line.id for line in segue_.packets.chain().packets] == [second.id, first.id]


@pytest.mark.requirement("packets-37")
def test_a_missing_parent_is_a_warning_until_it_comes(segue_: segue.Segue, draft: Draft) -> None:
    child = segue_.packets.submit(draft(id="packet-0002", created_at=CREATED, parent_id="packet-0001"))
    assert [(each.code, each.path) for each in child.warnings] == [("chain.missing", "parent_id")]
    assert segue_.packets.chain("packet-0002").missing == "packet-0001"
    _save(segue_, draft, "packet-0001")
    chain = segue_.packets.chain("packet-0002")
    assert ([line.id for line in chain.packets], chain.missing) == (["packet-0002", "packet-0001"], "")


@pytest.mark.requirement("packets-8")
@pytest.mark.parametrize("length", [1, 2, 3, 10])
def test_a_cycle_is_refused_also_when_the_last_link_comes_first(segue_: segue.Segue, draft: Draft, length: int) -> None:
    ids = [f"packet-{index:04}" for index in range(length)]
    for index in range(length - 1):
        _save(segue_, draft, ids[index], ids[index + 1])
    with pytest.raises(segue.Refused) as refused:
        _save(segue_, draft, ids[-1], ids[0])
    assert refused.value.code == "packet.cycle"
    assert segue_.packets.count() == length - 1
    _save(segue_, draft, ids[-1])
    with pytest.raises(segue.Refused):
        segue_.packets.save(draft(id=ids[-1], created_at=CREATED, parent_id=ids[0]), replace_existing=True)
    assert segue_.packets.stored(ids[-1]).revision == 1
    assert segue_.store.doctor() == []


def test_ten_thousand_links(segue_: segue.Segue, draft: Draft) -> None:
    _save(segue_, draft, "packet-00000")
    with segue_._database.write() as connection:
        row = dict(connection.execute(sa.select(table)).mappings().one())
        links = []
        for n in range(1, 10_000):
            body = row["body"].replace(b"packet-00000", f"packet-{n:05}".encode())
            links.append(row | {"id": f"packet-{n:05}", "parent_id": f"packet-{n - 1:05}", "body": body})
        for start in range(0, len(links), 500):
            connection.execute(sa.insert(table), links[start : start + 500])
    chain = segue_.packets.chain("packet-09999")
    assert [line.id for line in chain.packets] == [f"packet-{n:05}" for n in range(9_999, -1, -1)]
    assert (chain.children, chain.missing) == ([], "")
    assert segue_.packets.save(draft(goal="Next."), continues="packet-09999").parent_id == "packet-09999"
    with pytest.raises(segue.Refused):
        segue_.packets.save(
            draft(id="packet-00000", created_at=CREATED, parent_id="packet-09999"), replace_existing=True
        )


def test_a_chain_is_read_at_one_moment(
    location: str, segue_: segue.Segue, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent goes away while the chain is read: what was looked up first and what comes after belong together."""
    from segue.packets import lineage

    for packet_id, parent_id in (("packet-0001", ""), ("packet-0002", "packet-0001"), ("packet-0003", "packet-0002")):
        _save(segue_, draft, packet_id, parent_id)
    trace = lineage.trace

    def meanwhile(*arguments: Any) -> Any:
        with segue.open(location) as somebody:
            somebody.packets.rm("packet-0001")
            somebody.packets.rm("packet-0003")
        return trace(*arguments)

    monkeypatch.setattr(lineage, "trace", meanwhile)
    chain = segue_.packets.chain("packet-0002")
    assert [line.id for line in chain.packets] == ["packet-0002", "packet-0001"]
    assert ([line.id for line in chain.children], chain.missing) == (["packet-0003"], "")
    monkeypatch.undo()
    assert segue_.packets.chain("packet-0002").missing == "packet-0001"


def test_a_save_is_one_transaction_from_its_parent_to_its_row(
    location: str, segue_: segue.Segue, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody removes the parent between the look at it and the packet that continues it."""
    from segue.base import redaction
    from segue.services import packets as service

    parent = segue_.packets.save(draft(constraints=["No network."]))
    scan = redaction.scan
    removed: list[segue.Packet] = []

    def remove() -> None:
        with segue.open(location) as somebody:
            removed.append(somebody.packets.rm(parent.id))

    thread = threading.Thread(target=remove)

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        if thread.ident is None:  # afterwards memories are made of it, and scanned as well
            thread.start()
            thread.join(0.5)
            assert not removed
        return scan(*arguments, **options)

    monkeypatch.setattr(redaction, "scan", meanwhile)
    done = segue_.packets.submit(draft(goal="Next."), continues=service.NEWEST, carry=["constraints"])
    thread.join()
    assert done.packet.constraints == ("No network.",)
    assert "chain.missing" not in {advice.code for advice in done.warnings}
    assert removed == [parent]
    assert segue_.packets.chain(done.packet.id).missing == parent.id


def test_diff(segue_: segue.Segue, draft: Draft) -> None:
    locked = {"what": "One transaction.", "why": "No half imports.", "locked": True}
    _save(segue_, draft, "packet-0001", decisions=[locked])
    _save(segue_, draft, "packet-0002", "packet-0001")
    assert segue_.packets.diff("0001", "0002") != segue_.packets.diff("0001", "0001")
    with pytest.raises(segue.NotFound):
        segue_.packets.diff("0001", "nobody")


def test_resume(segue_: segue.Segue, draft: Draft) -> None:
    saved = segue_.packets.save(draft())
    block = segue_.packets.resume(saved.id)
    assert saved.goal in block
    assert saved.next_step in block
    assert segue_.packets.resume() == block
    assert segue_.packets.resume(saved.id[-6:].lower()) == block
    for act in (segue_.packets.resume, segue_.packets.chain):
        with pytest.raises(segue.NotFound) as refused:
            act("")  # None alone means the newest one
        assert refused.value.code == "packet.not_found"
