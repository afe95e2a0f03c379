"""All that can be said of a packet before it is stored: its errors, its findings, its warnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from segue.base import redaction
from segue.base.errors import InvalidInput
from segue.base.untrusted import shorten
from segue.packets import fields, rules, schema
from segue.packets.model import Packet
from segue.packets.schema import Problem

if TYPE_CHECKING:
    from segue.base.redaction import Field, Finding

_TAGS, _METHOD_NAME = "tags[", ".name"


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check.

    `valid` speaks of the schema only, never of findings (P6). `packet` is there where `valid` is. `document` is
    what could be read, as JSON values.
    """

    bytes: int
    version: str = ""
    errors: list[Problem] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    warnings: list[rules.Advice] = field(default_factory=list)
    packet: Packet | None = None
    document: dict[str, Any] | None = None

    @property
    def valid(self) -> bool:
        return not self.errors

    @property
    def is_draft(self) -> bool:
        """Whether only `id` and `created_at` are missing, which a save fills in."""
        missing = {f"schema violation: packet lacks the required property '{name}'" for name in ("id", "created_at")}
        return bool(self.errors) and {error.message for error in self.errors} <= missing

    @property
    def exit_code(self) -> int:
        """0 clean, 3 invalid, 4 valid with findings."""
        return 3 if self.errors else 4 if self.findings else 0

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue check --json`."""
        return {
            "valid": self.valid,
            "version": self.version,
            "bytes": self.bytes,
            "errors": [{"code": e.code, "path": e.path, "message": e.message} for e in self.errors],
            "redaction": [{"kind": f.kind, "found": f.found} for f in self.findings],
            "warnings": [advice.to_json() for advice in self.warnings],
        }


def check(data: bytes, *, core_only: bool = False, parent: Packet | None = None) -> Report:
    """Return the report on the packet in `data`. Whatever can be read is scanned, also where the schema fails."""
    try:
        document = schema.read(data)
    except InvalidInput as error:
        return Report(len(data), errors=[Problem(error.code, "", error.message)])
    problems = schema.schema_problems(document)
    findings = redaction.scan(fields.texts(document), core_only=core_only)
    packet = None if problems else Packet.from_document(document)
    warnings = rules.check(packet, parent) if packet else []
    return Report(len(data), document["ltm_version"], problems, findings, warnings, packet, document)


def mask(document: dict[str, Any], *, core_only: bool = False) -> tuple[dict[str, Any], list[Finding]]:
    """Return `document` with every finding as `[redacted:<label>]`, and the findings that were replaced.

    Where a marker would break the schema, a tag is dropped and a method name becomes `redacted-<label>`; a text
    that grew beyond its limit is cut. `id`, `parent_id` and `created_at` are never changed: a finding there needs
    a new packet, and is not in the returned list.
    """
    replaced: list[Finding] = []

    def replace(item: Field) -> str | None:
        if item.path in ("id", "parent_id", "created_at", "ltm_version") or (core_only and not item.core):
            return item.text
        text, found = redaction.mask(item, core_only=core_only)
        if not found:
            return item.text
        replaced.extend(found)
        if item.path.startswith(_TAGS):
            return None
        if item.path.startswith("methods[") and item.path.endswith(_METHOD_NAME):
            return f"redacted-{found[0].label}"
        limit = _limit(item.path)
        if len(text) > limit:
            text = shorten(text, limit)
            if redaction.scan([item._replace(text=text)], core_only=core_only):  # the cut itself can make a match
                return redaction.marker(found[0].label)
        return text

    return fields.replaced(document, replace), replaced


def _limit(path: str) -> int:
    if path.endswith(".how"):
        return 2_048
    if path == "project.ref":
        return 256
    return 128 if path.startswith(("project.", "provenance.")) else 1_024
