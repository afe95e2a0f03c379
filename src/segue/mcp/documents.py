"""What the search results and the resources of packets, memories and capsules have in common: titles, and memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.base.errors import NotFound
from segue.base.redaction import shown
from segue.base.untrusted import one_line, shorten

if TYPE_CHECKING:
    from segue.app import Segue

_TITLE_WIDTH = 100


def title(text: str) -> str:
    """Return a title of at most 100 characters on one line; untrusted text stays data."""
    return shorten(one_line(text), _TITLE_WIDTH)


def memory(segue: Segue, name: str) -> dict[str, Any]:
    """Return all that is known of the memory of that id. Raises NotFound `memory.not_found`, Ambiguous."""
    found: dict[str, Any] | None = segue.queries.expand(name)["document"]
    if found is None:
        raise NotFound("memory.not_found", f"no memory has the id '{shown(name, 64)}'; see search")
    return found
