"""Versions, the order of checks, strict JSON, the texts of errors (section 000.1 of the facts)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.packets import checking, schema
from segue.packets.model import MAX_BYTES

from .examples import ATTEMPT, DECISION, METHOD, encoded, full, minimal, old
from .verdict import accepts, problem, refuses

VERSIONS = ["0.1", "0.2"]

# -- versions -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-81", "packets-84")
@pytest.mark.parametrize(
    ("version", "shown"),
    [
        *(
            (version, version)
            for version in ("0.3", "1.0", "v0.2", "0.2.0", " 0.2", "0.2 ", "0", "beta", "00.2", "٠.٢")
        ),
        ("0.2\n", r"0.2\n"),
        ("0.2\u200b", r"0.2\u200b"),
        ("9" * 99, "9" * 39 + "…"),
    ],
)
def test_unknown_versions_are_refused_and_named(version: str, shown: str) -> None:
    message = problem(minimal(ltm_version=version))
    assert message == f'unsupported ltm_version "{shown}" (supported: 0.1, 0.2)'


@pytest.mark.requirement("packets-84")
def test_an_unknown_version_stays_harmless_in_the_message() -> None:
    message = problem(minimal(ltm_version="\x1b[2J\n# x" + "y" * 5000))
    assert "\x1b" not in message
    assert "\n" not in message
    assert len(message) < 120


@pytest.mark.requirement("packets-3", "packets-81")
@pytest.mark.parametrize("version", ["", 2, 0.2, None, ["0.2"], {"0.2": 1}, True])
def test_a_version_that_is_no_text_is_missing(version: Any) -> None:
    assert problem(minimal(ltm_version=version)) == "missing required field 'ltm_version' (a text such as \"0.2\")"


@pytest.mark.requirement("packets-3", "packets-81")
def test_the_version_is_required() -> None:
    assert problem({}) == "missing required field 'ltm_version' (a text such as \"0.2\")"
    assert problem({key: value for key, value in minimal().items() if key != "ltm_version"}).startswith("missing")


@pytest.mark.requirement("packets-83", "packets-86", "packets-87")
def test_each_packet_is_checked_by_the_schema_that_it_declares() -> None:
    assert schema.parse(encoded(old())).ltm_version == "0.1"
    assert schema.parse(encoded(minimal())).ltm_version == "0.2"
    assert checking.check(encoded(old())).version == "0.1"


@pytest.mark.requirement("packets-24", "packets-83")
@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"parent_id": "01JZ7Q4M8N2V6W0X3Y5A9B1C00"}, "packet"),
        ({"success_criteria": ["c"]}, "packet"),
        ({"methods": [METHOD]}, "packet"),
        ({"decisions": [DECISION | {"consequences": "c"}]}, "decisions[0]"),
        ({"attempts": [ATTEMPT | {"confidence": "low"}]}, "attempts[0]"),
    ],
)
def test_what_version_0_2_adds_is_optional_there_and_refused_in_version_0_1(change: dict[str, Any], path: str) -> None:
    accepts(minimal(**change))
    refuses(old(**change), f"schema violation: {path} has additional properties", "0.1", "ltm_version 0.2")


@pytest.mark.requirement("packets-24", "packets-82", "packets-87")
def test_a_packet_of_version_0_1_is_one_of_version_0_2_when_it_says_so() -> None:
    document = old(
        project={"name": "n", "ref": "r"},
        constraints=["c"],
        decisions=[DECISION, DECISION | {"locked": True}],
        attempts=[ATTEMPT, ATTEMPT | {"learned": "l"}],
        open_questions=["q"],
        tags=["a"],
        provenance={"author_model": "m", "author_human": "h", "confidence": "low"},
    )
    accepts(document)
    accepts(document | {"ltm_version": "0.2"})


@pytest.mark.requirement("packets-82")
def test_a_minor_version_only_adds_optional_members() -> None:
    before, after = (json.loads(schema.schema_text(version)) for version in VERSIONS)

    def compare(one: dict[str, Any], two: dict[str, Any]) -> None:
        assert one.keys() == two.keys()
        for rule in one.keys() - {"$id", "title", "properties", "items"}:
            assert one[rule] == two[rule], rule
        for name, member in one.get("properties", {}).items():
            if name != "ltm_version":
                compare(member, two["properties"][name])
        if "items" in one:
            compare(one["items"], two["items"])

    compare(before, after)


@pytest.mark.requirement("packets-86")
@pytest.mark.parametrize("version", schema.VERSIONS)
def test_every_version_has_its_schema_file(version: str) -> None:
    document = json.loads(schema.schema_text(version))
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == f"https://ltm-cli.dev/schema/core-memory.v{version}.json"


@pytest.mark.requirement("packets-46")
@pytest.mark.parametrize("version", schema.VERSIONS)
def test_no_object_takes_unknown_members(version: str) -> None:
    objects: list[dict[str, Any]] = [json.loads(schema.schema_text(version))]
    while objects:
        item = objects.pop()
        if item.get("type") == "object":
            assert item["additionalProperties"] is False
        objects += [value for value in (*item.get("properties", {}).values(), item.get("items")) if value]


@pytest.mark.requirement("packets-76")
@pytest.mark.parametrize("name", ["scope", "team", "owner", "owner_id", "scope_id"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_packet_names_no_scope(name: str, version: str) -> None:
    refuses(minimal(ltm_version=version) | {name: "x"}, "additional", f"'{name}'")


@pytest.mark.requirement("packets-46")
def test_every_member_of_version_0_2_together() -> None:
    accepts(full())


# -- the order of checks ------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-2")
@pytest.mark.parametrize("size", [MAX_BYTES, MAX_BYTES + 1])
def test_the_size_is_that_of_the_bytes_as_given(size: int) -> None:
    assert MAX_BYTES == 32_768
    data = encoded(minimal())
    padded = data[:-1] + b" " * (size - len(data)) + b"}"
    assert len(padded) == size
    if size == 32_768:
        accepts(padded)
    else:
        refuses(padded, "max is 32768", "32769 bytes")
        assert checking.check(padded).errors[0].code == "packet.size"


@pytest.mark.requirement("packets-2")
def test_the_size_counts_bytes_not_characters() -> None:
    document = minimal(constraints=["é" * 1024] * 16)
    raw = json.dumps(document, ensure_ascii=False).encode()
    assert len(raw) > MAX_BYTES > len(raw.decode())
    refuses(raw, "max is")


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"{" + b" " * 32_768, "packet.size", "max is"),
        (b"[", "packet.json", "invalid json"),
        (b"[]", "packet.type", "packet must be a JSON object"),
        (b'{"goal": ""}', "packet.version", "missing required field 'ltm_version'"),
        (b'{"ltm_version": "9.9", "goal": ""}', "packet.version", "unsupported ltm_version"),
        (b'{"ltm_version": "0.2", "goal": ""}', "packet.schema", "schema violation:"),
    ],
)
@pytest.mark.requirement("packets-1")
def test_checks_go_from_size_over_json_type_and_version_to_schema(data: bytes, code: str, said: str) -> None:
    report = checking.check(data)
    assert report.errors[0].code == code
    assert said in problem(data)


@pytest.mark.requirement("packets-1")
@pytest.mark.parametrize("data", [b"[]", b'"x"', b"1", b"null", b"true", b"[{}]"])
def test_a_packet_is_an_object(data: bytes) -> None:
    assert problem(data) == "packet must be a JSON object"


@pytest.mark.requirement("packets-1")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"\xff",
        b"{}{}",
        encoded(minimal()) + b" x",
        b"\xef\xbb\xbf" + encoded(minimal()),
        encoded(minimal()).replace(b'"goal"', b'"id"'),
        encoded(minimal()).replace(b"Ship", b"\\ud800"),
        encoded(minimal())[:-1] + b', "\\udfff": 1}',
        encoded(minimal())[:-1] + b', "x": NaN}',
        encoded(minimal())[:-1] + b', "x": -Infinity}',
        encoded(minimal())[:-1] + b', "x": ' + b"1" * 5000 + b"}",
        encoded(minimal())[:-1] + b', "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b"[" * 32_768,
        b'{"a":' * 6_000,
        encoded(minimal()).decode().encode("utf-16"),
    ],
    ids=range(16),
)
def test_what_is_no_json_text_is_one_clear_error(data: bytes) -> None:
    assert problem(data).startswith("invalid json: ")


def test_a_hundred_thousand_brackets_are_too_large_before_they_are_parsed() -> None:
    refuses(b"[" * 100_000, "max is")


@pytest.mark.parametrize("value", [10**399, -(10**300), 1.5e308, 2**63, 2**64, -(2**63) - 1, 1e-300])
def test_extreme_numbers_are_ordinary_schema_errors(value: Any) -> None:
    refuses(minimal(goal=value), "goal", "must be of type string")
    refuses(minimal(other=value), "additional")


# -- messages -----------------------------------------------------------------------------------------------------


def test_all_broken_rules_are_reported_with_their_paths() -> None:
    document = minimal(id="short", tags=["A"], decisions=[DECISION, {"what": "w"}], extra=1)
    report = checking.check(encoded(document))
    assert {item.path for item in report.errors} == {"id", "tags[0]", "decisions[1]", ""}
    assert {item.code for item in report.errors} == {"packet.schema"}
    with pytest.raises(InvalidInput) as raised:
        schema.parse(encoded(document))
    assert raised.value.code == "packet.schema"
    assert len(raised.value.details["errors"]) == 4


def test_messages_never_hold_the_value() -> None:
    secret = "hunter" + "22"
    document = minimal(id=secret, tags=[secret.upper()], created_at=secret, decisions=secret, attempts=[secret])
    for item in checking.check(encoded(document)).errors:
        assert secret.lower() not in item.message.lower()


def test_a_hostile_member_name_is_shown_harmless_and_short() -> None:
    document = minimal(**{"\x1b[2J\n# x": 1, "y" * 5000: 2, **{f"m{i}": i for i in range(50)}})
    message = problem(document)
    assert "\x1b" not in message
    assert "\n" not in message
    assert len(message) < 500


@settings(derandomize=True, max_examples=300, deadline=None, database=None)
@given(st.data())
def test_changed_bytes_are_parsed_or_refused(data: st.DataObject) -> None:
    raw = bytearray(encoded(full()))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    problem(bytes(raw))


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(st.binary(max_size=120))
def test_random_bytes_are_refused(raw: bytes) -> None:
    assert problem(raw) != ""


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(st.dictionaries(st.sampled_from(sorted(full())) | st.text(max_size=6), values, max_size=4))
def test_a_document_with_anything_in_it_is_parsed_or_refused(changes: dict[str, Any]) -> None:
    problem(full() | changes)
