"""The tools that write memories: remember for good, and propose for the user's review. A write gives a receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.base.redaction import RedactionRefused
from segue.mcp import shapes
from segue.mcp.answers import Answer, Tool
from segue.mcp.arguments import DIRECTORY, TIME, at_directory
from segue.memories.item import KINDS, LAYERS
from segue.memories.memory import STATUSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.app import Segue
    from segue.services.memories import Remembered

_MEND = "Nothing was kept: say it without them, and call again"
_PERSONAL = frozenset(("preference", "style"))
_VERDICTS = {"new": "new", "proposed": "proposed"}
_KEPT = ("layer", "kind", "entities", "tags", "project", "occurred_at")


def _remember(segue: Segue, arguments: dict[str, Any]) -> Answer:
    details = _details(segue, arguments) | {"author_class": "agent"}
    return _written("remember_this", lambda: segue.memories.remember(arguments["content"], **details))


def _propose(segue: Segue, arguments: dict[str, Any]) -> Answer:
    details = _details(segue, arguments)
    return _written("propose_memory", lambda: segue.memories.propose(arguments["content"], **details))


def _details(segue: Segue, arguments: dict[str, Any]) -> dict[str, Any]:
    details = {name: arguments[name] for name in _KEPT if name in arguments}
    if details.get("project", "." if _is_of_work(details) else "") == ".":
        project = at_directory(segue, arguments).project
        if "project" in details or not project.key.startswith("folder:"):
            details["project"] = project.name
    if "source_url" in arguments:
        details["url"] = arguments["source_url"]
    return details


def _is_of_work(details: dict[str, Any]) -> bool:
    """Whether it is about a project rather than about the user: what is told in every project must be meant so."""
    return _PERSONAL.isdisjoint((details.get("layer"), details.get("kind")))


def _written(tool: str, write: Callable[[], Remembered]) -> Answer:
    """The receipt of a write (facts, section 004.6)."""
    try:
        remembered = write()
    except RedactionRefused as error:  # what a person may have masked, these tools cannot
        raise RedactionRefused(error.findings, error.code, _MEND) from None
    memory = remembered.memory
    verdict = "superseded" if remembered.replaced else _VERDICTS.get(remembered.verdict, "merged")
    data = {
        "tool": tool,
        "stored_id": memory.id,
        "status": memory.status,
        "assigned_layer": memory.layer,
        "verdict": verdict,
        "dedup_basis": "normalised_text" if verdict == "merged" else None,
        "occurrences": memory.occurrences,
        "supersede_handle": memory.id,
        "replaced": list(remembered.replaced),
        "conflicts": list(remembered.conflicts),
    }
    waiting = "; it is served once the user approves it" if memory.status == "pending" else ""
    said = f"{memory.id} ({verdict}, {memory.status}{waiting})" if memory.id else f"{verdict}{waiting}"
    return Answer(said, data)


_CONTENT = {
    "type": "string",
    "minLength": 1,
    "maxLength": 8_000,
    "description": "One fact, decision, rule or preference in one to three sentences, understood without this session.",
}
_WRITING: dict[str, Any] = {
    "content": _CONTENT,
    "layer": {
        "type": "string",
        "enum": list(LAYERS),
        "description": "What it is; negative alone means a rule that must not be broken. A fact by default.",
    },
    "kind": {"type": "string", "enum": list(KINDS), "description": "Finer than layer, which then follows from it."},
    "entities": {
        "type": "array",
        "maxItems": 20,
        "items": {"type": "string", "maxLength": 160},
        "description": "Whom or what it is about.",
    },
    "tags": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 64}, "description": "Tags."},
    "project": {
        "type": "string",
        "maxLength": 256,
        "description": "The project it belongs to: by default, preferences and style apart, that of the repository you "
        "work in; . for this folder's, empty for all projects.",
    },
    "source_url": {"type": "string", "maxLength": 2048, "description": "Where it comes from."},
    "occurred_at": TIME,
    "directory": DIRECTORY,
}
_RECEIPT = shapes.record(
    {
        "tool": shapes.text("The tool that wrote."),
        "stored_id": shapes.text("The memory's id: what proves that it is stored; empty for who may only propose."),
        "status": shapes.text("pending waits for the user's approval.", *STATUSES),
        "assigned_layer": shapes.text("Where it was put.", *LAYERS),
        "verdict": shapes.text("merged: it was known already.", "new", "merged", "superseded", "proposed"),
        "dedup_basis": shapes.anything("By what it was known; null for what is new."),
        "occurrences": shapes.whole("How many sources say it."),
        "supersede_handle": shapes.text("The id to name when something replaces it."),
        "replaced": shapes.texts("Ids of memories that it replaces."),
        "conflicts": shapes.texts("Ids of memories that it may contradict."),
    }
)

MEMORY_TOOLS = (
    Tool(
        "remember_this",
        "Remember one thing for good, as yours: it is served from now on. Use it for what later sessions need and "
        "cannot find in the code. Returns the id that proves it. No secrets, no transcripts.",
        _WRITING,
        _remember,
        ("content",),
        _RECEIPT,
        read_only=False,
    ),
    Tool(
        "propose_memory",
        "Propose something to remember: it waits until the user approves it. Use it where you are not sure, or where "
        "it is about the user.",
        _WRITING,
        _propose,
        ("content",),
        _RECEIPT,
        read_only=False,
    ),
)
