"""The 64-bit hashes by which tokens are indexed."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

SIZE = 8  # bytes


def digest(token: str) -> bytes:
    """Return the hash of `token` as the index holds it: BLAKE2b of 8 bytes. Any text will do."""
    return blake2b(token.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()


@lru_cache(maxsize=65_536)
def hashed(token: str) -> int:
    """Return the hash by which `token` is indexed as a number: its digest, read little-endian."""
    return int.from_bytes(digest(token), "little")
