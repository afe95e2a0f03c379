"""Signed cursors: where a list goes on, bound to the list that it came from.

A cursor is opaque to its holder. It is refused when it was changed, made by another store, or given to
another query.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from segue.base import jsontext
from segue.base.errors import InvalidInput

_MAC_BYTES = 12


def encode(position: list[int | str], query: object, key: bytes) -> str:
    """Return a cursor for `position` in the list that `query` (any JSON value) describes."""
    payload = jsontext.dump(position)
    return _text(_mac(payload, query, key) + payload)


def decode(cursor: str, query: object, key: bytes) -> list[int | str]:
    """Return the position in `cursor`.

    Raises InvalidInput `cursor.invalid` where it is not a cursor that this store made for this query.
    """
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    mac, payload = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
    # The last letter may hold bits that nothing reads: a cursor is what was given out, letter for letter.
    if not payload or _text(raw) != cursor or not hmac.compare_digest(mac, _mac(payload, query, key)):
        raise InvalidInput("cursor.invalid", "this cursor does not belong to this list; start again without a cursor")
    position: list[int | str] = jsontext.parse(payload, code="cursor.invalid")
    return position


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def _mac(payload: bytes, query: object, key: bytes) -> bytes:
    message = jsontext.dump(query, sort_keys=True) + b"\0" + payload
    return hmac.new(key, message, hashlib.sha256).digest()[:_MAC_BYTES]
