"""Checking a document against the schema of the version that it declares (section 000.1 of the facts).

Messages name field and rule, never the value: it may be a secret.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from segue.base import jsontext, redaction, time, untrusted
from segue.base.errors import InvalidInput
from segue.packets.model import MAX_BYTES, Packet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import jsonschema_rs

VERSIONS = ("0.1", "0.2")


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule: `code` (`packet.schema`), `path` (`decisions[0].why`, "" for the whole), `message`."""

    code: str
    path: str
    message: str


def parse(data: bytes) -> Packet:
    """Return the packet in `data`.

    Raises InvalidInput with the code of the first broken rule and all of them in `details["errors"]`.
    """
    document = read(data)
    require_valid(document)
    return Packet.from_document(document)


def read(data: bytes) -> dict[str, Any]:
    """Return the document in `data`, its size, JSON syntax and version checked, in this order, its schema not yet.

    Raises InvalidInput `packet.size`, `packet.json`, `packet.type` or `packet.version`.
    """
    if len(data) > MAX_BYTES:
        size = {"bytes": len(data), "max": MAX_BYTES}
        raise InvalidInput("packet.size", f"the packet has {len(data)} bytes; max is {MAX_BYTES}", size)
    document = jsontext.parse(data, code="packet.json")
    if not isinstance(document, dict):
        raise InvalidInput("packet.type", "packet must be a JSON object")
    require_version(document)
    return document


def require_version(document: dict[str, Any]) -> None:
    """Raise InvalidInput `packet.version` unless the document declares a version that has a schema here."""
    version = document.get("ltm_version")
    if not isinstance(version, str) or not version:
        raise InvalidInput("packet.version", "missing required field 'ltm_version' (a text such as \"0.2\")")
    if version not in VERSIONS:
        # Not trimmed: a space may be all that is wrong with it.
        escaped = untrusted.visible(version).replace("\n", "\\n").replace("\t", "\\t")
        masked, _ = redaction.mask(redaction.Field("ltm_version", escaped[:256], True))
        shown = untrusted.shorten(masked, 40)
        raise InvalidInput(
            "packet.version",
            f'unsupported ltm_version "{shown}" (supported: {", ".join(VERSIONS)})',
            {"supported": list(VERSIONS)},
        )


def require_valid(document: dict[str, Any]) -> None:
    """Raise InvalidInput `packet.schema` unless the document satisfies the schema of its version."""
    problems = schema_problems(document)
    if problems:
        found = [{"code": item.code, "path": item.path, "message": item.message} for item in problems]
        raise InvalidInput("packet.schema", problems[0].message, {"errors": found})


def schema_problems(document: dict[str, Any]) -> list[Problem]:
    """Return all rules of its version's schema that the document breaks, in document order."""
    validator = _validator(document["ltm_version"])
    if validator.is_valid(document):
        return []
    return [_problem(error, document["ltm_version"]) for error in validator.iter_errors(document)]


def schema_text(version: str) -> str:
    """Return the JSON Schema file (draft 2020-12) of a version in VERSIONS."""
    return resources.files(__package__).joinpath(f"schemas/core-memory.v{version}.json").read_text("utf-8")


@cache
def _validator(version: str) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        json.loads(schema_text(version)),
        validate_formats=True,
        formats={"date-time": _is_instant},
        retriever=_refuse,
    )


def _is_instant(text: str) -> bool:
    try:
        time.parse(text)
    except ValueError:
        return False
    return True


def _refuse(uri: str) -> Any:
    raise ValueError(f"schemas are never fetched: {uri}")


def path_text(path: Sequence[str | int]) -> str:
    """Return a path such as `decisions[0].why`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + redaction.shown(part, 40)
    return text


_DESCRIBE: dict[str, Callable[[Any], str]] = {
    "minLength": lambda kind: f"is too short (minLength {kind.limit})",
    "maxLength": lambda kind: f"is too long (maxLength {kind.limit} characters)",
    "maxItems": lambda kind: f"has too many entries (maxItems {kind.limit})",
    "enum": lambda kind: "must be one of " + ", ".join(map(str, kind.options)),
    "type": lambda kind: "must be of type " + " or ".join(kind.types),
    "required": lambda kind: f"lacks the required property '{kind.property}'",
    "format": lambda _: "must be a real RFC 3339 date and time such as 2026-05-04T09:30:00Z",
}
_PATTERNS = {
    "name": "must match the pattern of names: lowercase letters, digits and hyphens, at most 128",
    "tags": "must match the pattern of tags: lowercase letters, digits and hyphens, at most 32",
    "source_hash": "must match the pattern sha256: and 64 lowercase hex digits",
}


def _problem(error: jsonschema_rs.ValidationError, version: str) -> Problem:
    path = path_text(error.instance_path)
    name = error.kind.name
    if name == "additionalProperties":
        said = _unexpected(error.kind, version)
    elif name == "pattern":
        field = next((part for part in reversed(error.instance_path) if isinstance(part, str)), "")
        said = _PATTERNS.get(field, "does not match its pattern")
    else:
        said = _DESCRIBE.get(name, lambda _: f"breaks the rule {name}")(error.kind)
    return Problem("packet.schema", path, f"schema violation: {path or 'packet'} {said}")


def _unexpected(kind: Any, version: str) -> str:
    names = [redaction.shown(name, 40) for name in sorted(kind.unexpected)]
    listed = ", ".join(f"'{name}'" for name in names[:8]) + (" and more" if len(names) > 8 else "")
    text = f"has additional properties that version {version} does not allow: {listed}"
    if version == "0.1":
        text += "; newer members need ltm_version 0.2"
    return text
