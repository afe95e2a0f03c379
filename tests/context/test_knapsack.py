"""The knapsack against the plain reading of decision M4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packing_samples import TEXTS, valued

from segue.context import knapsack
from segue.context.words import words

if TYPE_CHECKING:
    from segue.context.utility import Valued

ITEMS = st.lists(
    st.tuples(TEXTS, st.integers(0, 40).map(lambda tenths: tenths / 40), st.integers(13, 60)), min_size=1, max_size=12
).map(lambda drawn: [valued(*each) for each in drawn])


def plain_order(items: list[Valued], first: int | None) -> list[int]:
    """The order as it is written down: weigh all that is left in each round, and take the densest."""
    chosen = [] if first is None else [first]
    left = [place for place in range(len(items)) if place != first]
    said = [words(item.candidate.memory.content) for item in items]

    def density(place: int) -> float:
        alike = [len(said[place] & said[other]) / (len(said[place] | said[other]) or 1) for other in chosen]
        return round(items[place].utility * (1 - 0.35 * max(alike, default=0.0)) / items[place].cost, 12)

    while left:
        best = max(left, key=lambda place: (density(place), -place))
        chosen.append(best)
        left.remove(best)
    return chosen


@pytest.mark.requirement("context-knapsack")
@given(ITEMS, st.booleans(), st.integers(0, 300))
@settings(max_examples=250, deadline=None)
def test_the_lazy_order_is_the_plain_one(items: list[Valued], floor: bool, room: int) -> None:
    first = len(items) // 2 if floor else None
    order = plain_order(items, first)
    assert list(knapsack.order(items, first)) == order
    taken, left = set(), room
    for place in order:
        if items[place].cost <= left:
            taken.add(place)
            left -= items[place].cost
    picked = knapsack.pick(items, room, first)
    assert set(picked) == taken
    assert len(picked) == len(taken)


@pytest.mark.requirement("context-knapsack")
def test_density_decides_and_likeness_counts_against_it() -> None:
    items = [
        valued("red green blue", 0.9, 30),  # 0.03
        valued("red green pink", 0.8, 25),  # 0.032, so it comes first
        valued("one two three", 0.7, 30),  # 0.0233
        valued("four", 0.1, 2),  # 0.05: cheap
    ]
    # After `red green pink` two of four words of `red green blue` are known: 0.03 × (1 − 0.35 / 2) = 0.02475.
    assert list(knapsack.order(items)) == [3, 1, 0, 2]
    items[2] = valued("one two three", 0.75, 30)  # 0.025
    assert list(knapsack.order(items)) == [3, 1, 2, 0]


@pytest.mark.requirement("context-knapsack")
def test_what_does_not_fit_counts_as_seen() -> None:
    items = [
        valued("red green blue", 1.0, 20),  # 0.05, but there is room for 15
        valued("red green blue", 0.3, 15),  # 0.02, of which 0.013 are left
        valued("one two three", 0.225, 15),  # 0.015
    ]
    assert knapsack.pick(items, 15) == [2]


@pytest.mark.requirement("context-knapsack-floor")
def test_the_floor_is_the_first_of_the_most_useful_constraints() -> None:
    assert knapsack.protected([]) is None
    assert knapsack.protected([valued("a", 1, 20)]) is None
    items = [valued("a", 0.1, 20, "constraints"), *(valued("b", 0.2, 90, "constraints") for _ in range(2))]
    assert knapsack.protected([valued("c", 1, 13), *items]) == 2
    assert next(knapsack.order([valued("c", 1, 13), *items], 2)) == 2
    assert knapsack.pick([valued("c", 1, 13), *items], 100, 2) == [2]


@pytest.mark.requirement("context-knapsack")
@pytest.mark.parametrize(
    ("said", "again", "other"),
    [
        ("The server restarts at night", "The server restarts every night", "Invoices are sent on Mondays"),
        ("服务器每天晚上自动重启一次", "服务器每天晚上会自动重启", "发票在每个星期一寄出去了"),
        ("サーバーは毎晩自動で再起動する", "サーバーは毎晩必ず再起動する", "請求書は月曜日に送られている"),
        ("الخادم يعيد التشغيل كل ليلة", "الخادم يعيد التشغيل في كل ليلة", "ترسل الفواتير يوم الاثنين صباحا"),
        ("เซิร์ฟเวอร์รีสตาร์ททุกคืน", "เซิร์ฟเวอร์จะรีสตาร์ททุกคืน", "ใบแจ้งหนี้ส่งทุกวันจันทร์"),
        ("सर्वर हर रात फिर से शुरू होता है", "सर्वर हर रात दोबारा शुरू होता है", "बिल सोमवार को भेजे जाते हैं"),
        ("Сервер перезапускается каждую ночь", "Сервер каждую ночь перезапускается", "Счета уходят по понедельникам"),
        ("서버는 매일 밤 다시 시작한다", "서버는 매일 밤 항상 다시 시작한다", "청구서는 월요일에 발송된다"),
    ],
)
def test_what_was_said_counts_less_in_any_script(said: str, again: str, other: str) -> None:
    items = [valued(said, 0.5, 20), valued(again, 0.45, 20), valued(other, 0.4, 20)]
    assert list(knapsack.order(items)) == [0, 2, 1]


@given(ITEMS, st.integers(0, 300))
@settings(max_examples=60, deadline=None)
def test_nothing_that_fits_is_left(items: list[Valued], room: int) -> None:
    picked = knapsack.pick(items, room)
    left = room - sum(items[place].cost for place in picked)
    assert left >= 0
    assert all(item.cost > left for place, item in enumerate(items) if place not in picked)
