"""Of what an English sentence says that it is kept: memory, records, documents, or something that is none of these."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from segue.continuity import claim_words as words
from segue.continuity import prose

if TYPE_CHECKING:
    from collections.abc import Sequence

Subject = Literal["memory", "record", "document"]
Form = Literal["", "perfect", "past", "passive", "bare", "headline", "other"]

_ENTRY_ID = re.compile(r"(?:mem|m)-\d+\Z")
_RECEIPT_ID = re.compile(r"tx-\d+\Z")
_SUFFIX = re.compile(r"\w\.[a-z]\w{0,11}\Z")
_STORE = ".project-study-memory"
_LEDGERS = ("project_study_log.md", "project_study_qa.md")
_NAMED = ("handoff", "hand-off", "handover", "project_study", "tx-")
_KEEPS = words.KEPT | words.PLACED
_SAVED = words.KEPT - words.NOTED
_ENDS = words.GRAMMAR | words.WEAK_RECORDS  # what may follow a noun that is one by itself
_COVERED = (prose.CODE, prose.QUOTE)  # what the noun is called: the rule `use tabs`
_MAY_FOLLOW_MEMORY = words.OF_MEMORY | words.GRAMMAR
_TAUGHT = words.TAUGHT | words.ASKED
_SPAN = 6  # words after a preposition that name a place
_PATH = re.compile(rf"{prose.CODE}|\w\.[A-Za-z]\w{{0,11}}\b|\w/")
_LATIN = re.compile(r"[a-z']+")


class Said(NamedTuple):
    """A claim as its sentence says it; `is_weak` where it names nothing that could be no code."""

    marker: str
    subject: Subject
    of_memory: bool
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Deed:
    """Something done: by which verb, in which form, to what, and where it was put.

    `is_event` says that it happened, or is so now: otherwise it may be how a program goes about such things. `was` says
    that it happened. `is_last` says that nothing follows, `is_for_later` that the sentence speaks of sessions to come.
    """

    verb: str
    form: Form
    target: list[str]
    goal: str
    was: bool
    is_event: bool
    is_last: bool
    is_for_later: bool

    @property
    def kinds(self) -> frozenset[str]:
        """What is spoken of, as `kind` has it."""
        return frozenset(found for place in range(len(self.target)) if (found := kind(self.target, place)))

    @property
    def is_code(self) -> bool:
        """Whether code is part of what is spoken of."""
        return any(is_code(token) for token in self.target)

    @property
    def is_owned(self) -> bool:
        """Whether it is "your preference", "this rule"."""
        return any(token in words.OWNERS for token in self.target[:3])

    @property
    def is_generic(self) -> bool:
        """Whether any such thing is spoken of: how a program treats them."""
        if self.target[:1] and self.target[0] in words.GENERIC:
            return self.form in ("passive", "headline")
        return not self.was and len(self.target) == 1 and self.target[0].endswith("s")


def judged(deed: Deed) -> Said | None:
    """Return what a deed claims, or None where it is none of the continuity's."""
    kinds, codes = deed.kinds, deed.is_code
    if words.SIZES.intersection(deed.target):
        return None
    if deed.form == "other" and not kinds & {"memory", "taught"} and deed.goal not in ("memory", "own memory"):
        return None
    if _is_remembered(deed, kinds, codes):
        return Said(deed.verb, "memory", True)
    return (
        _in_memory(deed, kinds, codes)
        or _of_records(deed, kinds, codes)
        or _of_documents(deed, kinds)
        or _of_nothing_named(deed, kinds, codes)
    )


# --- Each kind of claim --------------------------------------------------------------------------------------------


def _is_remembered(deed: Deed, kinds: frozenset[str], codes: bool) -> bool:
    """Whether something was remembered, put into memory, or taught and kept."""
    if deed.verb in words.REMEMBERED:
        return deed.form == "perfect" or deed.is_owned or not (codes or deed.goal in ("code", "other"))
    if deed.verb in _KEEPS and deed.goal == "own memory":
        return True
    if deed.verb in _KEEPS and deed.goal == "memory":
        return deed.form in ("perfect", "past", "bare") or not codes or "taught" in kinds
    if deed.goal in ("code", "in memory") or (codes and not deed.is_owned):
        return False
    if deed.is_for_later and deed.verb in words.KEPT | {"kept"} and (not deed.target or kinds):
        return True
    is_taught = deed.verb in words.KEPT and "taught" in kinds
    return is_taught and (deed.is_owned or (deed.goal != "other" and not deed.is_generic))


def _in_memory(deed: Deed, kinds: frozenset[str], codes: bool) -> Said | None:
    """Return the claim that memory itself was saved or is ready, or that something is "in memory"."""
    keeps = deed.verb in _KEEPS
    if keeps and deed.goal == "in memory" and (deed.is_owned or not codes) and (not deed.target or kinds):
        return Said(deed.verb, "memory", True, not kinds & {"taught", "memory"})
    # "We saved memory by streaming" is about the memory of a machine.
    first = next((token for token in deed.target if is_code(token) or token in words.MEMORY or _is_store(token)), "")
    thrift = deed.verb == "saved" and deed.form not in ("passive", "headline") and deed.target[:1] == ["memory"]
    if "memory" in kinds and deed.goal != "code" and not is_code(first) and not deed.is_generic and not thrift:
        return Said(deed.verb, "memory", keeps)
    return None


def _of_records(deed: Deed, kinds: frozenset[str], codes: bool) -> Said | None:
    record = Said(deed.verb, "record", False)
    if deed.goal in ("record", "ledger") and deed.verb in _KEEPS:
        return record if deed.goal == "ledger" or deed.is_event or kinds else None
    named = any(token.startswith(_NAMED) for token in deed.target)
    if "record" in kinds and (named or (deed.goal not in ("code", "other") and not codes)):
        return None if deed.is_generic else record
    return None


def _of_documents(deed: Deed, kinds: frozenset[str]) -> Said | None:
    verbs = words.KEPT | words.VALID | words.READY | {"updated"}
    is_document = "document" in kinds and deed.goal != "code" and deed.verb in verbs
    return Said(deed.verb, "document", False) if is_document else None


def _of_nothing_named(deed: Deed, kinds: frozenset[str], codes: bool) -> Said | None:
    """Return a claim that names nothing of its own: it counts only where no code is spoken of."""
    if codes or deed.goal in ("code", "in memory", "other") or not (deed.is_event or deed.is_owned or deed.is_last):
        return None
    if "weak document" in kinds and deed.verb in words.KEPT | words.VALID | words.READY:
        return Said(deed.verb, "document", False, True)
    first = kind(deed.target, 0) if deed.target else ""
    is_record = (
        (deed.goal == "weak record" and deed.verb in words.KEPT)
        or ("weak record" in kinds and deed.verb in words.VALID | _SAVED)
        or ("weak record" in kinds and deed.verb in words.READY and deed.is_last)
        or (not deed.target and deed.verb in _SAVED | {"validated"})
        or (first == "pronoun" and deed.verb in _SAVED | {"validated", "verified"})
    )
    return Said(deed.verb, "record", False, True) if is_record else None


# --- Words and places ----------------------------------------------------------------------------------------------


def goal(after: list[str], target: list[str]) -> str:
    """Return where something was put.

    One of own memory, memory, in memory (of a machine, perhaps), ledger, record, weak record, code, other; "" for none.
    """
    first = ""
    for place, token in enumerate(after):
        if token not in words.PLACES:
            continue
        span = after[place + 1 : place + 1 + _SPAN]
        span = span[: next((number for number, word in enumerate(span) if word in words.PLACES), len(span))]
        found = _place(token, span, target)
        if found == "memory":
            is_firm = token in ("to", "into") and not words.VOLATILE.intersection(after)
            return "own memory" if not _is_plain(span) else "memory" if is_firm else "in memory"
        first = first or found
    return first


def _is_plain(span: list[str]) -> bool:
    return span[0] == "memory" and (len(span) == 1 or span[1] not in words.OF_MEMORY)


def _place(preposition: str, span: list[str], target: list[str]) -> str:
    kinds = [kind(span, number) for number in range(len(span))]
    if "memory" in kinds:
        return "memory"
    if any(word.startswith(_NAMED) for word in span) or span[-2:] == ["qa", "file"]:
        return "ledger"
    if "record" in kinds:
        return "ledger" if any(word in words.RECORD_KINDS for word in span) else "record"
    if any(is_code(word) for word in span):
        return "code"
    rest = [word for word in span if word not in words.OWN | words.ADVERBS]
    if rest in (["log"], ["notes"], ["records"], ["knowledge", "base"], ["index"]):
        return "weak record"
    is_purpose = preposition == "to" and bool(target) and target[-1] in words.TAUGHT  # "the decision to drop it"
    named = set(rest) - words.NEUTRAL - words.WEAK_RECORDS - words.RECORD_KINDS
    return "other" if named and not is_purpose else ""


def kind(tokens: Sequence[str], place: int) -> str:
    """Return what a word names: memory, taught, record, document, weak record, weak document, pronoun; or ""."""
    token = tokens[place]
    before = tokens[place - 1] if place else ""
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    is_whole = _is_whole(following)
    if _is_store(token) or (token in words.MEMORY and _is_own_memory(before, following)):
        return "memory"
    if token in _TAUGHT:
        is_taught = is_whole and following not in words.WEAK_RECORDS and (token in words.TAUGHT or before == "your")
        return "taught" if is_taught else ""
    if token in words.RECORDS or _RECEIPT_ID.match(token) or token.endswith(_LEDGERS):
        return "record" if is_whole or following in words.OF_RECORDS else ""
    if token in words.DOCUMENTS and before in words.DOCUMENT_KINDS and is_whole:
        return "document"
    return _weak_kind(tokens, place) if is_whole or token in words.PRONOUNS else ""


def _weak_kind(tokens: Sequence[str], place: int) -> str:
    token = tokens[place]
    before = tokens[place - 1] if place else ""
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    if token in words.WEAK_RECORDS:
        rest = tokens[place + 1 : place + 5]
        of_session = any(
            rest[number + 1 : number + 2] == ["session"] and rest[number] in words.OWN for number in range(3)
        )
        mine = before in ("our", "your", "my") and token in ("progress", "answer", "answers")
        return "record" if before in words.RECORD_KINDS or of_session or mine else "weak record"
    if token in words.WEAK_DOCUMENTS and before not in words.CODE:
        return "weak document"
    is_alone = token not in words.POINTERS or not following or following in words.GRAMMAR
    return "pronoun" if token in words.PRONOUNS and is_alone else ""


def _is_whole(following: str) -> bool:
    """Whether a noun is one by itself, and not the first half of another: "decision tree", "progress bar"."""
    return not following or following in _ENDS or following in _COVERED or following.endswith("ly")


def _is_store(token: str) -> bool:
    return _ENTRY_ID.match(token) is not None or _STORE in token or token.endswith("memory.md")


def _is_own_memory(before: str, following: str) -> bool:
    if before in words.OWN_MEMORY or following.endswith("ly"):
        return True
    return before not in words.MACHINE and (not following or following in _MAY_FOLLOW_MEMORY)


def is_code(token: str) -> bool:
    """Whether a word speaks of code or of a file that is not the store's own."""
    if token in words.CODE or token.removesuffix("s") in words.CODE or token == prose.CODE:
        return True
    if token in ("e.g", "i.e") or token.endswith(_LEDGERS) or _is_store(token):
        return False
    return "/" in token or "\\" in token or _SUFFIX.search(token) is not None


def speaks_of_code(text: str) -> bool:
    """Whether a text speaks of code or of files anywhere."""
    if _PATH.search(text):
        return True
    lowered = text.casefold()
    tokens = set(_LATIN.findall(lowered))
    if not words.CODE.isdisjoint(tokens) or not words.CODE.isdisjoint({token.removesuffix("s") for token in tokens}):
        return True
    return not lowered.isascii() and any(word in lowered for word in words.CODE_ZH)
