"""The entities that a memory's text names, found by rules alone: the same text gives the same ones anywhere.

Capitalised runs, @handles, symbols of code, quoted terms, hosts of addresses, and whatever names the caller knows.
A capital alone makes no name at the start of a sentence, in a heading or in German, where each noun has one: there a
word counts that is known, has capitals or digits inside, stands beside other names or is used like a name.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from segue.search import entity_evidence, entity_mentions
from segue.search.entity_mentions import SURE, Mention
from segue.search.entity_names import Names, prepared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

__all__ = ["MAX_LENGTH", "MOST", "Names", "found", "key"]

MAX_LENGTH = 160  # characters of an entity: what is longer is no name
MOST = 16  # entities of a text
MOST_READ = 10_000  # characters of a text that are looked at; a memory has at most 8,000

_AROUND = " \"'`“”„‟‘’‚‛«»‹›「」『』"  # dropped at the ends of a key


def found(text: str, known: Names | Mapping[str, str] | Collection[str] = ()) -> tuple[str, ...]:
    """Return the entities that `text` names, in the order of their first mention, each once, at most 16.

    `known` are names that count in any case and as whole words; with a mapping from alias to entity the entity is
    returned. Whoever reads many texts prepares them once, with `Names.of`. A name is spelled as it stands first in the
    text (composed, NFC), a known one as the caller gives it. What lies beyond 10,000 characters is not read.
    """
    text = text[:MOST_READ]
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    told = [Mention(*place, SURE) for place in prepared(known).found(text)] if known else []
    by_key: dict[str, str] = {}
    for mention in _in_order(told, entity_evidence.kept(text, entity_mentions.read(text), told)):
        if len(mention.name) <= MAX_LENGTH and (folded := key(mention.name)) and folded not in by_key:
            by_key[folded] = mention.name
            if len(by_key) == MOST:
                break
    return tuple(by_key.values())


def key(name: str) -> str:
    """Return the form by which entities are compared and stored, at most 160 characters; "" where nothing is left.

    Compatible forms are joined (NFKC), case is folded, white space runs are one space; quotes around it and () at its
    end are dropped, an @ at its start stays.
    """
    if name.isascii():
        name = name.lower()
    else:
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    name = " ".join(name.split())
    start = len(name) - len(name.lstrip(_AROUND))
    end = min(len(name), start + MAX_LENGTH)
    while end > start and (name[end - 1] in _AROUND or name.endswith("()", start, end)):
        end -= 1 if name[end - 1] in _AROUND else 2
    return name[start:end]


def _in_order(told: Iterable[Mention], seen: Iterable[Mention]) -> Iterator[Mention]:
    """Yield all mentions by their place, without those that lie within a known name."""
    covered = 0
    for mention, is_told in sorted(
        [*((mention, True) for mention in told), *((mention, False) for mention in seen)],
        key=lambda each: (each[0].start, not each[1]),
    ):
        if is_told:
            covered = max(covered, mention.end)
        elif mention.end <= covered:
            continue
        yield mention
