"""Text that others wrote, made safe to show.

Packets, transcripts and file names come from outside. Shown to a person or to a model they stay data: control
and invisible characters are escaped, and a value can neither begin a new line nor a Markdown block.
"""

from __future__ import annotations

import re

# Everything that acts on a terminal or is not seen: C0 and C1 controls, soft hyphen, joiners and fillers, direction
# marks, line and paragraph separators, byte order marks, interlinear marks, tags and the variation selectors that can
# smuggle text. Zero-width (non-)joiners are left between non-ASCII letters and in emoji, where scripts need them.
_INVISIBLE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff"
)
_JOINERS = r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
_HIDDEN = re.compile(rf"[{_INVISIBLE}]|{_JOINERS}")
_BREAKS = re.compile(r"(?<![ \t])[ \t]*+(?:\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])[\s\x1c-\x1e]*")
_BLOCK_START = re.compile(
    r"(?=#|[-*+](?:\s|$)|(?:[-*_=][ \t]*){3}|>|`{3}|~{3}|\||<|\d{1,9}[.)](?:\s|$)|\[(?:[^\[\]\\]|\\.)*+\]:)"
)
_LINE_BREAK = " ⏎ "


def _escape(match: re.Match[str]) -> str:
    point = ord(match.group())
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def visible(text: str) -> str:
    """Return `text` with control and invisible characters as `\\x1b` or `\\u200b`; line feeds and tabs stay."""
    return _HIDDEN.sub(_escape, text)


def one_line(text: str) -> str:
    """Return `text` on one line: line breaks of any kind show as ` ⏎ `, hidden characters escaped, ends trimmed."""
    return visible(_BREAKS.sub(_LINE_BREAK, text.strip()).replace("\t", " "))


def paragraph(text: str) -> str:
    """Return `text` on one line that Markdown takes as plain text: no heading, rule, list, fence or definition."""
    line = one_line(text)
    return "\\" + line if _BLOCK_START.match(line) else line


def shorten(text: str, width: int) -> str:
    """Return at most `width` characters of `text`; a cut shows as `…` at the end."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
