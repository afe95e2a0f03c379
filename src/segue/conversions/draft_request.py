"""What the human asked for: the goal of a session, and the request that is still open at its end."""

from __future__ import annotations

import re

from segue.conversions import draft_limits, draft_text

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
    r"will do|sounds good|looks good|lgtm|great|perfect|stop|wait|commit|commit (?:it|this|that)|push|push it)"
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
    r"(?:the )?(?:real |main |actual )?(?:task|goal|job|thing)\s*:\s*)",
    re.IGNORECASE,
)
_ASKED = re.compile(r"(?:(?:please|bitte)[, ]+)?(?:can|could|would|will)\b", re.IGNORECASE)
_TAGS = re.compile(r"^(?:<[\w-]{1,40}>\s*){1,5}|(?:\s*</[\w-]{1,40}>){1,5}$")
_POINTS_ELSEWHERE = re.compile(r"(?:\S+ ){0,4}(?:it|this|that|these|those|them)\b(?: \S+){0,2}\W*", re.IGNORECASE)
_MARKERS = re.compile(
    r"\b(?:should|must|needs? to|want|have to|(?:i|we) need|(?:i|we)(?:'d| would) like|bitte|soll)\b", re.IGNORECASE
)
_SUPPOSES = re.compile(r"(?:it|this|that|there|something) (?:must|should) (?:be|have)\b", re.IGNORECASE)
_DANGLING = re.compile(
    r"(?P<before>(?:\S+ ){0,6}?)(?P<verb>[^\W\d_]+) (?:(?:it|them|es|ihn)\b|(?:this|that|these|those|das)(?=\W*$))",
    re.IGNORECASE,
)
_DETERMINED = re.compile(
    r"\b(?:the|an?|my|our|your|all|each|every|der|die|das|den|dem|eine?[nmrs]?|unsere?[nmrs]?)\s|[\d_./]\S{0,200}\s",
    re.IGNORECASE,
)
_MOVES_ON = re.compile(
    r"(?:(?:thanks?|thank you|thx|danke|great|perfect|good|nice|cool|ok|okay)\b[\s,.!–—-]*)*"
    r"(?:(?:and )?now (?!also|again)|next\b|new task|the real|something else|another (?:thing|topic|task)|moving on"
    r"|jetzt |nun )",
    re.IGNORECASE,
)
_IMPERATIVES = frozenset(
    "add adjust allow analyse analyze arrange bring build bump calculate change check clean collect combine "
    "compare compress compute configure connect convert copy correct create cut debug delete deploy describe "
    "design detect disable document draft drop enable ensure evaluate explain export expose extend extract fetch "
    "figure find finish fix format generate get give handle hide implement import improve include increase inline "
    "install integrate introduce investigate isolate limit list look lower make map mark measure merge migrate "
    "mock modernise modernize modify move optimise optimize parse pin plan polish port prepare print profile "
    "prototype provide publish put raise read record redesign reduce refactor release remove rename render "
    "reorganise reorganize repair replace report reproduce resolve restore retry return review rewrite run scan "
    "secure send separate serve set setup shorten show simplify solve sort speed split start stop store stream "
    "summarise summarize support swap switch sync teach test tidy tighten track train transform translate trim "
    "turn unify update upgrade use validate verify wire wrap write aktualisiere ändere baue bau behebe benenne "
    "bringe entferne ersetze erstelle finde füge korrigiere lösche mach mache prüfe repariere richte schreib "
    "schreibe stelle teste übersetze verbessere verkleinere zeig zeige".split()
)


def main_sentence(text: str) -> str | None:
    """Return the sentence in `text` that says what is wanted, or None where no sentence can stand for it.

    It is the first one, but for greetings, for hard limits, and for context that a clear request follows. Politeness is
    taken off. Where it only points back ("Fix it."), the sentence before it goes in front.
    """
    candidates = _candidates(text)
    if not candidates or not is_request(text):
        return None
    candidates = [item for item in candidates if not draft_limits.constraints(item[0])] or candidates
    for position, (sentence, led) in enumerate(candidates):
        if (led or _asks(sentence)) and len(sentence.split()) >= 4:
            before = candidates[position - 1][0] if position else ""
            return _joined(before, sentence) if _points_back(sentence) and _usable(before) else sentence
    return next((sentence for sentence, _ in candidates if _usable(sentence)), None)


def moves_on(text: str) -> bool:
    """Whether the human leaves what was asked before for something else ("Thanks. Now the real thing: …")."""
    return _MOVES_ON.match(draft_text.plain(text[:400])) is not None


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
    if rest.endswith("?") and _ASKED.match(lead.group()):
        rest = rest.rstrip("? ") + "."
    return draft_text.capitalised(rest.rstrip(":")), True


def _points_back(sentence: str) -> bool:
    """Whether what a request acts on is named by a pronoun, and by nothing in the sentence before that."""
    found = _DANGLING.match(sentence)
    return found is not None and found["verb"].lower() in _IMPERATIVES and not _DETERMINED.search(found["before"])


def _joined(before: str, sentence: str) -> str:
    return f"{before.rstrip(' .!')}; {sentence[:1].lower()}{sentence[1:]}"


def _asks(sentence: str) -> bool:
    first = re.match(r"[^\W\d_]+", sentence)
    if first and first.group().lower() in _IMPERATIVES:
        return True
    return bool(_MARKERS.search(sentence)) and not _SUPPOSES.match(sentence)


def _usable(sentence: str) -> bool:
    """Whether a sentence is prose that stands alone.

    Two words or more (three signs in other scripts), mostly letters, not just "how do I fix this?".
    """
    if not sentence or _POINTS_ELSEWHERE.fullmatch(sentence):
        return False
    letters = sum(char.isalpha() or char == " " for char in sentence)
    if letters < 0.7 * len(sentence):
        return False
    if any(ord(char) > 0x2E7F for char in sentence):
        return len(sentence) >= 3
    return len(sentence.split()) >= 2
