"""Which texts may become candidates: durable teachings, and nothing else (facts 001.1).

Four things are durable: a preference that is meant to last, a correction, feedback about the quality of output,
documents, route or teaching, and a rule learned when a step was completed. TRIGGERS is the table of their words. A text
is read by sentence, without its code and quotations; a question teaches nothing, unless it asks politely for something
lasting. What is never kept (see `unkept`) is refused, whatever triggers it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from segue.base import jsontext
from segue.base import text as texts
from segue.base.errors import Conflict, InvalidInput
from segue.continuity import unkept
from segue.continuity.candidate import invalid
from segue.continuity.prose import Prose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segue.continuity.candidate import Candidate, Kind

Event = Literal["message", "step_complete"]
EVENTS: tuple[Event, ...] = ("message", "step_complete")


class Found(NamedTuple):
    """What makes a text a candidate: its kind, and the words that say so ("" when a step was completed)."""

    kind: Kind
    marker: str


class _Trigger(NamedTuple):
    """A row of the table: `pattern` in a sentence means `kind`, where `beside` stands in that sentence too."""

    kind: Kind
    pattern: re.Pattern[str]
    beside: re.Pattern[str] | None = None


def _row(kind: Kind, pattern: str, beside: str = "") -> _Trigger:
    return _Trigger(kind, re.compile(pattern), re.compile(beside) if beside else None)


# --- The words, of folded text: lower case, full width letters and marks as the usual ones ---------------------------

_HEAD = r"(?:^|[,;:—–] |- |\bplease |\bjust )"  # where a clause, or what is asked for, begins
_OUGHT = r"\b(?:should|must|shall|have to|has to|need to|needs to|ought to|(?<!seems )(?<!appears )(?<!tends )to) "
_ASKED = r"\b(?:can|could|would|will) you (?:please )?"
# What is told of something else is no rule: "always fails", "always returned", "always is".
_TOLD = r"(?!(?:is|was|has|does|had|get|see|hit|run into|end up|forget|lose)\b|\w+ed\b|\w*[^\Wsuia_]s\b)"
_ALWAYS = (
    rf"(?:{_HEAD}|{_OUGHT}|{_ASKED}|\b(?:i|we|i'd|i'll|let's|and|but|then|so|also) )always(?![\w-]),? {_TOLD}|"
    rf"^(?!(?:the|an?|it|its|this|that|these|those|he|she|they|there|every|each|all|some)\b)"
    rf"{_TOLD}\w+ [^,]*\balways\W*$"
)
_NEVER = rf"(?:(?:^|\bplease ){_TOLD}never|{_OUGHT}never) (?!mind\b|again$){_TOLD}"
_WORK = (
    r"(?:outputs?|documents?|documentation|docs?|routes?|teaching|explanations?|answers?|responses?|lessons?|writing|"
    r"reports?|summar(?:y|ies)|diagrams?|texts?|notes|examples?)"
)
_JUDGED = (
    r"\b(?:too|low|poor|bad|worse|worst|better|higher|improved?|improves|improving|must|should|needs?|good|lacks?|"
    r"lacking|insufficient|worri(?:es|ed)|shallow|unacceptable|raised?|drop(?:s|ped)?|disappointing|weak|great|excellent)\b"
)
_NO_TEACHING = (
    r"(?<!error )(?<!gamma )(?<!color )(?<!colour )(?<!spelling )(?<!spell )(?<!bias )(?<!drift )(?<!parity )"
    r"(?<!lens )(?<!course )(?<!auto )(?<!forward )(?<!typo )"
)
_CLAUSE_ZH = r"(?:^|[,;:、—] ?)"
_OUGHT_ZH = (
    r"(?<![申邀])请(?![求教假问示柬])|[你您]|(?<![主重需摘概纲简次只想])要(?![求点素么是闻])|必须|务必|不要|不得|"
    r"(?<![区分类级个特])别(?![的处人名])|应当|应该|希望|我想|记得|一律|禁止"
)
_JUDGED_ZH = r"太|不[够行好高佳]|[差低高欠]|必须|要(?![点素])|应|需|提升|改[进善]|下降|一般|很好|不错"

TRIGGERS: tuple[_Trigger, ...] = (
    # A correction goes before feedback.
    _row("correction", rf"^(?:\w+ )?corrections? ?(?:$|[.:,;—–-] ?)|{_NO_TEACHING}(?<![\w-])corrections?:"),
    _row("correction", r"\b(?:a|one|my|another|small|minor|quick|important|this) (?:\w+ )?"
         r"correction(?: to\b|[.,:;]|$)"),
    _row("correction", r"\bi (?:was wrong|stand corrected|must correct)\b|\bto correct (?:myself|what i said)\b"),
    _row("correction", r"\b(?:original|earlier|previous|first) (?:conclusion|statement|answer|explanation) (?:was|is) "
         r"(?:wrong|incorrect|mistaken|false)\b"),
    _row("correction", r"\b(?:is|are|was|were) not\b[^;:]{1,80}\bbut rather\b"),
    _row("correction", rf"(?:{_CLAUSE_ZH}|我要?|需要|请|先|再|处)(?:纠正|更正)|"
         r"(?:纠正|更正)(?::|一下|如下|之前|前面|刚才)"),
    _row("correction", r"原(?:来|先|有|本)?的?(?:结论|说法|答案|表述|判断)(?:是|有)?(?:错|误|不对|不正确)"),
    _row("correction", r"不是[^;?!。]{1,60}而是"),
    # A preference that is meant to last.
    _row("feedback", _ALWAYS),
    _row("feedback", _NEVER),
    _row("feedback", r"\bfrom (?:now|here) on\b|\bgoing forward\b|\b(?:every|each) time you\b|\bfor all future\b"),
    _row("feedback", r"\bin (?:the )?future,? (?!(?:we|it|this|that|they|there|the|i|versions?|releases?|work)\b)"),
    _row("feedback", r"\blong[ -]term\b(?! (?:memory|support|plan|storage)\b)",
         r"\b(?:i want|i prefer|i'd like|keep|please|must|should|preference|remember)\b"),
    _row("feedback", r"\b(?:i|we)(?:'d| would)? (?:really |much |strongly |generally )?prefer\b|"
         r"\bi(?:'d| would) rather\b"),
    _row("feedback", r"\b(?:my|our) (?:\w+ )?preferences?\b(?! pane| table| file)|^preferences?:"),
    _row("feedback", rf"{_HEAD}remember(?:,? that\b|[:,]| this\b| my\b| i\b)|{_HEAD}keep in mind\b"),
    _row("feedback", r"\bmust (?:stand (?:alone|on its own)|be (?:self-contained|readable without))\b"),
    _row("feedback", rf"(?:{_CLAUSE_ZH}|从今|从此|请|现在起|今)以后(?!再说)"),
    _row("feedback", r"(?<![天周月年日时分秒钟完成布束个])以后"
         r"(?=都|请|每|要|凡|一律|不要|别|讲|回答|遇到|所有|务必|必须|只|先)"),
    _row("feedback", r"长期"
         r"(?!记忆|以来|来[看说]|运行|支持|存在|占用|持有|未|没|连接|任务|债|缓存|存储|维护|稳定|有效)"),
    _row("feedback", rf"{_CLAUSE_ZH}(?:请|要|务必)?始终(?!返回|会|为|是|失败|报|没|等于)"),
    _row("feedback", r"始终|每次", _OUGHT_ZH),
    _row("feedback", rf"{_CLAUSE_ZH}每次(?:都|回答|讲解?|解释|输出|说明|总结|写|教)(?!失败|报|返回|是|没|[^,;。]*会)"),
    _row("feedback", r"我(?:们)?的?(?:个人|一贯)?更?偏好(?![设表页])|偏好(?:是|:)|"
         r"(?:教学|讲解|长期|回答)偏好|我(?:们)?(?:更|比较)喜欢"),
    _row("feedback", r"(?:请|要|务必|帮我|你)记住(?!了|密码|登录)|^记住(?:[,:]|我|这|以后)"),
    _row("feedback", r"必须能够?(?:脱离|独立)|必须自成一体"),
    # The quality of what was made.
    _row("feedback", rf"\b{_WORK}(?:'s|s')? quality\b|\bquality of (?:\w+ ){{0,2}}{_WORK}\b", _JUDGED),
    _row("feedback", r"(?:^|\bthe |\bits |\byour |\boverall )quality (?:is|was|must|should|needs|has to)\b", _JUDGED),
    _row("feedback", r"(?:输出|文档|路线|教学|讲解|回答|答案|报告)的?质量", _JUDGED_ZH),
)  # fmt: skip

_QUESTION = re.compile(
    r"\?$|[吗呢]$|^(?:what|why|how|who|which|where|when)(?:'s| is| are| was| were| does| do| did| can| could| should|"
    r" would| will)\b|^(?:为什么|怎么|如何|什么是|哪)"
)
_TAG = re.compile(r",? ?(?:ok|okay|please|right|all ?right|will you|would you|好吗|好不好|可以吗|行吗)\?$")
_POLITE = re.compile(
    rf"^(?:please,? )?{_ASKED}(?=.*\b(?:please|me|my|i|from now on|in future)\b)|"
    r"(?:能不能|能否|可不可以|可以|麻烦|请).{0,10}(?:以后|始终|每次)|(?:以后|始终|每次).{0,6}(?:能不能|能否|可不可以|可以|麻烦)"
)
_AT_END = " \t\n\"'”’)]!.。"  # at the end of a sentence: nothing of this changes what it says


def classify(text: str, trigger: str = "message") -> Found | None:
    """Return what `text` would be kept as, None where it teaches nothing that lasts.

    `trigger` is the event that it came with: `message`, or `step_complete`, which makes a `project` rule of any text.
    Raises InvalidInput `continuity.trigger` for another one, `continuity.candidate` for what is no Unicode text, and
    what `unkept.require_kept` raises for what is never kept.
    """
    if trigger not in EVENTS:
        raise InvalidInput("continuity.trigger", f"no such trigger; there are {' and '.join(EVENTS)}")
    if not text.strip():
        return None
    if not jsontext.is_unicode(text):
        raise invalid("the text holds half a character; it is no Unicode text")
    unkept.require_kept(text)
    if trigger == "step_complete":
        return Found("project", "")
    said = [words for _, _, words in Prose(text).sentences() if not is_question(words)]
    for row in TRIGGERS:
        for words in said:
            found = row.pattern.search(words)
            if found and (row.beside is None or row.beside.search(words)):
                return Found(row.kind, found.group().strip(" ,;:.-—–"))
    return None


def is_question(words: str) -> bool:
    """Whether a folded sentence asks, and asks for nothing that is to last."""
    plain = _TAG.sub("", words.rstrip(_AT_END))
    return bool(_QUESTION.search(plain)) and not _POLITE.search(plain)


def require_new(text: str, known: Iterable[Candidate]) -> None:
    """Raise Conflict `continuity.duplicate`, which names it, where one of `known` says the same as `text`.

    Capitals, white space and full stops make no difference.
    """
    wanted = _same(text)
    for each in known:
        if each.content and _same(each.content) == wanted:
            raise Conflict(
                "continuity.duplicate",
                f"{each.id} says the same; it is {each.status}",
                {"id": each.id, "status": each.status},
            )


def _same(text: str) -> str:
    return texts.fold(text).rstrip(_AT_END)
