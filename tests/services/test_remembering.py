"""Memories on both databases: said again, proposed and reviewed, edited, replaced, in conflict, refused."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from memory_rows import contents, everything, require_sound, rows_of

import segue
from segue.base.errors import Conflict, InvalidInput, NotFound, Refused
from segue.base.redaction import RedactionRefused
from segue.memories.making import item
from segue.services.memories import Remembered

SECRET = "AK" + "IA" + "Q7Z2" * 4


def agent(opened: segue.Segue, content: str, **details: Any) -> Remembered:
    return opened.memories.remember(content, author_class="agent", **details)


def only(opened: segue.Segue) -> Any:
    (memory,) = opened.memories.ls().memories
    return memory


def codes(opened: segue.Segue) -> list[str]:
    return [event.kind for event in opened.store.events(100)]


# -- remembered and said again ------------------------------------------------------------------------------------


def test_remembering_and_getting(segue_: segue.Segue) -> None:
    said = segue_.memories.remember(
        "Ada prefers rye.",
        kind="preference",
        entities=["Ada Lovelace"],
        tags=["Food"],
        project="Bakery",
        url="https://example.org/1",
        occurred_at="2026-05-04T09:30:00.000001+02:00",
        confidence=0.75,
        summary="Rye.",
        author="Ana",
    )
    memory = segue_.memories.get(said.memory.id)
    assert said == Remembered(memory, "new")
    assert (memory.content, memory.status, memory.layer, memory.trust) == (
        "Ada prefers rye.",
        "active",
        "preference",
        0.9,
    )
    assert memory.id.startswith("mem_")
    assert len(memory.id) == 30
    assert memory.occurred_at == datetime(2026, 5, 4, 7, 30, 0, 1, tzinfo=UTC)
    assert (memory.tags, memory.entities, memory.project, memory.confidence) == (
        ("food",),
        ("Ada Lovelace",),
        "Bakery",
        0.75,
    )
    assert memory.provenance.url == "https://example.org/1"
    assert codes(segue_) == ["memory.remembered"]
    assert "rye" not in repr(segue_.store.events(10)).lower()
    require_sound(segue_)


@pytest.mark.requirement("memories-3")
@pytest.mark.parametrize(
    "again",
    [
        "Café  is\tclosed on Mondays.",
        unicodedata.normalize("NFD", "Café is closed on Mondays."),
        "CAFÉ IS CLOSED ON MONDAYS.",
        "  café\u00a0is\u3000closed\n\non mondays.  ",
    ],
)
def test_the_same_text_is_one_memory_with_one_more_occurrence(segue_: segue.Segue, again: str) -> None:
    first = segue_.memories.remember("Café is closed on Mondays.", tags=["a"]).memory
    said = segue_.memories.remember(again, tags=["b", "A"], entities=["Ana"], occurred_at="2026-05-04T09:30:00Z")
    assert (said.verdict, said.memory.id, said.memory.occurrences) == ("merged", first.id, 2)
    assert said.memory.content == first.content
    assert (said.memory.tags, said.memory.entities) == (("a", "b"), ("Ana",))
    assert said.memory.occurred_at is not None
    assert len(segue_.memories.history(first.id).sources) == 2
    assert only(segue_) == said.memory
    assert codes(segue_) == ["memory.repeated", "memory.remembered"]
    require_sound(segue_)


@pytest.mark.requirement("memories-4")
def test_what_is_alike_and_not_the_same(segue_: segue.Segue) -> None:
    for text in ("Yes.", "Yes", "Yes!", "Yés."):
        assert segue_.memories.remember(text).verdict == "new"
    assert segue_.memories.remember("Yes.", project="Shop").verdict == "new"
    assert segue_.memories.remember("YES.", project=" shop").verdict == "merged"
    assert segue_.memories.count() == 5
    require_sound(segue_)


@pytest.mark.requirement("memories-4")
def test_turns_of_a_thread_are_told_by_their_place(segue_: segue.Segue) -> None:
    for place in range(3):
        said = segue_.memories.remember("Yes.", thread="t", position=place, speaker="Ana")
        assert said.verdict == "new"
    assert segue_.memories.remember("yes.", thread="t", position=1).verdict == "merged"
    assert segue_.memories.remember("Yes.", thread="u", position=1).verdict == "new"
    assert segue_.memories.remember("Yes.").verdict == "new"
    assert segue_.memories.count(threads=["t"]) == 3
    require_sound(segue_)


@pytest.mark.requirement("memories-3")
def test_a_place_counts_once(segue_: segue.Segue) -> None:
    first = segue_.memories.remember("Rye keeps.", ref="book#1")
    again = segue_.memories.remember("Rye keeps.", ref="book#1")
    other = segue_.memories.remember("Rye keeps.", ref="book#2")
    assert (again.verdict, again.memory.occurrences) == ("known", 1)
    assert (other.verdict, other.memory.occurrences) == ("merged", 2)
    assert {said.ref for said in segue_.memories.history(first.memory.id).sources} == {"book#1", "book#2"}


def test_a_place_that_says_something_else_replaces_what_it_said(segue_: segue.Segue) -> None:
    old = segue_.memories.remember("Rye keeps a week.", ref="book#1").memory
    said = segue_.memories.remember("Rye keeps ten days.", ref="book#1")
    assert (said.verdict, said.replaced) == ("new", (old.id,))
    assert segue_.memories.get(old.id).superseded_by == said.memory.id
    back = segue_.memories.remember("Rye keeps a week.", ref="book#1")
    assert (back.verdict, back.replaced) == ("new", (said.memory.id,))
    assert contents(segue_) == {"Rye keeps a week."}
    require_sound(segue_)


def test_what_the_user_says_too_is_the_users_word(segue_: segue.Segue) -> None:
    said = segue_.memories.remember("Rye keeps.", author_class="external").memory
    assert said.trust == 0.3
    assert agent(segue_, "Rye keeps.").memory.trust == 0.6
    memory = segue_.memories.remember("rye keeps.").memory
    assert (memory.id, memory.trust, memory.provenance.author_class, memory.occurrences) == (said.id, 0.9, "user", 3)
    for who in ("agent", "external"):
        assert segue_.memories.remember("Rye keeps.", author_class=who).memory.provenance.author_class == "user"
        with pytest.raises(Refused) as refused:
            segue_.memories.edit(said.id, content="Rye rots.", author_class=who)
        assert refused.value.code == "memory.review"
    assert segue_.memories.supersede(said.id, "Rye rots.", author_class="agent").memory.status == "pending"
    require_sound(segue_)


def test_a_repetition_that_knows_more(segue_: segue.Segue) -> None:
    first = segue_.memories.remember("Ada keeps rye.").memory
    more: dict[str, Any] = {
        "summary": "Of bread.",
        "confidence": 0.5,
        "valid_to": "2027-01-01T00:00:00Z",
        "kind": "decision",
    }
    said = segue_.memories.remember("ada keeps rye.", **more)
    assert (said.verdict, said.memory.id, said.memory.content) == ("merged", first.id, "Ada keeps rye.")
    assert (said.memory.kind, said.memory.layer, said.memory.summary) == ("decision", "decision", "Of bread.")
    assert said.memory.confidence == 0.5
    require_sound(segue_)
    assert [each.memory.id for each in segue_.search.find("bread")] == [first.id]
    assert len(segue_.search.find("rye", as_of=datetime(2028, 1, 1, tzinfo=UTC))) == 0
    other: dict[str, Any] = {
        "summary": "Of oats.",
        "confidence": 1.0,
        "valid_to": "2028-01-01T00:00:00Z",
        "kind": "claim",
    }
    again = segue_.memories.remember("Ada keeps rye.", **other).memory
    assert (again.kind, again.summary, again.confidence, again.valid_to) == (
        "decision",
        "Of bread.",
        0.5,
        said.memory.valid_to,
    )
    require_sound(segue_)


@pytest.mark.parametrize(("whose", "who"), [("user", "agent"), ("user", "external"), ("agent", "external")])
def test_only_those_who_may_replace_a_memory_add_to_what_it_says(segue_: segue.Segue, whose: str, who: str) -> None:
    said = segue_.memories.remember("Ada keeps rye.", author_class=whose).memory
    more: dict[str, Any] = {
        "summary": "Of bread.",
        "confidence": 0.1,
        "valid_to": "2026-01-01T00:00:00Z",
        "kind": "constraint",
        "tags": ["attacker"],
        "entities": ["Mallory"],
        "occurred_at": "2020-01-01T00:00:00Z",
        "url": "https://example.org/mallory",
        "author": "mallory",
    }
    others = ("memory_tags", "memory_entities", "memory_index")
    before = {name: rows_of(segue_, name) for name in others}
    again = segue_.memories.remember("Ada keeps rye.", author_class=who, ref="theirs#1", **more).memory
    proposed = segue_.memories.propose("ada keeps  rye.", author_class=who, ref="theirs#2", **more).memory
    assert replace(again, occurrences=1) == replace(proposed, occurrences=1) == said
    assert {name: rows_of(segue_, name) for name in others} == before
    segue_.memories.forget_source("theirs", confirmed=0)
    assert segue_.memories.get(said.id) == said
    added = segue_.memories.remember("Ada keeps rye.", author_class=whose, **more).memory
    assert (added.summary, added.tags, added.entities) == ("Of bread.", ("attacker",), ("Mallory",))
    require_sound(segue_)


def test_what_waits_for_review_is_not_filled_from_outside(segue_: segue.Segue) -> None:
    waiting = segue_.memories.propose("Ada keeps rye.").memory
    more: dict[str, Any] = {"tags": ["attacker"], "entities": ["Mallory"], "occurred_at": "2020-01-01T00:00:00Z"}
    again = segue_.memories.propose("ada keeps rye.", author_class="external", **more).memory
    assert replace(again, occurrences=1) == waiting
    assert segue_.memories.propose("ada keeps rye.", **more).memory.tags == ("attacker",)


@pytest.mark.parametrize("who", ["agent", "user"])
def test_what_holds_is_not_changed_by_what_is_only_proposed(segue_: segue.Segue, who: Any) -> None:
    said = segue_.memories.remember("Ada keeps rye.", author_class="agent").memory
    more: dict[str, Any] = {
        "summary": "Of bread.",
        "kind": "constraint",
        "confidence": 0.1,
        "valid_to": "2026-01-01T00:00:00Z",
        "tags": ["attacker"],
        "entities": ["Mallory"],
        "occurred_at": "2020-01-01T00:00:00Z",
    }
    proposed = segue_.memories.propose("ada keeps  rye.", author_class=who, **more)
    assert (proposed.verdict, proposed.memory) == ("merged", replace(said, occurrences=2))
    require_sound(segue_)


def test_many_at_once(segue_: segue.Segue) -> None:
    said = segue_.memories.remember_all([item(f"Loaf {number % 600}.", ref=f"list#{number}") for number in range(700)])
    assert [each.verdict for each in said] == ["new"] * 600 + ["merged"] * 100
    assert [each.verdict for each in segue_.memories.remember_all([item("Loaf 3.", ref="list#3")])] == ["known"]
    assert segue_.memories.count() == 600
    require_sound(segue_)
    ids = [each.memory.id for each in said[:600] if each.memory]
    assert ids == sorted(ids)


# -- values -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("memories-10")
@pytest.mark.parametrize(
    "details",
    [
        {"content": ""},
        {"content": " \u3000\n"},
        {"content": "x" * 8_001},
        {"content": "a\ud800"},
        {"kind": "fact"},
        {"layer": "deep"},
        {"author_class": "root"},
        {"origin": "elsewhere"},
        {"confidence": 1.000001},
        {"confidence": float("nan")},
        {"thread": "t", "position": -1},
        {"position": 1},
        {"tags": ["x" * 65]},
        {"entities": ["x" * 161]},
        {"url": "javascript:alert(1)"},
        {"occurred_at": "now"},
        {"valid_from": "2027-01-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"},
        {"project": "\udfff"},
        {"ref": "x" * 513},
    ],
)
def test_a_bad_value_is_refused_and_nothing_is_kept(segue_: segue.Segue, details: dict[str, Any]) -> None:
    for act in (segue_.memories.remember, segue_.memories.propose):
        with pytest.raises(InvalidInput) as refused:
            act(**({"content": "Rye."} | details))
        assert refused.value.code.startswith("memory.")
    assert rows_of(segue_, "memories") == rows_of(segue_, "memory_sources") == []
    assert codes(segue_) == []


HOSTILE = [
    "nul \0 inside",
    "\u202eright to left\u202c and \u2066isolated\u2069",
    "👩‍👩‍👧‍👦" * 900,
    "\u200b\u200d\ufeff visible",
    "x" * 8_000,
    "漢" * 8_000,
    "ﷺ" * 8_000,
    "e" + "\u0301" * 7_999,
    "'; DROP TABLE memories; --",
    "%_\\*?[a]{}$1 %s {0} \\x00",
    "\x1b[31mred\x1b[0m \x07 \x7f",
    "\uffff\ufdd0 noncharacters",
    "\U0010ffff",
    "İstanbul ı ß ſ ŉ ΰ",
    "line\r\nline\rline\u2028line\x85line",
    "[[link]] <b>&amp;</b> ```code",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_data(segue_: segue.Segue, text: str) -> None:
    name = text[:60]
    said = segue_.memories.remember(
        text, project=name, entities=[name], tags=[text[:10]], thread=name, position=0, author=name, summary=name
    ).memory
    memory = segue_.memories.get(said.id)
    assert memory == said
    assert memory.content == text.strip().replace("\0", "\ufffd")
    assert segue_.memories.remember(text, project=name, thread=name, position=0).memory.occurrences == 2
    assert segue_.memories.count(projects=[name], entities=[name], threads=[memory.thread]) == 1
    edited = segue_.memories.edit(said.id, content="Changed. " + text[:100])
    assert segue_.memories.history(said.id).versions[0].body["content"] == memory.content
    assert edited.revision == 2
    require_sound(segue_)
    segue_.memories.forget(said.id, reason=text[:100])
    assert segue_.memories.count() == 0
    require_sound(segue_)


def test_names_that_grow_when_they_are_folded(segue_: segue.Segue) -> None:
    """One character of Arabic becomes eighteen, one of Turkish two: the columns must hold what comes of it."""
    said = segue_.memories.remember(
        "Grown.", entities=["ﷺ" * 160], tags=["İ" * 32], project="ﷺ" * 320, thread="ﷺ" * 320, position=0
    )
    assert segue_.memories.count(entities=["ﷺ" * 160], projects=["ﷺ" * 320]) == 1
    with pytest.raises(InvalidInput):
        segue_.memories.remember("Grown.", tags=["İ" * 64])
    segue_.memories.remember("Long names.", ref="🦀" * 255 + "#" + "🦀" * 255, author="🦀" * 320)
    segue_.memories.forget(said.memory.id)
    require_sound(segue_)


# -- secrets ------------------------------------------------------------------------------------------------------

FIELDS: dict[str, Any] = {
    "content": f"Use {SECRET} for it.",
    "summary": f"Key {SECRET}",
    "project": SECRET,
    "thread": f"t {SECRET}",
    "speaker": SECRET,
    "entities": ["Ada", SECRET],
    "tags": ["good", SECRET],
    "url": f"https://example.org/{SECRET}",
    "ref": f"book#{SECRET}",
    "author": SECRET,
}


@pytest.mark.requirement("memories-18")
@pytest.mark.parametrize("field", FIELDS)
def test_a_secret_in_any_field_is_refused_and_nowhere(segue_: segue.Segue, field: str) -> None:
    details: dict[str, Any] = {"content": "Fine."} | {field: FIELDS[field]}
    for act in (segue_.memories.remember, segue_.memories.propose):
        with pytest.raises(RedactionRefused) as refused:
            act(**details)
        assert (refused.value.code, refused.value.exit_code) == ("memory.redaction", 4)
        assert SECRET not in str(refused.value) + repr(refused.value.details)
        assert refused.value.details["redaction"] == [
            f"{field}[1]/aws-key" if field in ("entities", "tags") else f"{field}/aws-key"
        ]
    assert SECRET.lower() not in everything(segue_).lower()
    assert segue_.memories.count() == 0


@pytest.mark.requirement("memories-18")
@pytest.mark.parametrize("field", FIELDS)
def test_a_secret_in_any_field_is_masked_where_that_is_wanted(segue_: segue.Segue, field: str) -> None:
    details: dict[str, Any] = {"content": "Fine."} | {field: FIELDS[field]}
    memory = segue_.memories.remember(**details, redaction="mask").memory
    assert SECRET.lower() not in everything(segue_).lower()
    assert ("[redacted:aws-key]" in str(memory.to_json())) == (field != "url")
    assert segue_.memories.remember(**details, redaction="mask").memory.id == memory.id
    require_sound(segue_)


# The credentials of the extended set, each with its label, and from pieces: none of these lets anybody in.
CREDENTIALS: list[tuple[str, str]] = [
    ("model-key", "sk" + "-proj-" + "aB3dE5gH7jK9mN1pQ3sT"),
    ("model-key", "sk" + "-ant-" + "api03-aB3dE5gH7jK9mN1pQ3sT"),
    ("github-pat", "github" + "_pat_" + "11ABCDEFG0aBcDeFgHiJkL"),
    ("vendor-token", "glpat" + "-aB3dE5gH7jK9mN1pQ3sT"),
    ("vendor-token", "hf" + "_" + "aBcDeFgHiJ" * 3),
    ("npm-token", "npm" + "_" + "aB3dE5gH7j" * 4),
    ("connection-string", "postgres" + "://admin:q7z2w9@db.example/shop"),
    ("url-credentials", "https" + "://ada:q7z2w9@example.org/x"),
    ("auth-header", "Authorization: Bearer " + "q7z2W9x4" * 3),
    ("aws-secret", "AWS_SECRET_ACCESS" + "_KEY=" + "q7Z2w9X4" * 5),
    ("env-var", "SHOP_DB" + "_PASSWORD=q7z2w9x4"),
    ("pem-header", "-----BEGIN ENCRYPTED PRIVATE" + " KEY-----"),
]


@pytest.mark.requirement("memories-18")
@pytest.mark.parametrize(("label", "credential"), CREDENTIALS)
def test_every_credential_in_every_field(segue_: segue.Segue, label: str, credential: str) -> None:
    for number, (field, value) in enumerate(FIELDS.items()):
        put = [credential if each == SECRET else each for each in value] if isinstance(value, list) else None
        with_it = put or (value.replace(SECRET, credential) if field != "url" else f"https://example.org/?{credential}")
        if field == "url" and " " in credential:
            continue  # no address
        details: dict[str, Any] = {"content": f"Fine {number}."} | {field: with_it}
        for act in (segue_.memories.remember, segue_.memories.propose):
            with pytest.raises(RedactionRefused) as refused:
                act(**details)
            named = f"{field}[1]" if put else field
            assert f"{named}/ext/{label}" in refused.value.details["redaction"]
        memory = segue_.memories.remember(**details, redaction="mask").memory
        assert ("[redacted:" in str(memory.to_json())) == (field != "url")
    with pytest.raises(RedactionRefused):
        segue_.entities.merge(credential, "Ada")
    kept = segue_.memories.remember("Plain.").memory
    with pytest.raises(RedactionRefused):
        segue_.memories.edit(kept.id, content=credential)
    with pytest.raises(RedactionRefused):
        segue_.memories.supersede(kept.id, credential)
    assert credential.lower() not in everything(segue_).lower()
    require_sound(segue_)


@pytest.mark.parametrize("credential", [each for _, each in CREDENTIALS])
def test_no_credential_comes_in_by_an_import(segue_: segue.Segue, credential: str) -> None:
    segue_.memories.remember("Fine.", summary="ZQZ")
    lines: list[bytes] = []
    segue_.transfer.export(lines.append)
    forged = [line.replace(b"ZQZ", credential.encode()) for line in lines]
    segue_.memories.forget(segue_.memories.ls().memories[0].id)
    report = segue_.transfer.load(forged)
    assert [each.code for each in report.problems] == ["transfer.redaction"]
    assert credential.lower() not in everything(segue_).lower()


@pytest.mark.parametrize(
    "text",
    [
        "Write to ada@example.org.",
        "The build lies in /tmp/build and ~/build, the server at http://localhost:8080.",
        "NODE_ENV=production and MAX_TOKENS=51200000, TOKEN_URL=https://example.org",
        "arn:aws:s3:::shop-invoices belongs to 10.0.0.7:5432 and printer.local",
        "Bearer Authentication is asked for; a bearer certificate is not.",
        "DB_PASSWORD=<your password>, postgres://ada:$PASSWORD@db.example/shop",
        "DB_PASSWORD_FILE=/run/secrets/db and SHOP_API_KEY=/run/secrets/key.txt",
    ],
)
def test_what_lets_nobody_in_is_kept(segue_: segue.Segue, text: str) -> None:
    assert segue_.memories.remember(text, redaction="mask").memory.content == text
    assert segue_.memories.remember(text).verdict == "merged"


def test_a_store_that_masks_masks_what_is_edited_and_put_in_place(segue_: segue.Segue) -> None:
    memory = segue_.memories.remember("Fine.").memory
    for change in ({"content": f"Use {SECRET}."}, {"summary": SECRET}, {"tags": [SECRET]}, {"project": SECRET}):
        with pytest.raises(RedactionRefused):
            segue_.memories.edit(memory.id, **change)
    with pytest.raises(RedactionRefused):
        segue_.memories.supersede(memory.id, f"Use {SECRET}.")
    assert segue_.memories.get(memory.id) == memory
    edited = segue_.memories.edit(memory.id, content=f"Use {SECRET}.", redaction="mask")
    assert edited.content == "Use [redacted:aws-key]."
    newer = segue_.memories.supersede(memory.id, f"Never {SECRET}.", redaction="mask").memory
    assert newer.content == "Never [redacted:aws-key]."
    assert SECRET.lower() not in everything(segue_).lower()
    require_sound(segue_)


def test_masking_makes_no_text_too_long_and_no_list_repeat(segue_: segue.Segue) -> None:
    paths = [f"/{folder}/a" for folder in ("home", "etc", "var")]
    said = segue_.memories.remember("Fine.", tags=paths, entities=paths, redaction="mask").memory
    assert said.tags == said.entities == ("[redacted:abs-path]",)
    for details in ({"content": f"{paths[0]} " * 1_000}, {"content": "x", "tags": ["y" * 50 + " " + paths[0]]}):
        with pytest.raises(InvalidInput):
            segue_.memories.remember(**details, redaction="mask")
    assert segue_.memories.count() == 1
    require_sound(segue_)


# -- proposed and reviewed ----------------------------------------------------------------------------------------


@pytest.mark.requirement("memories-1")
def test_a_proposal_waits_and_is_not_served(segue_: segue.Segue) -> None:
    said = segue_.memories.propose("Ada prefers rye.", entities=["Ada"])
    assert (said.memory.status, said.memory.provenance.author_class) == ("pending", "agent")
    assert segue_.memories.pending().memories == [said.memory]
    assert segue_.memories.ls(statuses=["active"]).memories == []
    assert rows_of(segue_, "memory_index") == rows_of(segue_, "memory_words") == []
    again = segue_.memories.propose("ada prefers rye.")
    assert (again.verdict, again.memory.status, again.memory.occurrences) == ("merged", "pending", 2)
    assert codes(segue_) == ["memory.repeated", "memory.proposed"]
    require_sound(segue_)


@pytest.mark.requirement("memories-2")
def test_approving_is_bound_to_what_was_looked_at(segue_: segue.Segue) -> None:
    shown = segue_.memories.propose("Ada prefers rye.").memory
    segue_.memories.edit(shown.id, content="Ada prefers oats.", author_class="agent")
    for wrong in (shown.content_hash, "sha256:" + "0" * 64):
        with pytest.raises(Conflict) as refused:
            segue_.memories.approve(shown.id, wrong)
        assert refused.value.code == "memory.changed"
    for wrong in ("", "sha256:", "sha256:0000", shown.content_hash.upper(), shown.content_hash + "\n", "\udc80"):
        with pytest.raises(InvalidInput) as malformed:
            segue_.memories.approve(shown.id, wrong)
        assert malformed.value.code == "memory.hash"
    assert contents(segue_, "pending") == {"Ada prefers oats."}
    now = segue_.memories.get(shown.id)
    approved = segue_.memories.approve(now.id[-8:].lower(), now.content_hash)
    assert (approved.status, approved.content, approved.id) == ("active", "Ada prefers oats.", shown.id)
    assert segue_.memories.pending().memories == []
    require_sound(segue_)
    for act in (lambda: segue_.memories.approve(now.id, now.content_hash), lambda: segue_.memories.reject(now.id)):
        with pytest.raises(Refused) as done:
            act()
        assert done.value.code == "memory.not_pending"


def test_rejecting_leaves_a_tombstone(segue_: segue.Segue) -> None:
    shown = segue_.memories.propose("Ada prefers ryebread.", tags=["bread"]).memory
    assert segue_.memories.reject(shown.id, "not so") == shown.id
    with pytest.raises(NotFound):
        segue_.memories.get(shown.id)
    (stone,) = rows_of(segue_, "memory_tombstones")
    assert (stone["id"], stone["reason"]) == (shown.id, "not so")
    assert "ryebread" not in everything(segue_).lower()
    with pytest.raises(Refused) as refused:
        agent(segue_, "Ada prefers ryebread.")
    assert refused.value.code == "memory.forgotten"
    assert segue_.memories.count() == 0
    require_sound(segue_)


def test_the_user_approves_by_saying_so_and_an_agent_does_not(segue_: segue.Segue) -> None:
    proposal = segue_.memories.propose("Ada prefers rye.").memory
    said = agent(segue_, "Ada prefers rye.")
    assert (said.verdict, said.memory.status) == ("merged", "pending")
    said = segue_.memories.remember("ada prefers  RYE.", summary="Of bread.")
    assert (said.verdict, said.memory.id, said.memory.status) == ("approved", proposal.id, "active")
    assert (said.memory.provenance.author_class, said.memory.summary) == ("user", "Of bread.")
    assert codes(segue_)[0] == "memory.approved"
    assert contents(segue_) == {"Ada prefers rye."}
    assert segue_.memories.pending().memories == []
    assert [each.memory.id for each in segue_.search.find("rye")] == [proposal.id]
    assert segue_.memories.propose("Ada prefers rye.").memory.status == "active"
    require_sound(segue_)


def test_an_agent_does_not_approve_by_replacing_something_of_its_own(segue_: segue.Segue) -> None:
    users = segue_.memories.remember("We deploy on Fridays.").memory
    contested = segue_.memories.supersede(users.id, "We deploy on Mondays.", author_class="agent").memory
    own = agent(segue_, "A pretext.").memory
    said = segue_.memories.supersede(own.id, "We deploy on Mondays.", author_class="agent")
    assert (said.memory.id, said.memory.status, said.replaced) == (contested.id, "pending", ())
    assert contents(segue_) == {"We deploy on Fridays.", "A pretext."}
    require_sound(segue_)


def test_a_proposal_is_replaced_by_nothing(segue_: segue.Segue) -> None:
    """It was never active: retired, it would be served as something that once held."""
    proposal = segue_.memories.propose("Ada prefers rye.").memory
    with pytest.raises(Refused) as refused:
        segue_.memories.supersede(proposal.id, "Ada prefers oats.")
    assert refused.value.code == "memory.pending"
    assert segue_.memories.count() == 1


# -- edited -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("memories-8")
def test_an_edit_keeps_what_was_said_before(segue_: segue.Segue) -> None:
    first = segue_.memories.remember("Ada prefers rye.", tags=["a"], entities=["Ada"]).memory
    second = segue_.memories.edit(first.id, content="Ada prefers oats.", tags=["b"])
    third = segue_.memories.edit(first.id, kind="preference", entities=[], occurred_at="2026-05-04T09:30:00Z")
    assert (second.revision, third.revision, third.layer, third.content) == (2, 3, "preference", "Ada prefers oats.")
    assert segue_.memories.get(first.id) == third
    story = segue_.memories.history(first.id)
    assert [version.body for version in story.versions] == [first.to_json(), second.to_json()]
    assert [version.revision for version in story.versions] == [1, 2]
    assert segue_.memories.ls(tags=["a"]).memories == []
    assert segue_.memories.ls(tags=["b"]).memories == [third]
    assert segue_.memories.edit(first.id, tags=["b"], content="Ada prefers oats.") == third
    assert codes(segue_).count("memory.edited") == 2
    require_sound(segue_)


def test_an_edit_to_what_another_says_is_a_conflict(segue_: segue.Segue) -> None:
    first, other = (segue_.memories.remember(text).memory for text in ("Rye.", "Oats."))
    with pytest.raises(Conflict) as refused:
        segue_.memories.edit(first.id, content=" OATS. ")
    assert (refused.value.code, refused.value.details) == ("memory.exists", {"id": other.id})
    assert segue_.memories.edit(first.id, content="RYE.").content == "RYE."
    assert segue_.memories.edit(first.id, content="Oats.", project="Shop").project == "Shop"
    require_sound(segue_)


@pytest.mark.parametrize(
    "details", [{"confidence": 2}, {"kind": "x"}, {"status": "active"}, {"trust": 1}, {"content": "x" * 8_001}]
)
def test_an_edit_out_of_range_changes_nothing(segue_: segue.Segue, details: dict[str, Any]) -> None:
    memory = segue_.memories.remember("Rye.").memory
    with pytest.raises(InvalidInput):
        segue_.memories.edit(memory.id, **details)
    assert segue_.memories.get(memory.id) == memory
    assert segue_.memories.history(memory.id).versions == []


def test_an_edited_memory_is_found_by_its_new_text_when_it_is_said_again(segue_: segue.Segue) -> None:
    memory = segue_.memories.remember("Rye.").memory
    segue_.memories.edit(memory.id, content="Oats.")
    assert segue_.memories.remember("oats.").memory.id == memory.id
    assert segue_.memories.remember("rye.").verdict == "new"
    require_sound(segue_)


# -- replaced -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("memories-5")
def test_a_chain_of_supersession(segue_: segue.Segue) -> None:
    first = segue_.memories.remember("Version 1.", kind="decision", tags=["v"], project="Shop", entities=["Ada"]).memory
    second = segue_.memories.supersede(first.id, "Version 2.")
    third = segue_.memories.supersede(second.memory.id, "Version 3.", kind="claim", tags=[])
    assert (second.verdict, second.replaced, second.memory.supersedes) == ("new", (first.id,), (first.id,))
    kept = second.memory
    assert (kept.kind, kept.tags, kept.project, kept.entities) == ("decision", ("v",), "Shop", ("Ada",))
    assert (third.memory.kind, third.memory.layer, third.memory.tags) == ("claim", "semantic", ())
    old = segue_.memories.get(first.id)
    assert (old.status, old.superseded_by) == ("retired", kept.id)
    assert old.retired_at is not None
    story = segue_.memories.history(kept.id)
    assert ([each.id for each in story.older], [each.id for each in story.newer]) == ([first.id], [third.memory.id])
    assert len(segue_.memories.history(third.memory.id).older) == 2
    assert contents(segue_) == {"Version 3."}
    assert codes(segue_)[0] == "memory.superseded"
    require_sound(segue_)


def test_what_was_replaced_is_not_replaced_again(segue_: segue.Segue) -> None:
    first = segue_.memories.remember("Version 1.").memory
    second = segue_.memories.supersede(first.id, "Version 2.").memory
    before = everything(segue_)
    gone: list[tuple[str, dict[str, Any]]] = [
        (first.id, {"content": "Version 3."}),
        (first.id, {"by": second.id}),
        (second.id, {"by": first.id}),
    ]
    for old, new in gone:
        with pytest.raises(Refused) as refused:
            segue_.memories.supersede(old, **new)
        assert refused.value.code == "memory.retired"
    senseless: list[dict[str, Any]] = [
        {},
        {"content": "x", "by": first.id},
        {"by": second.id},
        {"content": " version  2. "},
    ]
    for wrong in senseless:
        with pytest.raises(InvalidInput):
            segue_.memories.supersede(second.id, **wrong)
    assert everything(segue_) == before


def test_replaced_by_one_that_is_there(segue_: segue.Segue) -> None:
    old, new = (segue_.memories.remember(text).memory for text in ("Rye.", "Oats."))
    said = segue_.memories.supersede(old.id[-8:], by=new.id[-8:])
    assert (said.memory.id, said.replaced, said.memory.supersedes) == (new.id, (old.id,), (old.id,))
    another = segue_.memories.remember("Wheat.").memory
    assert segue_.memories.supersede(another.id, "oats.").memory.supersedes == (old.id, another.id)
    require_sound(segue_)


def test_the_user_may_put_the_agents_memory_in_the_place_of_his_own(segue_: segue.Segue) -> None:
    own, agents = segue_.memories.remember("Rye.").memory, agent(segue_, "Oats.").memory
    assert segue_.memories.supersede(own.id, by=agents.id).replaced == (own.id,)
    assert contents(segue_) == {"Oats."}


@pytest.mark.requirement("memories-6")
def test_an_agent_never_replaces_the_users_words_without_review(segue_: segue.Segue) -> None:
    own = segue_.memories.remember("We deploy on Fridays.").memory
    said = segue_.memories.supersede(own.id, "We deploy on Mondays.", author_class="agent")
    assert (said.memory.status, said.replaced, said.conflicts) == ("pending", (), (own.id,))
    assert segue_.memories.get(own.id) == own
    (conflict,) = segue_.memories.history(own.id).conflicts
    assert (conflict.reason, {conflict.memory_id, conflict.other_id}) == ("contested", {own.id, said.memory.id})
    require_sound(segue_)
    approved = segue_.memories.approve(said.memory.id, said.memory.content_hash)
    assert approved.supersedes == (own.id,)
    assert segue_.memories.get(own.id).superseded_by == approved.id
    require_sound(segue_)


def test_what_the_user_says_himself_replaces_what_it_was_to_replace(segue_: segue.Segue) -> None:
    own = segue_.memories.remember("We deploy on Fridays.").memory
    segue_.memories.supersede(own.id, "We deploy on Mondays.", author_class="agent")
    said = segue_.memories.remember("We deploy on Mondays.")
    assert (said.verdict, said.memory.supersedes) == ("approved", (own.id,))
    assert contents(segue_) == {"We deploy on Mondays."}
    require_sound(segue_)


@pytest.mark.requirement("memories-6")
def test_the_ways_around_a_review_are_closed(segue_: segue.Segue) -> None:
    own = segue_.memories.remember("We deploy on Fridays.", ref="plan#1").memory
    other = segue_.memories.remember("We deploy on Mondays.").memory
    agents = agent(segue_, "We deploy at night.").memory
    ways: list[dict[str, Any]] = [
        {"content": "We deploy on Mondays.", "author_class": "agent"},
        {"by": other.id, "author_class": "agent"},
        {"by": agents.id, "author_class": "agent"},
        {"by": agents.id, "author_class": "external"},
    ]
    for way in ways:
        assert segue_.memories.supersede(own.id, **way).replaced == ()
        assert segue_.memories.get(own.id).status == "active"
        require_sound(segue_)
    said = agent(segue_, "We deploy all day.", ref="plan#1")
    assert (said.replaced, said.conflicts) == ((), (own.id,))
    assert segue_.memories.get(own.id).status == "active"
    again = agent(segue_, "We deploy at night.", ref="plan#1")
    assert again.memory.id == agents.id
    assert contents(segue_) >= {"We deploy on Fridays.", "We deploy on Mondays.", "We deploy at night."}
    require_sound(segue_)


def test_an_approval_of_what_was_replaced_meanwhile(segue_: segue.Segue) -> None:
    own = segue_.memories.remember("We deploy on Fridays.").memory
    waiting = segue_.memories.supersede(own.id, "We deploy on Mondays.", author_class="agent").memory
    newer = segue_.memories.supersede(own.id, "We deploy on Sundays.").memory
    approved = segue_.memories.approve(waiting.id, waiting.content_hash)
    assert (approved.status, approved.supersedes) == ("active", ())
    assert segue_.memories.get(own.id).superseded_by == newer.id
    require_sound(segue_)


@pytest.mark.requirement("memories-5")
def test_cycles_are_impossible(segue_: segue.Segue) -> None:
    """An edit brings a retired text back to life elsewhere; still nothing comes to replace itself."""
    first = segue_.memories.remember("Version 1.").memory
    second = segue_.memories.supersede(first.id, "Version 2.").memory
    third = segue_.memories.supersede(second.id, "Version 1.").memory
    assert third.id not in (first.id, second.id)
    fourth = segue_.memories.supersede(third.id, "Version 2.").memory
    assert len({first.id, second.id, third.id, fourth.id}) == 4
    assert len(segue_.memories.history(fourth.id).older) == 3
    require_sound(segue_)


# -- conflicts ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("memories-7")
def test_a_contradiction_is_recorded_and_nothing_is_resolved(segue_: segue.Segue) -> None:
    first = segue_.memories.remember("The importer listens on port 8080.").memory
    said = segue_.memories.remember("The importer listens on port 9090.")
    assert said.conflicts == (first.id,)
    assert segue_.memories.get(first.id) == first
    for each in (first.id, said.memory.id):
        (conflict,) = segue_.memories.history(each).conflicts
        assert conflict.reason == "value"
    assert segue_.memories.remember("The importer listens on port 9090.").conflicts == ()
    assert segue_.memories.remember("The importer listens on port 7070.", project="Shop").conflicts == ()
    denied = segue_.memories.propose("The importer never listens on port 9090.")
    assert denied.conflicts == (said.memory.id,)
    segue_.memories.forget(said.memory.id)
    assert segue_.memories.history(first.id).conflicts == segue_.memories.history(denied.memory.id).conflicts == []


# -- ids, lists ---------------------------------------------------------------------------------------------------


def test_an_ending_names_a_memory(segue_: segue.Segue) -> None:
    memory = segue_.memories.remember("Rye.").memory
    ending = memory.id[-8:]
    for given in (memory.id, ending, ending.lower(), f"…{ending}", f"...{ending}", f" …{ending}\n"):
        assert segue_.memories.get(given) == memory


@pytest.mark.parametrize("given", ["", "…", "nobody", "%", "_", "\0", "a\0", "\udc80", "é", "x" * 9999, SECRET])
def test_what_names_nothing(segue_: segue.Segue, given: str) -> None:
    segue_.memories.remember("Rye.")
    for act in (
        segue_.memories.get,
        segue_.memories.history,
        segue_.memories.reject,
        lambda each: segue_.memories.edit(each, content="Oats."),
        lambda each: segue_.memories.approve(each, "sha256:" + "0" * 64),
        lambda each: segue_.memories.supersede(each, "Oats."),
    ):
        with pytest.raises(NotFound) as refused:
            act(given)
        assert refused.value.code == "memory.not_found"
        assert SECRET not in refused.value.message + repr(refused.value.details)
    assert contents(segue_) == {"Rye."}


def test_an_ending_of_several_is_ambiguous(segue_: segue.Segue) -> None:
    for number in range(40):
        segue_.memories.remember(f"Loaf {number}.")
    last = segue_.memories.ls().memories[0].id[-1]
    ids = [each.id for each in segue_.memories.ls().memories if each.id.endswith(last)]
    if len(ids) > 1:
        with pytest.raises(segue.Ambiguous) as refused:
            segue_.memories.get(last)
        assert refused.value.code == "memory.ambiguous"


def test_newest_first_in_pages_that_stay_while_more_is_said(segue_: segue.Segue) -> None:
    said = [
        segue_.memories.remember(f"Loaf {number}.", tags=["a" if number % 2 else "b"]).memory for number in range(7)
    ]
    newest = said[::-1]
    page = segue_.memories.ls(limit=3)
    segue_.memories.remember("Another.")
    seen = list(page.memories)
    while page.cursor:
        page = segue_.memories.ls(limit=3, cursor=page.cursor)
        seen += page.memories
    assert seen == newest
    narrowed = segue_.memories.ls(limit=2, tags=["A"])
    assert narrowed.memories == newest[1::2][:2]
    for wrong in ({}, {"tags": ["b"]}, {"tags": ["A"], "kinds": ["claim"]}):
        with pytest.raises(InvalidInput) as refused:
            segue_.memories.ls(limit=2, cursor=narrowed.cursor, **wrong)
        assert refused.value.code == "cursor.invalid"
    assert segue_.memories.ls(limit=2, cursor=narrowed.cursor, tags=["A"]).memories == newest[1::2][2:]


@pytest.mark.parametrize(
    "wanted",
    [
        {"limit": 0},
        {"limit": 501},
        {"cursor": "x"},
        {"kinds": ["fact"]},
        {"statuses": ["done"]},
        {"layers": ["x"]},
        {"minimum_trust": 1.1},
        {"minimum_confidence": float("nan")},
        {"tags": ["\udc80"]},
        {"projects": ["x" * 1_025]},
        {"tags": [str(number) for number in range(51)]},
    ],
)
def test_a_list_of_what_cannot_be(segue_: segue.Segue, wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        segue_.memories.ls(**wanted)


def test_filters(segue_: segue.Segue) -> None:
    def one(content: str, **details: Any) -> None:
        segue_.memories.remember(content, **details)

    one("Rye.", kind="preference", tags=["50%"], entities=["Ada"], project="Bakery", occurred_at="2026-01-02T00:00:00Z")
    one("Oats.", author_class="external", confidence=0.5, tags=["500"], ref="book#1")
    segue_.memories.propose("Wheat.", thread="t", position=0)
    for wanted, found in [
        ({"kinds": ["preference"]}, {"Rye."}),
        ({"layers": "preference"}, {"Rye."}),
        ({"tags": ["50%"]}, {"Rye."}),
        ({"tags": ["50_"]}, set()),
        ({"tags": [" 50% ", "500"]}, {"Rye.", "Oats."}),
        ({"entities": ["ADA"]}, {"Rye."}),
        ({"projects": ["bakery"]}, {"Rye."}),
        ({"projects": ["bake*"]}, set()),
        ({"minimum_trust": 0.5}, {"Rye.", "Wheat."}),
        ({"minimum_confidence": 0.5}, {"Oats."}),
        ({"statuses": ["pending"]}, {"Wheat."}),
        ({"threads": ["t"]}, {"Wheat."}),
        ({"sources": ["book"]}, {"Oats."}),
        ({"author_classes": ["user"]}, {"Rye."}),
        ({"until": datetime(2026, 1, 2, 0, 0, 1, tzinfo=UTC)}, {"Rye."}),
        ({"until": datetime(2026, 1, 2, tzinfo=UTC)}, set()),
        ({"since": datetime(2026, 1, 3, tzinfo=UTC)}, {"Oats.", "Wheat."}),
        ({"kinds": ["preference"], "tags": ["500"]}, set()),
    ]:
        assert {each.content for each in segue_.memories.ls(**wanted).memories} == found, wanted  # type: ignore[arg-type]
        assert segue_.memories.count(**wanted) == len(found)  # type: ignore[arg-type]
