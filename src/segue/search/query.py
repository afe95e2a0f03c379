"""What a query asks for: its terms, the speakers and dates that it names, whether it asks for a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from segue.search import dates
from segue.search.stopwords import STOP_WORDS
from segue.search.tokens import terms, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

MOST_TERMS = 64  # of a query that count: a pasted page is not a question, and each term costs time


@dataclass(frozen=True, slots=True)
class Term:
    """What is asked of the text index. `word` is what it was made of: "" for code and pairs of characters."""

    token: str
    word: str
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A question, analysed. `embedded` are the words whose vectors stand for it: no stop words, no speakers' names."""

    text: str
    terms: tuple[Term, ...]
    embedded: tuple[str, ...]
    speakers: tuple[str, ...]
    dates: tuple[dates.Day | dates.Span, ...]
    asks_time: bool

    def chosen(self, rarity: Callable[[str], float]) -> tuple[Term, ...]:
        """Return the terms that count: all, or of a very long query the rarest, in the order they were asked."""
        if len(self.terms) <= MOST_TERMS:
            return self.terms
        places = sorted(range(len(self.terms)), key=lambda place: (-rarity(self.terms[place].token), place))
        return tuple(self.terms[place] for place in sorted(places[:MOST_TERMS]))


@dataclass(frozen=True, slots=True)
class Names:
    """The known speakers by the first words of their names: made once for many queries."""

    by_first: Mapping[str, Mapping[tuple[str, ...], str]]  # then by all words; of equals the first in the alphabet

    @classmethod
    def of(cls, speakers: Iterable[str]) -> Names:
        """Return the names of `speakers`; a name without words cannot be named."""
        by_first: dict[str, dict[tuple[str, ...], str]] = {}
        for name in sorted(set(speakers)):
            parts = _name_words(name)
            if parts:
                by_first.setdefault(parts[0], {}).setdefault(parts, name)
        return cls(by_first)


def analyse(text: str, now: datetime, known_speakers: Names | Iterable[str] = ()) -> Query:
    """Return what `text` asks for. Any text is a query, never an error: one without words simply has no terms.

    `now` is what `yesterday` counts from. A known speaker counts as named by the whole name, or by its first word
    where no other known speaker has the same.
    """
    asked = list(dict.fromkeys(terms(text)))
    spoken = words(text)
    known = known_speakers if isinstance(known_speakers, Names) else Names.of(known_speakers)
    speakers, names = _named(spoken, known)
    content = [term for term in asked if term[1] not in STOP_WORDS] or asked
    found = tuple(Term(token, word, word in names) for token, word in content)
    embedded = [word for word in dict.fromkeys(spoken) if word not in STOP_WORDS and word not in names]
    return Query(
        text=text,
        terms=found,
        embedded=tuple((embedded or list(dict.fromkeys(spoken)))[: 4 * MOST_TERMS]),
        speakers=speakers,
        dates=dates.named(text, now),
        asks_time=dates.asks(text),
    )


def _named(spoken: list[str], known: Names) -> tuple[tuple[str, ...], frozenset[str]]:
    """The known speakers whom the words name, and the words that name them."""
    present = set(spoken)
    first_words = [first for first in present if first in known.by_first]
    # in the order of the alphabet of the names themselves
    groups = sorted((known.by_first[first] for first in first_words), key=lambda group: next(iter(group.values())))
    speakers: list[str] = []
    used: set[str] = set()
    joined = f" {' '.join(spoken)} "
    for group in groups:
        whole = [parts for parts in group if f" {' '.join(parts)} " in joined]
        first = next(iter(group))[0]
        chosen = whole or ([] if first in STOP_WORDS or len(group) > 1 else list(group))
        for parts in chosen:
            speakers.append(group[parts])
            used.update(present.intersection(parts))
    return tuple(speakers), frozenset(used)


@lru_cache(maxsize=4096)
def _name_words(name: str) -> tuple[str, ...]:
    return tuple(words(name))
