"""Chinese claims of persistence: one folded sentence, cut at its commas, each part judged by what it says is done."""

from __future__ import annotations

import re

from segue.continuity import claim_words as words
from segue.continuity import prose
from segue.continuity.claim_things import Said

_LONGEST = 200  # characters of a part that are looked at
_VERBS = "|".join((words.REMEMBER_ZH, words.KEEP_ZH, words.PLACE_ZH, words.VALID_ZH, words.READY_ZH))
_BREAK = r"[,;:。!?、()|—]|但是?|不过|然而|而是|可是"
_PART = re.compile(rf"({_BREAK}|^)((?:(?!{_BREAK}).)++)")
_HARD = re.compile(r"[;:—|]|但是?|不过|然而|而是|可是")
_BUT = frozenset(("但", "但是", "不过", "然而", "可是"))
_SIGN = re.compile(_VERBS)
_PASSED = re.compile(
    rf"(?:已经?|均已|全部|均)?通过了?(?:{words.VALID_ZH})|(?:{words.VALID_ZH})(?:已经?|均已?|全部)?(?:通过|成功|完成|无误)"
)
_DONE = re.compile(
    rf"(?:已经?|均已|都已|业已|刚刚|刚|成功)[^,。]{{0,24}}?(?P<done>{_VERBS})"
    r"(?:好了|成功|完成|完毕|下来了|在案|了|至|到|进|于|为)?"
    rf"|(?P<after>{_VERBS})(?:好了|好啦|完成|成功|完毕|下来了|下来啦|了|啦|进了|到了|在案)"
    rf"|(?P<late>{_VERBS})[^,。已]{{0,16}}了$"
    r"|(?:准备)?就绪|准备好了?$"
)
_DISPOSAL = re.compile(r"已经?将|已经?把")  # here 将 speaks of no future
_ATTRIBUTE = re.compile(r"的(?=.)|后|之后|以后|时(?!间)|之前|前|才")
_EMPTY = re.compile(
    r"所有|全部|在案|完成|成功|完毕|下来|[我们都也均它这那此该本项以上的你您为帮并且好了已经将把刚永久妥善正式]"
)
_KEEPS = re.compile(words.KEEP_ZH)
_ALSO_KEPT = re.compile(rf"(?:{words.VALID_ZH})(?:通过)?(?:并且?|且|和|、)(?:已经?)?(?:{words.KEEP_ZH})")
_REMEMBERS = re.compile(words.REMEMBER_ZH)
_READY = re.compile(f"{words.READY_ZH}|{words.VALID_ZH}|通过")
_MEMORY = re.compile(words.MEMORY_ZH)
_TAUGHT = re.compile(words.TAUGHT_ZH)
_RECORD = re.compile(words.RECORD_ZH)
_WEAK_RECORD = re.compile(words.WEAK_RECORD_ZH)
_DOCUMENT = re.compile(words.DOCUMENT_ZH)
_WEAK_DOCUMENT = re.compile(words.WEAK_DOCUMENT_ZH)
_CODE = re.compile(
    rf"{'|'.join(sorted(words.CODE_ZH))}|{prose.CODE}|\w/\w|[^外代]表(?:[中里内]|$)|"
    # A name may follow its verb without a space, and may be Chinese itself.
    r"(?<![a-z0-9_-])(?!memory\.md|project_study)(?:[a-z0-9_-]{1,80}|(?<=[^\x00-\x7f]))\.[a-z]\w{0,11}\b|"
    r"[到至于进入在] ?(?!memory|project_study|mem-|m-|tx-|qa|log\b)[a-z]\w"
)
_CJK = re.compile(r"[\u4e00-\u9fff]")


def said(sentence: str) -> list[Said]:
    """Return the claims of one folded sentence, in their order."""
    if not _SIGN.search(sentence):
        return []
    found: list[Said] = []
    conditional = reported = False
    is_question = words.QUESTION_ZH.search(sentence[-6:].rstrip(".!。！ ")) is not None
    parts = [*_PART.finditer(sentence)]
    before_reports = False  # whether the part before ends with "it prints"
    for number, match in enumerate(parts):
        reported = (reported or (match[1] == ":" and before_reports)) and match[1] not in _BUT
        part = match[2][:_LONGEST].strip()
        before_reports = words.REPORTS_ZH.search(part) is not None
        conditional = words.CONDITION_ZH.search(part + ",") is not None or (conditional and not _HARD.match(match[1]))
        claim = None if conditional or reported or (is_question and number == len(parts) - 1) else _judged(part)
        if claim:
            found.append(claim)
    return found


def _judged(part: str) -> Said | None:
    """Return what one part says is done, unless it is denied, asked, wished, to come, or only an attribute."""
    part = _DISPOSAL.sub("已把", part)
    match = _PASSED.search(part) or _DONE.search(part)
    if not match or _ATTRIBUTE.match(part, match.end()):
        return None
    if words.NEGATION_ZH.search(part, 0, match.end() + 3) or words.MODAL_ZH.search(part, 0, match.end()):
        return None
    if words.QUESTION_ZH.search(part):
        return None
    verb = match.lastgroup or 0
    return _of(part, match.group(), part[: match.start(verb)] + part[match.end(verb) :])


def _of(part: str, marker: str, rest: str) -> Said | None:
    codes = _CODE.search(part) is not None
    memory, taught = _MEMORY.search(part) is not None, _TAUGHT.search(part) is not None
    keeps = _KEEPS.search(marker) is not None or _ALSO_KEPT.search(part) is not None
    if _REMEMBERS.search(marker):
        return None if codes and not (memory or taught) else Said(marker, "memory", True)
    if memory:
        return Said(marker, "memory", keeps or not _READY.search(marker))
    if taught and keeps and not codes:
        return Said(marker, "memory", True)
    if codes and not _DOCUMENT.search(part):
        return None
    return _of_others(part, marker, rest, keeps)


def _of_others(part: str, marker: str, rest: str, keeps: bool) -> Said | None:
    stands = keeps or _READY.search(marker) is not None
    if _DOCUMENT.search(part) and stands:
        return Said(marker, "document", False)
    if _RECORD.search(part):
        return Said(marker, "record", False)
    if _WEAK_DOCUMENT.search(part) and stands:
        return Said(marker, "document", False, True)
    names_nothing = not _CJK.search(_EMPTY.sub("", rest))
    if (keeps or _PASSED.search(marker)) and (names_nothing or _WEAK_RECORD.search(rest)):
        return Said(marker, "record", False, True)
    return None
