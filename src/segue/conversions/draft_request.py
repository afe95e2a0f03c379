"""What the human asked for: the goal of a session, and the request that is still open at its end."""

from __future__ import annotations

import re

from segue.conversions import draft_text

_CANDIDATES = 6
_READ = 8_000

_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|hallo|moin|servus|hola|bonjour|ciao|good (?:morning|afternoon|evening|day)"
    r"|guten (?:tag|morgen)"
    r"|thanks|thank you|thx|danke|ok|okay|so|well|now|alright|great|perfect|cool|nice)\b"
    r"(?: (?:there|claude|codex|team|all|everyone|again|zusammen))?[\s,!.:;–—-]+)+",
    re.IGNORECASE,
)
_GREETING_ONLY = re.compile(
    r"(?:hi|hello|hey|hallo|moin|servus|hola|bonjour|ciao|good (?:morning|afternoon|evening|day)|guten (?:tag|morgen)"
    r"|thanks|thank you|thx|danke|test|ping|how are you|are you there)(?: \w+){0,2}\W*",
    re.IGNORECASE,
)
_GO_ON = re.compile(
    r"(?:please |bitte |ok(?:ay)?[, ]+|yes[, ]+)*(?:continue|go on|go ahead|proceed|resume|keep going|carry on|weiter|"
    r"mach weiter|yes|no|nope|yep|y|n|ok|okay|sure|ja|nein|next|do it|do that|try again|retry|again|done|fine|"
    r"sounds good|looks good|lgtm|great|perfect|stop|wait|commit|commit (?:it|this|that)|push|push it)"
    r"(?: please| bitte| now)?\W*",
    re.IGNORECASE,
)
_PICK_UP = re.compile(
    r"(?:please )?(?:let's )?(?:continue|resume|pick up|carry on|go on)\b.{0,60}"
    r"\b(?:left off|stopped|work|session|task|packet|context|last time|before|from here)\b.{0,40}",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:please|bitte)[, ]+)?(?:(?:can|could|would|will) (?:you|we)(?: please| kindly| now| also)? "
    r"(?:help me (?:to )?)?|(?:i|we)(?:'d| would) like (?:you )?to |(?:i|we) (?:want|need) (?:you )?to |"
    r"help me (?:to )?|let's |please[, ]+|bitte |your (?:task|job) is to |the (?:task|goal) is to |"
    r"(?:task|goal)\s*:\s*)",
    re.IGNORECASE,
)
_TAGS = re.compile(r"^(?:<[\w-]{1,40}>\s*){1,5}|(?:\s*</[\w-]{1,40}>){1,5}$")
_POINTS_ELSEWHERE = re.compile(r"(?:\S+ ){0,4}(?:it|this|that|these|those|them)\b(?: \S+){0,2}\W*", re.IGNORECASE)
_MARKERS = re.compile(r"\b(?:should|must|needs? to|want|have to|bitte|soll)\b", re.IGNORECASE)
_IMPERATIVES = frozenset(
    "add allow analyse analyze arrange build bump change check clean configure convert create debug delete deploy "
    "describe design disable document draft drop enable ensure explain expose extend extract find finish fix format "
    "generate handle implement improve increase inline install integrate introduce investigate isolate limit look "
    "make measure merge migrate modernise modernize move optimise optimize parse port prepare profile prototype "
    "publish raise read reduce refactor release remove rename reorganise reorganize replace reproduce restore review "
    "rewrite run secure set setup shorten show simplify sort speed split start stop store stream support swap switch "
    "test tighten track translate trim turn unify update upgrade use validate verify wire wrap write".split()
)


def main_sentence(text: str) -> str | None:
    """Return the sentence in `text` that says what is wanted, or None where no sentence can stand for it.

    It is the first one, but for greetings and for context that a clear request follows. Politeness is taken off.
    """
    candidates = _candidates(text)
    if not candidates or not is_request(text):
        return None
    for sentence, led in candidates:
        if (led or _asks(sentence)) and len(sentence.split()) >= 4:
            return sentence
    return next((sentence for sentence, _ in candidates if _usable(sentence)), None)


def is_request(text: str) -> bool:
    """Whether the human asks for something of its own here, and does not only greet, agree or say "continue"."""
    head = draft_text.plain(text[:400])
    head = _GREETING.sub("", head, count=1) if _GREETING.match(head) else head
    if head.startswith(("/", "!")) and " " not in head.split("\n", 1)[0][:40].strip():
        return False
    return bool(head) and not any(pattern.fullmatch(head) for pattern in (_GREETING_ONLY, _GO_ON, _PICK_UP))


def _candidates(text: str) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for position, block in enumerate(draft_text.blocks(text[:_READ])):
        if block.kind == "label" or (block.kind == "heading" and position > 0):
            continue
        for sentence in block.sentences:
            if _GREETING_ONLY.fullmatch(sentence):
                continue
            bare = _unled(sentence)
            if bare[0] and not _GO_ON.fullmatch(bare[0]):
                found.append(bare)
        if len(found) >= _CANDIDATES:
            break
    return found[:_CANDIDATES]


def _unled(sentence: str) -> tuple[str, bool]:
    """Return the sentence without greeting and polite lead, and whether there was a lead."""
    sentence = _TAGS.sub("", sentence).strip()
    greeting = _GREETING.match(sentence)
    if greeting:
        sentence = sentence[greeting.end() :]
    lead = _LEAD.match(sentence)
    if not lead or len(sentence) - lead.end() < 4:
        return draft_text.capitalised(sentence.rstrip(":")), False
    rest = sentence[lead.end() :]
    if rest.endswith("?"):
        rest = rest.rstrip("? ") + "."
    return draft_text.capitalised(rest.rstrip(":")), True


def _asks(sentence: str) -> bool:
    first = re.match(r"[A-Za-z]+", sentence)
    return bool(first and first.group().lower() in _IMPERATIVES) or bool(_MARKERS.search(sentence))


def _usable(sentence: str) -> bool:
    """Whether a sentence is prose that stands alone.

    Two words or more (three signs in other scripts), mostly letters, not just "how do I fix this?".
    """
    if _POINTS_ELSEWHERE.fullmatch(sentence):
        return False
    letters = sum(char.isalpha() or char == " " for char in sentence)
    if letters < 0.7 * len(sentence):
        return False
    if any(ord(char) > 0x2E7F for char in sentence):
        return len(sentence) >= 3
    return len(sentence.split()) >= 2
