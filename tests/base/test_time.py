"""Instants: what RFC 3339 allows and Python holds (decision P2), how they are written, how people mean them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import time
from segue.base.errors import InvalidInput

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
instants = st.datetimes(timezones=st.just(UTC))
# The offsets that RFC 3339 can write, and days far enough from the edges of what datetime holds.
written = st.datetimes(
    min_value=datetime(1, 1, 3),  # noqa: DTZ001 - the strategy adds the zone
    max_value=datetime(9999, 12, 29),  # noqa: DTZ001
    timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)


@pytest.mark.requirement("packets-5")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-04T09:30:00Z", datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
        ("2026-05-04t09:30:00z", datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
        ("2026-05-04T09:30:00+00:00", datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
        ("2026-05-04T09:30:00-00:00", datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
        ("2026-05-04T09:30:00+05:45", datetime(2026, 5, 4, 3, 45, tzinfo=UTC)),
        ("2026-05-04T09:30:00-23:59", datetime(2026, 5, 5, 9, 29, tzinfo=UTC)),
        ("2026-05-04T09:30:00.1Z", datetime(2026, 5, 4, 9, 30, 0, 100_000, tzinfo=UTC)),
        ("2026-05-04T09:30:00.123456Z", datetime(2026, 5, 4, 9, 30, 0, 123_456, tzinfo=UTC)),
        ("2026-05-04T09:30:00.123456789Z", datetime(2026, 5, 4, 9, 30, 0, 123_456, tzinfo=UTC)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_parse_takes_what_rfc_3339_allows(text: str, expected: datetime) -> None:
    assert time.parse(text) == expected


@pytest.mark.requirement("packets-5")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-05-04",
        "2026-05-04T09:30:00",
        "2026-05-04 09:30:00Z",
        "2026-05-04T09:30Z",
        "2026-5-4T09:30:00Z",
        "2026-05-04T9:30:00Z",
        "20260504T093000Z",
        "2026-05-04T09:30:60Z",
        "2016-12-31T23:59:60Z",
        "2026-05-04T24:00:00Z",
        "2026-05-04T09:60:00Z",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-05-00T00:00:00Z",
        "2026-05-04T09:30:00.Z",
        "2026-05-04T09:30:00.1234567890Z",
        "2026-05-04T09:30:00,5Z",
        "2026-05-04T09:30:00+24:00",
        "2026-05-04T09:30:00+05:60",
        "2026-05-04T09:30:00+0545",
        "2026-05-04T09:30:00+05",
        "2026-05-04T09:30:00Z ",
        " 2026-05-04T09:30:00Z",
        "2026-05-04T09:30:00Z\n",
        "-026-05-04T09:30:00Z",
        "٢٠٢٦-٠٥-٠٤T٠٩:٣٠:٠٠Z",
    ],
)
def test_parse_refuses_the_rest(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        time.parse(text)
    assert type(raised.value) is ValueError


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(st.text() | st.from_regex(r"\A\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,10})?([Zz]|[+-]\d\d:\d\d)\Z"))
def test_parse_raises_nothing_but_value_error(text: str) -> None:
    try:
        instant = time.parse(text)
    except ValueError:
        return
    assert instant.tzinfo is not None
    assert isinstance(time.microseconds(instant), int)
    assert time.to_text(instant)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-05-04T09:30:00Z", True),
        ("2026-05-04T09:30:00z", True),
        ("2026-05-04T09:30:00+00:00", True),
        ("2026-05-04T09:30:00-00:00", True),
        ("2026-05-04T09:30:00+01:00", False),
        ("2026-05-04T09:30:00-00:01", False),
    ],
)
def test_is_utc(text: str, utc: bool) -> None:
    assert time.is_utc(text) is utc


def test_microseconds_order_instants_whatever_their_offset() -> None:
    texts = [
        "0001-01-01T00:00:00+23:59",
        "0001-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999999Z",
        "1970-01-01T00:00:00Z",
        "2026-05-04T11:30:00.000001+02:00",
        "2026-05-04T09:30:00.000002Z",
        "2026-05-04T09:30:00.00001Z",
        "2026-05-04T08:30:01-01:00",
        "9999-12-31T23:59:59.999999Z",
        "9999-12-31T23:59:59.999999-23:59",
    ]
    values = [time.microseconds(time.parse(text)) for text in texts]
    assert values == sorted(values)
    assert len(set(values)) == len(values)
    assert values[2:4] == [-1, 0]


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(instants)
def test_microseconds_are_exact(instant: datetime) -> None:
    assert time.from_microseconds(time.microseconds(instant)) == instant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-04T09:30:00.000Z", "2026-05-04T09:30:00Z"),
        ("2026-05-04T09:30:00.120Z", "2026-05-04T09:30:00.12Z"),
        ("2026-05-04T09:30:00.000001Z", "2026-05-04T09:30:00.000001Z"),
        ("2026-05-04T11:30:00+02:00", "2026-05-04T09:30:00Z"),
        ("2026-05-04T23:30:00-02:00", "2026-05-05T01:30:00Z"),
        ("0001-01-01T00:00:00+02:00", "0001-01-01T00:00:00+02:00"),
        ("9999-12-31T23:59:59-02:00", "9999-12-31T23:59:59-02:00"),
        ("0099-01-01T00:00:00Z", "0099-01-01T00:00:00Z"),
    ],
)
def test_to_text(text: str, expected: str) -> None:
    assert time.to_text(time.parse(text)) == expected


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(written)
def test_text_and_instant_are_the_same(instant: datetime) -> None:
    text = time.to_text(instant)
    assert time.parse(text) == instant
    assert text.endswith("Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        (" 2026-05-01T10:00:00+02:00 ", datetime(2026, 5, 1, 8, tzinfo=UTC)),
        ("30m", NOW - timedelta(minutes=30)),
        ("12h", NOW - timedelta(hours=12)),
        ("7d", NOW - timedelta(days=7)),
        ("7 d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
        ("0d", NOW),
    ],
)
def test_parse_moment(text: str, expected: datetime) -> None:
    assert time.parse_moment(text, NOW) == expected


@pytest.mark.parametrize(
    "text", ["", "7", "d", "-7d", "7y", "7D", "٧d", "99999w9", "100000d", "99999w", "2026-02-30", "now", "2026-05"]
)
def test_parse_moment_refuses(text: str) -> None:
    moment = datetime(900, 1, 1, tzinfo=UTC)  # 99999 weeks before it there is no year
    with pytest.raises(InvalidInput) as raised:
        time.parse_moment(text, moment)
    assert raised.value.code == "time.invalid"
    assert "7d" in raised.value.message


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=59, microseconds=999_999), "just now"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(seconds=119), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 hr ago"),
        (timedelta(hours=23, minutes=59, seconds=59), "23 hr ago"),
        (timedelta(days=1), "1 d ago"),
        (timedelta(days=6, hours=23, minutes=59, seconds=59), "6 d ago"),
        (timedelta(days=7), "2026-04-27"),
        (timedelta(days=400), "2025-03-30"),
        (timedelta(hours=-23), "just now"),
        (timedelta(days=-1), "2026-05-05"),
        (timedelta(days=-40), "2026-06-13"),
    ],
)
def test_ago(before: timedelta, expected: str) -> None:
    assert time.ago(NOW - before, NOW) == expected


def test_ago_compares_across_offsets() -> None:
    assert time.ago(time.parse("2026-05-04T11:25:00+02:00"), NOW) == "5 min ago"


def test_utc_now_is_in_utc() -> None:
    before = datetime.now(UTC)
    now = time.utc_now()
    assert now.tzinfo is UTC
    assert before <= now <= datetime.now(UTC)
