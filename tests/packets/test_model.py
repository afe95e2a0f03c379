"""The packet as a value and its canonical form (section 000.1 of the facts, decision P3)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.packets import schema
from segue.packets.model import MAX_BYTES, Attempt, Decision, Method, Packet, Project, Provenance

from .examples import encoded, full, minimal, old, packet

NOW = datetime(2026, 5, 4, 9, 30, 15, 999_999, tzinfo=UTC)
ORDER = [
    "ltm_version",
    "id",
    "parent_id",
    "created_at",
    "project",
    "goal",
    "success_criteria",
    "constraints",
    "decisions",
    "methods",
    "attempts",
    "open_questions",
    "next_step",
    "tags",
    "provenance",
]


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(item) for key, item in reversed(value.items())}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


# -- canonical form -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-70")
def test_key_order() -> None:
    document = json.loads(schema.parse(encoded(reversed_keys(full()))).canonical)
    assert list(document) == ORDER
    assert list(document["project"]) == ["name", "ref"]
    assert list(document["decisions"][0]) == ["what", "why", "consequences", "locked"]
    assert list(document["methods"][0]) == ["name", "when_applicable", "how"]
    assert list(document["attempts"][0]) == ["tried", "outcome", "learned", "confidence"]
    assert list(document["provenance"]) == ["author_model", "author_human", "source_hash", "confidence"]


def test_the_form_byte_for_byte() -> None:
    document = minimal(
        project={},
        goal="<a> & \u2028\u2029 'é' \"q\" \\ \t\x7f 😀",
        decisions=[{"what": "", "why": "", "locked": True}],
    )
    assert packet_of(document).canonical.decode() == (
        "{\n"
        '  "ltm_version": "0.2",\n'
        '  "id": "01JZ7Q4M8N2V6W0X3Y5A9B1C4D",\n'
        '  "created_at": "2026-05-04T09:30:00Z",\n'
        '  "project": {},\n'
        '  "goal": "<a> & \u2028\u2029 \'é\' \\"q\\" \\\\ \\t\x7f 😀",\n'
        '  "decisions": [\n'
        "    {\n"
        '      "what": "",\n'
        '      "why": "",\n'
        '      "locked": true\n'
        "    }\n"
        "  ],\n"
        '  "next_step": "Write the failing test."\n'
        "}"
    )


def packet_of(document: dict[str, Any]) -> Packet:
    return schema.parse(encoded(document))


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ({"constraints": [], "tags": [], "decisions": [], "methods": [], "attempts": []}, {}),
        ({"success_criteria": [], "open_questions": []}, {}),
        ({"project": {}, "provenance": {}}, {"project": {}, "provenance": {}}),
        ({"project": {"name": "", "ref": ""}}, {"project": {}}),
        ({"provenance": {"author_model": "", "author_human": ""}}, {"provenance": {}}),
        ({"constraints": [""]}, {"constraints": [""]}),
        (
            {"decisions": [{"what": "", "why": "", "consequences": "", "locked": False}]},
            {"decisions": [{"what": "", "why": ""}]},
        ),
        (
            {"methods": [{"name": "a", "when_applicable": "", "how": ""}]},
            {"methods": [{"name": "a", "when_applicable": "", "how": ""}]},
        ),
        (
            {"attempts": [{"tried": "", "outcome": "failed", "learned": ""}]},
            {"attempts": [{"tried": "", "outcome": "failed"}]},
        ),
        ({"created_at": "2026-05-04T11:30:00.100+02:00"}, {"created_at": "2026-05-04T11:30:00.100+02:00"}),
    ],
)
def test_what_is_left_out_and_what_is_kept(given_: dict[str, Any], kept: dict[str, Any]) -> None:
    assert json.loads(packet_of(minimal(**given_)).canonical) == minimal(**kept)


@pytest.mark.requirement("packets-70")
def test_spelling_of_the_json_text_does_not_matter() -> None:
    document = full(goal="é😀<>&/", next_step="\x1f\x7f\u2028")
    expected = packet_of(document).canonical
    texts = [
        json.dumps(document, ensure_ascii=False),
        json.dumps(document, indent=7),
        json.dumps(document).replace("/", "\\/"),
        json.dumps(reversed_keys(document), separators=(",", ":")),
        "\r\n\t" + json.dumps(document).replace('"goal"', '"\\u0067oal"') + "\n",
    ]
    assert {schema.parse(text.encode()).canonical for text in texts} == {expected}


@pytest.mark.requirement("packets-2")
def test_where_indentation_would_exceed_the_limit_there_is_none() -> None:
    document = minimal(constraints=["x" * 1024] * 30 + ["", ""])
    room = MAX_BYTES - len(packet_of(document).canonical)
    fill = ["x" * 1024, "x" * (room - 1024)]
    last = packet_of(document | {"constraints": document["constraints"][:30] + fill})
    assert len(last.canonical) == MAX_BYTES
    assert last.canonical == json.dumps(last.document(), indent=2).encode()
    longer = packet_of(document | {"constraints": [*document["constraints"][:30], fill[0], fill[1] + "x"]})
    assert len(json.dumps(longer.document(), indent=2)) == MAX_BYTES + 1
    assert longer.canonical == json.dumps(longer.document(), separators=(",", ":")).encode()


@pytest.mark.requirement("packets-2")
@pytest.mark.parametrize(
    "document",
    [
        minimal(constraints=["<&>" * 341] * 30, tags=["a"] * 16),
        minimal(decisions=[{"what": "", "why": ""}] * 64, attempts=[{"tried": "\x01" * 80, "outcome": "failed"}] * 50),
        minimal(constraints=["\u2028" * 340] * 30),
        minimal(constraints=["\x7f" * 1000] * 31),
        minimal(constraints=["\\" * 500] * 32),
    ],
)
def test_a_legal_packet_stays_legal_when_stored(document: dict[str, Any]) -> None:
    raw = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    padded = raw[:-1] + b" " * (MAX_BYTES - len(raw)) + b"}"
    stored = schema.parse(padded).canonical
    assert len(stored) <= MAX_BYTES
    assert schema.parse(stored).canonical == stored


SCRIPT = """
import sys
from segue.packets import schema, resume
from segue.packets.diff import compare
packet = schema.parse(sys.stdin.buffer.read())
sys.stdout.buffer.write(packet.canonical + packet.content_hash.encode() + resume.render(packet).encode())
"""


@pytest.mark.requirement("packets-70")
def test_the_bytes_depend_on_no_setting_of_the_machine() -> None:
    data = encoded(full(goal="Größe 日本 😀", created_at="2026-05-04T23:30:00.5+02:00"))
    seen = set()
    for seed, locale, zone in (("0", "C", "UTC"), ("1", "C.UTF-8", "Asia/Kathmandu"), ("77", "tr_TR.UTF-8", "EST5EDT")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone, "PYTHONUTF8": "0"}
        done = subprocess.run([sys.executable, "-c", SCRIPT], input=data, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert len(seen) == 1
    assert packet_of(json.loads(data)).canonical in seen.pop()


# -- the same state -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-70")
def test_the_same_state_gives_the_same_bytes_but_for_id_and_time() -> None:
    one = Packet.new(goal="g", next_step="n", now=NOW, tags=("a",))
    two = Packet.new(goal="g", next_step="n", now=NOW + timedelta(days=3), tags=("a",))
    assert one.id != two.id
    assert one.created_at != two.created_at
    assert one.content_hash == two.content_hash
    replaced = two.canonical.replace(two.id.encode(), one.id.encode())
    assert replaced.replace(two.created_at.encode(), one.created_at.encode()) == one.canonical


@pytest.mark.requirement("packets-70")
@pytest.mark.parametrize("name", [name for name in ORDER if name not in ("ltm_version", "id", "created_at")])
def test_the_hash_covers_every_other_member(name: str) -> None:
    one = packet_of(full())
    document = full()
    if name in ("goal", "next_step"):
        document[name] = "Another."
    else:
        del document[name]
    assert packet_of(document).content_hash != one.content_hash
    assert one.content_hash.startswith("sha256:")
    assert len(one.content_hash) == 71


def test_the_hash_covers_the_version() -> None:
    assert packet_of(minimal()).content_hash != packet_of(old()).content_hash


def test_the_hash_does_not_see_how_the_packet_was_written() -> None:
    assert packet_of(minimal(tags=[], project={"name": ""})).content_hash == packet_of(minimal(project={})).content_hash


# -- new ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-3", "packets-4", "packets-5")
def test_new_fills_in_version_id_and_time() -> None:
    made = Packet.new(goal="g", next_step="n", now=NOW)
    assert made.ltm_version == "0.2"
    assert len(made.id) == 26
    assert made.created_at == "2026-05-04T09:30:15Z"
    assert schema.parse(made.canonical) == made


def test_new_writes_the_time_in_utc() -> None:
    made = Packet.new(goal="g", next_step="n", now=NOW.astimezone(timezone(timedelta(hours=5))))
    assert made.created_at == "2026-05-04T09:30:15Z"


def test_new_takes_the_clock_where_no_time_is_given() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    made = Packet.new(goal="g", next_step="n")
    assert before <= made.created <= datetime.now(UTC)
    assert made.id != Packet.new(goal="g", next_step="n").id


def test_new_takes_lists_and_tuples_alike() -> None:
    decisions = [Decision(what="w", why="y")]
    members: dict[str, Any] = {"id": "x" * 10, "now": NOW, "goal": "g", "next_step": "n"}
    one = Packet.new(**members, decisions=decisions, tags=["a"])
    two = Packet.new(**members, decisions=tuple(decisions), tags=("a",))
    assert one == two
    assert one.canonical == two.canonical
    assert b"locked" not in one.canonical


def test_new_keeps_what_is_given_and_refuses_unknown_members() -> None:
    made = Packet.new(goal="g", next_step="n", id="x" * 10, created_at="2020-01-01T00:00:00Z", ltm_version="0.1")
    assert (made.id, made.created_at, made.ltm_version) == ("x" * 10, "2020-01-01T00:00:00Z", "0.1")
    with pytest.raises(TypeError):
        Packet.new(goal="g", next_step="n", team="x")


def test_a_packet_is_a_value() -> None:
    assert packet_of(full()) == packet_of(reversed_keys(full()))
    assert hash(packet_of(full())) == hash(packet_of(full()))
    with pytest.raises(AttributeError):
        packet().goal = "other"  # type: ignore[misc]


def test_created_is_the_instant() -> None:
    assert packet(created_at="2026-05-04T11:30:00.5+02:00").created == datetime(
        2026, 5, 4, 9, 30, 0, 500_000, tzinfo=UTC
    )


# -- parse, write, parse ------------------------------------------------------------------------------------------

line = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
required = line.filter(bool)
names = st.from_regex(r"\A[a-z0-9][a-z0-9-]{0,20}\Z")
grades = st.sampled_from(["", "low", "medium", "high"])
packets = st.builds(
    Packet,
    ltm_version=st.just("0.2"),
    id=st.text(st.characters(exclude_categories=["Cs"]), min_size=10, max_size=64),
    parent_id=st.just("") | st.text(st.characters(exclude_categories=["Cs"]), min_size=10, max_size=64),
    created_at=st.sampled_from(["2026-05-04T09:30:00Z", "2026-05-04T09:30:00.120-03:30", "0001-01-01T00:00:00+23:59"]),
    project=st.none() | st.builds(Project, name=line, ref=line),
    goal=required,
    next_step=required,
    success_criteria=st.lists(line, max_size=3).map(tuple),
    constraints=st.lists(line, max_size=3).map(tuple),
    open_questions=st.lists(line, max_size=3).map(tuple),
    tags=st.lists(names, max_size=3).map(tuple),
    decisions=st.lists(
        st.builds(Decision, what=line, why=line, consequences=line, locked=st.booleans()), max_size=3
    ).map(tuple),
    methods=st.lists(st.builds(Method, name=names, when_applicable=line, how=line), max_size=3).map(tuple),
    attempts=st.lists(
        st.builds(
            Attempt,
            tried=line,
            outcome=st.sampled_from(["succeeded", "failed", "partial"]),
            learned=line,
            confidence=grades,
        ),
        max_size=3,
    ).map(tuple),
    provenance=st.none() | st.builds(Provenance, author_model=line, author_human=line, confidence=grades),
)


@pytest.mark.requirement("packets-70")
@settings(derandomize=True, max_examples=150, deadline=None, database=None)
@given(packets)
def test_parse_and_canonical_form_are_inverse(made: Packet) -> None:
    again = schema.parse(made.canonical)
    assert again == made
    assert again.canonical == made.canonical
    assert schema.parse(json.dumps(made.document(), indent=4).encode()).canonical == made.canonical
