"""What a text says is open, what it names as the next step, and what it says was learned or tried in vain.

Patterns are English, with the labels that German and Chinese use; other languages give fewer fields, never wrong ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from segue.conversions import draft_text

_OPEN_CLUES = (
    *("open", "unresolved", "unclear", "undecided", "decided", "tbd", "question", "not clear", "not yet clear"),
    *("need to know", "offen", "frage", "问题", "待定"),
)
_OPEN_HEADING = re.compile(
    r"(?:(?:open|unresolved|outstanding|remaining) (?:questions?|points|decisions)|questions? for you"
    r"|still (?:open|unclear))"
    r"(?: for you)?",
    re.IGNORECASE,
)
_OPEN_LABEL = re.compile(
    r"(?:(?:(?:one|another|the only|last|still an?) )?(?:open (?:question|point)|unresolved|unresolved question)"
    r"|(?:still )?open|still (?:unclear|undecided)|to be decided|tbd|(?:one )?question for you"
    r"|(?:eine )?offene (?:frage|punkte?)|(?:noch )?offen(?: ist(?: noch)?| bleibt)?"
    r"|(?:还有)?一?个?(?:未决|未定|待定|开放|没有定)?的?问题(?:没有定|还没定|待定|未定)?|待定)\s*[:：–—-]\s*(?P<object>\S.*)",
    re.IGNORECASE,
)
_OPEN_STATED = re.compile(
    r".{0,200}\b(?:(?:is|are|remains|it's|it is|i'm|we're|still) (?:still )?(?:unclear|undecided"
    r"|an open question|to be decided|not (?:yet )?decided|not (?:yet )?clear)|(?:i|we) (?:also |still )*need to"
    r" know)\b"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"(?:none|nothing|no|n/?a|all done|done|-)\b.{0,40}", re.IGNORECASE)


def open_questions(text: str) -> list[str]:
    """Return what `text` calls open, undecided or unclear."""
    found: list[str] = []
    if not draft_text.mentions(text, _OPEN_CLUES):
        return found
    for sentence, heading in draft_text.flat(text):
        labelled = _OPEN_LABEL.match(sentence)
        if labelled:
            found.append(labelled["object"])
        elif _OPEN_HEADING.fullmatch(heading):
            found.append(sentence)
        elif not sentence.endswith("?") and len(sentence) < 400:
            stated = _OPEN_STATED.fullmatch(sentence)
            if stated and re.match(
                r"(?: to (?:me|us))?,? (?:whether|if|how|which|what|who|when|where|why)\b", stated["rest"]
            ):
                found.append(sentence)
    return [draft_text.capitalised(text) for text in found if not _NOTHING.fullmatch(text)]


_COURTESY = re.compile(
    r"(?:is there )?(?:anything|something) else\b|(?:does|do) (?:that|this|these|it) (?:help|look|work|sound|make)|"
    r"(?:sound|look|ok|okay|all)\b.{0,20}\b(?:good|right|ok|okay)\b|(?:ready|shall we|should we|should i"
    r"|shall i) (?:to )?"
    r"(?:go ahead|proceed|continue|start|commit|push|move on)|right\?|ok\?|how can i help"
    r"|what (?:would you like|do you want)"
    r" (?:me )?to (?:do|work on)|what('s| is) next|what do you think|(?:any )?(?:thoughts|questions|feedback)\b"
    r"|how does (?:that|this|it) (?:look|sound)|(?:shall|should) i (?:\w+ ){1,2}(?:it|this|that|them|these|those)\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"(?:and |so |but )?which (?:(?:ones?|of (?:them|these|those))\b|(?:do|would|should) (?:you|we|i)"
    r" \w+\?).{0,60}",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:(?:do you )?want me to|would you like(?: me)? to|may i|can i|if you (?:want|like))\b|需要我|要不?要?我",
    re.IGNORECASE,
)


def questions_to_human(text: str) -> list[str]:
    """Return the questions that an agent's message leaves with the human.

    Offers, courtesies, and questions that it answers by itself are none.
    """
    found = []
    for block in draft_text.blocks(text[-draft_text.READ :]):
        asked: list[str] = []
        for sentence in block.sentences:
            if draft_text.is_question(sentence):
                asked.append(sentence)
            elif asked and not sentence.startswith("("):
                asked = []  # what follows a question in its paragraph is most often the answer
        found += [sentence for sentence in asked if _is_real(sentence)]
    labelled = ((_OPEN_LABEL.match(sentence), sentence) for sentence in found)
    return [draft_text.capitalised(label["object"] if label else sentence) for label, sentence in labelled]


def _is_real(question: str) -> bool:
    if _POINTING.fullmatch(question):
        return False
    if len(question.split()) < 4 and question.isascii():
        return False
    return " or " in question or not (_COURTESY.match(question) or _OFFER.search(question))


_NEXT_HEADING = re.compile(
    r"(?:(?:suggested |recommended |remaining |the |immediate )?next (?:steps?|actions?|up|tasks?|items?)"
    r"(?: for (?:you|me|us))?|to do next|(?:what's|what is) (?:left|next)|"
    r"remaining(?: (?:work|steps|tasks|items))?|left to do|still to do|to ?-?do|todos?"
    r"|follow-?ups?(?: (?:tasks|items|work))?"
    r"|not (?:yet )?done(?: yet)?)",
    re.IGNORECASE,
)
_NEXT_LABEL = re.compile(
    r"(?:(?:the )?(?:next(?: steps?| up| action)?|remaining(?: (?:work|steps?|tasks?))?|left to do|still to do|to"
    r" ?-?do|"
    r"what's left|up next)|(?:der )?nächster? schritte?|nächste schritte|als nächstes|noch zu tun|下一步(?:是)?)"
    r"\s*[:：–—-]\s*(?P<object>\S.*)",
    re.IGNORECASE,
)
_NEXT_IS = re.compile(
    r"(?P<before>.{3,200}[;:,–—] (?:and |so )?)?"
    r"(?:(?:the|my|our) (?:next|remaining|only remaining) (?:steps?|tasks?|things?|work|piece"
    r"|item)(?: (?:here|now|then))?|next(?: up| in line)?) (?:is|will be|would be|should be|comes?)(?: to)? "
    r"(?P<object>\S.*)",
    re.IGNORECASE,
)
_NEXT_WILL = re.compile(
    r"(?:next|after that|tomorrow|as (?:a|the) next step),? (?:i(?:'ll| will)|we (?:should|need to|can|could|'ll"
    r"|will)|i(?:'d"
    r"| would) (?:suggest )?)"
    r" ?(?P<object>\S.*)",
    re.IGNORECASE,
)
_WILL_NEXT = re.compile(
    r"(?:i(?:'ll| will|'d| would)|we (?:should|need to|will)) (?P<object>\S.{5,200}) (?:next|as (?:a|the) next"
    r" step)\W*",
    re.IGNORECASE,
)
_GERMAN_NEXT = re.compile(
    r"als nächstes (?:würde|werde|sollte|könnte|müsste) (?:ich|man|wir)(?: noch)? (?P<object>\S.*)", re.IGNORECASE
)
_DUTY = re.compile(r"(?:i|we|you)(?:'ll| will)? still (?:need|have) to (?P<object>\S.*)", re.IGNORECASE)
_STILL = re.compile(
    r"(?P<object>.{3,200}\b(?:still (?:needs?|has|have) to be|remains? to be|is (?:still )?left to (?:do"
    r"|be))\b.*)",
    re.I,
)

_NEXT_FORMS = (_NEXT_LABEL, _NEXT_IS, _NEXT_WILL, _WILL_NEXT, _GERMAN_NEXT, _DUTY, _STILL)
_POINTS_BACK = re.compile(r"\S+ (?:it|them|this|that|these|those)\b", re.IGNORECASE)


def next_step(text: str) -> str | None:
    """Return the next step that an agent's message names, or None."""
    for block, heading in draft_text.headed(text):
        if block.is_title or block.done:
            continue
        if _NEXT_HEADING.fullmatch(heading):
            return None if _NOTHING.fullmatch(block.text) else draft_text.capitalised(block.sentences[0])
        for sentence in block.sentences:
            found = next((match for form in _NEXT_FORMS if (match := form.fullmatch(sentence))), None)
            if found and not sentence.endswith("?") and not _NOTHING.fullmatch(found["object"]):
                led = found.groupdict().get("before") and _POINTS_BACK.match(found["object"])
                return draft_text.capitalised(sentence if led else found["object"])
    return None


_LEARNED = re.compile(
    r"\b(?:the )?(?:root cause|real (?:problem|issue|cause)|underlying (?:problem|issue|cause)|culprit) (?:is"
    r"|was|turned out)\b"
    r"|\bthe (?:problem|issue|bug|failure|error|cause|reason|mistake)s? (?:here )?(?:is|was|were|turned out"
    r"|came from)\b"
    r"|\bturn(?:s|ed) out\b|\b(?:fail(?:s|ed|ing)?|broke|breaks|crash(?:es|ed)|was caused) (?:because|by|due to)\b"
    r"|\bthe (?:fix|solution) (?:is|was)\b|\blesson\s*:|\blearned (?:that|:)",
    re.IGNORECASE,
)
_LEARNED_CLUES = (
    "cause",
    "culprit",
    "the problem",
    "the issue",
    "the bug",
    "the failure",
    "the error",
    "the reason",
    "the mistake",
    "turns out",
    "turned out",
    "fail",
    "broke",
    "breaks",
    "crash",
    "the fix",
    "solution",
    "lesson",
    "learned",
)
_UNSURE = re.compile(
    r"\b(?:might|maybe|perhaps|probably|could|may|likely|seems?|let me|i'll|i think|if|whether)\b", re.IGNORECASE
)


def lessons(text: str) -> list[str]:
    """Return the sentences of `text` that say what caused a failure or what mended it, without "maybe"."""
    if not draft_text.mentions(text, _LEARNED_CLUES):
        return []
    return [
        sentence
        for sentence, _ in draft_text.flat(text)
        if len(sentence) <= 400
        and not sentence.endswith("?")
        and _LEARNED.search(sentence)
        and not _UNSURE.search(sentence)
    ]


@dataclass(frozen=True, slots=True)
class Trial:
    """Something that was tried and did not work, as somebody said it."""

    tried: str
    learned: str


_TRIED = re.compile(
    r"(?:first,? |so |and )?(?:we|i)(?:'ve| have)? (?:first |also |already )?tried (?:to "
    r"|out )?(?P<tried>[^.;]{5,200}?),? but "
    r"(?P<learned>(?:(?:it|that|this|they|the \w+(?: \w+)?) )?(?:didn't|did not|doesn't|does not|fail|broke"
    r"|breaks|wasn't|"
    r"was not|couldn't|could not|caused|causes|still|never|won't|made|makes)\b.*)",
    re.IGNORECASE,
)


def trials(text: str) -> list[Trial]:
    """Return what `text` says was tried without success."""
    found: list[Trial] = []
    if not draft_text.mentions(text, ("tried",)):
        return found
    for sentence, _ in draft_text.flat(text):
        tried = _TRIED.fullmatch(sentence) if len(sentence) <= 500 else None
        if tried:
            found.append(Trial(draft_text.capitalised(tried["tried"]), draft_text.capitalised(tried["learned"])))
    return found


_TRIES = re.compile(
    r"(?:.{0,120}[.;:,] )?(?:so |first,? |then |now )?(?:i'll|i will|let me|let's|we'll|i'm going to) (?:first "
    r"|also |now )?try"
    r"(?: out| using| with)? (?!to )(?P<what>\S.{2,100}?)(?: first| next| instead| now)?[.:;!]?",
    re.IGNORECASE,
)
_IN_VAIN = re.compile(
    r"(?P<subject>\S.{2,80}?) (?:does not|doesn't|did not|didn't|won't|will not|cannot|can't) (?:really |even )?"
    r"(?:help|work|suffice|fix|solve)\b.*",
    re.IGNORECASE,
)


def tries(text: str) -> list[str]:
    """Return what an agent announces to try ("I'll try freezegun first")."""
    if " try" not in text:
        return []
    found = (_TRIES.fullmatch(sentence) for sentence, _ in draft_text.flat(text) if len(sentence) <= 300)
    return [match["what"] for match in found if match]


def in_vain(text: str, tried: list[str]) -> list[Trial]:
    """Return which of the things `tried` an agent's `text` says did not help."""
    found: list[Trial] = []
    for sentence, _ in draft_text.flat(text) if tried else []:
        failed = _IN_VAIN.fullmatch(sentence) if len(sentence) <= 400 else None
        if failed and not sentence.endswith("?"):
            subject = draft_text.words(failed["subject"])
            what = next((what for what in reversed(tried) if subject & draft_text.words(what)), None)
            found += [Trial(draft_text.capitalised(f"try {what}"), sentence)] if what else []
    return found
