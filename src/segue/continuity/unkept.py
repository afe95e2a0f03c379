"""What is never kept, whatever asks for it: secrets, and what is out of date or said elsewhere before long.

"Do not keep transcripts, current test counts, tip commits, secrets, temporary chat state, or facts already available
from source, configuration, git" (Continuity Memory Protocol, "What to keep"). Told by rules, statement by statement.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from segue.base import own, redaction
from segue.base import text as texts
from segue.base.errors import Refused
from segue.base.redaction import Field, RedactionRefused


class Reason(NamedTuple):
    """Why a text is not kept: `name` for programs, `what` it holds, and what to do instead."""

    name: str
    what: str
    mend: str
    pattern: re.Pattern[str]


def _reason(name: str, what: str, mend: str, pattern: str) -> Reason:
    return Reason(name, what, mend, re.compile(pattern))


_COMMIT = r"(?<![0-9a-z])(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}(?![0-9a-z])"
_FILE = r"[\w/.-]{1,80}\.(?:py|js|ts|tsx|go|rs|java|c|h|cc|cpp|rb|php|cs|kt|swift|sql|sh|toml|ya?ml|json|ini|cfg)"
_TESTS = r"(?:unit |integration )?(?:tests?|specs|test cases|checks)"

REASONS: tuple[Reason, ...] = (
    _reason(
        "test_count",
        "a current number of tests",
        "it is another one tomorrow: say what must hold, without the number",
        rf"(?<!\d)(?<!\d,)\d[\d,]{{0,15}} {_TESTS} (?:are |is |have |now )?(?:all )?(?:pass|fail|green|red|skipped)|"
        rf"\b\d+(?: ?/ ?| of )\d+ {_TESTS}\b|\b\d+ (?:passed|failed|skipped)\b|\bcoverage (?:is|of|at) \d+ ?%|"
        r"(?<!\d)\d+ ?个?(?:测试|用例)[^,;。]{0,6}(?:通过|失败)|(?:测试|用例)(?:共|有|一共)?\d+ ?个",
    ),
    _reason(
        "tip_commit",
        "the name of a commit",
        "git says it, and the tip moves on: say what holds, without the commit",
        rf"(?:\b(?:head|tip|commits?|revision|sha)\b|提交|修订).{{0,60}}?{_COMMIT}|"
        rf"{_COMMIT}.{{0,20}}(?:\b(?:commit|tip|head)\b|提交)",
    ),
    _reason(
        "chat_state",
        "what holds in this conversation only",
        "keep what will still hold in the next one",
        r"\b(?:for|in|during) (?:this|the current) (?:session|chat|conversation|turn)\b|\btemporarily\b|"
        r"\bjust (?:for now|this once|this time)\b|\bfor (?:the moment|today only)\b|"
        r"\b(?:this time only|only this time)\b|"
        r"\b(?:i am|i'm|we are|we're) (?:now |currently |still )?(?:waiting|at step|on step|in the middle of)\b|"
        r"(?:本|这)次(?:对话|会话|聊天)|本轮对话|暂时|临时(?!文件|目录|变量|表)|今天先|"
        r"(?:我们|现在|目前)[^,;。]{0,4}(?:讲|学|进行|做|看)到",
    ),
    _reason(
        "in_source",
        "what source, configuration or git say already",
        "point to it with a candidate of kind reference, or keep what it does not say",
        rf"\b(?:defined|declared|implemented|located|found) (?:in|at) {_FILE}\b|{_FILE}:\d+|"
        r"\b(?:on|at|in) lines? \d+\b|"
        r"\bgit (?:log|blame|status|diff|history|show) (?:shows?|says?|tells?|lists?|has)\b|"
        rf"{_FILE} (?:sets?|says?|pins?|holds?|defines?|lists?|names?)\b|定义在|第 ?\d+ ?行|git ?(?:日志|记录|历史)",
    ),
)  # fmt: skip

_SPEAKER = re.compile(
    r"^[ \t>*#]*(user|assistant|human|system|claude|codex|learner|teacher|用户|助手|系统|学生|老师)[*]* ?[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_ROLE = re.compile(r'"role"\s*:\s*"(?:user|assistant|system)"')
_ASKS = re.compile(r"\?$|[吗呢]$")


def require_kept(text: str) -> None:
    """Raise where a text may not be kept: RedactionRefused `continuity.secret`, Refused `continuity.not_kept`.

    `details["reason"]` of the latter is `transcript` or the name of one of REASONS.
    """
    found = redaction.scan([Field("content", text, True)], core_only=True, credentials=True)
    if found:
        raise RedactionRefused(found, "continuity.secret", "Reword it: secrets and local paths are never kept for good")
    if is_transcript(text):
        raise _refused("transcript", "a piece of a conversation", "keep what follows from it, in one sentence")
    for words in _statements(text):
        for reason in REASONS:
            if reason.pattern.search(words):
                raise _refused(reason.name, reason.what, reason.mend)


def is_transcript(text: str) -> bool:
    """Whether a text is a conversation that was copied: turns of two speakers, a recorded session, a context pack."""
    speakers = {match[1].casefold() for match in _SPEAKER.finditer(text)}
    return len(speakers) > 1 or _ROLE.search(text) is not None or own.holds_pack(text)


def _statements(text: str) -> list[str]:
    """The folded sentences of a text that do not ask; code and quotations too, which could say any of it."""
    folded = [texts.fold(each) for line in text.splitlines() for each in texts.sentences(line)]
    return [each for each in folded if not _ASKS.search(each)]


def _refused(name: str, what: str, mend: str) -> Refused:
    return Refused("continuity.not_kept", f"it holds {what}, which is not kept for good; {mend}", {"reason": name})
