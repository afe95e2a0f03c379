"""Working sets as the texts that a store keeps: read back as they were, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import Failed
from segue.context.delta import Served, State, query_tokens, step
from segue.context.working_set import Known, Left, Superseded, Texts, Turn, read

STATE = State(
    known={"b": Known(2, 1, 4, 2), "a": Known(3, 3, 0, 3)},
    trajectory=(Turn(2, ("ship",), ("b",)), Turn(3, (), ("a",))),
    centroid={"ship": 1, "日本": 3},
    log=(Left(2, ("c", "d")), Left(3, (), (Superseded("e", "a"), Superseded("f", None)))),
    cursor=3,
    turn=3,
)


def test_the_texts_are_these() -> None:
    assert STATE.texts() == Texts(
        known='{"b":[2,1,4,2],"a":[3,3,0,3]}',
        trajectory='[{"turn":2,"tokens":["ship"],"ids":["b"]},{"turn":3,"tokens":[],"ids":["a"]}]',
        centroid='{"ship":1,"日本":3}',
        log='[{"cursor":2,"evicted":["c","d"],"superseded":{}},'
        '{"cursor":3,"evicted":[],"superseded":{"e":"a","f":null}}]',
    )
    assert read(STATE.texts(), cursor=3, turn=3) == STATE
    assert State() == read(State().texts(), cursor=0, turn=0)


IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(IDS, st.integers(0, 2**63 - 1)), max_size=6),
            st.text(max_size=12),
            st.sets(IDS, max_size=2),
            st.sets(IDS, max_size=2),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_every_state_is_read_back_byte_for_byte(
    turns: list[tuple[list[tuple[str, int]], str, set[str], set[str], bool]],
) -> None:
    state = State()
    for served, task, gone, stale, historic in turns:
        state, _ = step(
            state,
            [Served(ref, version=version) for ref, version in served],
            tokens=query_tokens(task),
            gone=gone,
            superseded=dict.fromkeys(stale, "x"),
            historic=historic,
        )
        again = read(state.texts(), cursor=state.cursor, turn=state.turn)
        assert (again, again.texts(), list(again.known)) == (state, state.texts(), list(state.known))


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("known", ""),
        ("known", "null"),
        ("known", "[]"),
        ("known", "{"),
        ("known", '{"a":[1,1,0,1],"a":[1,1,0,1]}'),
        ("known", '{"":[1,1,0,1]}'),
        ("known", '{"a":1}'),
        ("known", '{"a":[1,1]}'),
        ("known", '{"a":[1,1,0]}'),
        ("known", '{"a":[1,1,0,1,1]}'),
        ("known", '{"a":[0,1,0,1]}'),
        ("known", '{"a":[4,1,0,1]}'),
        ("known", '{"a":[1,0,0,1]}'),
        ("known", '{"a":[1,4,0,4]}'),
        ("known", '{"a":[1,1,-1,1]}'),
        ("known", '{"a":[1,1,9223372036854775808,1]}'),
        ("known", '{"a":[1,1,0,4]}'),
        ("known", '{"a":[2,2,0,1]}'),
        ("known", '{"a":[true,1,0,1]}'),
        ("known", '{"a":[1.0,1,0,1]}'),
        ("known", '{"a":["1",1,0,1]}'),
        ("known", '{"a":[1,1,null,1]}'),
        ("known", '{"a":[3,3,0,3],"b":[2,1,0,1]}'),
        ("known", '{"\\ud800":[1,1,0,1]}'),
        ("trajectory", "{}"),
        ("trajectory", "[1]"),
        ("trajectory", '[{"turn":1,"tokens":[]}]'),
        ("trajectory", '[{"turn":1,"tokens":[],"ids":[],"more":1}]'),
        ("trajectory", '[{"turn":4,"tokens":[],"ids":[]}]'),
        ("trajectory", '[{"turn":1,"tokens":"ab","ids":[]}]'),
        ("trajectory", '[{"turn":1,"tokens":[1],"ids":[]}]'),
        ("trajectory", '[{"turn":1,"tokens":[],"ids":["a","a"]}]'),
        ("trajectory", '[{"turn":2,"tokens":[],"ids":[]},{"turn":2,"tokens":[],"ids":[]}]'),
        ("centroid", "[]"),
        ("centroid", '{"a":0}'),
        ("centroid", '{"a":0.5}'),
        ("centroid", '{"":1}'),
        ("centroid", '{"a":NaN}'),
        ("log", "{}"),
        ("log", '[{"cursor":1,"evicted":[]}]'),
        ("log", '[{"cursor":4,"evicted":["a"],"superseded":{}}]'),
        ("log", '[{"cursor":1,"evicted":[""],"superseded":{}}]'),
        ("log", '[{"cursor":1,"evicted":[],"superseded":[]}]'),
        ("log", '[{"cursor":1,"evicted":[],"superseded":{"a":1}}]'),
        ("log", '[{"cursor":1,"evicted":[],"superseded":{"a":""}}]'),
        ("log", '[{"cursor":2,"evicted":["a"],"superseded":{}},{"cursor":1,"evicted":["b"],"superseded":{}}]'),
        ("log", '[{"cursor":1,"evicted":["a"],"superseded":{}}] '.replace("] ", "]]")),
        ("log", "\ud800"),
    ],
)
def test_what_is_malformed_is_an_error(column: str, text: str) -> None:
    texts = STATE.texts()._replace(**{column: text})
    with pytest.raises(Failed, match="reset the session") as caught:
        read(texts, cursor=3, turn=3)
    assert caught.value.code == "session.state"


@pytest.mark.parametrize("counts", [(-1, 3), (3, -1), (2, 3), (3, 2), (True, 3), (None, 3), ("3", 3)])
def test_counts_that_do_not_fit_are_an_error(counts: tuple[Any, Any]) -> None:
    with pytest.raises(Failed) as caught:
        read(STATE.texts(), cursor=counts[0], turn=counts[1])
    assert caught.value.code == "session.state"


def test_no_message_quotes_what_is_stored() -> None:
    texts = STATE.texts()._replace(known=json.dumps({"private words": 7}))
    with pytest.raises(Failed) as caught:
        read(texts, cursor=3, turn=3)
    assert "private" not in caught.value.message
