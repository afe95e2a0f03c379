"""Dates: which ones a query names, whether it asks for one, whether a text tells one.

A date that lacks its year means any year. English, and the numeric forms of ISO 8601, Chinese and Japanese.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from segue.search.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
_MONTH += r"|nov(?:ember)?|dec(?:ember)?)\.?"
_DAY = r"([12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"((?:19|20)\d\d)"
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_COUNT = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)})"
# Two months are also verbs: alone they count only where a preposition makes them a time.
_BEFORE_MONTH = r"(?:in|of|since|during|by|until|till|before|after|from|early|mid|late|last|this|next)"

_NUMERIC = re.compile(
    rf"(?<!\d){_YEAR}-(0[1-9]|1[0-2])(?:-([0-2]\d|3[01]))?(?!\d)|{_YEAR}年(\d\d?)月(?:(\d\d?)日)?|(\d\d?)月(\d\d?)日"
)
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b(?:,?\s+{_YEAR}\b)?")
_DAY_MONTH = re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b(?:,?\s+{_YEAR}\b)?")
_MONTH_ALONE = re.compile(rf"\b(?:({_BEFORE_MONTH})[\s-]+)?{_MONTH}\b(?:,?\s+(?:of\s+)?{_YEAR}\b)?")
_YEAR_ALONE = re.compile(rf"\b(?:in|of|since|during|by|until|before|after|from|year)\s+{_YEAR}\b")
_RELATIVE = re.compile(
    rf"\b(?:(today|yesterday)|{_COUNT}\s+(day|week|month|year)s?\s+ago"
    rf"|(last|this|past)\s+(week|month|year|{'|'.join(_WEEKDAYS)}))\b"
)
_ASKS = re.compile(
    r"\bwhen\b|\bhow\s+long\b|\b(?:which|what)\s+(?:year|month|date|day|week)\b|几时|什么时候|何時|いつ|언제"
)
_TELLS = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|recently|since|(?:last|next|this)\s+\w+|{'|'.join(_WEEKDAYS)}"
    rf"|(?:{'|'.join(m for m in _MONTHS if m not in ('may', 'march'))})|(?:in|of|since|until|by)\s+(?:may|march)"
    r"|(?:seconds?|minutes?|hours?|days?|weeks?|weekends?|months?|years?|decades?)|mornings?|evenings?|nights?"
    r"|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th))\b|\d\d?月|昨日|今日|明日|昨天|今天|明天|어제|오늘|내일"
)


@dataclass(frozen=True, slots=True)
class Day:
    """One day that a query names; `year` None means in any year."""

    year: int | None
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class Span:
    """A month or another stretch of days; `year` None with `month` means that month of any year."""

    first: date | None
    last: date | None
    month: int | None = None


def asks(text: str) -> bool:
    """Whether a query asks when, how long, or for which year, month, week, day or date."""
    return _ASKS.search(fold(text)) is not None


def tells(text: str) -> bool:
    """Whether `text` holds an expression of time: a date, a weekday, `ago`, `last spring`, `two years`."""
    return _TELLS.search(fold(text)) is not None


def named(text: str, now: datetime) -> tuple[Day | Span, ...]:
    """Return the days and spans that a query names; `yesterday` and its like count from `now`, impossible ones not."""
    folded = fold(text)
    found: list[Day | Span] = []
    for reader in (_numeric, _written_days, _months, _years):
        found += reader(folded)
        if found:  # the finest dates that a query names are what it means: 7 May 2023 is no question about May
            break
    found += _relative(folded, now.date())
    return tuple(dict.fromkeys(found))


def _numeric(text: str) -> Iterator[Day | Span]:
    for match in _NUMERIC.finditer(text):
        year = match[1] or match[4]
        month = int(match[2] or match[5] or match[7])
        day = match[3] or match[6] or match[8]
        if not 1 <= month <= 12:
            continue
        if day is None:
            yield _month_of(int(year), month)
        else:
            yield from _day(year, month, int(day))


def _written_days(text: str) -> Iterator[Day | Span]:
    for match in _MONTH_DAY.finditer(text):
        yield from _day(match[3], _month_number(match[1]), int(match[2]))
    for match in _DAY_MONTH.finditer(text):
        yield from _day(match[3], _month_number(match[2]), int(match[1]))


def _months(text: str) -> Iterator[Day | Span]:
    for match in _MONTH_ALONE.finditer(text):
        preposition, name, year = match.groups()
        if name in ("may", "march", "mar") and not (preposition or year):
            continue
        month = _month_number(name)
        yield _month_of(int(year), month) if year else Span(None, None, month)


def _years(text: str) -> Iterator[Day | Span]:
    for match in _YEAR_ALONE.finditer(text):
        yield Span(date(int(match[1]), 1, 1), date(int(match[1]), 12, 31))


def _relative(text: str, today: date) -> Iterator[Day | Span]:
    for match in _RELATIVE.finditer(text):
        day, count, unit, which, what = match.groups()
        try:
            if day:
                yield _of(today - timedelta(days=int(day == "yesterday")))
            elif count:
                yield _back(today, _NUMBERS.get(count) or int(count), unit)
            elif what in _WEEKDAYS:
                back = (today.weekday() - _WEEKDAYS.index(what)) % 7 or (0 if which == "this" else 7)
                yield _of(today - timedelta(days=back))
            else:
                yield _back(today, int(which != "this"), what)
        except (ValueError, OverflowError):  # before the year 1
            continue


def _back(today: date, count: int, unit: str) -> Day | Span:
    """The day, week, month or year that lies `count` of its kind before that of `today`."""
    if unit == "day":
        return _of(today - timedelta(days=count))
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * count)
        return Span(monday, monday + timedelta(days=6))
    if unit == "month":
        year, month = divmod(today.year * 12 + today.month - 1 - count, 12)
        return _month_of(year, month + 1)
    return Span(date(today.year - count, 1, 1), date(today.year - count, 12, 31))


def _of(day: date) -> Day:
    return Day(day.year, day.month, day.day)


def _day(year: str | None, month: int, day: int) -> Iterator[Day]:
    if 1 <= month <= 12 and 1 <= day <= calendar.monthrange(int(year) if year else 2024, month)[1]:
        yield Day(int(year) if year else None, month, day)


def _month_of(year: int, month: int) -> Span:
    return Span(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))
