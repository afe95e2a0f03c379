"""The record: one Markdown file of a source, with what its front matter says of it.

Everything in it is what somebody else claims. A record that does not parse is wrong as a whole: nothing is guessed.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from segue.base import frontmatter
from segue.base.jsontext import is_unicode
from segue.base.redaction import shown
from segue.sources import moments, screening
from segue.sources.manifest import AN_ID, ID, MAX_TITLE
from segue.sources.problems import Problem, whole

if TYPE_CHECKING:
    from segue.base.frontmatter import Value
    from segue.sources.limits import Limits
    from segue.sources.manifest import Entry

# The kinds of memories; a record of another kind is read all the same, and that is told.
KINDS = (
    "claim decision event preference observation action question summary style negative procedure constraint"
).split()
KEYS = (
    "id title kind scope project tags entities created updated occurred_at confidence supersedes expires source"
).split()
CONFIDENCES = {"low": 0.3, "medium": 0.6, "high": 0.9}  # decision S4
MAX_ID = 128
MAX_NAME = 320  # characters of a kind, scope, project
MAX_SOURCE = 2_048
MAX_TAGS, MAX_TAG = 50, 64
MAX_ENTITIES, MAX_ENTITY = 50, 160
MAX_SUPERSEDES = 50

_FRACTION = re.compile(r"0?\.\d{1,17}|0|1|[01]\.0{1,17}|0\.\d{1,17}", re.ASCII)
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record that was read. Absent texts are "".

    `sha256` is the hash of the file's bytes (64 hex digits), `bytes` their number. `kind` is what was given, one of
    KINDS or not. Times are a day or RFC 3339, as given (see `moments.instant`). `confidence` lies in 0 to 1.
    `supersedes` are ids of records of the same source. `source` is what the record claims about where it is from: kept
    and shown, never believed. `body` is the text below the front matter, its lines ended by line feeds alone. `unknown`
    are values under keys that this version does not know.
    """

    id: str
    path: str
    sha256: str
    bytes: int
    body: str
    title: str = ""
    kind: str = ""
    scope: str = ""
    project: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    created: str = ""
    updated: str = ""
    occurred_at: str = ""
    confidence: float | None = None
    supersedes: tuple[str, ...] = ()
    expires: str = ""
    source: str = ""
    unknown: dict[str, Value] = field(default_factory=dict)


def read(entry: Entry, data: bytes, limits: Limits) -> Record:
    """Return the record that `entry` lists and `data` holds.

    Raises InvalidInput `source.record` or `source.limit`, Refused `source.credential` (decision S3); the problems in
    `details["problems"]` have a line where one is known.
    """
    return whole(*examined(entry, data, limits))


def examined(entry: Entry, data: bytes, limits: Limits) -> tuple[Record | None, list[Problem]]:
    """Return the record, None where it fails, and everything that is wrong with it or remarkable."""
    reading = _Reading(entry)
    record = reading.record(data, limits)
    return (None if any(each.fails for each in reading.problems) else record), reading.problems


class _Reading:
    """Reads one record, and collects what is wrong with it."""

    def __init__(self, entry: Entry) -> None:
        self.problems: list[Problem] = []
        self._entry = entry
        self._head = frontmatter.FrontMatter("")

    def record(self, data: bytes, limits: Limits) -> Record | None:
        digest = hashlib.sha256(data).hexdigest()
        self._check_bytes(data, digest, limits)
        text = self._decoded(data)
        if text is None:
            return None
        self._head = frontmatter.split(text, strict=True)
        self._screen(text)
        if self._head.fault:
            self._add("front_matter", f"the front matter: {self._head.fault}", self._head.fault_line)
            return None
        if not self._head.body.strip():
            self._add("empty", "it has no text below its front matter", self._head.body_line)
        record = Record(
            id=self._id(),
            path=self._entry.path,
            sha256=digest,
            bytes=len(data),
            body=self._head.body.replace("\r\n", "\n"),
            title=self._text("title", MAX_TITLE) or self._entry.title,
            kind=self._text("kind", MAX_NAME),
            scope=self._text("scope", MAX_NAME),
            project=self._text("project", MAX_NAME),
            tags=self._list("tags", MAX_TAGS, MAX_TAG),
            entities=self._list("entities", MAX_ENTITIES, MAX_ENTITY),
            created=self._time("created"),
            updated=self._time("updated"),
            occurred_at=self._time("occurred_at"),
            confidence=self._confidence(),
            supersedes=self._list("supersedes", MAX_SUPERSEDES, MAX_ID),
            expires=self._time("expires"),
            source=self._text("source", MAX_SOURCE),
            unknown={key: value for key, value in self._head.values.items() if key not in KEYS},
        )
        self._remark(record)
        return record

    def _check_bytes(self, data: bytes, digest: str, limits: Limits) -> None:
        listed = self._entry
        if len(data) > limits.record_bytes:
            self._problem("limit.record_bytes", f"it has more than {limits.record_bytes:,} bytes")
        if listed.bytes is not None and listed.bytes != len(data):
            self._add("bytes", f"it has {len(data):,} bytes; the manifest says {listed.bytes:,}")
        if listed.sha256 and listed.sha256 != digest:
            self._add("sha256", f"its SHA-256 is {digest}; the manifest says {listed.sha256}")

    def _decoded(self, data: bytes) -> str | None:
        if data.startswith(_BOM):
            self._add("bom", "it begins with a byte order mark; it is UTF-8 without one", 1)
            return None
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self._add("utf8", f"byte {error.start:,} is not UTF-8", line)
            return None
        if "\0" in text:
            self._add("nul", "it has a NUL character", text.count("\n", 0, text.index("\0")) + 1)
            return None
        return text

    def _screen(self, text: str) -> None:
        found = list(screening.texts(self._head.values))
        if not all(is_unicode(each) for each in found):
            self._add("text", "a value of its front matter holds half a character", 1)
            return
        self.problems += screening.credentials(found, self._entry.path, text)

    def _id(self) -> str:
        listed, own = self._entry.id, self._text("id", MAX_ID)
        if own and not ID.fullmatch(own):
            self._add("id", f"the id '{shown(own, 80)}': {AN_ID}", self._line("id"))
        elif own and listed and own != listed:
            self._add("id", f"its id is '{own}'; the manifest says '{listed}'", self._line("id"))
        stem = PurePosixPath(self._entry.path).stem
        if not (listed or own or ID.fullmatch(stem)):
            self._add("id", f"it has no id, and its name '{shown(stem, 80)}' is none: {AN_ID}")
        return listed or own or stem

    def _text(self, key: str, longest: int) -> str:
        value = self._head.values.get(key, "")
        if not isinstance(value, str):
            self._add("value", f"{key} is one text", self._line(key))
            return ""
        value = value.strip()
        if len(value) > longest or not screening.is_one_line(value):
            self._add("value", f"{key} is one line of at most {longest:,} characters", self._line(key))
        return value

    def _time(self, key: str) -> str:
        value = self._text(key, MAX_NAME)
        if value and moments.instant(value) is None:
            self._add("time", f"{key} is {moments.A_MOMENT}; it is '{shown(value, 40)}'", self._line(key))
        return value

    def _confidence(self) -> float | None:
        value = self._text("confidence", MAX_NAME)
        if not value or value in CONFIDENCES:
            return CONFIDENCES.get(value)
        if _FRACTION.fullmatch(value):
            return float(value)
        said = f"confidence is a number from 0 to 1, or low, medium or high; it is '{shown(value, 40)}'"
        self._add("confidence", said, self._line("confidence"))
        return None

    def _list(self, key: str, most: int, longest: int) -> tuple[str, ...]:
        given = self._head.values.get(key, "")
        listed = given.split(",") if isinstance(given, str) else given
        texts = [each.strip() for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
        kept = tuple(dict.fromkeys(filter(None, texts)))
        plain = isinstance(listed, list) and len(texts) == len(listed)
        if (
            not plain
            or len(kept) > most
            or not all(len(each) <= longest and screening.is_one_line(each) for each in kept)
        ):
            said = f"{key} is a list of at most {most} texts of at most {longest} characters"
            self._add("value", said, self._line(key))
        elif key == "supersedes" and not all(map(ID.fullmatch, kept)):
            self._add("supersedes", f"supersedes lists ids of records; {AN_ID}", self._line(key))
        return kept

    def _remark(self, record: Record) -> None:
        for key in record.unknown:
            text = f"the key '{shown(key, 60)}' is not known; it is kept as it is"
            self._add("unknown_key", text, self._line(key), fails=False)
        if record.kind and record.kind not in KINDS:
            text = f"the kind '{shown(record.kind, 60)}' is not known; it is read as a claim"
            self._add("unknown_kind", text, self._line("kind"), fails=False)

    def _line(self, key: str) -> int | None:
        return self._head.lines.get(key)

    def _add(self, rule: str, message: str, line: int | None = None, *, fails: bool = True) -> None:
        self._problem(f"record.{rule}", message, line, fails=fails)

    def _problem(self, rule: str, message: str, line: int | None = None, *, fails: bool = True) -> None:
        self.problems.append(Problem(rule=rule, message=message, where=self._entry.path, line=line, fails=fails))
