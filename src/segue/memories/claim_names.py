"""Which words of a clause are a value, and how they are tied to what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from segue.memories.claim_words import ALIASES, ATTRIBUTES, CLASSES, EVERYWHERE, ONE_PLACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.memories.claim_tokens import Token

_MOST_WORDS = 3  # of a value
_MOST_KEY = 4  # words before a colon
_TYING = frozenset(("be", "use", "prefer", "move", "preposition", "own"))
_DEFINITE = frozenset("the what der die das le la el".split())
_INDEFINITE = frozenset("a an ein eine einen un une una".split())
_CALLING = frozenset("called named heißt heissen heißen s'appelle llama".split())
_PERSONS = frozenset(("user", "nutzer", "client", "customer", "person", "用户", "ユーザー"))
_DENSE_ATTRIBUTES = tuple(sorted(each for each in ATTRIBUTES if each >= "\u3040"))
_AFTER = frozenset(("preposition", "bound", "soft", "use", "made", "need"))


class Region(NamedTuple):
    """The words from `start` to `end` (excluded) as a value, and the relation that ties it to the subject."""

    start: int
    end: int
    value: str
    named: bool
    indefinite: bool = False
    relation: str = ""


def regions(tokens: Sequence[Token]) -> Iterator[Region]:
    """Yield what may be the value of a clause."""
    for place, token in enumerate(tokens):
        if token.role not in _TYING:
            continue
        relation = _relation(tokens, place)
        if relation:
            region = _following(tokens, place + 1)
            if region is not None and _fits(tokens, place, region, relation):
                yield region._replace(relation=relation)
        if (token.role == "own" and place) or is_swapped(tokens, place):
            region = _leading(tokens, place)
            if region is not None:
                yield region._replace(relation="be" if token.role == "be" else "own")


def _fits(tokens: Sequence[Token], place: int, region: Region, relation: str) -> bool:
    if relation == "be":
        return _is_identity(tokens, place, region)
    return relation != "in" or "/" not in region.value  # more than one thing lies in a folder


def is_swapped(tokens: Sequence[Token], place: int) -> bool:
    """Whether at `place` begins `is the …`: what stands before it is the value."""
    if place + 1 >= len(tokens) or tokens[place].role != "be" or tokens[place].word == ":":
        return False
    following = tokens[place + 1]
    return following.raw in _DEFINITE or following.role == "own"


def _relation(tokens: Sequence[Token], place: int) -> str:
    """How what follows `place` is tied to the subject, "" where it is not."""
    token = tokens[place]
    if token.role in ("be", "use", "prefer"):
        return token.role
    if token.role == "move":
        return "" if place + 1 < len(tokens) and tokens[place + 1].role == "preposition" else "move"
    if token.role != "preposition":
        return ""
    before = next((each for each in reversed(tokens[:place]) if each.role != "soft"), None)
    return "" if before is None else _after(token, before, tokens[:place])


def _after(preposition: Token, before: Token, tokens: Sequence[Token]) -> str:
    if before.role in ("made", "move"):
        return before.role
    if before.role == "own":
        return "own" if preposition.word == "by" else ""
    if preposition.word == "to" and any(each.role == "move" for each in tokens):
        return "move"
    allowed = ONE_PLACE.get(preposition.word, frozenset())
    if ("is" if before.role == "be" else before.word) in allowed:
        return preposition.word
    if preposition.word == "in" and any(each.role == "prefer" or each.word in allowed for each in tokens):
        return "in"
    return ""


def _following(tokens: Sequence[Token], start: int) -> Region | None:
    """The one to three words from `start` on that can be a value, if nothing is joined to them."""
    indefinite = False
    while start < len(tokens) and tokens[start].role == "soft":
        indefinite = indefinite or tokens[start].raw in _INDEFINITE
        start += 1
    end = start
    while end < len(tokens) and tokens[end].role == "word":
        end += 1
    words = tokens[start:end]
    if not 0 < len(words) <= _MOST_WORDS or _is_joined(tokens, end):
        return None
    raw = [each.raw for each in words]
    if EVERYWHERE.issuperset(raw) or (raw[-1].endswith(("ed", "en")) and not words[-1].named and end < len(tokens)):
        return None
    return Region(start, end, name_of(words), any(each.named for each in words), indefinite)


def name_of(words: Sequence[Token]) -> str:
    """Return the canonical form of a name."""
    return " ".join(ALIASES.get(each.raw, each.raw) for each in words)


def _is_joined(tokens: Sequence[Token], end: int) -> bool:
    """Whether a list or more words follow."""
    if end >= len(tokens):
        return False
    following = tokens[end]
    if following.role == "comma":
        return end + 1 < len(tokens) and tokens[end + 1].role in ("word", "and", "soft")
    if following.role == "soft" and tokens[end - 1].raw >= "\u3040":  # a particle, after which the name goes on
        return end + 1 < len(tokens)
    return following.role not in _AFTER


def _leading(tokens: Sequence[Token], end: int) -> Region | None:
    """The one to three words before `end`, if they begin the clause."""
    words = tokens[:end]
    if not 0 < len(words) <= _MOST_WORDS or any(each.role != "word" for each in words):
        return None
    return Region(0, end, name_of(words), named=True)


def _is_identity(tokens: Sequence[Token], place: int, region: Region) -> bool:
    """Whether `is` says what the subject is, not how: the linter is ruff, its colour is teal."""
    subject = [each for each in tokens[:place] if each.role in ("word", "own")]
    if not subject:
        return False
    if tokens[place].word == ":":
        return len(subject) <= _MOST_KEY
    if tokens[place].raw in _CALLING or region.value.split()[0] in CLASSES:
        return True
    if any(each.role == "own" or _is_attribute(each) for each in subject):
        return True
    if region.indefinite or subject[-1].raw in _PERSONS:
        return False
    return region.named and not (len(subject) == 1 and subject[0].named)


def _is_attribute(token: Token) -> bool:
    if token.raw in ATTRIBUTES or token.word in ATTRIBUTES:
        return True
    return token.raw >= "\u3040" and token.raw.endswith(_DENSE_ATTRIBUTES)
