"""What speaks for a memory beside its words: who said it, when, how much it says, whether it tells a time."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Protocol

import numpy as np

from segue.search.dates import Day, Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from segue.search.candidates import Candidates
    from segue.search.query import Query

SPEAKER = 0.3
DATE = 0.5
LENGTH = 0.07  # of ln(1 + tokens)
QUESTION = -0.08  # a question seldom answers one
TELLS = 0.05  # the memory holds an expression of time
TELLS_WHEN_ASKED = 0.15

_FADES_AFTER, _FADES_BEFORE = 10.0, 5.0  # days: what happened on a day is told after it more often than before
_FOLLOWING, _FOLLOWS = 31, 0.3  # days after a span, and what they count
_NOTICED = 0.01  # less than this is as good as another time
_EPOCH = date(1970, 1, 1).toordinal()


class Weighed(Protocol):
    """Memories by columns, as far as their constant goes."""

    @property
    def lengths(self) -> NDArray[np.float32]:
        """Tokens in all."""

    @property
    def questions(self) -> NDArray[np.bool_]:
        """Which are questions."""

    @property
    def telling(self) -> NDArray[np.bool_]:
        """Which hold an expression of time."""


def speaker(query: Query, candidates: Candidates) -> NDArray[np.float32]:
    """Return 1 for what the one known speaker said whom the query names; all 0 if it names none or several."""
    result = np.zeros(len(candidates), dtype=np.float32)
    if len(query.speakers) == 1 and query.speakers[0] in candidates.speakers:
        result[candidates.speakers[query.speakers[0]]] = 1
    return result


def dated(query: Query, candidates: Candidates) -> NDArray[np.float32]:
    """Return how close each candidate lies to the nearest date that the query names, from 0 to 1."""
    if not query.dates:
        return np.zeros(len(candidates), dtype=np.float32)
    return closeness(query, candidates.days)


def closeness(query: Query, days: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how close each of `days` (since 1970, NaN for none) lies to the nearest date that the query names."""
    unknown = np.isnan(days)
    if not query.dates or unknown.all():
        return np.zeros(len(days), dtype=np.float32)
    first = int(np.nanmin(days))
    since = np.where(unknown, first, days).astype(np.int64) - first
    table = np.zeros(int(since.max()) + 1, dtype=np.float32)
    table[since] = 1
    distinct = np.flatnonzero(table)  # what counts is the day alone: one of each is enough
    every = (distinct + first).astype(np.float32)
    close = np.zeros(len(every), dtype=np.float32)
    for named in query.dates:
        for year in _years(named, every):
            to = _to_day(named, year, every) if isinstance(named, Day) else _to_span(named, year, every)
            close = np.maximum(close, to.astype(np.float32))
    table[distinct] = np.where(close >= _NOTICED, close, 0)
    return np.where(unknown, np.float32(0), table[since])


def constant(query: Query, candidates: Weighed) -> NDArray[np.float32]:
    """Return what each candidate gets for its length, for being a question and for telling a time."""
    telling = TELLS + (TELLS_WHEN_ASKED if query.asks_time else 0.0)
    total = LENGTH * np.log1p(candidates.lengths) + QUESTION * candidates.questions + telling * candidates.telling
    return np.asarray(total, dtype=np.float32)


def _years(named: Day | Span, days: NDArray[np.float32]) -> list[int]:
    """The years to try: the one that is named, else all in which there are days, and one more on each side."""
    if isinstance(named, Day) and named.year is not None:
        return [named.year]
    if isinstance(named, Span) and named.first is not None:
        return [named.first.year]
    there = np.unique(days.astype(np.int64).astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64)) + 1970
    around = np.unique(np.concatenate([there - 1, there, there + 1]))
    return [year for year in around.tolist() if 1 <= year <= 9998]


def _to_day(named: Day, year: int, days: NDArray[np.float32]) -> NDArray[np.float32]:
    try:
        passed = days - np.float32(date(year, named.month, named.day).toordinal() - _EPOCH)
    except ValueError:  # 29 February in a year that has none
        return np.zeros_like(days)
    return np.asarray(np.exp(np.where(passed >= 0, -passed / _FADES_AFTER, passed / _FADES_BEFORE)))


def _to_span(named: Span, year: int, since: NDArray[np.float32]) -> NDArray[np.float32]:
    if named.first is not None and named.last is not None:
        first, last = named.first.toordinal(), named.last.toordinal()
    else:
        month = named.month or 1
        first = date(year, month, 1).toordinal()
        last = date(year + month // 12, month % 12 + 1, 1).toordinal() - 1
    days = since + np.float32(_EPOCH)
    inside = (days >= first) & (days <= last)
    following = (days > last) & (days <= last + _FOLLOWING)
    return np.asarray(np.where(inside, 1.0, np.where(following, _FOLLOWS, 0.0)), dtype=np.float32)
