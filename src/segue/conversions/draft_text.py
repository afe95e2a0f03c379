"""Prose for the draft: Markdown taken off, code and quotations left out, cut into sentences.

All patterns are linear in the text; what a session pasted may be hostile or huge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "label", "item", "text"]

READ = 24_000  # characters of a text that are read, from its begin and from its end together

_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}\s+(.+)")
_BOLD_LINE = re.compile(r"(?:\*\*|__)([^*_\n]{1,80})(?:\*\*|__):?\s*")
_LABEL_LINE = re.compile(r"([^.!?:\n]{1,60}):")
_ITEM = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+(.*)")
_CHECKBOX = re.compile(r"\[([ xX])\]\s+")
_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
_EMPHASIS = re.compile(r"(?<![\w*])\*([^*\s][^*\n]{0,200}?)\*(?![\w*])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]{0,3}+(?=\s)|[。！？]+[」』）]{0,2}")
_DECORATION = re.compile(r"^\W+|\s*\([^()]{0,80}\)\W*$|\W+$")
_ABBREVIATIONS = {"e.g", "i.e", "vs", "etc", "cf", "approx", "incl", "dr", "mr", "mrs", "ms", "st", "z.b", "d.h", "bzw"}


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, label ("Next steps:"), list item or paragraph, as sentences.

    `done` says whether the box of a list item is ticked.
    """

    kind: Kind
    sentences: tuple[str, ...]
    done: bool = False

    @property
    def is_title(self) -> bool:
        """Whether it names what follows."""
        return self.kind in ("heading", "label")

    @property
    def text(self) -> str:
        """The block on one line."""
        return " ".join(self.sentences)


def blocks(text: str) -> list[Block]:
    """Return the prose of `text`; fenced and indented code, tables and quotations are not part of it."""
    found: list[Block] = []
    paragraph: list[str] = []
    fence = ""

    def close() -> None:
        if paragraph:
            found.append(_block("text", " ".join(paragraph)))
            paragraph.clear()

    for line in text.split("\n"):
        marker = _FENCE.match(line)
        if fence or marker:
            if marker:
                fence = _fence_after(fence, marker[1])
            close()
            continue
        block = _alone(line)
        if block is not None or not _is_prose(line, bool(paragraph)):
            close()
            found += [block] if block is not None else []
        else:
            paragraph.append(line.strip())
    close()
    return [block for block in found if block.sentences]


def _fence_after(fence: str, marker: str) -> str:
    if not fence:
        return marker
    return "" if marker[0] == fence[0] and len(marker) >= len(fence) else fence


def _is_prose(line: str, within_paragraph: bool) -> bool:
    stripped = line.strip()
    if not stripped or stripped.startswith((">", "|")):
        return False
    return within_paragraph or not line.startswith(("    ", "\t"))


def _alone(line: str) -> Block | None:
    """Return the block that a line is by itself: a heading, a label such as "Next steps:", or a list item."""
    item = _ITEM.fullmatch(line)
    if item:
        box = _CHECKBOX.match(item[1])
        text = item[1][box.end() :] if box else item[1]
        return _block("item", text, done=box is not None and box[1] != " ")
    stripped = line.strip()
    heading = _HEADING.fullmatch(stripped)
    label = None if heading else _BOLD_LINE.fullmatch(stripped) or _LABEL_LINE.fullmatch(stripped)
    if heading:
        return _block("heading", heading[1].strip().rstrip(":"))
    return _block("label", label[1].strip().rstrip(":")) if label else None


def _block(kind: Kind, text: str, *, done: bool = False) -> Block:
    return Block(kind, tuple(sentences(plain(text))), done)


def plain(text: str) -> str:
    """Return `text` on one line without control characters and without Markdown's marks for links and emphasis."""
    text = _LINK.sub(r"\1", text.replace("**", "").replace("`", ""))
    text = _EMPHASIS.sub(r"\1", text)
    return " ".join(_CONTROL.sub(" ", text).split())


def sentences(text: str) -> list[str]:
    """Return the sentences of one line of prose.

    Who begins in lower case writes all sentences so: there a lower-case letter after a full stop begins another one.
    """
    casual = text[:1].islower()
    found, start = [], 0
    for end in _END.finditer(text):
        if _goes_on(text, start, end, casual=casual):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _goes_on(text: str, start: int, end: re.Match[str], *, casual: bool = False) -> bool:
    following = text[end.end() : end.end() + 2].lstrip()[:1]
    if following.islower() and not (casual and end.group() in (".", "!", "?")):
        return True
    if end.group() != ".":
        return False
    words = text[max(start, end.start() - 12) : end.start()].split()
    last = words[-1].lstrip("(").lower() if words else ""
    return last in _ABBREVIATIONS or (len(words) == 1 and last.isdigit() and start + len(last) == end.start())


def is_question(sentence: str) -> bool:
    """Whether a sentence ends with a question mark, of half or of full width."""
    return sentence.endswith(("?", "？"))


def mentions(text: str, clues: tuple[str, ...]) -> bool:
    """Whether `text` holds one of `clues` in any case: a quick look before it is cut into sentences."""
    lowered = text.lower()
    return any(clue in lowered for clue in clues)


def flat(text: str) -> list[tuple[str, str]]:
    """Return each sentence with the heading of the list that it stands in."""
    return [(s, heading) for block, heading in headed(text) if not block.is_title for s in block.sentences]


def headed(text: str) -> list[tuple[Block, str]]:
    """Return each block with the heading right above it; for items that of their list."""
    found: list[tuple[Block, str]] = []
    heading, previous = "", ""
    for block in blocks(text if len(text) <= READ else text[: READ // 2] + "\n\n" + text[-READ // 2 :]):
        if block.is_title:
            heading = _DECORATION.sub("", block.text)
        elif previous == "text" or (block.kind == "text" and previous == "item"):
            heading = ""
        found.append((block, heading))
        previous = block.kind
    return found


def shorten(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters, cut after a sentence or a word; a cut shows as `…`."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    ends = [end.end() for end in _END.finditer(cut) if not _goes_on(cut + " ", 0, end)]
    if ends and ends[-1] >= limit // 2:
        return cut[: ends[-1]].rstrip() + "…"
    space = cut.rfind(" ")
    return (cut[:space] if space >= limit // 2 else cut).rstrip(" ,;:–—-") + "…"


def capitalised(text: str) -> str:
    """Return `text` with its first letter in upper case, where the first word looks like prose and not like a name."""
    first = text.split(" ", 1)[0]
    if first in _PROGRAMS:
        return text
    return text[:1].upper() + text[1:] if first.replace("'", "").isalpha() and first.islower() else text


def words(text: str) -> frozenset[str]:
    """Return the words of `text` that carry meaning, in lower case: those of four letters and more."""
    return frozenset(word for word in re.findall(r"\w{4,40}", text.lower()) if word not in _EMPTY_WORDS)


_PROGRAMS = frozenset("npm npx pnpm yarn pip git pytest cargo docker kubectl mypy ruff eslint tsc curl ssh uv".split())
_EMPTY_WORDS = frozenset(
    "should would could will shall this that these those with from have been does into what which when where there "
    "then than also keep they them their your ours about need want make still question open".split()
)
