"""Packets.submit, save, rm, get, raw: on both databases."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import segue
from segue.base.redaction import RedactionRefused
from segue.packets.model import MAX_BYTES

Draft = Callable[..., dict[str, Any]]


def _home_path() -> str:
    return "/".join(["", "home", "alice", "work", "importer"])  # in pieces: it is what must not travel


def _events(opened: segue.Segue) -> list[tuple[str, str]]:
    return [(event.kind, event.subject) for event in reversed(opened.store.events(1000))]


def test_what_is_saved_is_read_again(segue_: segue.Segue, draft: Draft) -> None:
    document = draft(
        project={"name": "Importer", "ref": "github.com/acme/importer"},
        decisions=[{"what": "One transaction.", "why": "No half imports.", "locked": True}],
        methods=[{"name": "dry-run", "when_applicable": "Before a release.", "how": "Run it with --dry."}],
        attempts=[{"tried": "Streaming.", "outcome": "failed", "learned": "The parser needs the whole."}],
        open_questions=["Which encoding?"],
        tags=["importer", "csv"],
        provenance={"author_model": "some-model", "confidence": "high"},
    )
    saved = segue_.packets.save(document)
    assert segue_.packets.get(saved.id) == saved
    assert segue_.packets.raw(saved.id) == saved.canonical
    assert json.loads(segue_.packets.raw(saved.id)) == document | {"id": saved.id, "created_at": saved.created_at}
    assert segue_.packets.count() == 1


def test_a_draft_gets_id_and_time_and_an_own_time_stays(segue_: segue.Segue, draft: Draft) -> None:
    filled = segue_.packets.save(draft())
    assert len(filled.id) == 26
    assert filled.created_at == "2026-05-04T09:30:02Z"  # the first look at the clock was for opening the store
    given = segue_.packets.save(draft(goal="Another goal.", created_at="2026-05-04T11:00:00.123456789+02:00"))
    assert given.created_at == "2026-05-04T11:00:00.123456789+02:00"
    assert segue_.packets.get(given.id).created_at == given.created_at


@pytest.mark.parametrize("form", ["mapping", "text", "bytes", "packet"])
def test_every_form_of_a_draft(segue_: segue.Segue, draft: Draft, form: str) -> None:
    document = draft(id="packet-0001", created_at="2026-05-04T09:30:00Z")
    packet = segue.Packet.from_document(document)
    forms: dict[str, Any] = {
        "mapping": document,
        "text": json.dumps(document),
        "bytes": json.dumps(document).encode(),
        "packet": packet,
    }
    assert segue_.packets.save(forms[form]) == packet


def test_a_version_0_1_packet(segue_: segue.Segue) -> None:
    document = {
        "ltm_version": "0.1",
        "id": "old-packet-1",
        "created_at": "2026-05-04T09:30:00Z",
        "goal": "g",
        "next_step": "n",
    }
    saved = segue_.packets.save(document)
    assert saved.ltm_version == "0.1"
    assert json.loads(segue_.packets.raw("old-packet-1")) == document
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.packets.save(document | {"id": "old-packet-2"}, continues="old-packet-1")
    assert refused.value.code == "packet.version"
    assert segue_.packets.count() == 1


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ({"goal": ""}, "packet.schema"),
        ({"unknown": 1}, "packet.schema"),
        ({"ltm_version": "0.3"}, "packet.version"),
        ({"ltm_version": ""}, "packet.version"),
        ({"id": "short"}, "packet.schema"),
        ({"id": "packet-with-id"}, "packet.schema"),  # no created_at
        ({"created_at": "2026-02-30T00:00:00Z"}, "packet.schema"),
        ({"constraints": ["x" * 1024] * 32}, "packet.size"),
        ({"goal": "\ud800"}, "packet.json"),
        ({"goal": object()}, "packet.json"),
        ({"id": "packet-0001\n", "created_at": "2026-05-04T09:30:00Z"}, "packet.id"),
        ({"id": " packet-0001", "created_at": "2026-05-04T09:30:00Z"}, "packet.id"),
        ({"id": "packet\x0000001", "created_at": "2026-05-04T09:30:00Z"}, "packet.id"),
        ({"parent_id": "packet\x0000001"}, "packet.id"),
    ],
)
def test_an_invalid_draft_stores_nothing(segue_: segue.Segue, draft: Draft, broken: dict[str, Any], code: str) -> None:
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.packets.save(draft(**broken))
    assert refused.value.code == code
    assert segue_.packets.count() == 0
    assert segue_.store.events() == []


def test_a_packet_value_with_a_lone_surrogate_is_refused(segue_: segue.Segue) -> None:
    packet = segue.Packet.new(goal="a\udc80b", next_step="Run the tests.")
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.packets.save(packet)
    assert refused.value.code == "packet.json"
    assert segue_.packets.count() == 0


def test_text_and_bytes_that_are_no_json(segue_: segue.Segue) -> None:
    for text in ("", "{", b"\xff", "[]", "null", '"text"', "\ud800"):
        with pytest.raises(segue.InvalidInput):
            segue_.packets.save(text)
    assert segue_.packets.count() == 0


def test_the_same_packet_twice_is_one(segue_: segue.Segue, draft: Draft) -> None:
    document = draft(id="packet-0001", created_at="2026-05-04T09:30:00Z")
    assert segue_.packets.submit(document).outcome == "created"
    assert segue_.packets.submit(document).outcome == "unchanged"
    reordered = json.dumps(dict(reversed(list(document.items()))), indent=7)
    assert segue_.packets.submit(reordered).outcome == "unchanged"
    assert segue_.packets.count() == 1
    assert _events(segue_) == [("packet.saved", "packet-0001")]
    assert segue_.packets.stored("packet-0001").revision == 1


def test_the_same_draft_twice_is_one(segue_: segue.Segue, draft: Draft) -> None:
    first = segue_.packets.submit(draft(tags=["a"]))
    again = segue_.packets.submit(draft(tags=["a"]))
    assert (first.outcome, again.outcome) == ("created", "unchanged")
    assert again.packet == first.packet
    assert segue_.packets.submit(draft(tags=["b"])).outcome == "created"
    assert segue_.packets.count() == 2


def test_the_same_state_under_two_ids_is_two_packets(segue_: segue.Segue, draft: Draft) -> None:
    for packet_id in ("packet-0001", "packet-0002"):
        document = draft(id=packet_id, created_at="2026-05-04T09:30:00Z")
        assert segue_.packets.submit(document).outcome == "created"
    assert segue_.packets.count() == 2


def test_another_body_under_an_id_is_refused(segue_: segue.Segue, draft: Draft) -> None:
    segue_.packets.save(draft(id="packet-0001", created_at="2026-05-04T09:30:00Z"))
    with pytest.raises(segue.Conflict) as refused:
        segue_.packets.save(draft(id="packet-0001", created_at="2026-05-04T09:30:00Z", goal="Another goal."))
    assert (refused.value.code, refused.value.details) == ("packet.exists", {"id": "packet-0001"})
    assert segue_.packets.get("packet-0001").goal == "Ship the importer."
    assert _events(segue_) == [("packet.saved", "packet-0001")]


def test_a_replaced_packet_takes_everything_along(segue_: segue.Segue, draft: Draft) -> None:
    named = {"id": "packet-0001", "created_at": "2026-05-04T09:30:00Z"}
    segue_.packets.save(draft(**named, tags=["old", "both"], project={"name": "Before", "ref": "github.com/acme/one"}))
    new = draft(goal="Novel goal.", tags=["new", "both"], parent_id="parent-0001", project={"name": "After"})
    done = segue_.packets.submit(new | named | {"created_at": "2026-05-05T00:00:00Z"}, replace_existing=True)
    assert done.outcome == "replaced"
    assert segue_.packets.stored("packet-0001").revision == 2
    assert segue_.packets.raw("packet-0001") == done.packet.canonical
    [line] = segue_.packets.ls().packets
    assert (line.goal, line.tags, line.project_name, line.project_ref, line.parent_id, line.created_at) == (
        "Novel goal.",
        ("both", "new"),
        "After",
        "",
        "parent-0001",
        "2026-05-05T00:00:00Z",
    )
    assert segue_.packets.ls(tag="old").packets == []
    assert segue_.packets.ls(search="importer").packets == []
    assert segue_.packets.ls(search="novel", tag="new", parent="parent-0001").packets == [line]
    assert _events(segue_) == [("packet.saved", "packet-0001"), ("packet.replaced", "packet-0001")]
    assert segue_.store.events(1)[0].details == {"flagged": False, "revision": 2}
    assert segue_.store.doctor() == []


def test_replacing_what_is_not_there_or_is_the_same(segue_: segue.Segue, draft: Draft) -> None:
    document = draft(id="packet-0001", created_at="2026-05-04T09:30:00Z")
    assert segue_.packets.submit(document, replace_existing=True).outcome == "created"
    assert segue_.packets.submit(document, replace_existing=True).outcome == "unchanged"
    assert segue_.packets.stored("packet-0001").revision == 1


@pytest.mark.requirement("packets-31")
def test_a_refusal_by_the_redactor_stores_nothing_and_quotes_nothing(segue_: segue.Segue, draft: Draft) -> None:
    secret = "AKIA" + "Q" * 16
    with pytest.raises(RedactionRefused) as refused:
        segue_.packets.save(draft(constraints=[f"Use {secret}."], next_step=f"Look into {_home_path()}"))
    error = refused.value
    assert error.exit_code == 4
    assert error.details == {"redaction": [finding.kind for finding in error.findings]}
    assert "constraints[0]/aws-key" in error.details["redaction"]
    assert {finding.path for finding in error.findings} == {"constraints[0]", "next_step"}
    said = f"{error} {error.message} {error.details!r} {error.args!r}"
    assert secret not in said
    assert _home_path() not in said
    assert segue_.packets.count() == 0
    assert segue_.store.events() == []


def test_findings_that_were_allowed_are_flagged(segue_: segue.Segue, draft: Draft) -> None:
    done = segue_.packets.submit(draft(next_step=f"Look into {_home_path()}"), allow_unredacted=True)
    assert done.outcome == "created"
    assert done.findings
    assert segue_.packets.stored(done.packet.id).flagged
    assert [line.flagged for line in segue_.packets.ls().packets] == [True]
    assert segue_.store.events(1)[0].details == {"flagged": True, "revision": 1}
    clean = draft(id=done.packet.id, created_at=done.packet.created_at)
    segue_.packets.save(clean, replace_existing=True)
    assert not segue_.packets.stored(done.packet.id).flagged


def test_core_only_leaves_the_extended_findings_out(segue_: segue.Segue, draft: Draft) -> None:
    document = draft(next_step="Open build-7.internal and look.")
    with pytest.raises(RedactionRefused):
        segue_.packets.save(document)
    assert segue_.packets.submit(document, core_only=True).findings == []


def test_rm_removes_one_packet_for_good(segue_: segue.Segue, draft: Draft) -> None:
    parent = segue_.packets.save(draft(tags=["a"]))
    child = segue_.packets.save(draft(goal="Next.", tags=["a"]), continues=parent.id)
    assert segue_.packets.rm(parent.id) == parent
    with pytest.raises(segue.NotFound):
        segue_.packets.get(parent.id)
    with pytest.raises(segue.NotFound):
        segue_.packets.rm(parent.id)
    assert [line.id for line in segue_.packets.ls(tag="a").packets] == [child.id]
    assert _events(segue_)[-1] == ("packet.deleted", parent.id)
    assert segue_.store.doctor() == []
    assert segue_.packets.submit(parent).outcome == "created"
    assert segue_.packets.stored(parent.id).revision == 1


@pytest.mark.parametrize("given", ["", "…", "1", "001", "…001", "...001", "  001 ", "…   "])
def test_rm_takes_no_short_ending(segue_: segue.Segue, draft: Draft, given: str) -> None:
    saved = segue_.packets.save(draft(id="packet-0001", created_at="2026-05-04T09:30:00Z"))
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.packets.rm(given)
    assert refused.value.code == "packet.short_id"
    assert (segue_.packets.count(), _events(segue_)) == (1, [("packet.saved", "packet-0001")])
    assert segue_.packets.rm("…0001") == saved
    assert segue_.packets.count() == 0


def test_events_are_appended_and_never_changed(location: str, segue_: segue.Segue, draft: Draft) -> None:
    seen: list[Any] = []
    one = segue_.packets.save(draft())
    acts: list[Callable[[], object]] = [
        lambda: segue_.packets.save(draft(goal="Two.")),
        lambda: segue_.packets.save(draft(id=one.id, created_at=one.created_at, goal="Three."), replace_existing=True),
        lambda: segue_.packets.rm(one.id),
    ]
    for act in acts:
        seen = segue_.store.events(1000)
        act()
        assert segue_.store.events(1000)[1:] == seen
    with segue.open(location, actor="somebody else") as other:
        assert other.store.events(1000)[1:] == seen
        other.packets.save(draft(goal="Four."))
        assert other.store.events(1)[0].actor == "somebody else"
    assert {event.actor for event in segue_.store.events(1000)[1:]} == {"local"}


@pytest.mark.parametrize(
    "text",
    ["NUL \0 inside", "escape \x1b[31m", "emoji 👩\u200d💻", "\u202eto the left", "'; DROP TABLE packets; --", "%_\\"],
)
def test_texts_of_every_kind_come_back_as_they_were(segue_: segue.Segue, draft: Draft, text: str) -> None:
    document = draft(goal=text, open_questions=[text], project={"name": text}, decisions=[{"what": text, "why": text}])
    saved = segue_.packets.save(document)
    assert segue_.packets.get(saved.id).goal == text
    assert segue_.packets.raw(saved.id) == saved.canonical
    assert segue_.packets.ls(project=text).packets[0].id == saved.id
    words = any(map(str.isalnum, text)) or "💻" in text
    assert [each.id for each in segue_.packets.ls(search=text).packets] == ([saved.id] if words else [])
    assert segue_.store.doctor() == []


def test_the_largest_legal_packet_is_stored_and_stays_legal(segue_: segue.Segue, draft: Draft) -> None:
    document = draft(id="packet-0001", created_at="2026-05-04T09:30:00Z", constraints=["é" * 500] * 32)
    free = MAX_BYTES - len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
    document["goal"] += "x" * free
    exact = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    assert len(exact) == MAX_BYTES
    assert segue_.packets.submit(exact).outcome == "created"
    assert len(segue_.packets.raw("packet-0001")) == MAX_BYTES
    assert segue_.store.doctor() == []
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.packets.save(exact + b" ")
    assert refused.value.code == "packet.size"


def test_warnings_come_also_with_what_was_saved_before(segue_: segue.Segue, draft: Draft) -> None:
    loose = draft(parent_id="nobody-has-this", goal="One thing. Another thing.")
    own = loose | {"id": "packet-0001", "created_at": "2026-05-04T11:30:00+02:00"}
    for document in (loose, own):
        first, again = segue_.packets.submit(document), segue_.packets.submit(document)
        assert (first.outcome, again.outcome) == ("created", "unchanged")
        assert again.warnings == first.warnings
        assert {advice.code for advice in again.warnings} >= {"chain.missing", "rule.sentence"}


def test_warnings_come_with_what_was_saved(segue_: segue.Segue, draft: Draft) -> None:
    done = segue_.packets.submit(
        draft(parent_id="nobody-has-this", created_at="2026-05-04T11:30:00+02:00", goal="One thing. Another thing.")
    )
    assert {(advice.code, advice.path) for advice in done.warnings} >= {
        ("chain.missing", "parent_id"),
        ("rule.offset", "created_at"),
        ("rule.sentence", "goal"),
    }
