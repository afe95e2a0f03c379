"""English claims of persistence: one folded sentence, cut into pieces, each done thing judged where it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from segue.continuity import claim_words as words
from segue.continuity import prose
from segue.continuity.claim_idioms import plain
from segue.continuity.claim_things import Deed, Form, Said, Subject, goal, is_code, judged, kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST = 60  # words on each side of what was done that are looked at, and things done in one piece
_LETTER = r"[a-z0-9_\u00c0-\u024f]"
_WORD = rf"[~./\\]{{0,3}}{_LETTER}(?:[a-z0-9_\u00c0-\u024f.'/\\&@+-]*{_LETTER}/?)?"
_TOKEN = re.compile(rf"{_WORD}|[,;:()\[\]|—–…]|(?<= )-+(?= )|[{prose.CODE}{prose.QUOTE}]")
_SIGN = re.compile(
    r"saved|stored|record|persist|remember|memor|preserv|archiv|retain|noted?|captur|logged|register|document|kept|"
    r"filed|bookmarked|added|written|wrote|put|commit|enter|append|updat|sync|pinned|moved|placed|created|valid|verif|"
    r"consistent|ready|complete|generated|issued|finali|finished|up to date|produced|enabled|initiali|lives|on file|"
    r"in the|down|now (?:contains|holds|has|includes|reflects|lists)"
)
_FIELD = re.compile(
    r"\b(memory_status|persistence_status|readiness_status|finalizer_status)[\"' ]*[:=][\"' ]*(saved|ready|validated)\b"
)
_FIELDS: dict[str, Subject] = {"memory_status": "memory", "readiness_status": "document"}
_HARD = words.BREAKS | frozenset(";:()[]|—–…-")
_BARE = frozenset(word for word in words.BE | words.HAVE if "'" not in word)
_INHERITS = words.DONE | _BARE  # a piece that begins so has the subject of the one before
_VERBAL = words.DONE | words.FINITE | words.MODALS
_UNREAL = words.MODALS | words.CONDITIONS | words.OPEN
_SUBJECTS = words.POINTERS | {"it", "everything"}
_SOFT = frozenset((",", "and", "or", "&", "then"))


@dataclass(slots=True)
class _Piece:
    """Words between two breaks; `is_hard` where the break before ends what negations and conditions reach.

    `is_reported` where something else says it: "the tool prints: saved".
    """

    tokens: list[str] = field(default_factory=list)
    is_hard: bool = True
    is_question: bool = False
    is_final: bool = False
    is_reported: bool = False

    @property
    def stands_alone(self) -> bool:
        """Whether it has a subject of its own."""
        return self.tokens[0] not in _INHERITS


@dataclass(slots=True)
class _Reach:
    """What earlier pieces of the sentence leave for later ones."""

    subject: list[str] = field(default_factory=list)
    form: Form = ""
    denied: bool = False
    conditional: bool = False


def said(sentence: str) -> list[Said]:
    """Return the claims of one folded sentence, in their order."""
    match = _FIELD.search(sentence)
    if match:
        return [Said(match[2], _FIELDS.get(match[1], "record"), match[1] == "memory_status")]
    if not _SIGN.search(sentence):
        return []
    found: list[Said] = []
    reach = _Reach()
    later = words.LATER.search(sentence) is not None
    pieces = _pieces(plain(sentence))
    if all(words.DONE.isdisjoint(piece.tokens) for piece in pieces):
        return []
    for place, piece in enumerate(pieces):
        if piece.is_hard or piece.tokens[0] in ("since", "because"):
            reach = _Reach(subject=reach.subject)
        claims = [] if piece.is_reported else list(_claims(piece, reach, later))
        following = pieces[place + 1].tokens if place + 1 < len(pieces) else []
        if not (len(following) == 1 and following[0] in words.NO) and not words.SIZES.intersection(following[:4]):
            found += claims
        _leave(piece, reach)
    return found


# --- Pieces --------------------------------------------------------------------------------------------------------


def _pieces(sentence: str) -> list[_Piece]:
    pieces = [_Piece()]
    for token in _TOKEN.findall(sentence):
        if token in _HARD:
            pieces.append(_Piece(is_reported=_goes_on_to_report(pieces[-1], token)))
        elif token not in _SOFT:
            pieces[-1].tokens.append(token)
        elif pieces[-1].tokens:
            pieces.append(_Piece(is_hard=False, is_reported=pieces[-1].is_reported))
    pieces = _joined([piece for piece in pieces if piece.tokens])
    if pieces and "?" in sentence[-4:]:
        pieces[-1].is_final = True
        for piece in reversed(pieces):
            piece.is_question = True
            if piece.is_hard:
                break
    return pieces


def _goes_on_to_report(piece: _Piece, mark: str) -> bool:
    """Whether what follows a piece and that mark is the word of a tool or of somebody else."""
    if piece.is_reported or mark != ":":
        return piece.is_reported and mark not in words.BREAKS
    tokens = piece.tokens
    return len(tokens) > 1 and tokens[-1] in words.REPORTS and words.AGENT.isdisjoint(tokens)


def _joined(pieces: list[_Piece]) -> list[_Piece]:
    """Return `pieces`, those without a verb joined to the one before that has one."""
    kept: list[_Piece] = []
    for piece in pieces:
        is_verbless = _VERBAL.isdisjoint(piece.tokens)
        if is_verbless and not piece.is_hard and kept and words.DONE.intersection(kept[-1].tokens):
            kept[-1].tokens += [",", *piece.tokens]
        else:
            kept.append(piece)
    return kept


def _leave(piece: _Piece, reach: _Reach) -> None:
    """Note in `reach` what a piece leaves for the next."""
    tokens = piece.tokens
    reach.conditional = reach.conditional or any(token in words.CONDITIONS for token in tokens[:3])
    if not piece.stands_alone:
        return
    done = next((place for place, token in enumerate(tokens) if token in words.DONE), len(tokens))
    lead = tokens[:done][:_LONGEST]
    names = any(kind(lead, place) for place in range(len(lead)))
    reach.denied = _is_denied(lead) and (done < len(tokens) or names)
    reach.form = _form(lead, _Reach())[0] if done < len(tokens) else _carried(tokens)
    end = next((place for place, token in enumerate(lead) if token in words.VERBS), len(lead))
    subject = lead[:end]
    names = any(kind(subject, place) or is_code(subject[place]) for place in range(len(subject)))
    if names or words.AGENT.intersection(subject[:1]):
        reach.subject = subject


def _carried(tokens: Sequence[str]) -> Form:
    """Return how a verb that follows would be said: "I ran the tests and saved …", "it was approved and saved"."""
    for token in tokens:
        if token in words.AGENT:
            return "past"
        if token in words.BE:
            return "passive"
        if token in words.HAVE:
            return "passive" if "been" in tokens else "perfect"
    if not tokens[-1].endswith("ed"):
        return "other"
    return "bare" if len(tokens) == 1 else "headline"


# --- How it is said ------------------------------------------------------------------------------------------------


def _claims(piece: _Piece, reach: _Reach, later: bool) -> Iterator[Said]:
    """Yield what one piece claims."""
    tokens = piece.tokens
    places = [place for place, token in enumerate(tokens) if token in words.DONE]
    for place in places[:_LONGEST]:
        before = _unassured(tokens[max(place - _LONGEST, 0) : place])
        after = tokens[place + 1 : place + 1 + _LONGEST]
        form, subject = _form(before, reach)
        if form and _is_fact(form, before, piece, reach) and _stays_so(tokens[place], form, before, after):
            claim = judged(_deed(tokens[place], form, before, subject, _main(after), later))
            if claim:
                yield claim


def _deed(verb: str, form: Form, before: list[str], subject: list[str], after: list[str], later: bool) -> Deed:
    end = next((place for place, token in enumerate(after) if token in words.PLACES), len(after))
    role = after.index("as") + 1 if "as" in after else len(after)
    target = after[:end] if after[:1] != ["for"] else []
    if form in ("passive", "headline"):
        target = [*subject, *after[role : role + 3]]
    elif form == "other":
        target = [*subject, *after[:end]]
    target = [token for token in target if token not in words.ADVERBS or token == "all"]  # noqa: S105 -- a word
    was = form != "passive" or bool(words.PAST.intersection(before))
    is_event = was or "now" in before or "already" in before
    is_last = all(token in words.ADVERBS for token in after)
    return Deed(verb, form, target, goal(after[end:], target), was, is_event, is_last, later)


def _form(before: Sequence[str], reach: _Reach) -> tuple[Form, list[str]]:
    """Return how something is said to be done, and the words that name what it was done to, where they stand before."""
    place = len(before) - 1
    while place >= 0 and before[place] in words.ADVERBS and before[place] != "all":
        place -= 1
    if place < 0:
        form = reach.form if reach.form not in ("", "other") else "bare"
        return form, (reach.subject if form in ("passive", "headline") else [])
    word, head = before[place], list(before[:place])
    short = word.removesuffix("'s")
    if word in words.BE or (short != word and kind([short], 0)):
        subject = [*head, short] if short != word else [token for token in head if token not in words.HAVE]
        return "passive", subject or reach.subject
    if word in words.HAVE or word.endswith("'ve"):
        return "perfect", []
    if word in words.AGENT:
        return ("", []) if head and head[-1] in words.HAVE else ("past", [])
    if word in words.DETERMINERS:
        return "", []
    if word in _SUBJECTS or kind(before, place):
        return "headline", list(before[: place + 1])
    return "other", list(before[: place + 1])


def _is_fact(form: Form, before: list[str], piece: _Piece, reach: _Reach) -> bool:
    """Whether nothing before it denies, asks, wishes, conditions or reports it."""
    is_own = bool(before) and before[0] not in _BARE
    is_deed = form in ("perfect", "past") and is_own  # "I have saved", with its own subject
    if _is_denied(before) or (reach.denied and not is_own):
        return False
    if not _UNREAL.isdisjoint(before):
        return False
    if any(token == "that" and before[place - 1] not in words.ADVERBS for place, token in enumerate(before) if place):  # noqa: S105 -- a word
        return False
    if reach.conditional and not is_deed:
        return False
    if form in ("passive", "headline") and ("only" in before or before[:1] in (["had"], ["were"])):
        return False
    return not piece.is_question or (is_deed and not piece.is_final)


def _stays_so(verb: str, form: Form, before: list[str], after: list[str]) -> bool:
    """Whether nothing after it takes it back, or makes it an attribute or a recollection."""
    following = next((token for token in after if token not in words.ADVERBS), "")
    if following in words.NO:
        return False
    is_told = form in ("perfect", "past") or words.PAST.intersection(before) or "now" in before or "already" in before
    if not is_told and words.TRAILING.intersection(after):
        return False
    if form == "other" and following == ",":  # "the store holds saved and pending entries"
        return False
    if form in ("bare", "headline", "other") and words.FINITE.intersection(_main(after)):
        return False
    if form == "headline" and (following in words.OBJECTS or following[:1].isdigit()):  # "this saved two round trips"
        return False
    if verb in words.REMEMBERED:
        return following not in words.RECALLED and not (following == "that" and form != "perfect")
    return True


def _unassured(before: list[str]) -> list[str]:
    """Return the words after "I can confirm that", which says the same as without it."""
    for place in range(1, len(before)):
        if before[place] == "that" and before[place - 1] in words.CONFIRMED:
            head = before[: place - 1]
            is_own = words.AGENT.intersection(head) or words.HAVE.intersection(head) or "i'm" in head
            if is_own and not _is_denied(head) and not (words.MODALS - words.ASSURED).intersection(head):
                return before[place + 1 :]
    return before


def _is_denied(tokens: Sequence[str]) -> bool:
    return any(token in words.NEGATIONS or token.endswith("n't") for token in tokens)


def _main(after: list[str]) -> list[str]:
    """Return the words up to a subordinate clause; "that" as the first word is what was done."""
    end = next((place for place, token in enumerate(after) if token in words.SUBORDINATE and place), len(after))
    return after[:end] if after[:1] and (after[0] == "that" or after[0] not in words.SUBORDINATE) else []
