"""The texts of a packet document, each with its path and whether the core redaction pre-flight covers it.

The core fields are those that the specification's conformance section names; all other strings, unknown ones
too, are covered by the extended set. A document that breaks its schema is walked all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.base.redaction import Field, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_KEY_LENGTH = 40
_NAMES = frozenset(
    "ltm_version id parent_id created_at project name ref goal success_criteria constraints decisions what why "
    "consequences locked methods when_applicable how attempts tried outcome learned confidence open_questions "
    "next_step tags provenance author_model author_human source_hash".split()
)
_CORE_TEXTS = frozenset({"goal", "next_step"})
_CORE_LISTS = frozenset({"success_criteria", "constraints", "open_questions"})
_CORE_MEMBERS = {
    "decisions": frozenset({"what", "why", "consequences"}),
    "methods": frozenset({"when_applicable", "how"}),
    "attempts": frozenset({"tried", "learned"}),
}


def texts(document: Mapping[str, Any]) -> list[Field]:
    """Return every string of `document` as a Field, in document order."""
    return list(_walk_document(document))


def replaced(document: Mapping[str, Any], replace: Callable[[Field], str | None]) -> dict[str, Any]:
    """Return a copy of `document` with each string replaced by what `replace` gives for it (None drops a list item)."""
    return {key: _replaced(value, _shown(key), key in _CORE_TEXTS, key, replace) for key, value in document.items()}


def _walk_document(document: Mapping[str, Any]) -> Iterator[Field]:
    for key, value in document.items():
        yield from _unknown_name(key)
        if isinstance(value, str):
            yield Field(_shown(key), value, key in _CORE_TEXTS)
        else:
            yield from _walk(value, _shown(key), key)


def _shown(key: str) -> str:
    """Return a member's name for a path: unknown ones are foreign text."""
    return key if key in _NAMES else shown(key, _KEY_LENGTH)


def _unknown_name(key: str) -> Iterator[Field]:
    """The name of a member that no packet has: it is somebody's text as well."""
    if key not in _NAMES:
        yield Field("(member name)", key, False)


def _walk(value: Any, path: str, top: str) -> Iterator[Field]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            place = f"{path}[{index}]"
            if isinstance(item, str):
                yield Field(place, item, path == top and top in _CORE_LISTS)
            else:
                yield from _walk(item, place, top)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unknown_name(key)
            if isinstance(item, str):
                yield Field(f"{path}.{_shown(key)}", item, is_core_member(path, key, top))
            else:
                yield from _walk(item, f"{path}.{_shown(key)}", top)


def is_core_member(path: str, key: str, top: str) -> bool:
    """Whether the member `key` of the object at `path` (an entry of the list `top`) is a core field."""
    return key in _CORE_MEMBERS.get(top, ()) and path.startswith(top + "[") and path.endswith("]") and "." not in path


def _replaced(value: Any, path: str, core: bool, top: str, replace: Callable[[Field], str | None]) -> Any:
    if isinstance(value, str):
        return replace(Field(path, value, core))
    if isinstance(value, list):
        core_items = path == top and top in _CORE_LISTS
        items = [_replaced(item, f"{path}[{i}]", core_items, top, replace) for i, item in enumerate(value)]
        return [item for item in items if item is not None]
    if isinstance(value, dict):
        return {
            key: _replaced(item, f"{path}.{_shown(key)}", is_core_member(path, key, top), top, replace)
            for key, item in value.items()
        }
    return value
