"""Drafts: packet documents without `id` and `created_at`, as people and models write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from segue.base import ids, time

if TYPE_CHECKING:
    from datetime import datetime

_FENCED = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n(.*?)^[ \t]*(?:```|~~~)[ \t]*$", re.MULTILINE | re.DOTALL)


def complete(document: dict[str, Any], now: datetime) -> tuple[dict[str, Any], bool]:
    """Return `document` with `id` and `created_at` filled in where it has no `id`, and whether that was so."""
    if "id" in document:
        return document, False
    created = time.to_text(now.replace(microsecond=0))
    return {"created_at": created} | document | {"id": ids.new(now)}, True


def unwrapped(data: bytes) -> bytes | None:
    """Return the JSON object in the Markdown fence of a chat's answer, None where `data` is not wrapped like that."""
    text = data.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        return None
    fenced = [match[1].strip() for match in _FENCED.finditer(text)]
    objects = [each for each in fenced if each.startswith("{") and each.endswith("}")]
    return objects[0].encode() if len(objects) == 1 else None
