"""Schemas of what tools answer: plain objects, so that every host reads them (no `anyOf`, no `$ref`, no null types).

A value that may be null is described and has no type. Objects may hold more than is named here.
"""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]


def text(description: str, *choices: str) -> Shape:
    """A string; one of `choices` where there are any."""
    return {"type": "string", "description": description} | ({"enum": list(choices)} if choices else {})


def whole(description: str) -> Shape:
    """A whole number."""
    return {"type": "integer", "description": description}


def flag(description: str) -> Shape:
    """True or false."""
    return {"type": "boolean", "description": description}


def anything(description: str) -> Shape:
    """A value of which the description says what it is: it may be null."""
    return {"description": description}


def listing(description: str, each: Shape | None = None) -> Shape:
    """A list, of objects unless `each` says of what."""
    return {"type": "array", "description": description, "items": each or {"type": "object"}}


def texts(description: str) -> Shape:
    """A list of strings."""
    return listing(description, {"type": "string"})


def record(properties: dict[str, Shape], *optional: str, description: str = "") -> Shape:
    """An object that has all of `properties` but those that are named `optional`."""
    base = {"description": description} if description else {}
    required = [name for name in properties if name not in optional]
    return base | {"type": "object", "properties": properties} | ({"required": required} if required else {})
