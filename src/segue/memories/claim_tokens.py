"""A text cut into clauses of tokens, each with what it does in a sentence; numbers, times and dates read as such."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import Stemmer  # type: ignore[import-not-found]

from segue.memories.claim_words import (
    ALSO_VERBS,
    CLASSES,
    CLOCKS,
    DENSE,
    LEXICON,
    OPPOSITES,
    PHRASES,
    SAME,
    UNITS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from segue.memories.claim_words import Role

MOST_READ = 2_000  # characters of a text
_CJK = r"\u3040-\u30ff\u3400-\u9fff"
_CUTS = "|".join(sorted(map(re.escape, DENSE), key=len, reverse=True))
_LATIN = r"""
      https?://\S+
    | (?!v?\d)[#@$]?L+(?:['./\\+-]L+|::L+)*(?:\+\+|\#)?
    | \d{4}-\d\d-\d\d(?!\d)
    | \d\d?:\d\d(?!\d)(?:\ ?[AaPp][Mm]\b)? | \d\d?\ ?(?:[AaPp][Mm]|[Uu]hr)\b
    | \d\d?\.(?=\ (?:Januar|Februar|März|April|Mai|Jun|Jul|August|September|Oktober|November|Dezember))
    | v?\d+(?:[.,]\d+)*(?!\d)(?:%|L+(?:[/-]L+)*)?
    | [][:=,;.!?()\n|{}<>~≈≤≥。、—–]
"""
_DENSE = rf"""
    | (?:\d{{4}}年)?\d\d?月(?:\d\d?日)? | (?:19|20)\d\d年
    | \d+(?:[.,]\d+)*(?:秒钟?|分[钟間]?|小时|時間|天|日間|周|週間|个月|ヶ月|か月|年)
    | {_CUTS}
    | [\u30a0-\u30ff]+
    | [\u3400-\u9fff]+?(?={_CUTS}|[^\u3400-\u9fff]|\Z)
"""
_PLAIN = re.compile(_LATIN.replace("L", r"[^\W]"), re.VERBOSE | re.ASCII)
_WIDE = re.compile(_DENSE.strip("\n |") + "|" + _LATIN.replace("L", rf"[^\W{_CJK}]"), re.VERBOSE)
_ELISION = re.compile(r"(?:l|d|qu|s|j|c|m|t|n)'(?=\w)")
_DATE = re.compile(r"(?:(\d{4})[年-])?(\d\d?)[月-](?:(\d\d?)日?)?")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CLOCK = re.compile(r"(\d\d?)(?::(\d\d) ?(am|pm)?| ?(am|pm|uhr))")
_NUMBER = re.compile(r"(v?)(\d+(?:[.,]\d+)*)(.*)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ENDS = frozenset(";.!?\n。")
_HOURS = 12
_MOST_DAYS = 31
_MOST_MARKS = 3  # apostrophes in a word
_JOINED = frozenset(("month", "weekday", "count", "typed", "every", "ordinal"))
_ACRONYMS = frozenset("MIT US IT ES DES SON AM PAR SIN UM SUR AUS".split())  # in capitals no small words

_stemmer = Stemmer.Stemmer("english", 0)  # what is read is kept by `_read`
_FIRSTS: dict[str, list[tuple[list[str], tuple[Role, str]]]] = {}
for _phrase in sorted(PHRASES, key=len, reverse=True):
    _FIRSTS.setdefault(_phrase.split()[0], []).append((_phrase.split(), PHRASES[_phrase]))


class Token(NamedTuple):
    """A word and what it does.

    `word` is its canonical form, `raw` the word itself in lower case; `named` says that it looks like a name. A typed
    one has a `dimension`: what is counted (time, bytes, months, %, `n:` and a noun, "n" for nothing), or date,
    weekday, clock, ordinal.
    """

    role: Role
    word: str
    raw: str = ""
    named: bool = False
    dimension: str = ""


class Clause(NamedTuple):
    """A part of a sentence that may claim something, with the roles in it. `first` says that it begins a sentence."""

    tokens: list[Token]
    roles: AbstractSet[Role]
    first: bool


_MARKS = {
    ":": Token("be", ":", ":"),
    "=": Token("be", ":", ":"),
    "~": Token("preposition", "about", "~"),
    "≈": Token("preposition", "about", "~"),
    "≤": Token("bound", "max", "≤"),
    "≥": Token("bound", "min", "≥"),
    **{sign: Token("open", sign, sign) for sign in "{}<>|"},
    **{sign: Token("comma", ",", ",") for sign in ",()[]、—–"},
    **{sign: Token("end", sign, sign) for sign in _ENDS},
}
_COMMA = _MARKS[","]


def clauses(text: str) -> list[Clause]:
    """Return the clauses of the first 2,000 characters of `text` that ask nothing, in their order."""
    found: list[Clause] = []
    tokens: list[Token] = []
    first = True
    for token in _tokens(text[:MOST_READ]):
        if token.role == "comma" and len(tokens) == 1 and tokens[0].role == "not":  # No, …
            tokens = []
        elif token.role != "end":
            tokens.append(token)
        else:
            if tokens and token.raw != "?":
                found.append(_clause(tokens, first))
            tokens, first = [], token.raw in _ENDS
    if tokens:
        found.append(_clause(tokens, first))
    return found


def _clause(tokens: list[Token], first: bool) -> Clause:
    roles = {each.role for each in tokens}
    if not roles.isdisjoint(_JOINED):
        tokens = _measured(tokens)
        roles = {each.role for each in tokens}
    return Clause(tokens, roles, first)


def _tokens(text: str) -> list[Token]:
    if text.isascii():
        parts = _PLAIN.findall(text)
    else:
        parts = _WIDE.findall(unicodedata.normalize("NFKC", text)[:MOST_READ].replace("’", "'"))
    found: list[Token] = []
    opening = True
    for part in parts:
        read = _read(part, opening)
        found += read
        opening = read[-1].role == "end" and part in _ENDS
    return _spoken(found)


def _spoken(tokens: list[Token]) -> list[Token]:
    """Join the words of set phrases."""
    place = 0
    while place < len(tokens):
        for words, (role, canonical) in _FIRSTS.get(tokens[place].raw, ()):
            if [each.raw for each in tokens[place : place + len(words)]] == words:
                tokens[place : place + len(words)] = [Token(role, canonical, " ".join(words))]
                break
        place += 1
    return tokens


@lru_cache(maxsize=8_192)
def _read(part: str, opening: bool) -> tuple[Token, ...]:
    """Return what one part of a text is: one token, or two where a word holds two."""
    if part in _MARKS:
        return (_MARKS[part],)
    if part in DENSE:
        return (_cut(part),)
    if part[0].isdigit() or (part[0] == "v" and part[1:2].isdigit()):
        return (_figure(part),)
    return _word(part, opening)


def _word(text: str, opening: bool) -> tuple[Token, ...]:
    raw = text.lower()
    meant = LEXICON.get(raw)
    if meant is not None and text not in _ACRONYMS:
        return (Token(meant[0], meant[1], raw),)
    if "'" in raw:
        elided = _ELISION.match(raw) if raw.count("'") < _MOST_MARKS else None
        if elided:
            return (*_word(raw[: elided.end() - 1], False), *_word(text[elided.end() :], False))
        raw = raw.removesuffix("'s").removesuffix("'")
        text = text[: len(raw)]
    if raw in OPPOSITES:
        return (Token("flip", "", raw), *_word(OPPOSITES[raw], opening))
    if raw in CLOCKS:
        return (Token("typed", CLOCKS[raw], raw, dimension="clock"),)
    inner = text[1:] != raw[1:] or not raw.isalpha() or raw >= "\u3040"
    named = inner or raw in CLASSES or (text[0] != raw[0] and not opening)
    return (Token("word", SAME.get(raw) or stem(raw), raw, named),)


def stem(word: str) -> str:
    """Return the stem of a lower-case word: Snowball's English one where it is plain ASCII, else the word."""
    return str(_stemmer.stemWord(word)) if word.isascii() and word.isalpha() else word


def _cut(text: str) -> Token:
    role, canonical = DENSE[text]
    if role == "weekday":
        return Token("typed", canonical, text, dimension="weekday")
    return Token(role, canonical or text, text)


def _figure(text: str) -> Token:
    """Return a number, time or date; what only begins like one is a word."""
    text = text.lower()
    if _CLOCK.fullmatch(text):
        return _clock(text)
    if "月" in text or _ISO_DATE.fullmatch(text):
        return _date(text)
    if text.endswith("年") and _YEAR.fullmatch(text[:-1]):
        return _on(text[:-1], 0, 0)
    match = _NUMBER.fullmatch(text)
    assert match is not None  # noqa: S101 - the pattern of the parts is narrower
    mark, digits, suffix = match.groups()
    value = digits.replace(",", "") if _THOUSANDS.fullmatch(digits) else digits.replace(",", ".")
    if not suffix:
        return Token("typed", value, f"{mark}{digits}", dimension="n")
    if suffix in UNITS:
        return _quantity(value, suffix)
    if suffix in ("st", "nd", "rd", "th", "er", "."):
        return Token("typed", value, digits, dimension="ordinal")
    return Token("word", text, text, named=True)


def _quantity(value: str, unit: str) -> Token:
    dimension, factor = UNITS[unit]
    if value.count(".") > 1:  # 1.2.3 seconds
        return Token("typed", value, unit, dimension=dimension)
    return Token("typed", f"{float(value) * factor:.15g}", unit, dimension=dimension)


def _date(text: str) -> Token:
    match = _DATE.match(text)
    assert match is not None  # noqa: S101 - as above
    year, month, day = match.groups()
    return _on(year or "", int(month), int(day or 0))


def _on(year: str, month: int, day: int) -> Token:
    return Token("typed", f"{year or '?'}-{month or '?'}-{day or '?'}", dimension="date")


def _clock(text: str) -> Token:
    match = _CLOCK.match(text)
    assert match is not None  # noqa: S101 - as above
    hour, half = int(match[1]), match[3] or match[4]
    if half in ("am", "pm"):
        hour = hour % _HOURS + (_HOURS if half == "pm" else 0)
    return Token("typed", f"{hour}:{match[2] or '00'}", dimension="clock")


def _measured(tokens: list[Token]) -> list[Token]:
    """Join numbers with their units, nouns, months and years; tell months from verbs."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        taken = 1
        if token.role == "month":
            taken, token = _of_month(tokens, place)
        elif token.role == "weekday":
            token = Token("typed", token.word, token.raw, dimension="weekday")
        elif token.role == "every":
            token = Token("hedge", "every", token.raw)
            if _raw(tokens, place + 1) in UNITS:  # every hour is every 1 hour
                found.append(token)
                taken, token = 2, _quantity("1", tokens[place + 1].raw)
        elif token.role == "count" or token.dimension in ("n", "ordinal"):
            taken, token = _counted(tokens, place)
        elif token.role == "ordinal":
            counted = _raw(tokens, place + 1) == "of"  # the first of the month
            token = Token("typed", token.word, token.raw, dimension="ordinal") if counted else _plain(token.raw)
        found.append(token)
        place += taken
    return found


def _plain(raw: str) -> Token:
    return Token("word", raw, raw)


def _raw(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].raw if 0 <= place < len(tokens) else ""


def _of_month(tokens: Sequence[Token], place: int) -> tuple[int, Token]:
    month = tokens[place]
    if place + 1 < len(tokens) and _is_day(tokens[place + 1]):
        taken, year = _year_after(tokens, place + 2)
        return 2 + taken, _on(year, int(month.word), int(tokens[place + 1].word))
    taken, year = _year_after(tokens, place + 1)
    if year:
        return 1 + taken, _on(year, int(month.word), 0)
    before = tokens[place - 1].role if place else ""
    if month.raw in ALSO_VERBS and before not in ("preposition", "bound", "be"):
        return 1, Token("may", "", month.raw) if month.raw == "may" else _plain(month.raw)
    return 1, _on("", int(month.word), 0)


def _year_after(tokens: Sequence[Token], place: int) -> tuple[int, str]:
    """How many tokens from `place` on give a year, and which."""
    skipped = 1 if place < len(tokens) and tokens[place].role in ("comma", "preposition") else 0
    if place + skipped < len(tokens):
        token = tokens[place + skipped]
        if token.dimension == "n" and _YEAR.fullmatch(token.word):
            return skipped + 1, token.word
    return 0, ""


def _is_day(token: Token) -> bool:
    return token.dimension in ("n", "ordinal") and token.word.isdigit() and 0 < int(token.word) <= _MOST_DAYS


def _counted(tokens: Sequence[Token], place: int) -> tuple[int, Token]:
    """How many tokens from the number at `place` on are one, and what it is: a date, a quantity, a count, a year."""
    number = tokens[place]
    dated = _day_of_month(tokens, place)
    if dated is not None:
        return dated
    following = tokens[place + 1] if place + 1 < len(tokens) else _COMMA
    if number.dimension == "ordinal":
        return 1, number
    if following.raw in UNITS and following.role in ("word", "month", "soft"):
        return 2, _quantity(number.word, following.raw)
    if number.raw.startswith("v") and following.role == "word":
        return 1, Token("word", number.raw, number.raw, named=True)
    if following.role == "word" and (number.role == "typed" or number.word != "1") and number.word.count(".") < 2:
        return 2, Token("typed", number.word, following.raw, dimension=f"n:{following.word}")
    if number.role == "count":
        return 1, _plain(number.raw)
    before = tokens[place - 1] if place else _COMMA
    if _YEAR.fullmatch(number.word) and before.role in ("preposition", "bound", "comma"):
        return 1, _on(number.word, 0, 0)
    return 1, number


def _day_of_month(tokens: Sequence[Token], place: int) -> tuple[int, Token] | None:
    skipped = 2 if _raw(tokens, place + 1) in ("of", "de") else 1
    if place + skipped >= len(tokens) or tokens[place + skipped].role != "month" or not _is_day(tokens[place]):
        return None
    taken, year = _year_after(tokens, place + skipped + 1)
    return skipped + 1 + taken, _on(year, int(tokens[place + skipped].word), int(tokens[place].word))
