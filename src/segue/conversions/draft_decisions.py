"""Decisions, where somebody says them in so many words.

A statement that is asked, denied, supposed or quoted is none. Patterns are English; other languages give fewer
fields, never wrong ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from segue.conversions import draft_text


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, and why as far as it was said (else empty)."""

    what: str
    why: str


_SUBJECT = r"(?:we|i|we've|i've|we have|i have|you|you've|you have|the team|the team has|it was)"
_ADVERB = r"(?:all |both |now |then |finally |already |also |jointly |therefore |instead )?"
_DECIDED = re.compile(
    rf"\b{_SUBJECT} {_ADVERB}(?P<verb>decided|agreed|opted|settled|chose)"
    r"(?P<link>(?: to| that| on| for| against| upon)?) (?P<object>\S.*)",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:(?:final |key |design )?(?:decision|decided)(?: (?:made|taken))?|entscheidung|beschlossen|决定)\s*[:：–—-]\s*"
    r"(?P<object>\S.*)",
    re.IGNORECASE,
)
_GOING = re.compile(
    r"(?P<clause>(?:^|\b(?:we|i)(?:'re| are|'m| am|'ll| will|'ve| have)? )(?:going|go|gone|went|stick|sticking"
    r"|stuck|stay|staying)"
    r" with (?P<object>\S.*))",
    re.IGNORECASE,
)
_OPENING = r"(?:(?:yes|no|ok|okay|so|then|and|please|actually|alright|right|great|good)[,.!:]? )*"
_LETS = re.compile(
    rf"{_OPENING}let(?:'|’)?s (?P<object>(?:go with|use|stick with|stay with|keep|switch to|adopt|pick|choose) \S.*)",
    re.IGNORECASE,
)
_USE = re.compile(
    rf"{_OPENING}(?P<object>(?:(?:(?:we|i)(?:'ll| will| am going to|'m going to| are going to|'re going to) )?"
    r"(?:use|keep|store|prefer)|(?:(?:we|i)(?:'ve| have)? )?(?:used|kept|stored))"
    r" \S.{0,200}?(?: instead of | rather than |, not )\S.*)",
    re.IGNORECASE,
)
_USE_SUBJECT = re.compile(
    r"(?:we|i)(?:'ll| will|'ve| have| am going to|'m going to| are going to|'re going to)? ", re.IGNORECASE
)
_DECISION_IS = re.compile(
    r"\b(?:the (?:final |design |key )?decision (?:here )?(?:is|was)|(?:i|we) made the decision) (?:to|that) "
    r"(?P<object>\S.*)",
    re.IGNORECASE,
)
_WE_WILL = re.compile(r"\bwe(?:'ll| will) (?P<object>(?:use|keep|store|support|drop|ship) \S.*)", re.IGNORECASE)
_OF_THE_MOMENT = re.compile(
    r"\b(?:tool|grep|ripgrep|rg|sed|awk|find|debugger|subagent|attached|yesterday)\b"
    r"|\bto (?:double[ -]?)?(?:check|verify|see|debug|inspect|analy[sz]e|investigate|understand|compare|figure)\b"
    r"|^(?:keep|stay) (?:going|it|working|looking|on)\b",
    re.IGNORECASE,
)
_AND_SO = re.compile(r",? so (?:i|we|let)(?:'|\b).*", re.IGNORECASE)
_INSTEAD = re.compile(r" (?:instead of|rather than|over) |, not ", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:if|whether|unless|until|should|could|might|maybe|perhaps|would|once|before|haven't|hasn't|didn't|don't|not|"
    r"never|nobody|as though|suppose|assuming|in case|when)\b|n't\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:everything|all|what|whatever|which|that|as|things|points|the \w+)(?: that)? $", re.IGNORECASE
)
_VAGUE = re.compile(
    r"(?:that|it|this|those|these|them|so|both|(?:option|plan|variant|approach|number|choice) \w{1,3}|"
    r"the (?:first|second|third|last|former|latter|other|same)(?: (?:one|option|approach))?|"
    r"(?:your|the) (?:suggestion|proposal|idea|recommendation|approach|plan)|\w)\b\W*",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"(?:look|read|check|start|begin|run|inspect|first|investigate|try|open|search|examine|wait|stop|see|take a|"
    r"continue|proceed|explore|re-?run|ask|grep|go (?:over|through|back|on|ahead)) ?\b",
    re.IGNORECASE,
)
_BECAUSE = re.compile(
    r"[\s,;:(–—-]+(?:because(?: of)?|due to|given that|as (?=(?:it|they|this|that|we|the) )"
    r"|since(?! (?:then|\d+|yesterday|last|the (?:last|release|beginning|start)|version|v\d|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november"
    r"|december)\b))\s+",
    re.IGNORECASE,
)
_SO_THAT = re.compile(r"[\s,;:(–—-]+(?=so that )", re.IGNORECASE)
_REASON_FIRST = re.compile(
    r"(?:because|since|as) (?P<why>[^,]{8,300}), (?P<rest>(?:we|i) .*|let's .*|use .*)", re.IGNORECASE
)
_REASON_NEXT = re.compile(
    r"(?:because(?: of)?|reason(?:ing)?\s*:|rationale\s*:|why\s*:|the reason (?:is|was"
    r"|being)(?: that)?:?)\s+(?P<why>\S.*)",
    re.IGNORECASE,
)
_DECISION_CLUES = (
    "deci",
    "entscheidung",
    "beschlossen",
    "决定",
    "agreed",
    "opted",
    "settled",
    "chose",
    "let's",
    "let’s",
    "instead of",
    "rather than",
    ", not ",
    " with ",
    "we'll ",
    "we will ",
)
_DECISIONS_HEADING = re.compile(r"(?:key |design |main )?decisions(?: (?:made|taken|so far))?", re.IGNORECASE)


def decisions(text: str, *, by_human: bool) -> list[Decision]:
    """Return the decisions that `text` states; what an agent merely proposes needs a reason to count."""
    if not draft_text.mentions(text, _DECISION_CLUES):
        return []
    flat = draft_text.flat(text)
    found: list[Decision] = []
    for position, (sentence, heading) in enumerate(flat):
        following = flat[position + 1][0] if position + 1 < len(flat) else ""
        decision = _decision(sentence, heading, following, by_human)
        if decision is not None:
            found.append(decision)
    return found


def _decision(sentence: str, heading: str, following: str, by_human: bool) -> Decision | None:
    if sentence.endswith("?") or len(sentence) > 600:
        return None
    why = ""
    reason_first = _REASON_FIRST.fullmatch(sentence)
    if reason_first:
        why, sentence = reason_first["why"], reason_first["rest"]
    if _DECISIONS_HEADING.fullmatch(heading) and not _REASON_NEXT.match(sentence):
        labelled = _LABELLED.match(sentence)
        what: str | None = labelled["object"] if labelled else sentence
    else:
        what = _decided(sentence, by_human, bool(why))
    if not what:
        return None
    what, said = split_reason(_AND_SO.sub("", what))
    why = why or said
    if not why:
        reason = _REASON_NEXT.fullmatch(following)
        why = reason["why"] if reason else ""
    if len(what.split()) < 2 or _VAGUE.fullmatch(what):
        return None
    return Decision(draft_text.capitalised(what), draft_text.capitalised(why))


def _decided(sentence: str, by_human: bool, reasoned: bool) -> str | None:
    """Return the clause of the sentence that was decided, or None."""
    labelled = _LABELLED.match(sentence)
    if labelled:
        return None if _open_ended(labelled["object"]) else labelled["object"]
    decided = _DECIDED.search(sentence)
    if decided and _stated(sentence, decided.start()):
        return _object_of(decided)
    return _resolved(sentence, by_human, reasoned)


def _resolved(sentence: str, by_human: bool, reasoned: bool) -> str | None:
    """Return what the sentence settles by other words than "decided", or None."""
    concluded = _DECISION_IS.search(sentence)
    if concluded and _stated(sentence, concluded.start()):
        return None if is_vague(concluded["object"]) else concluded["object"]
    reasoned = reasoned or bool(_BECAUSE.search(sentence) or _SO_THAT.search(sentence))
    going = _GOING.search(sentence)
    if going and _stated(sentence, going.start()) and not is_vague(going["object"]):
        return going["clause"] if reasoned or by_human or _INSTEAD.search(going["object"]) else None
    return _proposed(sentence, reasoned or by_human, reasoned)


def _proposed(sentence: str, firm: bool, reasoned: bool) -> str | None:
    """Return what "let's", "use … instead of" and "we will" propose, where it is `firm` (or has its reason)."""
    will = _WE_WILL.search(sentence)
    if will and reasoned and _stated(sentence, will.start()) and not is_vague(will["object"].split(" ", 1)[1]):
        return will["object"]
    proposed = _LETS.match(sentence) or _USE.match(sentence)
    if proposed and firm and not _OF_THE_MOMENT.search(proposed["object"]):
        clause = (
            _USE_SUBJECT.sub("", proposed["object"], count=1)
            if _USE_SUBJECT.match(proposed["object"])
            else proposed["object"]
        )
        rest = clause.split(" ", 1)[1]
        return None if is_vague(re.sub(r"^(?:with|to) ", "", rest)) else clause
    return None


def _object_of(decided: re.Match[str]) -> str | None:
    link, verb, target = decided["link"].strip().lower(), decided["verb"].lower(), decided["object"]
    if verb in ("decided", "agreed", "chose", "opted") and target.lower().startswith("not to "):
        return target
    if is_vague(target) or _open_ended(target):
        return None
    if link in ("to", "that"):
        return None if _PROCEDURE.match(target) else target
    if link:
        return f"{verb} {link} {target}"
    return f"{verb} {target}" if verb == "chose" else None


def _stated(sentence: str, start: int) -> bool:
    """Whether what begins at `start` is said outright: nothing before it supposes, denies or quotes."""
    before = sentence[:start]
    if _RELATIVE.search(before):
        return False
    return not _HEDGE.search(before) and before.count('"') % 2 == 0 and before.count("“") == before.count("”")


def is_vague(target: str) -> bool:
    """Whether what was decided cannot be told from the words themselves ("that", "option 2")."""
    bare = split_reason(target)[0]
    return bool(_VAGUE.fullmatch(bare))


def _open_ended(target: str) -> bool:
    return bool(re.match(r"(?:tbd|pending|open|none|to be|needed|later|not)\b", target, re.IGNORECASE))


def is_procedure(target: str) -> bool:
    """Whether what was decided is only what to do in the next minutes."""
    return bool(_PROCEDURE.match(target)) or bool(_OF_THE_MOMENT.search(target))


def split_reason(text: str) -> tuple[str, str]:
    """Return `text` without the clause that gives its reason, and that clause (else empty)."""
    because = _BECAUSE.search(text)
    so_that = _SO_THAT.search(text)
    first = min((match for match in (because, so_that) if match), key=lambda match: match.start(), default=None)
    if first is None or first.start() < 3:
        return text, ""
    why = text[first.end() :]
    if first.group().lstrip()[:1] == "(" or ")" in why:
        why = why.split(")")[0]
    return _ended(text[: first.start()].rstrip(" ,;:(–—-")), why.strip()


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "…")) else text + "."
