"""The places of a text that may name something, read in one pass: what stands there, and how sure that is."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from segue.search.entity_names import DENSE, LATIN, LETTERS
from segue.search.entity_words import (
    ABBREVIATIONS,
    AFTER_HYPHEN,
    BEFORE_WEEKDAY,
    COMMON,
    CONTRACTED,
    DIRECTORIES,
    ENGLISH_OPENERS,
    INSTITUTIONS,
    KEYWORDS,
    NAMES_TOO,
    NEW,
    NEW_PLACES,
    NO_MODIFIERS,
    NO_TERMS,
    OPENERS,
    SEASONS,
    TIMES,
    TITLES,
    TO_ALL,
    TONGUES,
    TRADE,
)
from segue.search.stopwords import STOP_WORDS

LONGEST_WORD = 160  # characters of one that may be a name
LONGEST_RUN = 6  # words: more of them with capitals are a title
SHORTEST_WRAPPED = 60  # characters of a line that may go on in the next one
LONGEST_DENSE = 10  # characters of a quoted term in a script without spaces

# What a word, and then a mention, is worth: nothing; a capital alone: inside a sentence, at the start of one, behind a
# colon; capitals or digits inside; a symbol of code and whatever else is sure.
NONE, PLAIN, FIRST, VALUE, STRONG, SURE = range(6)

_L = LETTERS
_PART = r"[^\s\"“”„«»「」『』‹›]{1,40}+"
_TERM = rf"{_PART}(?:[ \u00a0]{_PART}){{0,3}}"
_SPACE = r"[ \u00a0\u202f]?"
_HOST = r"(?:www\.)?([A-Za-z0-9.-]++)"
_MENTION = re.compile(
    rf"(?:[a-z]++[ ,;]++)++|[{DENSE}]++"  # what cannot be a name is passed over at once
    r"|```(?:(?!```)[\s\S])*+(?:```|\Z)"
    r"|``?([^`\n]{1,200}+)``?"
    rf"|(?<![{LATIN}])\"({_TERM})\"(?![{LATIN}])"
    rf"|[“„«»「『‹]{_SPACE}({_TERM}){_SPACE}[”“»«」』›]"
    rf"|(?<![{LATIN}])['‘]([^\W\d][^\s'‘’\"]{{1,40}}+(?: [^\s'‘’\"]{{1,40}}+){{0,3}})['’](?![{LATIN}])"
    rf"|(?:[a-z]{{2,12}}+://(?:[^\s/@]{{1,99}}@)?{_HOST}|www\.([A-Za-z0-9.-]++))[^\s<>\"'`)\]}}\u3000-\uffef]*+"
    rf"|(?<![{LATIN}@./])(@[A-Za-z][{LATIN}]*+(?:[-./@][{LATIN}]++)*+)"
    r"|--?[a-z][\w-]*+"
    rf"|((?:(?<![{LATIN}/.~])(?:~|\.{{1,2}})?/\.?(?=\w))?[{_L}]++(?:(?:::|->|/\.|[.'’/@&-])[{_L}]++)*+(?:\(\)|\+\+|\#)?)"
)
_TICK, _QUOTE, _TYPOGRAPHIC, _SINGLE, _URL, _WWW, _HANDLE, _WORD = range(1, 9)

_IN_TICKS = re.compile(r"\$?((?:[.~]{0,2}/|[.@])?[^\W\d][\w.:/#@+-]*(?:->[\w.]+)*)(?:\([^()]*\))?")
_VERSION = re.compile(r"[vV]?\d+(?:[.-]\w+)*|(?=.*\d)[0-9a-f]{7,64}|YYYY.*|[QVPHWLT]\d{1,2}(?:-[QVPHWLT]?\d+)?")
_LETTER = re.compile(r"[^\W\d_]")
_ELISION = re.compile(r"(?:[ldjmtnsc]|qu|jusqu|lorsqu|all|dell|nell|sull|un)['’](?=[^\W\d_])|[LD]['’](?=[A-Z]{2})")
_FILE = re.compile(r"\.[a-z][a-z0-9]{0,5}$")
_HUMP = re.compile(r"[a-z][A-Z]")  # iPhone, but no e-Mail
_TICKET = re.compile(r"[A-Z][A-Z0-9]+-\d+")
_DIGIT_FIRST = re.compile(r"\d[A-Z][a-z]{2,}")
_INITIALS = re.compile(r"[A-Z](?:\.[A-Z])+")  # U.S
_DOMAIN = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/")
_SENTENCE = re.compile(r"[.!?…](?:\s|$)|[。！？、，；`<>{}=|]")
_HAS_DENSE = re.compile(rf"[{DENSE}]")
_COMPOUND = re.compile(rf"([^-]+)-(?:{'|'.join(AFTER_HYPHEN)})")
_EMPHASIS = re.compile(r"_([^_]+)_")
_MODIFIER = re.compile(r"[a-z]{2,}ing|[a-z]{3,}ed|[a-z]{4,}ly")  # a participle or an adverb

_OPENING = " \t\u00a0\"'“„«‘(*_[>#-–•~`"  # may stand between the end of a sentence and the next one
_ENDS = ".!?…:\n|。！？："
_JOINS = frozenset(
    " |\u00a0| of | of the | de | de la | de los | del | della | di | da | do | dos | du | van | van der "
    "| van den | & ".split("|")
)


class Mention(NamedTuple):
    """A place that may name something, and what that is worth; `opens` says that it begins a sentence."""

    start: int
    end: int
    name: str
    kind: int
    opens: bool = False


class _Word(NamedTuple):
    """A capitalised word; `end` is that of the name, `whole` that of the word with its 's."""

    start: int
    end: int
    whole: int
    lower: str
    kind: int


def read(text: str) -> list[Mention]:
    """Return the mentions of a text, in order. Whether those of the kinds below STRONG are names is still open."""
    reading = _Reading(text)
    for match in _MENTION.finditer(text):
        group = match.lastindex
        if group == _WORD:
            reading.word(match.start(_WORD), match[_WORD])
        elif group is not None:
            reading.other(group, match.start(group), match[group])
    reading.close()
    return reading.mentions


class _Reading:
    """A text while it is read, and the run of capitalised words that is open."""

    __slots__ = ("_kind", "_run", "mentions", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.mentions: list[Mention] = []
        self._run: list[_Word] = []
        self._kind = NONE  # of the open run: where it stands

    def word(self, start: int, word: str) -> None:
        """Take a word: into the open run, as a mention of its own, or not at all."""
        if (word.islower() and word.isalpha()) or len(word) > LONGEST_WORD:
            return
        kind, skipped, length = _classified(word)
        if kind == NONE:
            if "/" in word:
                self._split(start, word)
            return
        start += skipped
        end = start + length
        if self.text[end : end + 1] == "." and _INITIALS.fullmatch(self.text[start:end]):
            end += 1  # U.S.
        if kind == SURE:
            self.mentions.append(Mention(start, end, self.text[start:end], SURE))
            return
        whole = max(end, start - skipped + len(word))
        taken = _Word(start, end, whole, self.text[start:end].lower(), kind)
        if not (self._run and self._goes_on(taken)):
            self.close()
            self._kind = self._place(start)
        self._run.append(taken)

    def other(self, group: int, start: int, content: str) -> None:
        """Take what stands in marks, an address or a handle."""
        name = _of_marks(group, content)
        if name:
            self.mentions.append(Mention(start, start + len(content), name, SURE))

    def _split(self, start: int, word: str) -> None:
        """Words with slashes between that are no path: each by itself."""
        for part in word.split("/"):
            if part:
                self.word(start, part)
                self.close()
            start += len(part) + 1

    def _goes_on(self, word: _Word) -> bool:
        """Whether a word belongs to the open run."""
        last = self._run[-1]
        gap = self.text[last.whole : word.start]
        if gap == ". ":
            return last.lower in TITLES or (last.end - last.start == 1 and word.lower not in OPENERS)
        if gap not in _JOINS:
            return False
        if last.end != last.whole:  # a possessive: McKinsey's slides, but New Year's Eve
            return word.lower in INSTITUTIONS
        return gap == " " or (last.kind == word.kind == PLAIN and last.lower not in OPENERS)

    def _place(self, start: int) -> int:
        """PLAIN for a word inside a sentence, FIRST for one that begins it, VALUE for one behind a colon."""
        before = self.text[max(0, start - 16) : start].rstrip(_OPENING)
        if not before:
            return FIRST
        if before[-1] == "\n" and self._is_wrapped(start):
            return PLAIN
        if before[-1] == ")":  # 1) Install
            return FIRST if before[-2:-1].isdigit() and "(" not in before else PLAIN
        if before[-1] not in _ENDS:
            return PLAIN
        if before[-1] == ".":
            last = before[:-1].rpartition(" ")[2].lstrip("(\n")
            if last.lower() in ABBREVIATIONS or (len(last) == 1 and last.isupper()):
                return PLAIN
        return VALUE if before[-1] in ":：" else FIRST

    def _is_wrapped(self, start: int) -> bool:
        """Whether the line that begins at `start` goes on with a sentence: the one before is long and has no end."""
        newline = start - 1
        if self.text[newline] != "\n" or newline < SHORTEST_WRAPPED:
            return False
        last = self.text[newline - 1]
        return (last.isalnum() or last == ",") and self.text.rfind("\n", newline - SHORTEST_WRAPPED, newline) < 0

    def close(self) -> None:
        """Make a mention of the open run, without what only begins its sentence and what tells a time."""
        run, place = self._run, self._kind
        if not run:
            return
        self._run = []
        opens, length = place != PLAIN, len(run)
        while run and _is_no_name(run, begins=place != PLAIN):
            del run[0]
        opens = opens and len(run) == length
        while run and run[-1].lower in TIMES and (len(run) < 2 or run[-2].lower not in BEFORE_WEEKDAY):
            del run[-1]
        if not run or len(run) > LONGEST_RUN or all(word.lower in TONGUES or len(word.lower) == 1 for word in run):
            return
        start, end = run[0].start, run[-1].end
        kind = STRONG if any(word.kind == STRONG for word in run) else place if opens and len(run) == 1 else PLAIN
        self.mentions.append(Mention(start, end, self.text[start:end], kind, opens))


def _is_no_name(run: list[_Word], *, begins: bool) -> bool:
    """Whether the first word of a run is none of its name: it `begins` a sentence, tells a time, is a common one."""
    word, alone = run[0], len(run) == 1
    lower = word.lower
    if word.kind == STRONG:
        return False
    if lower in TIMES:
        return True
    if lower in OPENERS:
        if not begins:
            return alone and lower not in NAMES_TOO
        return alone or lower not in NEW or run[1].lower not in NEW_PLACES
    if alone:
        return lower in COMMON or lower in SEASONS
    return begins and _MODIFIER.fullmatch(lower) is not None and lower not in NO_MODIFIERS


@lru_cache(maxsize=8192)
def _classified(word: str) -> tuple[int, int, int]:
    """Return the kind of a word, where its name begins in it, and how long that is."""
    emphasised = _EMPHASIS.fullmatch(word)
    if emphasised:
        kind, skipped, length = _classified(emphasised[1])
        return kind, skipped + 1, length
    domain = _DOMAIN.match(word) if "/" in word else None
    if domain:  # github.com/acme
        return SURE, 0, domain.end() - 1
    elided = _ELISION.match(word)
    skipped = elided.end() if elided else 0
    name = word[skipped:]
    if name.endswith(("'s", "’s", "'S", "’S")):
        name = name[:-2]
    compound = _COMPOUND.fullmatch(name)
    if compound:
        name = compound[1]
    return _kind(name), skipped, len(name.removesuffix("()"))


def _kind(name: str) -> int:
    """Return NONE, PLAIN, STRONG or SURE for a word without its 's."""
    bare = name.removesuffix("()")
    if "@" in bare or _VERSION.fullmatch(bare) or not _LETTER.search(bare):
        return NONE
    if _is_symbol(bare, called=bare != name):
        return SURE
    if "/" in bare or _is_common(bare) or ("." in bare and not _INITIALS.fullmatch(bare)):
        return NONE
    if bare[0].isdigit():
        return STRONG if _DIGIT_FIRST.match(bare) else NONE
    if not bare[0].isupper():
        return SURE if _HUMP.search(bare) else NONE
    if _TICKET.fullmatch(bare):
        return SURE
    return STRONG if any(each.isupper() or each.isdigit() for each in bare[1:]) else PLAIN


def _is_common(bare: str) -> bool:
    """Whether a word names nothing however it is written: a trade word, a function word, `It's`, `NEVER`, `Mon-Fri`."""
    lower = bare.lower().replace("’", "'")
    if bare.isupper() and (lower in TRADE or lower in ENGLISH_OPENERS):
        return True
    if lower[-1] == "s" and lower[:-1] in TRADE and bare[:-1].isupper():
        return True
    stem, _, rest = lower.partition("'")
    if rest in CONTRACTED and stem in OPENERS:
        return True
    if "-" in lower and TIMES.issuperset(lower.split("-")):
        return True
    return stem + rest in STOP_WORDS and lower not in NAMES_TOO


def _is_symbol(name: str, *, called: bool) -> bool:
    """Whether a word is a symbol of code or a path: foo_bar, foo::bar, app.run, src/app.py, or called with ()."""
    if name.lower() in ("c++", "c#", "f#"):
        return True
    if "'" in name or "’" in name or "&" in name:
        return False
    if "/" in name:
        return _is_path(name)
    if called or "::" in name or "->" in name:
        return len(name) > 1
    if "_" in name:
        return len(name.strip("_")) > 1
    return "." in name and _is_dotted(name)


def _is_path(name: str) -> bool:
    if name[0] in "/~.":
        return name[0] != "/" or "/" in name[1:] or "." in name
    return _FILE.search(name) is not None or "_" in name or name.partition("/")[0] in DIRECTORIES


def _is_dotted(name: str) -> bool:
    """Whether a word with points inside is code or a file: no abbreviation, no two sentences without a space."""
    parts = name.split(".")
    if any(part[0].isdigit() for part in parts) or max(map(len, parts)) == 1:
        return False
    last = parts[-1]
    return not (last[0].isupper() and last.lower() in OPENERS)


def _of_marks(group: int, content: str) -> str:
    """Return the name that quotes, ticks, an address or a handle hold, "" where it is none."""
    if group == _HANDLE:
        return "" if content.lower() in TO_ALL else content
    if group in (_URL, _WWW):
        return _host(content)
    if group == _TICK:
        return _in_ticks(content.strip())
    term = content.strip(" \u00a0\u202f,;")
    if term.endswith(".") and not term[0].isupper():  # American typesetting
        term = term[:-1]
    return term if _is_term(term) else ""


def _is_term(term: str) -> bool:
    if len(term) < 2 or not _LETTER.search(term) or _SENTENCE.search(term):
        return False
    if term[0] == "-" or term[-1] == "-" or _VERSION.fullmatch(term) or term.lower() in NO_TERMS:
        return False
    return len(term) <= LONGEST_DENSE or not _HAS_DENSE.search(term)


def _in_ticks(content: str) -> str:
    if "://" in content:
        return _host(content.partition("://")[2].removeprefix("www.").partition("/")[0])
    match = _IN_TICKS.fullmatch(content)
    name = match[1].rstrip(".:") if match else ""
    if len(name) < 2 or name[-1] == "-" or _VERSION.fullmatch(name) or name.lower() in NO_TERMS:
        return ""
    return "" if "@" in name[1:] or re.search(r":\d+$", name) or name in KEYWORDS else name


def _host(name: str) -> str:
    name = name.strip(".-").lower()
    return name if "." in name and _LETTER.search(name) else ""
