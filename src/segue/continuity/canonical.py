"""Hashes of documents of the Continuity Memory Protocol (section 001.5 of the facts).

A document's hash covers its canonical JSON without the member that holds the hash: keys sorted, no white space,
non-ASCII characters kept, UTF-8.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from segue.base import jsontext

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = "6.0"
HASH = re.compile(r"[0-9a-f]{64}")


def canonical(document: Mapping[str, Any], without: str) -> bytes:
    """Return the canonical bytes of a document but for one of its members."""
    return jsontext.dump({name: value for name, value in document.items() if name != without}, sort_keys=True)


def digest(document: Mapping[str, Any], without: str) -> str:
    """Return the SHA-256, 64 lowercase hex digits, of a document without the member that holds it."""
    return hashlib.sha256(canonical(document, without)).hexdigest()


def is_hash(value: object) -> bool:
    """Whether a value is 64 lowercase hex digits."""
    return isinstance(value, str) and HASH.fullmatch(value) is not None
