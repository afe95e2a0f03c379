"""Lists in pages: limits, signed positions, and ids that people shorten. The same for whatever is listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from segue.base import cursors, ids, jsontext, redaction
from segue.base.errors import Ambiguous, InvalidInput, NotFound
from segue.storage import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import sqlalchemy as sa

DEFAULT_LIMIT = 50
MAX_LIMIT = 500
MAX_TEXT = 1_024
_SHOWN_MATCHES = 5
_LEAST_ENDING = 4

_T = TypeVar("_T")
Position = tuple[int, str]


def require_limit(limit: int) -> None:
    """Raise InvalidInput `limit.invalid` unless `limit` is 1 to 500."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput("limit.invalid", f"limit must be between 1 and {MAX_LIMIT}, not {limit}")


def filter_text(name: str, value: str | None) -> str | None:
    """Return a filter as the columns hold text. Raises InvalidInput `filter.invalid` for what nothing can match."""
    if value is None:
        return None
    if len(value) > MAX_TEXT or not jsontext.is_unicode(value):
        raise InvalidInput("filter.invalid", f"{name}: give at most {MAX_TEXT} characters of Unicode text")
    return value.replace("\0", "\ufffd")


def page(
    connection: sa.Connection,
    query: Sequence[object],
    limit: int,
    cursor: str | None,
    fetch: Callable[[int, Position | None], list[_T]],
    position: Callable[[_T], Position],
) -> tuple[list[_T], str | None]:
    """Return up to `limit` rows of `fetch(limit, after)` and the cursor that continues them, None at the end.

    `query` says which list it is (JSON values); a cursor holds for that list alone. Raises InvalidInput
    `limit.invalid`, `cursor.invalid`.
    """
    require_limit(limit)
    key = settings.signing_key(connection)
    after = None
    if cursor is not None:
        number, text = cursors.decode(cursor, list(query), key)
        after = (int(number), str(text))
    found = fetch(limit + 1, after)
    if len(found) <= limit:
        return found, None
    return found[:limit], cursors.encode(list(position(found[limit - 1])), list(query), key)


def require_long_enough(given: str, kind: str) -> None:
    """Raise InvalidInput `<kind>.short_id` unless `given` has four characters: a slip of a key removes nothing."""
    if len(ids.unshortened(given)) < _LEAST_ENDING:
        raise InvalidInput(
            f"{kind}.short_id", f"to remove a {kind}, give at least {_LEAST_ENDING} characters of its id"
        )


def resolve(
    given: str,
    kind: str,
    command: str,
    known: Callable[[str], bool],
    endings: Callable[[str, int], list[str]],
    noun: str = "",
) -> str:
    """Return the full id that a person means by `given`: the id itself, or an ending that only one has.

    Raises NotFound `<kind>.not_found`, Ambiguous `<kind>.ambiguous`; `command` lists what there is; `noun`
    is what the messages call it, where that is not the kind.
    """
    shown = redaction.shown(given, 64)
    message = f"no {noun or kind} has the id '{shown}', or ends in it; see {command}"
    nothing = NotFound(f"{kind}.not_found", message, {"id": shown})
    if "\0" in given or not jsontext.is_unicode(given):  # no database takes these, no id has them
        raise nothing
    if known(given):
        return given
    ending = ids.unshortened(given)
    matches = endings(ending, _SHOWN_MATCHES + 1) if ending else []
    if not matches:
        raise nothing
    if len(matches) > 1:
        listed = ", ".join(matches[:_SHOWN_MATCHES]) + (" …" if len(matches) > _SHOWN_MATCHES else "")
        message = f"more than one {noun or kind} ends in that: {listed}"
        raise Ambiguous(f"{kind}.ambiguous", message, {"matches": matches})
    return matches[0]
