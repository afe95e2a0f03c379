"""The query language: one object that says what is looked for and what is left out (specification, section 6).

Every field selects or narrows. What cannot be meant is refused by the name of its field, never put right: so a query
can never come to ask for more than it says.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from segue.base import jsontext, time
from segue.base.errors import InvalidInput
from segue.memories.item import LAYERS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Mode = Literal["find", "ask"]
Direction = Literal["document", "neighbors", "more"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
MAX_TEXT, MAX_ENTITY, MAX_ENTITIES, MAX_MODEL, MAX_TIME = 500, 160, 20, 80, 40
MAX_K, DEFAULT_K = 50, 8
MIN_BUDGET, MAX_BUDGET, DEFAULT_BUDGET = 300, 6_000, 2_000
FIELDS = (
    "find",
    "ask",
    "layers",
    "entities",
    "as_of",
    "valid_only",
    "min_relevance",
    "min_trust",
    "budget_tokens",
    "model",
    "expand",
    "k",
)
_PLAIN = re.compile(r"[A-Za-z_]{1,32}")  # of a name that may be shown: what is none may be a secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query that was checked. `text` is what is found or asked; empty lists and None ask for nothing.

    `as_of` is kept as it was given (RFC 3339); `min_relevance` and `min_trust` lie in 0 to 1, `k` in 1 to 50.
    """

    mode: Mode
    text: str
    layers: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    as_of: str | None = None
    valid_only: bool = True
    min_relevance: float = 0.0
    min_trust: float = 0.0
    budget_tokens: int = DEFAULT_BUDGET
    model: str = ""
    expand: Direction | None = None
    k: int = DEFAULT_K

    @property
    def at(self) -> datetime | None:
        """The time that is asked about, None for now."""
        return None if self.as_of is None else time.parse(self.as_of)

    def to_json(self) -> dict[str, Any]:
        """Return the query with all its fields: `find` or `ask` is null, and so is what was not asked for."""
        values = asdict(self)
        text, mode = values.pop("text"), values.pop("mode")
        values["layers"], values["entities"] = list(self.layers), list(self.entities)
        return {"find": text if mode == "find" else None, "ask": text if mode == "ask" else None} | values


def parse(given: object) -> Query:
    """Return the query that a JSON object describes; a null counts as absent.

    Raises InvalidInput `query.invalid`, `details` naming the field.
    """
    if not isinstance(given, dict):
        raise InvalidInput("query.invalid", "a query is an object with find or ask", {"field": ""})
    for name in given:
        if name not in FIELDS:
            shown = name if isinstance(name, str) and _PLAIN.fullmatch(name) else "?"
            raise _invalid(shown, f"no field of a query; these are: {', '.join(FIELDS)}")
    values = {name: value for name, value in given.items() if value is not None}
    if ("find" in values) == ("ask" in values):
        raise _invalid("find", "give exactly one of find and ask")
    mode: Mode = "find" if "find" in values else "ask"
    return Query(
        mode=mode,
        text=_text(values, mode, MAX_TEXT, empty=False),
        layers=_layers(values),
        entities=_entities(values),
        as_of=_as_of(values),
        valid_only=_flag(values, "valid_only"),
        min_relevance=_share(values, "min_relevance"),
        min_trust=_share(values, "min_trust"),
        budget_tokens=_whole(values, "budget_tokens", MIN_BUDGET, MAX_BUDGET, DEFAULT_BUDGET),
        model=_text(values, "model", MAX_MODEL),
        expand=_expand(values),
        k=_whole(values, "k", 1, MAX_K, DEFAULT_K),
    )


def _invalid(field: str, wanted: str) -> InvalidInput:
    return InvalidInput("query.invalid", f"{field}: {wanted}", {"field": field})


def _text(values: Mapping[str, Any], name: str, most: int, *, empty: bool = True) -> str:
    value = values.get(name, "")
    if not isinstance(value, str) or len(value) > most or not jsontext.is_unicode(value):
        raise _invalid(name, f"Unicode text of at most {most} characters")
    if not empty and not value.strip():
        raise _invalid(name, "some text")
    return value


def _list(values: Mapping[str, Any], name: str) -> list[Any]:
    value = values.get(name, [])
    if not isinstance(value, list | tuple):
        raise _invalid(name, "a list")
    return list(value)


def _layers(values: Mapping[str, Any]) -> tuple[str, ...]:
    given = _list(values, "layers")
    if any(not isinstance(each, str) or each not in LAYERS for each in given):
        raise _invalid("layers", f"a list of {', '.join(LAYERS)}")
    return tuple(dict.fromkeys(given))


def _entities(values: Mapping[str, Any]) -> tuple[str, ...]:
    given = _list(values, "entities")
    if len(given) > MAX_ENTITIES:
        raise _invalid("entities", f"at most {MAX_ENTITIES}")
    for each in given:
        if not isinstance(each, str) or not each.strip() or len(each) > MAX_ENTITY or not jsontext.is_unicode(each):
            raise _invalid("entities", f"names of 1 to {MAX_ENTITY} characters")
    return tuple(dict.fromkeys(given))


def _as_of(values: Mapping[str, Any]) -> str | None:
    value = values.get("as_of")
    if value is None:
        return None
    try:
        if not isinstance(value, str) or len(value) > MAX_TIME:
            raise ValueError
        time.parse(value)
    except (ValueError, InvalidInput):
        raise _invalid("as_of", "a time with its offset, as 2026-05-04T12:00:00Z") from None
    return value


def _flag(values: Mapping[str, Any], name: str) -> bool:
    value = values.get(name, True)
    if not isinstance(value, bool):
        raise _invalid(name, "true or false")
    return value


def _share(values: Mapping[str, Any], name: str) -> float:
    value = values.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # NaN is refused too
        raise _invalid(name, "a number from 0 to 1")
    return float(value)


def _whole(values: Mapping[str, Any], name: str, least: int, most: int, default: int) -> int:
    value = values.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _invalid(name, f"a whole number from {least} to {most}")
    return value


def _expand(values: Mapping[str, Any]) -> Direction | None:
    value = values.get("expand")
    if value is not None and value not in DIRECTIONS:
        raise _invalid("expand", f"one of {', '.join(DIRECTIONS)}")
    return value
