"""The manifest of a source, `memories.json`: which records there are. Nothing that it leaves out is looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import jsontext
from segue.base.errors import InvalidInput
from segue.base.redaction import shown
from segue.sources import moments, paths, screening
from segue.sources.problems import Problem, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from segue.sources.limits import Limits

VERSION = "0.1"
ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}", re.ASCII)
AN_ID = "an id has 1 to 128 lower-case letters, digits, dots, underscores and hyphens; a letter or digit is the first"
MAX_TITLE = 320  # characters
MAX_DESCRIPTION = 4_000

_KEYS = ("memories_version", "title", "description", "updated_at", "records")
_ENTRY_KEYS = ("id", "path", "sha256", "bytes", "title")
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII | re.IGNORECASE)
_MAX_KEYS = 100  # unknown ones that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record as the manifest lists it: `id` is "" where the record itself or its name gives it.

    `sha256` is 64 lower-case hex digits or "", `bytes` a size or None.
    """

    path: str
    id: str = ""
    sha256: str = ""
    bytes: int | None = None
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A manifest that was read. Absent texts are ""; `updated_at` is a date or a time as it was given.

    `unknown` names the keys that this version does not know (`colour`, `records[3].colour`).
    """

    version: str
    title: str = ""
    description: str = ""
    updated_at: str = ""
    records: tuple[Entry, ...] = ()
    unknown: tuple[str, ...] = ()


def read(data: bytes, limits: Limits) -> Manifest:
    """Return the manifest that `data` holds.

    Raises InvalidInput `source.manifest` or `source.limit`, Refused `source.path`, or `source.credential` (decision
    S3); `details["problems"]` lists what is wrong.
    """
    return whole(*examined(data, limits))


def examined(data: bytes, limits: Limits) -> tuple[Manifest | None, list[Problem]]:
    """Return what can be read of a manifest, without the entries that are wrong, and everything that is wrong."""
    if len(data) > limits.manifest_bytes:
        return None, [_problem("limit.manifest_bytes", f"it has more than {limits.manifest_bytes:,} bytes")]
    try:
        given = jsontext.parse(data)
    except InvalidInput as error:
        return None, [_problem("manifest.json", error.message, line=error.details.get("line"))]
    if not isinstance(given, dict):
        return None, [_problem("manifest.object", "it is no object")]
    reading = _Reading(limits)
    manifest = reading.manifest(given)
    return manifest, [
        *screening.credentials(screening.texts(given), paths.MANIFEST),
        *reading.problems,
        *reading.remarks(manifest),
    ]


class _Reading:
    """Reads one manifest, and collects what is wrong with it."""

    def __init__(self, limits: Limits) -> None:
        self.problems: list[Problem] = []
        self._limits = limits
        self._unknown: list[str] = []
        self._ids: set[str] = set()
        self._paths: set[str] = set()

    def manifest(self, given: dict[str, Any]) -> Manifest:
        version = given.get("memories_version")
        if version != VERSION:
            said = f"it is {_said(version)}" if "memories_version" in given else "it is missing"
            self._add("manifest.version", f'memories_version is "{VERSION}"; {said}')
        title, description = self._text(given, "title", MAX_TITLE), self._text(given, "description", MAX_DESCRIPTION)
        updated = self._text(given, "updated_at", MAX_TITLE)
        if updated and moments.instant(updated) is None:
            self._add("manifest.time", f"updated_at is {moments.A_MOMENT}; it is {_said(updated)}")
        records = tuple(self._entries(given))
        self._unknown[:0] = _unknown(given, _KEYS, "")
        return Manifest(
            version=VERSION,
            title=title,
            description=description,
            updated_at=updated,
            records=records,
            unknown=tuple(self._unknown),
        )

    def remarks(self, manifest: Manifest) -> Iterator[Problem]:
        """Say which keys are not known."""
        for key in manifest.unknown[:_MAX_KEYS]:
            yield _problem("manifest.unknown_key", f"the key '{key}' is not known; it is kept as it is", fails=False)

    def _entries(self, given: dict[str, Any]) -> Iterator[Entry]:
        listed = given.get("records")
        if not isinstance(listed, list):
            self._add("manifest.records", "records is a list of records")
            return
        if len(listed) > self._limits.records:
            self._add("limit.records", f"it lists {len(listed):,} records; {self._limits.records:,} are allowed")
        for number, each in enumerate(listed[: self._limits.records]):
            before = len(self.problems)
            entry = self._entry(f"records[{number}]", each)
            if entry is not None and len(self.problems) == before:
                yield entry

    def _entry(self, place: str, given: Any) -> Entry | None:
        if isinstance(given, str):
            self._check_path(place, given)
            return Entry(path=given)
        if not isinstance(given, dict):
            self._add("manifest.entry", f"{place} is an object or a path")
            return None
        self._unknown += _unknown(given, _ENTRY_KEYS, f"{place}.")
        path = given.get("path")
        if not isinstance(path, str):
            self._add("manifest.path", f"{place}.path is a text")
            return None
        self._check_path(f"{place}.path", path)
        name = self._id(f"{place}.id", given.get("id"))
        digest, size = self._sha256(f"{place}.sha256", given.get("sha256")), self._size(place, given.get("bytes"))
        title = self._text(given, "title", MAX_TITLE, f"{place}.")
        return Entry(path=path, id=name, sha256=digest, bytes=size, title=title)

    def _check_path(self, place: str, path: str) -> None:
        found = paths.fault(path)
        if found is not None:
            message = f"{place}: the path '{shown(path, 80)}' is refused: {found[1]}"
            self.problems.append(_problem(found[0], message, refused=True))
            return
        key = paths.folded(path)
        if key in self._paths:
            self._add("manifest.duplicate_path", f"{place}: the path '{shown(path, 80)}' stands twice, apart from case")
        self._paths.add(key)

    def _id(self, place: str, given: Any) -> str:
        if not isinstance(given, str) or not ID.fullmatch(given):
            self._add("manifest.id", f"{place}: {AN_ID}")
            return ""
        if given in self._ids:
            self._add("manifest.duplicate_id", f"{place}: the id '{shown(given, 80)}' stands twice")
        self._ids.add(given)
        return given

    def _sha256(self, place: str, given: Any) -> str:
        if given is None:
            return ""
        if not isinstance(given, str) or not _SHA256.fullmatch(given):
            self._add("manifest.sha256", f"{place} has 64 hexadecimal digits")
            return ""
        return given.lower()

    def _size(self, place: str, given: Any) -> int | None:
        if given is None:
            return None
        if type(given) is not int or given < 0:
            self._add("manifest.bytes", f"{place}.bytes is a whole number from 0")
            return None
        if given > self._limits.record_bytes:
            text = f"{place} announces {given:,} bytes; {self._limits.record_bytes:,} are allowed"
            self._add("limit.record_bytes", text)
        return given

    def _text(self, given: dict[str, Any], key: str, longest: int, place: str = "") -> str:
        value = given.get(key)
        if value is None:
            return ""
        whole = isinstance(value, str) and "\0" not in value and len(value) <= longest
        if not whole or not (key == "description" or screening.is_one_line(value)):
            what = "a text" if key == "description" else "one line"
            self._add(f"manifest.{key}", f"{place}{key} is {what} of at most {longest:,} characters")
            return ""
        return str(value)

    def _add(self, rule: str, message: str) -> None:
        self.problems.append(_problem(rule, message))


def _problem(rule: str, message: str, *, line: int | None = None, refused: bool = False, fails: bool = True) -> Problem:
    return Problem(rule=rule, message=message, where=paths.MANIFEST, line=line, refused=refused, fails=fails)


def _unknown(given: dict[str, Any], known: Iterable[str], place: str) -> list[str]:
    return [place + shown(key, 60) for key in given if key not in known]


def _said(value: Any) -> str:
    return f"'{shown(value, 40)}'" if isinstance(value, str) else f"of the type {type(value).__name__}"
