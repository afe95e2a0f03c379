"""What makes two texts one memory, and the hashes that approvals and tombstones go by."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from segue.memories.item import Item
    from segue.memories.memory import Memory


def normal(text: str) -> str:
    """Return `text` as repetitions are told: composed (NFC), case folded, white space runs as one space."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(folded.split())


def identity(source: Item | Memory) -> str:
    """Return what is the same (64 hex digits) for items that are one memory.

    That is the same text in the same project; of a turn also its place, since "yes" means something else each time.
    A record of a source is one memory with no other: whoever publishes a text must not thereby touch what else says it.
    """
    place = f"{source.thread}\n{source.position}" if source.thread else ""
    if source.provenance.origin == "record":
        place = f"{place}\n{source.provenance.ref}"
    return _identity(source, source.project, place)


def anywhere(source: Item | Memory) -> str:
    """Return the identity (64 hex digits) of the text in no project, and of no source.

    What is forgotten is forgotten in all of them.
    """
    return _identity(source, "", f"{source.thread}\n{source.position}" if source.thread else "")


def _identity(source: Item | Memory, project: str, place: str) -> str:
    named = "\0".join((normal(source.content), normal(project), place))
    return hashlib.sha256(named.encode()).hexdigest()


def content_hash(content: str) -> str:
    """Return `sha256:` and the hash of the text as it is: what an approval is bound to."""
    return "sha256:" + hashlib.sha256(content.encode()).hexdigest()


def keyed(identity_hash: str, key: bytes) -> str:
    """Return the HMAC-SHA-256 (64 hex digits) of an identity: it names a forgotten text to nobody without the key."""
    return hmac.new(key, identity_hash.encode(), hashlib.sha256).hexdigest()
