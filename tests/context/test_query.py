"""The query language: what it takes, and that what it does not take is refused by the name of its field."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.context.query import DIRECTIONS, FIELDS, Query, parse
from segue.memories.item import LAYERS

NAN, INFINITE = float("nan"), float("inf")
SECRET = "AK" + "IA" + "Q7Z2" * 4
FULL: dict[str, Any] = {
    "find": "the importer",
    "ask": None,
    "layers": ["decision", "semantic"],
    "entities": ["Harbor", "Größe"],
    "as_of": "2026-05-04T12:00:00.5+02:00",
    "valid_only": False,
    "min_relevance": 0.25,
    "min_trust": 1.0,
    "budget_tokens": 300,
    "model": "claude",
    "expand": "more",
    "k": 50,
}


def refused(given: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as raised:
        parse(given)
    assert raised.value.code == "query.invalid"
    assert list(raised.value.details) == ["field"]
    return raised.value


# -- what is taken ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-query-fields")
def test_every_field_is_read() -> None:
    assert set(FULL) == set(FIELDS)
    assert parse(FULL) == Query(
        mode="find",
        text="the importer",
        layers=("decision", "semantic"),
        entities=("Harbor", "Größe"),
        as_of="2026-05-04T12:00:00.5+02:00",
        valid_only=False,
        min_relevance=0.25,
        min_trust=1.0,
        budget_tokens=300,
        model="claude",
        expand="more",
        k=50,
    )
    assert parse(FULL).at == datetime(2026, 5, 4, 10, 0, 0, 500_000, tzinfo=UTC)
    assert parse(FULL).to_json() == FULL


@pytest.mark.requirement("context-query-fields")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_a_query_needs_its_text_alone(mode: str) -> None:
    least = parse({mode: "x"})
    assert (least.mode, least.text, least.k, least.budget_tokens) == (mode, "x", 8, 2_000)
    assert (least.valid_only, least.min_relevance, least.min_trust) == (True, 0.0, 0.0)
    assert (least.layers, least.entities, least.as_of, least.at, least.expand) == ((), (), None, None, None)
    assert least.to_json()[mode] == "x"
    assert least.to_json()["ask" if mode == "find" else "find"] is None
    assert list(least.to_json()) == list(FIELDS)


@pytest.mark.requirement("context-query-fields")
def test_null_counts_as_absent() -> None:
    assert parse(dict.fromkeys(FIELDS) | {"ask": "x"}) == parse({"ask": "x"})


@pytest.mark.requirement("context-query-fields")
@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_of_a_memory_can_be_asked_for(layer: str) -> None:
    assert parse({"find": "x", "layers": [layer, layer]}).layers == (layer,)


@pytest.mark.requirement("context-query-fields")
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_direction_can_be_suggested(direction: str) -> None:
    assert parse({"find": "x", "expand": direction}).expand == direction


@pytest.mark.requirement("context-query-fields")
@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("find", ["x", "x" * 500, "\0", "🎉" * 500, " ' OR 1=1 -- "]),
        ("entities", [[], ["x"] * 20, ["x" * 160], [" x "]]),
        ("as_of", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999999-23:59", "2026-05-04t12:00:00z"]),
        ("min_relevance", [0, 1, 0.0, 1.0, 5e-324, -0.0]),
        ("min_trust", [0, 1, 0.5]),
        ("budget_tokens", [300, 6_000]),
        ("model", ["", "x" * 80]),
        ("k", [1, 50]),
    ],
)
def test_the_edges_are_inside(field: str, values: list[Any]) -> None:
    for value in values:
        found = parse({"find": "x", field: value})
        assert parse(found.to_json()) == found
        assert found.at is None or found.at.utcoffset() is not None


# -- what is refused --------------------------------------------------------------------------------------------------

TEXTS = ("find", "ask")
SHARES = ("min_relevance", "min_trust")
WRONG: dict[str, list[Any]] = {
    "layers": ["decision", {}, 1, True, ["decisions"], ["Decision"], ["semantic", None], [[]], [1], [""], "", 0, False],
    "entities": ["Harbor", {}, 1, False, [""], [" \t"], ["x" * 161], ["\ud800"], [None], [1], [["x"]], ["x"] * 21],
    "as_of": [
        "",
        "2026-05-04",
        "2026-05-04T12:00:00",
        "2026-05-04 12:00:00Z",
        "2026-02-30T12:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-05-04T12:00:60Z",
        "2026-05-04T12:00:00.0000000001Z",
        "2026-05-04T12:00:00Z" + " " * 30,
        "2026-05-04T12:00:00+24:00",
        "٢٠٢٦-05-04T12:00:00Z",
        "now",
        "7d",
        "\ud800",
        1_777_888_999,
        0,
        True,
        False,
        [],
        {},
    ],
    "valid_only": ["true", "", 0, 1, [], {}, 0.0],
    "budget_tokens": [299, 6_001, 0, -1, 10**9, 10**400, 300.0, 2_000.5, "2000", True, False, [], {}, NAN, INFINITE],
    "model": ["x" * 81, "\udfff", 1, True, False, [], {}, ["claude"]],
    "expand": ["", "Document", "documents", "neighbours", 1, 0, True, False, [], {}, ["more"]],
    "k": [0, 51, -1, 10**400, 8.0, 8.5, "8", True, False, [], {}, NAN, INFINITE],
}
WRONG |= {name: ["", " ", "\n\u2003", "x" * 501, "x\ud800", 1, 0, True, False, [], ["x"], {}, NAN] for name in TEXTS}
WRONG |= {
    name: [-0.1, 1.1, 2.5, 2, 10**400, -(10**400), 1 + 2**-52, NAN, INFINITE, -INFINITE, True, "0.5", "", [], {}, [1]]
    for name in SHARES
}


@pytest.mark.requirement("context-query-refused")
def test_every_field_has_wrong_values() -> None:
    assert set(WRONG) == set(FIELDS)


@pytest.mark.requirement("context-query-refused")
@pytest.mark.parametrize(("field", "value"), [(field, value) for field in WRONG for value in WRONG[field]])
def test_a_wrong_value_is_refused_by_the_name_of_its_field(field: str, value: Any) -> None:
    given = {field: value} if field in TEXTS else {"find": "x", field: value}
    error = refused(given)
    assert error.details["field"] == field
    assert error.message.startswith(f"{field}: ")
    assert len(error.message) < 200
    error.message.encode("utf-8")


@pytest.mark.requirement("context-query-refused")
@pytest.mark.parametrize(
    "given",
    [{}, {"find": None}, {"find": "x", "ask": "y"}, {"find": "x", "ask": ""}, {"k": 3}, {"layers": ["decision"]}],
)
def test_exactly_one_of_find_and_ask(given: dict[str, Any]) -> None:
    error = refused(given)
    assert error.details["field"] == "find"
    assert "exactly one of find and ask" in error.message


@pytest.mark.requirement("context-query-refused")
@pytest.mark.parametrize("given", [None, [], "x", 1, True, ["find"], (), [("find", "x")], b"{}"])
def test_only_an_object_is_a_query(given: object) -> None:
    assert refused(given).details["field"] == ""


@pytest.mark.requirement("context-query-refused")
@pytest.mark.parametrize("name", ["limit", "tags", "Find", "offset", "scope", "sector", "min_confidence", "_"])
def test_an_unknown_field_is_named_and_the_known_ones_are_listed(name: str) -> None:
    error = refused({"find": "x", name: None})
    assert error.details["field"] == name
    for known in FIELDS:
        assert known in error.message


HOSTILE_NAMES = (
    "\x1b[31m",
    "\u202eevil",
    "a\nb",
    "\ud800",
    "",
    "\0",
    "x" * 5_000,
    "find ",
    "ｆｉｎｄ\ufe00",
    "a\U000e0100",
    SECRET,
    f"find_{SECRET}",
    1,
    None,
    (1, 2),
)


@pytest.mark.requirement("context-query-refused")
@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=lambda name: ascii(name)[:20])
def test_a_hostile_name_is_shown_harmlessly(name: Any) -> None:
    error = refused({"find": "x", name: 1})
    shown = error.details["field"]
    assert isinstance(shown, str)
    assert len(shown) <= 60
    for said in (shown, error.message):
        assert said.isprintable()
        assert said.isascii()
        assert SECRET[:8] not in said
        assert len(said) < 300


@pytest.mark.requirement("context-query-refused")
def test_no_value_is_echoed() -> None:
    for field in FIELDS:
        given = {field: {SECRET: SECRET}} if field in TEXTS else {"find": "x", field: {SECRET: SECRET}}
        error = refused(given)
        assert SECRET not in error.message + json.dumps(error.details)


# -- whatever comes ---------------------------------------------------------------------------------------------------

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=600),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
likely = {
    "ask": st.none(),
    "layers": st.lists(st.sampled_from([*LAYERS, "facts"]), max_size=3),
    "entities": st.lists(st.text(st.characters(), max_size=170), max_size=3),
    "as_of": st.datetimes().map(lambda each: each.isoformat() + "Z"),
    "valid_only": st.booleans(),
    "min_relevance": st.floats(-0.1, 1.1),
    "min_trust": st.sampled_from([0, 1, 0.5, 2]),
    "budget_tokens": st.integers(290, 6_010),
    "model": st.text(st.characters(), max_size=90),
    "expand": st.sampled_from([*DIRECTIONS, "up"]),
    "k": st.integers(0, 51),
}


@pytest.mark.requirement("context-query-refused")
@settings(max_examples=150, deadline=None)
@given(anything | st.dictionaries(st.sampled_from(FIELDS) | st.text(st.characters()), anything, max_size=5))
def test_no_json_value_raises_anything_else(given: object) -> None:
    try:
        found = parse(given)
    except InvalidInput as error:
        assert error.code == "query.invalid"
        assert isinstance(error.details["field"], str)
    else:
        assert parse(found.to_json()) == found


@pytest.mark.requirement("context-query-fields")
@settings(max_examples=150, deadline=None)
@given(st.fixed_dictionaries({"find": st.text(st.characters(), max_size=10)}, optional=likely))
def test_what_is_taken_comes_back_the_same(given: dict[str, Any]) -> None:
    try:
        found = parse(given)
    except InvalidInput as error:
        assert error.details["field"] in given
        return
    wire = json.loads(json.dumps(found.to_json()))
    assert parse(wire) == found
    assert parse(wire).to_json() == wire
    assert {name: wire[name] for name in given if given[name] is not None and name not in ("layers", "entities")} == {
        name: value for name, value in given.items() if value is not None and name not in ("layers", "entities")
    }
    assert found.at is None or found.at.utcoffset() is not None
