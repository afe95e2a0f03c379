"""What a text claims: of which subject which value, or that something is so or is not. Told by its words alone.

A claim holds words and their stems, so that two texts can be compared by looking one up: claims that are about the
same have the same `about`. What is asked, thought about, past, or qualified in a way that is not understood claims
nothing: rather missed than invented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from segue.memories import claim_names, claim_tokens
from segue.memories.claim_words import DATED, GENERAL, LABELS, NUMBERED, ORDINAL, REPEATED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from segue.memories.claim_tokens import Clause, Token

Kind = Literal["number", "time", "name", "polarity"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Force = Literal["", "must", "need"]

_MOST_WORDS = 14  # of a claim: more says something less simple
_TIMES = frozenset(("date", "weekday", "clock"))
_MEASURES = frozenset(("time", "months", "bytes", "%", "clock"))  # of these a thing has one
_FINITE = frozenset(("be", "have", "use", "not"))  # a participle beside one of these is not past
_LIMITS = frozenset(("max", "min", "default", "last", "latest", "oldest", "only"))
_REJECTED_ENDS = frozenset(("preposition", "comma", "bound", "over", "and"))
_CHOSEN = frozenset(("prefer", "use", "move", "made", "be"))
_UNSAID = frozenset("has have hat haben tiene tienen a".split())
_EXPLETIVE = frozenset(("may", "flip", "need", "needless"))
_EXCEPT = frozenset("but except que außer sauf salvo".split())


class Claim(NamedTuple):
    """One claim of a text.

    `about` is what it is about: what is counted ("" for other kinds), and the words of the subject. `value` is "" for a
    polarity, where `affirmed` says which, `force` how strongly, and `order` how the words follow. `relation` says how a
    name is tied to its subject (be, use, made, move, prefer, own, or a preposition), `named` that it looks like a name,
    `purpose` that the text says what for, `rejected` which value was turned down.
    """

    kind: Kind
    about: tuple[str, frozenset[str]]
    value: str = ""
    affirmed: bool = True
    force: Force = ""
    order: tuple[str, ...] = ()
    relation: str = ""
    named: bool = False
    purpose: bool = False
    rejected: str = ""


def claims(text: str) -> list[Claim]:
    """Return what the beginning of `text` claims, in its order."""
    return [claim for clause in claim_tokens.clauses(text) for claim in _of(clause)]


def _of(clause: Clause) -> Iterator[Claim]:
    tokens, roles = _unlabelled(clause.tokens), clause.roles
    if "open" in roles or len(tokens) > 3 * _MOST_WORDS or _points_back(tokens):
        return
    tokens, rejected = _without_rejected(tokens, clause)
    if _is_past(tokens, clause):
        return
    framed = _framed(tokens)
    if not 0 < len(framed) <= _MOST_WORDS:
        return
    affirmed = _is_affirmed(tokens)
    if (clause.first or len(framed) > 1) and "move" not in roles and not ("not" in roles and _is_hedged(tokens)):
        order = tuple([word for _, word in framed])
        yield Claim("polarity", ("", frozenset(order)), "", affirmed, _force(tokens), order)
    if affirmed and "also" not in roles:
        if "typed" in roles:
            yield from _typed(tokens, framed)
        yield from _names(tokens, framed, rejected)


def _unlabelled(tokens: list[Token]) -> list[Token]:
    """Drop `Decision:` and its like at the beginning."""
    if len(tokens) > 1 and tokens[1].word == ":" and tokens[0].raw in LABELS:
        return tokens[2:]
    return tokens


def _points_back(tokens: Sequence[Token]) -> bool:
    """Whether a clause speaks of what another one named: it, they."""
    if len(tokens) < 2 or tokens[0].role not in ("it", "this"):
        return False
    if tokens[0].role == "this" and tokens[1].role == "word":
        return False
    # It is fine to …
    return tokens[1].role != "be" or not any(each.role in _EXPLETIVE for each in tokens[2:4])


def _without_rejected(tokens: list[Token], clause: Clause) -> tuple[list[Token], str]:
    """Drop the value that was turned down (`npm, not yarn`; `from Helm to Kustomize`), and return it."""
    roles = clause.roles
    if not ("over" in roles or "move" in roles or ("comma" in roles and "not" in roles)):
        return tokens, ""
    for place, token in enumerate(tokens):
        start = place + 1
        if token.role == "comma" and start < len(tokens) and tokens[start].role == "not":
            start += 1
        elif not (token.role == "over" and roles & _CHOSEN) and not (
            "move" in roles and token.role == "preposition" and token.word == "from"
        ):
            continue
        end = start
        while end < len(tokens) and tokens[end].role in ("word", "soft", "typed"):
            end += 1
        if end > start and (end == len(tokens) or tokens[end].role in _REJECTED_ENDS):
            words = [each for each in tokens[start:end] if each.role == "word"]
            return tokens[:place] + tokens[end:], claim_names.name_of(words)
    return tokens, ""


def _is_past(tokens: Sequence[Token], clause: Clause) -> bool:
    roles = clause.roles
    if "move" in roles:
        return False
    if "past" in roles:
        return True
    if not roles.isdisjoint(_FINITE):
        return False
    last = len(tokens) - 1
    return any(
        each.raw.endswith("ed")
        and each.role == "word"
        and not each.named
        and not each.raw.endswith("eed")
        and (place == last or tokens[place + 1].role != "word")
        for place, each in enumerate(tokens)
    )


def _framed(tokens: Sequence[Token]) -> list[tuple[int, str]]:
    """The words that say what a clause is about, each with its place."""
    found: list[tuple[int, str]] = []
    joined = False
    for place, token in enumerate(tokens):
        role = token.role
        dense = role == "word" and token.raw >= "\u3040"
        if dense and joined:  # a denial cuts what is written without spaces in two
            found[-1] = (found[-1][0], found[-1][1] + token.word)
        elif role in ("word", "bound", "own", "hedge"):
            found.append((place, token.word or token.raw))
        elif role == "typed":
            found.append((place, f"{token.dimension}={token.word}"))
        elif role == "have" and token.raw not in _UNSAID:
            found.append((place, claim_tokens.stem(token.raw)))
        joined = dense or (joined and role in ("soft", "not", "may"))
    return found


def _is_affirmed(tokens: Sequence[Token]) -> bool:
    """Whether a clause affirms; denials of one kind count once, each opposite turns the whole."""
    denied, turns = False, 0
    for token in tokens:
        if token.role in ("not", "ne"):
            denied = True
        elif token.role in ("flip", "needless"):
            turns += 1
    return (denied + turns) % 2 == 0


def _force(tokens: Sequence[Token]) -> Force:
    roles = {each.role for each in tokens}
    return "need" if roles & {"need", "needless"} else "must" if "must" in roles else ""


def _is_hedged(tokens: Sequence[Token]) -> bool:
    """Whether a denial denies only part: not every, not always, nobody but."""
    place = next((place for place, each in enumerate(tokens) if each.role == "not"), len(tokens))
    following = [each for each in tokens[place + 1 :] if each.role != "soft"]
    if following and following[0].role in ("hedge", "always"):
        return True
    return any(each.raw in _EXCEPT for each in following)


def _typed(tokens: Sequence[Token], framed: Sequence[tuple[int, str]]) -> Iterator[Claim]:
    """Numbers, times and dates, each as the value of what the other words say."""
    typed = [(place, each) for place, each in enumerate(tokens) if each.role == "typed"]
    if _is_vague(tokens):
        return
    dimensions = [each.dimension for _, each in typed]
    repeated = _is_repeated(tokens)
    for place, token in typed:
        if dimensions.count(token.dimension) > 1 or (repeated and token.dimension not in _MEASURES):
            continue
        if _names_its_subject(tokens, place) or not _says_whose(tokens, place, place + 1):
            continue
        if token.dimension in _TIMES and not _is_when(tokens, place):
            continue
        kind: Kind = "time" if token.dimension in _TIMES else "number"
        about = frozenset([word for at, word in framed if at != place])
        yield Claim(kind, (token.dimension, about), token.word)


def _is_when(tokens: Sequence[Token], place: int) -> bool:
    """Whether a time says when something is, not only when something was so or happened once."""
    leading = all(each.role in ("soft", "preposition", "bound") for each in tokens[:place])
    if leading and not claim_names.is_swapped(tokens, place + 1):
        return False
    return tokens[place].dimension != "date" or any(each.role == "be" or each.word in DATED for each in tokens)


def _says_whose(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether the words beside a value say what it is of: `version: 3` alone does not."""
    beside = [each for place, each in enumerate(tokens) if each.role in ("word", "own") and not start <= place < end]
    return len(beside) > 1 or (len(beside) == 1 and beside[0].word not in GENERAL)


def _is_vague(tokens: Sequence[Token]) -> bool:
    """Whether a number or time is one of a range or list, or nearly so."""
    for place, token in enumerate(tokens[:-1]):
        if tokens[place + 1].role != "typed":
            continue
        if token.word == "about":
            return True
        if place and tokens[place - 1].role == "typed" and (token.word in ("to", "until") or token.role == "and"):
            return True
    return False


def _is_repeated(tokens: Sequence[Token]) -> bool:
    """Whether more than one number may be true: Python 3.11 is supported, and 3.12 is."""
    spoken = [each for each in tokens if each.role != "soft"]
    stated = any(each.role == "be" or each.dimension == "date" for each in spoken)
    words = {each.word for each in spoken[1 if stated else 0 :]}  # support ends in June, the read timeout is …
    return not words.isdisjoint(REPEATED) and _LIMITS.isdisjoint([each.word for each in tokens])


def _names_its_subject(tokens: Sequence[Token], place: int) -> bool:
    """Whether a number belongs to a name: step 2, sprint 14 ends on Friday."""
    if not place or tokens[place - 1].role != "word" or tokens[place - 1].raw in ORDINAL:
        return False
    if tokens[place - 1].raw in NUMBERED:
        return True
    if not tokens[place].dimension.startswith("n"):
        return False
    spoken = all(each.role in ("word", "soft", "also") for each in tokens[:place])
    return spoken and not claim_names.is_swapped(tokens, place + 1)


def _names(tokens: Sequence[Token], framed: Sequence[tuple[int, str]], rejected: str) -> Iterator[Claim]:
    """Names and other words, each as the value of what the other words say."""
    purpose = any(each.role == "preposition" and each.word in ("for", "as") for each in tokens)
    for region in claim_names.regions(tokens):
        about = frozenset([word for at, word in framed if not region.start <= at < region.end])
        if _says_whose(tokens, region.start, region.end):
            yield Claim(
                "name",
                ("", about),
                region.value,
                relation=region.relation,
                named=region.named,
                purpose=purpose,
                rejected=rejected,
            )
