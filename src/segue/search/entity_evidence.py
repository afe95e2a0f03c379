"""What the mentions of a text are worth: which capitals make a name where a capital alone does not."""

from __future__ import annotations

import re
from bisect import bisect
from functools import cache
from typing import TYPE_CHECKING

from segue.search.entity_mentions import FIRST, PLAIN, STRONG, SURE, VALUE, Mention
from segue.search.entity_names import DENSE
from segue.search.entity_words import (
    BARE,
    CHINESE_VERBS,
    COMMON,
    DENSE_NAMES,
    DEPARTMENTS,
    ENGLISH,
    GERMAN,
    GERMAN_BARE,
    GERMAN_TITLES,
    HONORIFICS,
    NAME_VERBS,
    NAMED,
    NO_NAME_ENDINGS,
    NO_PERSONS,
    OPENERS,
    SURNAMES,
    TOOLS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_HEADING = 100  # characters of a line that may be one

_SMALL = re.compile(r"[a-zäöüß][a-z0-9äöüß]++")
_NEXT = re.compile(r" ([^\W\d_]+(?:['’]t)?)(?![^\W_])")
_AND = "and|or|und|oder|et|ou|y"
_CAPITAL = r"[^\W\d_a-z]"
_ALONGSIDE = re.compile(rf"(?: (?:{_AND}) | ?& |, )({_CAPITAL}[\w.'’-]*+)((?:(?:,| (?:{_AND})) {_CAPITAL})?)")
_ALL_OF_IT = re.compile(r"\s*(?:[.,;)]|$|\n| \()")
_TALK = re.compile(r": (\w+)")
_SHOUTED = re.compile(r"\b[A-Z]{2,}(?:[ :!,]{1,2}(?:[A-Z][A-Z'’]+|[AI])\b){2,}")
_HEADING_WORD = re.compile(r"[\w'’-]+")
_GERMAN_SUFFIX = re.compile(
    r"(?:ung|ungen|heit|heiten|keit|keiten|schaft|tion|tionen|ität|ment|nis|tum|ling|chen|eur)$"
)
_GERMAN_PLACE = re.compile(r"(?:^|\W)(?:in|nach|aus|In|Nach|Aus)\s$")
_GERMAN_PERSON = re.compile(r"(?:^|\W)(?:mit|von|für|bei|ohne|an|und|sagt|heißt|namens|Mit|Von|Für|Bei)\s$")
_SMALL_WORD = re.compile(r"(?<![\w./@:$-])[a-z][a-z0-9]++(?![\w/@-]|[.:]\w)")  # no part of a path or an address


def kept(text: str, mentions: list[Mention], told: Iterable[Mention]) -> list[Mention]:
    """Return those of `mentions` that name something, and what small letters and scripts without spaces name."""
    judge = _Judge(text, mentions, told)
    found = [taken for mention in mentions if (taken := judge.taken(mention))]
    found += _tools(text, judge.small)
    if not text.isascii():
        found += _dense(text)
    return found


class _Judge:
    """What the mentions of one text are judged by."""

    __slots__ = ("_inside", "_is_german", "_line", "_line_is_heading", "_shouted", "_text", "small")

    def __init__(self, text: str, mentions: list[Mention], told: Iterable[Mention]) -> None:
        self._text = text
        self.small = set(_SMALL.findall(text))
        self._line = (0, 0)
        self._line_is_heading = False
        self._is_german = _is_german(self.small)
        self._inside: set[str] = set()
        for mention in mentions:
            if mention.kind == STRONG or (mention.kind == PLAIN and not (self._is_german or mention.opens)):
                self._inside.update(mention.name.lower().split())
        self._inside.update(word for mention in told for word in mention.name.lower().split())
        shouts = text.isupper() or any(mention.kind == STRONG and mention.name.isupper() for mention in mentions)
        self._shouted = [match.span() for match in _SHOUTED.finditer(text)] if shouts else []

    def taken(self, mention: Mention) -> Mention | None:
        """Return a mention where it names something, as far as it does."""
        if mention.kind == SURE:
            return mention
        if self._is_shouted(mention.start):
            return None
        if mention.kind != STRONG and self._in_heading(mention):
            return None
        if mention.kind in (FIRST, VALUE):
            return mention if self._is_used_as_name(mention) else None
        return self._german(mention) if self._is_german else mention

    def _is_shouted(self, place: int) -> bool:
        index = bisect(self._shouted, place, key=lambda span: span[0])
        return index > 0 and place < self._shouted[index - 1][1]

    def _is_used_as_name(self, mention: Mention) -> bool:
        """Whether a single word at the start of a sentence is a name by what else is said."""
        lower = mention.name.lower()
        if lower in NAMED:
            return True
        if lower in BARE or lower in COMMON or lower in OPENERS:
            return False
        if lower in self._inside or (mention.kind == VALUE and _ALL_OF_IT.match(self._text, mention.end)):
            return True
        return self._acts(lower, mention.end) or self._stands_beside_names(mention.end) or self._talks(mention)

    def _acts(self, lower: str, end: int) -> bool:
        """Whether a verb or 's follows as after a name: `Priya prefers`, no `Latency is`, no `Customers can`."""
        if lower.endswith(NO_NAME_ENDINGS) and lower not in DEPARTMENTS:
            return False
        if self._text.startswith(("'s ", "’s "), end):
            return True
        following = _NEXT.match(self._text, end)
        verb = following[1].lower() if following else ""
        if verb not in NAME_VERBS:
            return False
        return verb.endswith("s") or not lower.endswith("s") or lower.endswith(("as", "os", "us", "is", "es"))

    def _stands_beside_names(self, end: int) -> bool:
        """Whether names follow in the same list: `Anna and Ben`, `Redis, Kafka and`."""
        beside = _ALONGSIDE.match(self._text, end)
        if not beside:
            return False
        comma = self._text[end] == ","
        other = beside[1].lower().rstrip(".'’-")
        if other == "i":
            return not comma
        return other not in OPENERS and other not in COMMON and other not in BARE and (not comma or beside[2] != "")

    def _talks(self, mention: Mention) -> bool:
        """Whether the word begins a turn of a conversation: `Maya: I can do it`."""
        start = mention.start
        if start and self._text[start - 1] != "\n":
            return False
        said = _TALK.match(self._text, mention.end)
        return said is not None and said[1].lower() in OPENERS

    def _in_heading(self, mention: Mention) -> bool:
        start, end = self._line
        if not start <= mention.start < end:
            start = self._text.rfind("\n", 0, mention.start) + 1
            end = self._text.find("\n", mention.start)
            self._line = (start, end if end >= 0 else len(self._text) + 1)
            self._line_is_heading = _is_heading(self._text[self._line[0] : self._line[1]])
        return self._line_is_heading

    def _german(self, mention: Mention) -> Mention | None:
        """Return a mention without the nouns before it where names of their own end it: `Cache Redis`."""
        words = mention.name.split(" ")
        for index, word in enumerate(words):
            lower = word.lower()
            if lower in NAMED or any(map(str.isupper, word[1:])) or (lower in GERMAN_TITLES and len(words) > 1):
                name = " ".join(words[index:])
                return mention._replace(start=mention.end - len(name), name=name)
        return mention if mention.kind == STRONG or self._is_german_name(mention, words) else None

    def _is_german_name(self, mention: Mention, words: list[str]) -> bool:
        last = words[-1].lower()
        if any(_GERMAN_SUFFIX.search(word) for word in words):
            return False
        if len(words) > 1:
            return not (mention.opens and words[0].endswith(("e", "en", "er", "es", "em")))
        if last in GERMAN_TITLES or last in GERMAN_BARE:
            return False
        before = self._text[max(0, mention.start - 9) : mention.start]
        if _GERMAN_PLACE.search(before):
            return True
        return _GERMAN_PERSON.search(before) is not None and not last.endswith(("en", "ern", "ge"))


def _is_german(small: set[str]) -> bool:
    """Whether a text is German, by its words in small letters."""
    return len(small & GERMAN) > max(1, len(small & ENGLISH))


def _is_heading(line: str) -> bool:
    """Whether a line is in Title Case: all its words but the small ones have capitals, and it ends like no sentence."""
    line = line.strip()
    if len(line) > LONGEST_HEADING or line.endswith((".", "!", "?", ",", ";")) or "," in line:
        return False
    words = [word for word in _HEADING_WORD.findall(line) if not word[0].isdigit()]
    marked = line.startswith("#") or line.endswith((":", "**"))
    capitals = sum(word[0].isupper() for word in words)
    return capitals >= (2 if marked else 4) and all(word[0].isupper() or len(word) < 4 for word in words)


def _tools(text: str, small: set[str]) -> list[Mention]:
    """Mentions of tools that are written in small letters."""
    if TOOLS.isdisjoint(small):
        return []
    words = _SMALL_WORD.finditer(text)
    return [Mention(word.start(), word.end(), word[0], SURE) for word in words if word[0] in TOOLS]


@cache
def _dense_patterns() -> tuple[re.Pattern[str], ...]:
    names = "|".join(sorted(DENSE_NAMES, key=len, reverse=True))
    return (
        re.compile(rf"[{DENSE}]"),
        re.compile(rf"(?:(?<![\u30a1-\u30fc\uac00-\ud7a3])(?:{names})(?![\u30a1-\u30fc]))"),
        re.compile(
            rf"((?<![\u30a1-\u30fc])[\u30a1-\u30fc]{{2,12}}|(?<![\u3400-\u9fff々])[\u4e00-\u9fff]{{1,4}})(?:{HONORIFICS})"
        ),
        re.compile(
            rf"(?:^|[，。；、！？：\s和跟给让找请由与])((?:[老小][{SURNAMES}]|[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?))(?={CHINESE_VERBS})"
        ),
    )


def _dense(text: str) -> list[Mention]:
    """Mentions of well-known places and companies, and of persons by how they are addressed or what they do."""
    has_dense, names, addressed, acting = _dense_patterns()
    if not has_dense.search(text):
        return []
    found = [Mention(match.start(), match.end(), match[0], SURE) for match in names.finditer(text)]
    for pattern in (addressed, acting):
        found += (
            Mention(match.start(1), match.end(1), match[1], SURE)
            for match in pattern.finditer(text)
            if match[1] not in NO_PERSONS
        )
    return found
