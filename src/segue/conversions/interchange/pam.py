"""Reader of PAM memory stores, portable-ai-memory 1.0 (section 8.1 of the host facts).

The file is read twice: first for what supersedes what, then memory by memory. What was retracted comes along as
retired, not lost. Not read: `embeddings.json` (made by another model) and `conversations/` (their shape is unverified).
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING, Any

from segue.conversions.interchange import source
from segue.conversions.interchange.item import Found, fraction, pieces, string, strings
from segue.memories.item import AuthorClass, Item, Kind, Layer, Provenance
from segue.transcripts import moments
from segue.transcripts.conversation import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.transcripts.lines import Record

FILE = "memory-store.json"

_TYPES: dict[str, tuple[Kind, Layer]] = {
    "fact": ("claim", "semantic"),
    "preference": ("preference", "preference"),
    "skill": ("claim", "semantic"),
    "context": ("observation", "episodic"),
    "relationship": ("claim", "semantic"),
    "goal": ("claim", "semantic"),
    "instruction": ("preference", "preference"),
    "identity": ("claim", "semantic"),
    "environment": ("claim", "semantic"),
    "project": ("claim", "semantic"),
}
_RETIRED = {"superseded", "deprecated", "retracted", "archived"}
_BY_USER = {"explicit_user_input", "manual"}


def read(path: Path) -> Iterator[Found]:
    """Yield the memories of a PAM store: its file, or the folder that holds `memory-store.json`."""
    path = source.single(path, (FILE,))
    replaced = _replaced(path)
    for element in source.elements(path, "memories"):
        if isinstance(element, Problem):
            yield element
        elif element.value is not None:
            yield from _memory(element.value, path.name, element.index, replaced)


def _replaced(path: Path) -> dict[str, list[str]]:
    """Return, for each memory, the memories that it supersedes."""
    replaced: dict[str, list[str]] = {}
    for element in source.elements(path, "memories"):
        if not isinstance(element, Problem) and element.value is not None:
            newer = _mapping(element.value.get("temporal")).get("superseded_by")
            _link(replaced, newer, element.value.get("id"))
    for element in source.elements(path, "relations"):
        if not isinstance(element, Problem) and element.value is not None and element.value.get("type") == "supersedes":
            _link(replaced, element.value.get("from"), element.value.get("to"))
    return replaced


def _link(replaced: dict[str, list[str]], newer: Any, older: Any) -> None:
    if isinstance(newer, str) and isinstance(older, str) and newer != older:
        known = replaced.setdefault(newer, [])
        if older not in known:
            known.append(older)


def _memory(value: Record, file: str, index: int, replaced: dict[str, list[str]]) -> Iterator[Found]:
    name, content = string(value.get("id")), string(value.get("content"))
    if not name or not content:
        yield Problem("import.value", "the memory has no id or no content", file, index=index)
        return
    given = value.get("content_hash")
    if given is not None and given != content_hash(value["content"]):
        yield Problem(
            "import.value", "its content_hash does not match its content; it is taken as it is", file, None, index
        )
    temporal, provenance = _mapping(value.get("temporal")), _mapping(value.get("provenance"))
    kind, layer = _TYPES.get(string(value.get("type")), ("claim", "semantic"))
    confidence = _mapping(value.get("confidence"))
    tags = strings([value.get("type"), value.get("custom_type"), *strings(value.get("tags"))])
    method = string(provenance.get("extraction_method"))
    author_class: AuthorClass = "user" if method in _BY_USER else "agent" if method == "llm_inference" else "external"
    for order, text in enumerate(pieces(content)):
        yield Item(
            content=text,
            summary="" if order else string(value.get("summary")),
            kind=kind,
            layer=layer,
            tags=tags,
            occurred_at=moments.from_iso(temporal.get("created_at")),
            updated_at=moments.from_iso(temporal.get("updated_at")) or moments.from_iso(temporal.get("created_at")),
            valid_from=moments.from_iso(temporal.get("valid_from")),
            valid_to=moments.from_iso(temporal.get("valid_until")),
            confidence=_first(fraction(confidence.get("current")), fraction(confidence.get("initial"))),
            retired=value.get("status") in _RETIRED,
            supersedes=() if order else tuple(f"pam:{older}" for older in replaced.get(name, ())),
            provenance=Provenance(
                origin="import",
                ref=f"pam:{name}.{order}" if order else f"pam:{name}",
                author_class=author_class,
                author=string(provenance.get("platform")),
            ),
        )


def content_hash(content: str) -> str:
    """Return PAM's hash of a memory's content: trimmed, lower case, NFC, white space runs as one space."""
    text = unicodedata.normalize("NFC", content.strip().lower())
    return "sha256:" + hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
