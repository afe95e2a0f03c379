"""The specification's writing rules, as warnings: they never make a packet invalid."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base import time
from segue.base.text import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.packets.model import Method, Packet

_FENCE = re.compile(r"(?:```|~~~)(?:[^\n`~]*\n)?(.*?)(?:```|~~~|$)", re.DOTALL)
_CODE_LINE = re.compile(
    r"^\s*(?:(?:def|class|import|from|for|while|if|else|elif|try|return|function|const|let|var|public|private|func|fn|#include)\b"
    r".*[:;{(]|.*[;{}]\s*$|\s{4,}\S+\s*(?:=|\()|</?\w+[^>]*>\s*$)"
)
_SUBJECTIVE = re.compile(
    r"\b(?:feels?|looks? (?:good|right|nice|fine|better)|(?:is|are|seems?|be|more|works?) (?:\w+ly )?"
    r"(?:good|nice|clean|better|elegant|intuitive|robust|user-friendly|maintainable|fine|ok|okay|well|right|reasonable|fast|easy|simple|readable|happy|satisfied|great)"
    r"|as expected|properly|good enough|high quality|happy with)\b",
    re.I,
)
_OBSERVABLE = re.compile(
    r"[\d`\"/<>=%]|\b(?:returns?|passes|pass|fails?|exits?|prints?|shows?|displays?|contains?|lists?|succeeds?|responds?|renders?"
    r"|completes?|compiles?|builds?|matches|equals?|exists?|appears?|opens?|loads?|rejects?|accepts?|green|zero|none|no|every|all|without)\b",
    re.I,
)
_SHORT_COMMAND = 200


@dataclass(frozen=True, slots=True)
class Advice:
    """A broken writing rule: `code` (`rule.sentence`), the `path` of the field, a message with the mend."""

    code: str
    path: str
    message: str

    def to_json(self) -> dict[str, str]:
        """Return `{"code", "path", "message"}`."""
        return {"code": self.code, "path": self.path, "message": self.message}


def check(packet: Packet, parent: Packet | None = None) -> list[Advice]:
    """Return the writing rules that `packet` breaks, in field order; with `parent` also those about its chain."""
    return [*_times(packet), *_sentences(packet), *_code(packet), *_entries(packet), *_renamed(packet, parent)]


def _times(packet: Packet) -> Iterator[Advice]:
    if not time.is_utc(packet.created_at):
        yield Advice("rule.offset", "created_at", "the time has an offset; write it in UTC, ending in Z")


def _sentences(packet: Packet) -> Iterator[Advice]:
    for path, text in (("goal", packet.goal), ("next_step", packet.next_step)):
        count = len(sentences(text))
        if count > 1:
            yield Advice(
                "rule.sentence", path, f"{path} has {count} sentences; one is enough, the rest has its own fields"
            )


def _code(packet: Packet) -> Iterator[Advice]:
    for path, text in _all_texts(packet):
        if _holds_code(text, command_allowed=path.endswith(".how")):
            yield Advice("rule.code", path, "it holds code; name the file or symbol instead of pasting it")


def _all_texts(packet: Packet) -> Iterator[tuple[str, str]]:
    yield "goal", packet.goal
    for name in ("success_criteria", "constraints", "open_questions"):
        yield from ((f"{name}[{i}]", text) for i, text in enumerate(getattr(packet, name)))
    members = {
        "decisions": ("what", "why", "consequences"),
        "methods": ("when_applicable", "how"),
        "attempts": ("tried", "learned"),
    }
    for name, keys in members.items():
        for i, item in enumerate(getattr(packet, name)):
            yield from ((f"{name}[{i}].{key}", getattr(item, key)) for key in keys)
    yield "next_step", packet.next_step


def _holds_code(text: str, *, command_allowed: bool) -> bool:
    if "```" in text or "~~~" in text:
        return not command_allowed or any(
            "\n" in block.strip() or len(block) > _SHORT_COMMAND for block in _FENCE.findall(text)
        )
    if "\n" not in text:
        return False
    return sum(1 for line in text.split("\n") if _CODE_LINE.match(line)) >= 2


def _entries(packet: Packet) -> Iterator[Advice]:
    for i, criterion in enumerate(packet.success_criteria):
        if _SUBJECTIVE.search(criterion) and not _OBSERVABLE.search(criterion):
            yield Advice(
                "rule.observable", f"success_criteria[{i}]", "nobody can check this; say what can be seen or measured"
            )
    for i, decision in enumerate(packet.decisions):
        if decision.locked and not decision.consequences and packet.ltm_version != "0.1":
            yield Advice(
                "rule.consequences",
                f"decisions[{i}]",
                "a locked decision without consequences; say what breaks if it is reopened",
            )
    for i, attempt in enumerate(packet.attempts):
        if not attempt.learned.strip():
            yield Advice("rule.learned", f"attempts[{i}]", "an attempt without 'learned' is noise; say what it taught")


def _renamed(packet: Packet, parent: Packet | None) -> Iterator[Advice]:
    if parent is None:
        return
    kept = {method.name for method in packet.methods}
    gone = [method for method in parent.methods if method.name not in kept]
    known = {method.name for method in parent.methods}
    for i, method in enumerate(packet.methods):
        old = next((item for item in gone if method.name not in known and _same_method(item, method)), None)
        if old is not None:
            yield Advice(
                "rule.renamed",
                f"methods[{i}].name",
                f"the parent calls this method '{old.name}'; names stay the same along a chain",
            )


def _same_method(one: Method, other: Method) -> bool:
    return bool(one.how.strip()) and (one.how == other.how or one.when_applicable == other.when_applicable != "")
