"""How Segue's own packs are told in a text, so that memory does not feed on itself."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACK_TITLE = "# Context — memories for this task"
PACK_END = "<!-- end of context -->"
# Around all that a hook puts into a conversation.
HOOK_BEGIN = "<!-- segue: recorded in earlier sessions -->"
HOOK_END = "<!-- end of segue -->"

# Marks stand on lines of their own, quoted or not. The lengths are far above what Segue writes: a text that lacks the
# end is left alone.
_MARKS = {
    begin: (re.compile(rf"^[ >\t]*+(?:({re.escape(begin)})|{re.escape(end)})\r?$", re.MULTILINE), most)
    for begin, end, most in ((HOOK_BEGIN, HOOK_END, 40_000), (PACK_TITLE, PACK_END, 400_000))
}
_ENVELOPE = re.compile(r'"smp"\s*:\s*"\d+"')
_LEGEND = re.compile(r'"legend"\s*:\s*\{\s*"(?:protocol|about|envelope|item|rules)"\s*:')
_DOCUMENT = re.compile(r'"treat_as_data"\s*:\s*true')
_ITEM = re.compile(r'"relevance_basis"\s*:')
# A line of an item in Markdown, quoted or not; and in JSON, escaped or not.
_LINE = re.compile(r"^[ \t\r\f\v>*+-]*+\[mem_[0-9A-HJKMNP-TV-Z]{26}\] ", re.MULTILINE)
_ITEM_LINE = re.compile(_LINE.pattern + r"[^\n]*\n?", re.MULTILINE)
_REF = re.compile(r"\\*\"ref\\*\"\s*:\s*\\*\"mem_[0-9A-HJKMNP-TV-Z]{26}")


def holds_pack(text: str) -> bool:
    """Whether a text is, or holds, one of Segue's packs: an envelope, a pack in JSON or Markdown, what a hook said."""
    for title in (PACK_TITLE, HOOK_BEGIN):
        if title in text and any(line.strip(" \t>") == title for line in text.splitlines()):
            return True
    if "mem_" in text and (_LINE.search(text) or ("relevance_basis" in text and _REF.search(text))):
        return True
    if '"smp"' in text and _ENVELOPE.search(text) and (_LEGEND.search(text) or _ITEM.search(text)):
        return True
    return '"treat_as_data"' in text and bool(_DOCUMENT.search(text) and _ITEM.search(text))


def without_packs(text: str) -> str:
    """Return `text` without what hooks said, the packs in Markdown, and single lines of their items."""
    for begin in (HOOK_BEGIN, PACK_TITLE):
        if begin in text:
            text = "".join(_outside(text, begin))
    return _ITEM_LINE.sub("", text) if "[mem_" in text else text


def _outside(text: str, begin: str) -> Iterator[str]:
    """Yield what stands outside of the marks: from each begin to the first end after it, where that is near enough."""
    marks, most = _MARKS[begin]
    begun: deque[int] = deque()
    position = 0
    for mark in marks.finditer(text):
        if mark[1]:
            begun.append(mark.start())
            continue
        while begun and mark.start() - begun[0] > most:
            begun.popleft()
        if begun:
            yield text[position : begun[0]]
            position = mark.end() + text.startswith("\n", mark.end())
            begun.clear()
    yield text[position:]
