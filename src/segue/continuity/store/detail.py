"""A detail file: one fact, its front matter and its text, and what is wrong with it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from segue.base import time
from segue.continuity.store import head, labels, layout
from segue.continuity.store.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from segue.continuity.store.head import Head

REQUIRED = (
    "memory_id",
    "name",
    "description",
    "kind",
    "source_transaction",
    "source_path",
    "created",
    "updated",
    "status",
)
ACTIVE = "active"
CANDIDATE = "candidate_id"  # a field of ours: the candidate of the lifecycle that the fact was
_CLAIMED = re.compile(rb"memory_id\W{0,8}MEM-(\d{1,18})\b")
_CONTROL = re.compile(r"[\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class Detail:
    """A fact as its file tells it. A field that is missing is ""."""

    file: str
    text: str
    head: Head

    def __getitem__(self, key: str) -> str:
        return self.head.values.get(key, "")

    @property
    def name(self) -> str:
        """What it is called: the stem of its file."""
        return self.file.rpartition("/")[2].removesuffix(".md")

    @property
    def body(self) -> str:
        return self.head.body

    @property
    def number(self) -> int:
        """The number of its id, -1 where it has none."""
        match = layout.MEMORY_ID.fullmatch(self["memory_id"])
        return int(match[1]) if match else -1

    @property
    def source_path(self) -> str:
        """Where it comes from, with `/` between the parts.

        Other writers leave the backslashes of Windows as they are, and YAML takes `\\n` in `docs\\notes.md` for a line
        break: a path with such a character in it is read as it is written.
        """
        value = self["source_path"]
        if _CONTROL.search(value):
            line = self.text.split("\n")[self.head.lines["source_path"] - 1]
            value = line.partition(":")[2].strip().strip('"')
        return value.replace("\\", "/")

    @property
    def labelled(self) -> Mapping[str, str]:
        """What its body says under each label."""
        return labels.texts(self.body)

    @property
    def is_active(self) -> bool:
        return self["status"] == ACTIVE


def read(file: str, data: bytes) -> tuple[Detail | None, list[Fault]]:
    """Return the fact that a file tells, and why not where it cannot be read."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, [Fault("detail.encoding", file, line, "it is no UTF-8 text", "save it as UTF-8")]
    found = head.read(text)
    if not found.present:
        mend = 'begin it with `---`, one `key: "value"` a line, and `---`'
        return None, [Fault("detail.front_matter", file, 1, "it has no front matter", mend)]
    if found.fault:
        twice = "twice" in found.fault
        code = "detail.duplicate_key" if twice else "detail.front_matter"
        mend = "keep one line for each key" if twice else 'write each field as `key: "value"` on a line of its own'
        return None, [Fault(code, file, found.fault_line, found.fault, mend)]
    return Detail(file, text, found), []


def faults(detail: Detail, heading: str) -> Iterator[Fault]:
    """Yield what is wrong with an indexed fact; `heading` is the kind that its pointer stands under."""
    for key in REQUIRED:
        if not detail[key].strip():
            yield _fault(detail, "field", key, f"the field {key} is missing or empty", f'add `{key}: "…"`')
    yield from _of_name(detail)
    yield from _of_kind(detail, heading)
    yield from _of_proof(detail)
    for key in ("created", "updated"):
        if detail[key].strip() and not is_date(detail[key].strip()):
            yield _fault(detail, "date", key, f"{key} is no date", "write it as 2026-05-04")
    for label in labels.missing(detail["kind"], detail.body):
        mend = f"add a line `{label}: …` to its text"
        yield Fault("detail.label", detail.file, detail.head.body_line, f"its text lacks `{label}:`", mend)


def _of_name(detail: Detail) -> Iterator[Fault]:
    name = unicodedata.normalize("NFC", detail["name"].strip())
    if name and name != detail.name:
        mend = f'write `name: "{detail.name}"`, or give the file the name that it says'
        yield _fault(detail, "name", "name", "its name is not that of its file", mend)
    elif name and not layout.is_name(name):
        mend = "call file and name by lower-case words with hyphens, and point to it anew"
        yield _fault(detail, "name", "name", "its name is not made of lower-case words with hyphens", mend)


def _of_kind(detail: Detail, heading: str) -> Iterator[Fault]:
    kind = detail["kind"].strip()
    if kind and kind not in layout.KINDS:
        mend = f"write {', '.join(layout.KINDS[:-1])} or {layout.KINDS[-1]}"
        yield _fault(detail, "kind", "kind", "its kind is none that there is", mend)
    elif kind and heading and kind != heading:
        mend = f"`segue continuity rekind {detail.name} {heading}`, or move its pointer under `## {kind}`"
        yield _fault(detail, "heading", "kind", f"its kind is {kind} and its pointer stands under {heading}", mend)


def _of_proof(detail: Detail) -> Iterator[Fault]:
    if detail["status"].strip() and not detail.is_active:
        mend = f"`segue continuity sync` takes it into the archive; `{ACTIVE}` is what an indexed fact is"
        yield _fault(detail, "inactive", "status", "it is in the index and not active", mend)
    if detail["memory_id"].strip() and detail.number < 0:
        yield _fault(detail, "id", "memory_id", "its id is not MEM- and a number", "write it as MEM-001")
    if detail["source_transaction"].strip() and not layout.TRANSACTION.fullmatch(detail["source_transaction"]):
        mend = "name the receipt that proves its source, as TX-0001"
        yield _fault(
            detail, "transaction", "source_transaction", "its source transaction is not TX- and a number", mend
        )


def _fault(detail: Detail, code: str, key: str, message: str, mend: str) -> Fault:
    return Fault(f"detail.{code}", detail.file, detail.head.lines.get(key, 1), message, mend)


def claimed_number(data: bytes) -> int:
    """Return the highest number of an id that a file which cannot be read as a fact says it has, -1 for none."""
    return max((int(each) for each in _CLAIMED.findall(data)), default=-1)


def is_date(text: str) -> bool:
    """Whether a text is a day, or a time as RFC 3339 has it."""
    try:
        date.fromisoformat(text) if len(text) == 10 else time.parse(text)
    except ValueError:
        return False
    return True
