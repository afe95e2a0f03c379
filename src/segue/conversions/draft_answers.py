"""Decisions that a human takes by answering: choosing, agreeing to a proposal, or concluding ("then we keep …").

What an answer settles depends on what was said before it. A choice counts only where it was offered as one ("A or B?")
and the answer names what it takes; agreement counts only for a proposal that says what it replaces. English, with the
plainest forms of German and Chinese.
"""

from __future__ import annotations

import re
from itertools import pairwise

from segue.conversions import draft_decisions, draft_limits, draft_text
from segue.conversions.draft_decisions import Decision

_READ_OF_ANSWER, _READ_OF_SAID = 4, 14  # sentences
_MOST_WORDS = 35  # of a choice
_FEW_WORDS = 5  # with which a choice needs what was asked beside it
_TOO_LONG = 500  # characters of a sentence

_ALTERNATIVE = re.compile(r"\b(?:or|oder)\b|还是|或者", re.IGNORECASE)
_OFFERS = re.compile(
    r"\b(?:could|can|either|rather|two (?:ways|options|things)|zwei (?:wege|möglichkeiten)|entweder|können)\b"
    r"|两种|两个",
    re.IGNORECASE,
)
_FACTUAL = re.compile(
    r"(?:(?:and|but|so|also|und|aber) )?(?:is|are|was|were|does|did|has|have|had|who|when|where|ist|sind|war|hat"
    r"|gibt|wer"
    r"|wann|wo)\b",
    re.IGNORECASE,
)
_PROCEDURAL = re.compile(
    r"\b(?:continue|proceed|stop|wait|commit|push|first|start|try|look|investigate|check|re-?run|later|tomorrow|merge"
    r"|anything|something|weiter|zuerst|später|morgen|warten)\b|先|继续",
    re.IGNORECASE,
)
_PROPOSAL = re.compile(
    r"(?:i'd|i would|i'll|i will|i suggest|i recommend|i propose|we should|we could|let's|let’s)"
    r"(?: (?:suggest|recommend|propose|rather|prefer|to|we|using))* "
    r"(?P<object>\S.{2,240}?(?: instead of | rather than |,(?: and)? not )\S.*)",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"(?:yes|yep|yeah|ok|okay|sure|agreed|right(?! now)|good|fine(?!-)|great|perfect|exactly|sounds good|please do"
    r"|do (?:it|that|so)"
    r"|go (?:ahead|for it)|ja|gut|genau|einverstanden)\b|好|可以|同意",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:(?:yes|yep|yeah|no|nope|ok|okay|sure|agreed|right|good|fine|great|well|ja|nein|gut|alright"
    r"|understood)\b[,.!:]? +"
    r"|(?:and|so|then|please|dann|also|bitte|und) +)+",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:accept|allow|do|drop|go|ignore|keep|leave|make|move|put|ship|skip|split|stay|stick|store|support|switch|take"
    r"|use)"
)
_WE_WILL = re.compile(rf"we(?:'ll| will| are going to|'re going to) (?P<object>{_VERBS} \S.*)", re.IGNORECASE)
_WE_DO = re.compile(
    r"(?:we (?P<object>(?:(?:drop|go with|stay with|stick with|skip|leave) \S.*|(?:keep|use|take) (?!\w+ing\b)\S.*"
    r"\b(?:until|for now|from now on|instead|everywhere|no longer|any more)\b.*))"
    r"|wir (?:nehmen|bleiben bei|verzichten auf) \S.*)",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:still|currently|usually|normally|sometimes|often|already|today|derzeit|bisher|meist)\b", re.I
)
_LETS = re.compile(r"let(?:'|’)?s (?P<object>[a-z]+ \S.*)", re.IGNORECASE)
_CONCLUDES = re.compile(r"(?:\w+[,.!]? )?(?:then|so|dann|also)\b", re.IGNORECASE)
_USE_INSTEAD = re.compile(
    r"(?P<object>(?:use|take|keep|store) (?!it\b|that\b|this\b)\S.{2,200}? instead\b.*)", re.IGNORECASE
)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|might|not sure|probably|depends|neither|difference|whatever|vielleicht|wahrscheinlich"
    r"|i (?:do not|don't|can't|cannot|did not|didn't|think|feel|guess|see|mean|wonder|believe|doubt|have|know))\b"
    r"|可能|也许|不知道",
    re.IGNORECASE,
)
_OBJECTS = re.compile(r"\b(?:but|however|wait|why|hold on|aber|doch)\b", re.IGNORECASE)
_REPORTS = re.compile(
    r"(?:hmm+|here|it|this|that|he|she|they|there|you|we|who|i(?!'d| (?:prefer|want|choose|vote|would)\b)|er|sie|es"
    r"|ich)\b|(?:the|my|our|your|der|die|das) (?:[\w-]+ ){1,2}(?:\w+[^s\W]s|is|are|was|were|has|had|does|did|never"
    r"|always|still|ist|sind|hat|war) ",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    r"\b(?:tests? first|look|check|see|wait|tomorrow|the rest|that later|continue|commit|push|debug|try)\b",
    re.IGNORECASE,
)
_STOP_WORDS = frozenset(
    "the and for with not you are was should would could can that this these those from have has had which what "
    "when where use used using make get than then them they will shall our your its it's into one two und oder "
    "die der das den dem ein eine einen mit wir sie ich soll sollen nicht wie auf für".split()
)


def answers(reply: str, said: str) -> list[Decision]:
    """Return the decisions in a human's `reply` to an agent who last said `said`."""
    if not said:
        return []
    sentences = [sentence for sentence, _ in draft_text.flat(reply)[:_READ_OF_ANSWER]]
    before = [sentence for sentence, _ in draft_text.flat(said)[-_READ_OF_SAID:]]
    choices = [sentence for sentence in before if _is_choice(sentence)]
    questions = [sentence for sentence in before if draft_text.is_question(sentence)]
    found = _agreed(sentences, before, questions)
    for sentence in sentences:
        if draft_text.is_question(sentence) or _UNSURE.search(sentence) or len(sentence) > _TOO_LONG:
            continue
        concluded = _concluded(sentence, open_question=bool(questions) and not choices)
        found += _decision(concluded) if concluded else _chosen(sentence, choices)
    return found


def of_form(question: str, result: str) -> list[Decision]:
    """Return the answer that the result of a form records for `question` (`"question"="answer"`), as a decision."""
    start = result.find(f'"{question}"="')
    if start < 0 or _PROCEDURAL.search(question):
        return []
    answer = result[start + len(question) + 4 :].split('"', 1)[0].replace(" (Recommended)", "").strip()
    return [Decision(f"{question} {answer}", "")] if answer else []


def _agreed(sentences: list[str], before: list[str], questions: list[str]) -> list[Decision]:
    """Return the proposal that the reply agrees to; a yes to a question of fact is none."""
    if not sentences or not _AGREES.match(sentences[0]) or _is_objection(sentences[0]):
        return []
    if questions and _FACTUAL.match(questions[-1]):
        return []
    proposal = next((match for text in reversed(before) if (match := _PROPOSAL.match(text))), None)
    if proposal is None or _PROCEDURAL.search(proposal["object"]) or draft_decisions.is_procedure(proposal["object"]):
        return []
    return _decision(proposal["object"])


def _is_objection(sentence: str) -> bool:
    return draft_text.is_question(sentence) or bool(_OBJECTS.search(sentence))


def _is_choice(sentence: str) -> bool:
    if not _ALTERNATIVE.search(sentence) or _PROCEDURAL.search(sentence):
        return False
    if draft_text.is_question(sentence):
        return not _FACTUAL.match(sentence)
    return bool(_OFFERS.search(sentence))


def _concluded(sentence: str, *, open_question: bool) -> str | None:
    """Return what a sentence concludes by itself; `open_question` says that it may just tell what was asked for."""
    opening = _OPENING.match(sentence)
    bare = sentence[opening.end() :] if opening else sentence
    forms = [_WE_WILL, _USE_INSTEAD]
    if opening and _CONCLUDES.match(opening.group()):
        forms += [_LETS, _WE_DO]
    elif not open_question and not _HABIT.search(bare):
        forms.append(_WE_DO)
    for form in forms:
        match = form.fullmatch(bare)
        if match and not _AT_ONCE.search(bare) and not draft_decisions.is_procedure(match["object"] or ""):
            return match["object"] or bare
    return None


def _chosen(sentence: str, choices: list[str]) -> list[Decision]:
    """Return the decision of a sentence that names one of the things offered, or none."""
    opening = _OPENING.match(sentence)
    bare = sentence[opening.end() :] if opening else sentence
    words = bare.split()
    if not 0 < len(words) <= _MOST_WORDS or _REPORTS.match(bare) or _PROCEDURAL.search(bare):
        return []
    if draft_decisions.is_procedure(bare) or draft_limits.constraints(bare):
        return []
    offered = next((choice for choice in reversed(choices) if _tokens(bare) & _tokens(choice)), None)
    if offered is None:
        return []
    if len(words) < _FEW_WORDS and bare.isascii():
        bare = f"{bare.rstrip(' .!')} (asked: {offered})"
    return _decision(bare)


def _decision(text: str) -> list[Decision]:
    what, why = draft_decisions.split_reason(text)
    if draft_decisions.is_vague(what):
        return []
    return [Decision(draft_text.capitalised(what), draft_text.capitalised(why))]


def _tokens(text: str) -> frozenset[str]:
    """Return the words of a text that tell one alternative from another; pairs of signs in scripts without spaces."""
    lowered = text.lower()
    words = {
        word.rstrip("s") for word in re.findall(r"[^\W\d_]{3,40}", lowered) if word.isascii() or not _is_wide(word)
    }
    wide = [sign if _is_wide(sign) else " " for sign in lowered]
    pairs = {first + second for first, second in pairwise(wide) if first != " " and second != " "}
    return frozenset((words - _STOP_WORDS) | pairs)


def _is_wide(text: str) -> bool:
    return any("\u2e80" <= sign <= "\U0003ffff" for sign in text)
