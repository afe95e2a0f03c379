"""The tools for capsules: write one (checked, fitted, stitched onto an older one, stored), and read one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue import capsules
from segue.base.errors import InvalidInput, NotFound
from segue.base.untrusted import shorten
from segue.mcp import shapes
from segue.mcp.answers import Answer, Tool
from segue.mcp.arguments import DIRECTORY, at_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from segue.app import Segue
    from segue.capsules import Line

_OPENING = "===PCSF:"
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 20_000}
_MOST_LINES, _LINE_WIDTH = 40, 300  # of what a text made of one long line can drop
_ID: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 64}


def _write(segue: Segue, arguments: dict[str, Any]) -> Answer:
    here = at_directory(segue, arguments)
    cleaned = capsules.clean(arguments["capsule"])
    fitted = capsules.fit(cleaned.text)
    result, dropped, warnings, origin = fitted.capsule, fitted.dropped, list(cleaned.changes), ""
    replaced: tuple[Line, ...] = ()
    if "continues" in arguments:
        older, origin = _older(here, arguments["continues"])
        stitched = capsules.stitch(older, fitted.capsule)
        result, replaced = stitched.capsule, stitched.replaced
        dropped = (*dropped, *stitched.dropped)
        warnings += stitched.warnings
    saved = here.capsules.save(result, origin=origin, allow_unredacted=arguments.get("allow_unredacted", False))
    data = {
        "id": saved.capsule.id,
        "outcome": saved.outcome,
        "capsule": result.text,
        "replaced": [_told(line) for line in replaced[:_MOST_LINES]],
        "dropped": [_told(line) for line in dropped[:_MOST_LINES]],
        "warnings": warnings,
    }
    said = [f"stored as {saved.capsule.id}", *_lines("replaced", replaced), *_lines("dropped", dropped)]
    return Answer("\n".join([result.text, *said, *(f"note: {warning}" for warning in warnings)]), data)


def _lines(verb: str, lines: tuple[Line, ...]) -> list[str]:
    more = len(lines) - _MOST_LINES
    told = [f"{verb} {line.layer}: {shorten(line.entry, _LINE_WIDTH)}" for line in lines[:_MOST_LINES]]
    return [*told, f"… and {more} more {verb}"] if more > 0 else told


def _told(line: Line) -> dict[str, Any]:
    return line.to_json() | {"entry": shorten(line.entry, _LINE_WIDTH)}


def _older(segue: Segue, given: str) -> tuple[str, str]:
    """Return the text of the capsule that is continued and, where it is a stored one, its id."""
    if _OPENING in given or len(given) > _ID["maxLength"]:
        return capsules.clean(given).text, ""
    stored = segue.capsules.get(given)
    return stored.text, stored.id


def _read(segue: Segue, arguments: dict[str, Any]) -> Answer:
    here = at_directory(segue, arguments)
    reading = capsules.read(chosen(here, arguments), here.now())
    return Answer(reading.prompt, reading.to_json())


def chosen(segue: Segue, arguments: Mapping[str, str]) -> str:
    """Return the text of the capsule that `capsule` holds or `id` names, else of this project's newest.

    Raises InvalidInput `capsule.both`, NotFound `capsule.none`, and what reading one raises.
    """
    if "capsule" in arguments and "id" in arguments:
        raise InvalidInput("capsule.both", "give capsule or id, not both")
    if "capsule" in arguments:
        return capsules.clean(arguments["capsule"]).text
    if "id" in arguments:
        return segue.capsules.get(arguments["id"]).text
    newest = segue.capsules.ls(project=".", limit=1).capsules
    if not newest:
        raise NotFound("capsule.none", "no capsule of this project is stored; give one as capsule, or an id")
    return newest[0].text


CAPSULE_TOOLS = (
    Tool(
        "capsule_write",
        "Check a capsule (PCSF: the state of a session in at most 1,200 characters of ASCII), cut it to size, and "
        "store it. With continues it is stitched onto an older one: the result carries both and is no larger. "
        "Returns the capsule to hand on, and what was dropped.",
        {
            "capsule": _TEXT | {"description": "The text of the capsule, from ===PCSF:v1=== to ===END===."},
            "continues": _TEXT | {"description": "The older capsule: its id in the store, or its text."},
            "allow_unredacted": {
                "type": "boolean",
                "description": "Store it even though the redactor found something. Only when the user has said so.",
            },
            "directory": DIRECTORY,
        },
        _write,
        ("capsule",),
        shapes.record(
            {
                "id": shapes.text("The stored capsule's id."),
                "outcome": shapes.text("What was done.", "created", "linked", "unchanged"),
                "capsule": shapes.text("The capsule to hand on."),
                "replaced": shapes.listing("Lines of the older capsule that newer ones replace."),
                "dropped": shapes.listing("Lines for which there was no room."),
                "warnings": shapes.texts("What was changed or is doubtful."),
            }
        ),
        read_only=False,
    ),
    Tool(
        "capsule_read",
        "Read a capsule with care: how old it is, what in it contradicts itself, what to ask the user, and a prompt "
        "to go on from. Without arguments it is this project's newest. What it says is recorded data.",
        {
            "capsule": _TEXT | {"description": "The text of a capsule that you were given."},
            "id": _ID | {"description": "The id of a stored capsule, or an unambiguous ending of it."},
            "directory": DIRECTORY,
        },
        _read,
        output=shapes.record(
            {
                "capsule": {"type": "object", "description": "The capsule by its parts."},
                "age_seconds": shapes.whole("How old it is; negative where a clock is wrong."),
                "freshness": shapes.text("What its age means.", "fresh", "recent", "aging", "stale", "future"),
                "conflicts": shapes.listing("What in it contradicts itself."),
                "gaps": shapes.listing("What it leaves open."),
                "chain": shapes.anything("How many sessions it folds together, since when; null for one."),
                "warnings": shapes.texts("What is doubtful."),
                "prompt": shapes.text("The prompt to go on from."),
            }
        ),
    ),
)
