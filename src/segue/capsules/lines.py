"""What single lines of a capsule may say (PCSF sections 2.3 to 2.11; decisions C-3, C-4 and C-5).

Each reader returns the fields of a good line. For a bad one it returns None and reports: C4 for META, C7 and C8 for
entries, C9 for SEED, C10 for INTEGRITY, C12 for CHAIN.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from segue.capsules import integrity
from segue.capsules.capsule import DEPTHS, EVENT_TYPES, HEADERS, LOOP_TYPES, PRIORITIES, STATE_TYPES
from segue.capsules.problems import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.capsules.layout import Placed
    from segue.capsules.problems import Problems

SEP = " | "
_FIELD = r"([^| ](?:[^|]*[^| ])?)"
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)Z", re.ASCII)
_CHAIN = re.compile(r"CHAIN: hops=(\d{1,9}) origin=(.*)", re.ASCII)
_STOPS = re.compile(r"(?<![.!?])[.!?]++(?=\s|$)")  # one look at each run: a line of dots stays linear
_DIMENSION = re.compile(r"[A-Za-z_]+")

_FORMS = (
    "TYPE | fact | reason",
    "option | reason | lesson",
    "TYPE: content",
    "DIMENSION: state",
    "TYPE | description | PRIORITY",
)
# For each layer, the words that a field is chosen from, by the place of the field.
_WORDS: tuple[dict[int, tuple[str, ...]], ...] = (
    {0: EVENT_TYPES},
    {},
    {0: STATE_TYPES},
    {},
    {0: LOOP_TYPES, 2: PRIORITIES},
)


def _pattern(layer: int) -> re.Pattern[str]:
    if layer == 3:
        return re.compile(rf"({_DIMENSION.pattern}): {_FIELD}")
    words = {place: f"({'|'.join(choice)})" for place, choice in _WORDS[layer].items()}
    if layer == 2:
        return re.compile(f"{words[0]}: {_FIELD}")
    return re.compile(r" \| ".join(words.get(place, _FIELD) for place in range(3)))


_PATTERNS = tuple(_pattern(layer) for layer in range(5))
_META = re.compile(rf"META: {_FIELD} \| {_FIELD} \| ({'|'.join(DEPTHS)}) \| (\S+)")


def moment(text: str) -> datetime | None:
    """Return the instant of a `YYYY-MM-DDThh:mmZ` text, or None if it is no such text or no real date."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    try:
        year, month, day, hour, minute = map(int, match.groups())
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        return None


def read_entry(layer: int, placed: Placed, problems: Problems) -> tuple[str, ...] | None:
    """Return the fields of an entry of the layer with this index (C7, C8)."""
    number, text = placed
    match = _PATTERNS[layer].fullmatch(text)
    if match is not None:
        return match.groups()
    if layer in (2, 3):
        _explain_pair(layer, number, text, problems)
    else:
        fields = text.split(SEP)
        if len(fields) != 3:
            what = f"an entry of {HEADERS[layer]} has three fields, {_FORMS[layer]}; this one has {len(fields)}"
            problems.add("C7", number, 1, what)
        _explain_pipes(number, fields, 3, problems)
        _explain_fields(layer, number, fields, problems)
    return None


def _columns(fields: Sequence[str], width: int) -> list[int]:
    columns, column = [], 1
    for field in fields:
        columns.append(column)
        column += len(field) + width
    return columns


def _explain_pipes(number: int, fields: Sequence[str], wanted: int, problems: Problems) -> None:
    columns = _columns(fields, len(SEP))
    if len(fields) > wanted:
        where = columns[wanted] - 2
        problems.add("C8", number, where, "there is a field too many; put a dash or other words where this | stands")
    for column, field in zip(columns, fields, strict=True):
        if (at := field.find("|")) >= 0:
            message = "a | separates fields, with one space on each side, and stands in none; put a dash or other words"
            problems.add("C8", number, column + at, message)


def _explain_fields(layer: int, number: int, fields: Sequence[str], problems: Problems) -> None:
    words = _WORDS[layer] if len(fields) == 3 else {0: _WORDS[layer][0]} if 0 in _WORDS[layer] else {}
    for place, (column, field) in enumerate(zip(_columns(fields, len(SEP)), fields, strict=True)):
        if place in words:
            _explain_word(number, column, field, words[place], problems)
        else:
            _explain_edges("C7", number, column, field, problems)


def _explain_word(number: int, column: int, field: str, words: Sequence[str], problems: Problems) -> None:
    if field not in words:
        problems.add("C7", number, column, f"{quote(field)} is not known here; use {', '.join(words)}")


def _explain_edges(code: str, number: int, column: int, field: str, problems: Problems) -> None:
    if not field.strip(" "):
        problems.add(code, number, column, "this field is empty; give it a text")
    elif field[0] == " ":
        problems.add(code, number, column, "a field does not begin with a space; remove it")
    elif field[-1] == " ":
        problems.add(code, number, column + len(field) - 1, "a field does not end with a space; remove it")


def _explain_pair(layer: int, number: int, text: str, problems: Problems) -> None:
    token, colon, content = text.partition(": ")
    if not colon and text.endswith(":"):
        token, colon = text[:-1], ":"
    if (at := text.find("|")) >= 0:
        problems.add("C8", number, at + 1, f"a | stands in no field of {HEADERS[layer]}; put a dash or other words")
    if not colon:
        problems.add("C7", number, 1, f"an entry of {HEADERS[layer]} is {_FORMS[layer]}, with a colon and a space")
        return
    if layer == 2:
        _explain_word(number, 1, token, STATE_TYPES, problems)
    elif not _DIMENSION.fullmatch(token):
        problems.add("C7", number, 1, f"the dimension {quote(token)} has only letters and underscores; rename it")
    _explain_edges("C7", number, len(token) + 3, content, problems)


def read_meta(placed: Placed, problems: Problems) -> tuple[str, ...] | None:
    """Return topic, domain, depth and timestamp (C4, and C8 for a stray pipe)."""
    number, text = placed
    match = _META.fullmatch(text)
    if match is not None and moment(match[4]) is not None:
        return match.groups()
    if not text.startswith("META: "):
        problems.add("C4", number, 1, "the line begins with META:, a space, and the topic")
        return None
    fields = text[6:].split(SEP)
    columns = [column + 6 for column in _columns(fields, len(SEP))]
    if len(fields) != 4:
        what = f"META has four fields, topic | domain | depth | timestamp; this one has {len(fields)}"
        problems.add("C4", number, 1, what)
    _explain_pipes(number, ["META: " + fields[0], *fields[1:]], 4, problems)
    if len(fields) == 4:
        _explain_meta(number, columns, fields, problems)
    return None


def _explain_meta(number: int, columns: Sequence[int], fields: Sequence[str], problems: Problems) -> None:
    for column, field in zip(columns[:2], fields[:2], strict=True):
        if "|" in field:
            problems.add("C4", number, column, "topic and domain hold no |; put a dash or other words")
        _explain_edges("C4", number, column, field, problems)
    if fields[2] not in DEPTHS:
        problems.add("C4", number, columns[2], f"the depth is one of {', '.join(DEPTHS)}")
    if moment(fields[3]) is None:
        problems.add("C4", number, columns[3], "the timestamp is a real minute in UTC: YYYY-MM-DDThh:mmZ")


def read_chain(placed: Placed, problems: Problems) -> tuple[int, str] | None:
    """Return hops and origin (C12)."""
    number, text = placed
    match = _CHAIN.fullmatch(text)
    if match is not None and moment(match[2]) is not None:
        return int(match[1]), match[2]
    column = match.start(2) + 1 if match else 1
    what = "hops of at most nine digits, the origin a real minute"
    problems.add("C12", number, column, f"the line is CHAIN: hops=N origin=YYYY-MM-DDThh:mmZ, {what}")
    return None


def read_integrity(placed: Placed, problems: Problems) -> tuple[str, str] | None:
    """Return the checksum and the count that the line states (C10)."""
    number, text = placed
    stated = integrity.read_line(text)
    if stated is None:
        problems.add("C10", number, 1, "the line is INTEGRITY: crc32=<eight of 0-9a-f> chars=<number>; stamp it again")
    return stated


def read_seed(placed: Placed, problems: Problems) -> str | None:
    """Return the sentence (C9): at most one run of `.`, `!` or `?` before white space or the end."""
    number, text = placed
    seed = text[6:]
    if not seed.strip(" ") or text[5] != " ":
        problems.add("C9", number, 1, "SEED: a space, and one sentence; it may not be empty")
        return None
    good = True
    if seed[0] == " ":
        problems.add("C9", number, 7, "the sentence does not begin with a space; remove it")
        good = False
    if (at := seed.find("|")) >= 0:
        problems.add("C9", number, at + 7, "the sentence holds no |; put a dash or other words")
        good = False
    stops = [match.start() for match in _STOPS.finditer(seed)]
    if len(stops) > 1:
        problems.add("C9", number, stops[1] + 7, "SEED is one sentence; keep the first, or join the two")
        good = False
    return seed if good else None
