"""Hard limits: what a human forbids or demands of every solution.

English, with the plainest forms of German and Chinese; other languages give fewer fields, never wrong ones. What may
as well report a fault ("the callback is never called", "不能登录") is no limit.
"""

from __future__ import annotations

import re

from segue.conversions import draft_text

_CLUES = (
    "must",
    "always",
    "never",
    "don't",
    "do not",
    "constraint",
    "requirement",
    "limit",
    "rule",
    "no ",
    "only",
    "keep ",
    " to ",
    "muss",
    "müssen",
    "darf",
    "dürfen",
    "kein",
    "nie",
    "不",
    "必须",
    "禁止",
    "务必",
)
_LABEL = re.compile(
    r"(?:hard |important )?(?P<firm>constraint|limit|requirement|rule|condition|vorgabe|bedingung)s?\s*:\s*"
    r"|(?:style|important|careful|note|caution|warning|wichtig|achtung|vorsicht)\s*:\s*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:(?:and|but|also|so|then|please|und|aber|bitte)[, ]+|(?:ok|okay|no|nein|yes|ja)(?:, ?|: ?))+", re.IGNORECASE
)
_VERBS = (
    r"(?:add|apply|assume|block|break|bump|call|change|close|commit|connect|copy|create|delete|depend|deploy|destroy"
    r"|disable|drop|edit|expose|format|guess|hard-?code|ignore|import|install|introduce|leak|lock|log|mark|merge|mock"
    r"|modify|move|open|overwrite|print|publish|push|raise|read|recreate|reformat|rely|remove|rename|replace|retry"
    r"|rewrite|run|send|share|silence|skip|store|suppress|swallow|touch|upgrade|use|write)"
)
_NEVER = rf"(?:never|(?:don't|do not)(?: (?:ever|just|simply|even))?) {_VERBS}\b \S.*"
_RULE = re.compile(
    rf"(?:always|never) \w+ \S.*|must (?!i |we |you )\S.*|(?:you|we) must (?:not|never|always) \S.*|only use \S.*"
    rf"|{_NEVER}"
    r"|no (?:new|external|further|third-party|additional|extra|other) \S.*"
    r"|keep (?:the|all|our|my|your|every|existing) .{3,200}\b(?:as (?:it is|they are|is)|the same|unchanged|stable"
    r"|intact"
    r"|untouched|compatible)\b.*"
    r"|(?!the\b|an?\b|read\b|this\b|that\b|it\b|first\b|not\b|one\b|if\b|view\b|write\b)[\w+-]+(?: [\w+-]+){0,2}"
    r" only\W*",
    re.IGNORECASE,
)
_THEN_NEVER = re.compile(
    rf"[^,;:–—]{{3,200}}[,;:–—]\s*(?:(?:so|and|but|please|also) )*(?P<rule>{_NEVER})", re.IGNORECASE
)
_NONE_OF = re.compile(
    r"no (?!(?:idea|luck|problem|worr|rush|need|thank|way|one|matter|doubt|wonder|such|longer|change|error|test|result"
    r"|output|difference|effect|clue|response|module|file|more (?!than)|hurry|point|sign|trace|big deal|good|it"
    r"|that|this|i"
    r"|we|the"
    r"|but|not|please)\w*\b)[\w/+-]+ \S+.*",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:is|are|was|were|found|works?|worked|shows?|shown|happens?|happened|appears?|seems?|exists?|left|yet|so far"
    r"|anymore|gets?|got|came|comes)\b",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"(?!(?:i|he|she|they|there|something|somebody|someone) )(?:[\w'’./+-]+ ){1,7}?"
    r"(?:must(?: not| never| always)?|mustn't|may only|may (?:not|never)) "
    r"(?!be (?:in|from|at|because|due|caused|related|something|some|wrong|broken|missing|kidding|an? (?:bug|error"
    r"|problem"
    r"|issue|mistake))\b|have (?:been|gone|had)|admit|say)\S.*",
    re.IGNORECASE,
)
_HAS_TO = re.compile(
    r"(?!(?:i|you|we|he|she|they|it|this|that|there) )(?:[\w'’./+-]+ ){1,7}?(?:has|have|needs?) to "
    r"(?:stay|remain|keep|work|fit|run|support|finish|answer)\b.*"
    r"|(?:every|each|all|any|no|nothing|everything) (?:[\w'’./+-]+ ){0,6}?(?:has|have|needs?) to be \S.*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\b(?:says?|said|told|tells?|means?|thinks?|claims?|reads|wrote|writes)\b", re.IGNORECASE)
_SUPPOSED = re.compile(r"(?:it|this|that|there|something) must (?:be|have)\b", re.IGNORECASE)
_GERMAN = re.compile(
    r"(?!(?:ich|das|es|was|wer) ).{0,120}\b(?:darf|dürfen)\b[^.]{0,120}\b(?:nicht|nie|niemals|keine?[nmrs]?)\b.*"
    r"|.{0,120}\b(?:muss|müssen)\b[^.]{0,120}\b(?:bleiben|funktionieren|laufen|passen)\b.*"
    r"|keine?[nms]? (?!problem|ahnung|sorge|stress|eile|zeit|frage|idee|wunder|fehler)\S.*|(?:nie|niemals) \S+ \S.*",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?!我).{0,60}(?:不要(?!紧|担心|着急|急)|不得(?!不)|禁止|务必|必须|不能(?:超过|改|动|影响|破坏|删|用|使用)|只能用).{2,}"
)
_FOR_NOW = re.compile(r"\b(?:yet|for now|right now|just now|until|this time|anymore)\b", re.IGNORECASE)
_VAGUE = re.compile(r"(?:never|(?:don't|do not)) \w+ (?:that|this|it|so|them)\W*", re.IGNORECASE)


def constraints(text: str) -> list[str]:
    """Return the hard limits that a human states in `text`."""
    if not draft_text.mentions(text, _CLUES):
        return []
    found = (_limit(sentence) for sentence, _ in draft_text.flat(text))
    return [draft_text.capitalised(limit) for limit in found if limit]


def _limit(sentence: str) -> str | None:
    """Return the limit that a sentence states, without what leads to it, or None."""
    asked = draft_text.is_question(sentence)
    if asked or len(sentence) > 400 or _FOR_NOW.search(sentence):
        return None
    if not sentence.isascii() and _CHINESE.fullmatch(sentence):
        return sentence
    label = _LABEL.match(sentence)
    bare = sentence[label.end() :] if label else sentence
    opening = _OPENING.match(bare)
    bare = bare[opening.end() :] if opening else bare
    if label and label["firm"] and len(bare) >= 8:
        return bare
    later = _THEN_NEVER.fullmatch(bare)
    if (later and not _VAGUE.fullmatch(later["rule"])) or (_is_rule(bare) and not _VAGUE.fullmatch(bare)):
        return bare
    return None


def _is_rule(sentence: str) -> bool:
    if len(sentence) < 10:
        return False
    if any(form.fullmatch(sentence) for form in (_RULE, _HAS_TO, _GERMAN)):
        return True
    if _MUST.fullmatch(sentence):
        return not _SUPPOSED.match(sentence) and not _QUOTED.search(sentence.split("must", 1)[0])
    return bool(_NONE_OF.fullmatch(sentence)) and not _REPORTS.search(sentence)
