"""Claims that something is kept: of a project's memory, its records or its documents.

A text that says "saved to memory" or "正式文档已生成" needs a receipt (Continuity Memory Protocol, mechanical gates;
facts 001.4). Judged by sentence: what is denied, asked, wished, to come, under a condition, quoted or code claims
nothing; nor does talk about code and files. The words of both languages stand in `claim_words`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.continuity import claim_english, claim_things, prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.continuity.claim_things import Said, Subject


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim; a sentence gives one at most.

    `sentence` is `text[start:end]`. `marker` is the word that claims, folded: "saved", "已保存". `subject` is what is
    spoken of. `of_memory` says that something was remembered, recorded or saved to memory: when an agent stops, only
    such claims matter; for a text that is handed out, all do.
    """

    sentence: str
    start: int
    end: int
    marker: str
    subject: Subject
    of_memory: bool


def find(text: str, ledgers: Sequence[str] = ()) -> tuple[Claim, ...]:
    """Return the claims of `text`, in their order. Any text will do; the time is linear in its length.

    `ledgers` are paths of files that are a project's authority, besides those that the specification names: what is
    recorded there is no talk of code and files.
    """
    records = prose.Records(ledgers)
    spoken = prose.Prose(text, records)
    found, is_code = [], None  # whether code is spoken of: looked up when it first matters
    for start, end, words in spoken.sentences():
        every = _said(records.renamed(words))
        if is_code is None and any(each.is_weak for each in every):
            is_code = claim_things.speaks_of_code(spoken.covered)
        best = _best([each for each in every if not each.is_weak or not is_code])
        if best:
            found.append(Claim(text[start:end], start, end, best.marker, best.subject, best.of_memory))
    return tuple(found)


def _said(words: str) -> list[Said]:
    found = claim_english.said(words)
    if not words.isascii():
        from segue.continuity import claim_chinese  # its patterns take longer to build than all others

        found += claim_chinese.said(words)
    return found


def _best(every: list[Said]) -> Said | None:
    return min(every, key=lambda each: (not each.of_memory, each.is_weak), default=None)
