"""Dates that a query names, and whether texts ask for or tell a time."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.base import time
from segue.search.dates import Day, Span, asks, named, tells

NOW = time.parse("2026-03-10T12:00:00Z")  # a Tuesday


def month(year: int, number: int, last: int) -> Span:
    return Span(date(year, number, 1), date(year, number, last))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on May 7th, 2023?", [Day(2023, 5, 7)]),
        ("the 7th of May", [Day(None, 5, 7)]),
        ("7 may 2023", [Day(2023, 5, 7)]),
        ("MAY 7", [Day(None, 5, 7)]),
        ("Sept. 3", [Day(None, 9, 3)]),
        ("between 2 June and 9 June 2024", [Day(None, 6, 2), Day(2024, 6, 9)]),
        ("at 2023-05-07", [Day(2023, 5, 7)]),
        ("in 2023-05", [month(2023, 5, 31)]),
        ("在2023年5月7日", [Day(2023, 5, 7)]),
        ("2023年2月", [month(2023, 2, 28)]),
        ("5月7日", [Day(None, 5, 7)]),
        ("in May 2023", [month(2023, 5, 31)]),
        ("in May", [Span(None, None, 5)]),
        ("which june party", [Span(None, None, 6)]),
        ("since 2022", [Span(date(2022, 1, 1), date(2022, 12, 31))]),
        ("29 February", [Day(None, 2, 29)]),
        ("yesterday", [Day(2026, 3, 9)]),
        ("today", [Day(2026, 3, 10)]),
        ("two days ago", [Day(2026, 3, 8)]),
        ("last week", [Span(date(2026, 3, 2), date(2026, 3, 8))]),
        ("this month", [month(2026, 3, 31)]),
        ("last month", [month(2026, 2, 28)]),
        ("3 months ago", [month(2025, 12, 31)]),
        ("last year", [Span(date(2025, 1, 1), date(2025, 12, 31))]),
        ("last friday", [Day(2026, 3, 6)]),
        ("last tuesday", [Day(2026, 3, 3)]),
        ("this tuesday", [Day(2026, 3, 10)]),
        ("may I march on?", []),
        ("2023-02-30", []),
        ("29 February 2023", [month(2023, 2, 28)]),
        ("2023年13月", []),
        ("999 years ago, 999 years ago", [Span(date(1027, 1, 1), date(1027, 12, 31))]),
        ("the best restaurant", []),
    ],
)
def test_dates_that_a_query_names(text: str, expected: list[Day | Span]) -> None:
    assert list(named(text, NOW)) == expected


def test_what_lies_before_the_calendar_is_left_out() -> None:
    assert named("two years ago", time.parse("0002-05-01T00:00:00Z")) == ()


@pytest.mark.parametrize(
    "text",
    ["When did it start?", "how long did it take", "Which year was it", "what DATE", "in what month", "いつですか"],
)
def test_a_query_that_asks_for_a_time(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["whenever", "what timer is used?", "how longing", ""])
def test_a_query_that_does_not(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "text",
    ["We met last spring.", "two years ago", "in 2019", "on the 3rd", "YESTERDAY", "in May", "昨日", "next Friday"],
)
def test_a_text_that_tells_a_time(text: str) -> None:
    assert tells(text)


@pytest.mark.parametrize("text", ["it may rain", "the march went on", "port 8080", "lasting", ""])
def test_a_text_that_does_not(text: str) -> None:
    assert not tells(text)


@given(st.text(max_size=40))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(named(text, NOW), tuple)
    assert asks(text) in (True, False)
    assert tells(text) in (True, False)


@given(st.dates(date(1901, 1, 1), date(2099, 12, 31)))
def test_every_day_is_read_in_every_form(day: date) -> None:
    for text in (day.isoformat(), f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%b} {day.year}"):
        assert named(text, NOW) == (Day(day.year, day.month, day.day),)


@given(st.integers(1, 500))
def test_days_ago_count_back(count: int) -> None:
    day = NOW.date() - timedelta(days=count)
    assert named(f"{count} days ago", NOW) == (Day(day.year, day.month, day.day),)
