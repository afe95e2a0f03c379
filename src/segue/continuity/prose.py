"""What a text says in its own voice: code and quotations covered, cut into sentences that know their place.

Every pattern is linear in the text, which may be hostile or huge. Covering keeps lengths, so that places hold.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from segue.base import text as texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CODE = "\ue000"  # stands for each character of code
QUOTE = "\ue001"  # stands for each character that is quoted, or struck out

_WRAPPED = 60  # characters of a line after which a break says nothing
_FENCE = re.compile(r"[ \t]{0,8}(`{3,}+|~{3,}+)(.*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•·]|\d{1,3}[.)、])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_INDENTED = re.compile(r"(?: {4}|\t)")
_TICKS = re.compile(r"`+")
_ENDS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_QUOTED = re.compile(
    r'"[^"]*+"|“[^“”]*+”|「[^「」]*+」|『[^『』]*+』|«[^«»]*+»|~~[^~]*+~~'
    rf"|(?<!\w)'[^'{_ENDS}]{{1,200}}'(?!\w)|‘(?:[^‘’{_ENDS}]|’(?=\w)){{1,200}}+’(?!\w)"
)
_KEPT = re.compile(  # names of the store's own files and entries are read even where they are set as code
    r"[\w./\\-]{0,200}(?:MEMORY\.md|PROJECT_STUDY_(?:LOG|QA)\.md)|(?:MEM|M|TX)-\d{1,9}|\.project-study-memory[\w./-]{0,200}"
)
_LEDGER = "project_study_log.md"
_TARGET = re.compile(r"\]\([^()\s]{0,500}\)")
_STOP = re.compile(r"[.!?。！？]+$")
_HIDDEN = re.compile(
    r"[*\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\x00-\x08\x0e-\x1b\x7f\U000e0000-\U000e0fff]"
)


# Emphasis by underscores, and by HTML.
_EMPHASIS = re.compile(
    r"(?<![A-Za-z0-9_])_{1,3}(?=[A-Za-z])|(?<=[A-Za-z.!])_{1,3}(?![A-Za-z0-9_])|"
    r"</?(?:b|i|u|em|strong|mark|span|small|p|br|li|td|font)(?: [^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
# Traditional characters of the words that matter here, and the simplified ones that the tables have.
_SIMPLIFIED = str.maketrans(
    "憶誌儲記錄寫進驗證經將學習檔規則糾饋約決項話筆狀態結問題帳賬臺據務長這個條們會時後沒無還請讓嗎嘗試準備"
    "應該動變數庫碼內體覽啟簽發課報導資執輸顯終頁圖屬錯檢確認見當嚴擬開關間測單佈構編譯鏡緩頭實標緊總級術"
    "業貯歸納補沖現對於從與為來達過練講義師彈畫麼給權歷續夠並別剛轉換鎖審閱協議讀遠連線網載傳誤異壓縮",
    "忆志储记录写进验证经将学习档规则纠馈约决项话笔状态结问题账账台据务长这个条们会时后没无还请让吗尝试准备"
    "应该动变数库码内体览启签发课报导资执输显终页图属错检确认见当严拟开关间测单布构编译镜缓头实标紧总级术"
    "业贮归纳补冲现对于从与为来达过练讲义师弹画么给权历续够并别刚转换锁审阅协议读远连线网载传误异压缩",
)


class Sentence(NamedTuple):
    """One sentence: its place in the text, and its words for comparison (folded, code and quotations as one mark)."""

    start: int
    end: int
    words: str


class Records:
    """The files of a project's own that are its ledgers, by their paths: read as those of the specification are."""

    def __init__(self, paths: Sequence[str] = ()) -> None:
        names = sorted({folded(path) for path in paths if path}, key=len, reverse=True)
        listed = "|".join(map(re.escape, names))
        self._pattern = (
            re.compile(rf"(?<![a-z0-9_./\\-])(?:\./)?(?:{listed})(?![a-z0-9_/\\-])", re.IGNORECASE) if names else None
        )

    def renamed(self, text: str) -> str:
        """Return words, or a text, with such names as the detector knows them; lengths change."""
        return self._pattern.sub(_LEDGER, text) if self._pattern else text

    def is_one(self, text: str) -> bool:
        """Whether a text is such a name and no more."""
        return self._pattern is not None and self._pattern.fullmatch(text) is not None


class Prose:
    """The prose of one text; `covered` is as long as the text."""

    def __init__(self, text: str, records: Records | None = None) -> None:
        self.covered, self._paragraphs = _cover(text, records or Records())

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences in their order."""
        for start, end in self._paragraphs:
            paragraph = self.covered[start:end]
            place = 0
            for sentence in texts.sentences(paragraph):
                place = paragraph.index(sentence, place)
                yield Sentence(start + place, start + place + len(sentence), folded(sentence))
                place += len(sentence)


def folded(sentence: str) -> str:
    """Return `sentence` as it is compared: no invisible characters or emphasis, width, case and script folded."""
    sentence = unicodedata.normalize("NFC", _EMPHASIS.sub("", _HIDDEN.sub("", sentence))).replace("’", "'")
    sentence = re.sub(f"{CODE}+", f" {CODE} ", re.sub(f"{QUOTE}+", f" {QUOTE} ", sentence))
    folded_ = texts.fold(sentence)
    return folded_ if folded_.isascii() else folded_.translate(_SIMPLIFIED)


def _cover(text: str, records: Records) -> tuple[str, list[tuple[int, int]]]:
    """Return `text` with code and quotations covered, and the places of its paragraphs."""
    pieces: list[str] = []
    paragraphs: list[tuple[int, int]] = []
    fence, listed, blank = "", False, True
    last = ""  # the line before, where this one may go on with it
    end = 0
    for line in text.splitlines(keepends=True):
        place, end = end, end + len(line)
        stripped = line.strip()
        fence, is_code = _fenced(fence, line)
        item = _ITEM.match(line)
        if not stripped:
            blank, last = True, ""
            pieces.append(line)
            continue
        is_code = is_code or (blank and not listed and not item and _INDENTED.match(line) is not None)
        if is_code or stripped.startswith(">"):
            pieces.append((CODE if is_code else QUOTE) * len(line))
            blank, last = is_code and not fence, ""
            continue
        pieces.append(line)
        if last and not item and _goes_on(last, stripped):
            paragraphs[-1] = (paragraphs[-1][0], end)
        else:
            paragraphs.append((item.end() + place if item else place, end))
        listed = item is not None or (listed and line[0] in " \t")
        blank, last = False, "" if _HEADING.match(line) else stripped
    covered = "".join(pieces)
    return _inline(covered, paragraphs, records), paragraphs


def _fenced(fence: str, line: str) -> tuple[str, bool]:
    """Return the fence that is open after `line`, and whether `line` belongs to code."""
    marker = _FENCE.match(line)
    if not fence:
        opens = marker is not None and not (marker[1][0] == "`" and "`" in marker[2])
        return (marker[1], True) if marker and opens else ("", False)
    closes = marker and marker[1][0] == fence[0] and len(marker[1]) >= len(fence) and not marker[2].strip()
    return ("" if closes else fence), True


def _goes_on(last: str, line: str) -> bool:
    """Whether `line` goes on with the sentence of the line before."""
    if last[-1] in ",，、" or (line[0].isascii() and line[0].islower()):
        return True
    return len(last) >= _WRAPPED and last[-1] not in ".!?。！？:：;；"


def _inline(text: str, paragraphs: list[tuple[int, int]], records: Records) -> str:
    """Return `text` with code and quotations inside its paragraphs covered."""
    pieces, place = [], 0
    for start, end in paragraphs:
        pieces += [
            text[place:start],
            _QUOTED.sub(_covered_quote, _TARGET.sub(_blank, _code_spans(text[start:end], records))),
        ]
        place = end
    return "".join([*pieces, text[place:]])


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _covered_quote(match: re.Match[str]) -> str:
    quote = match.group()
    stop = _STOP.search(quote[:-1])
    # The full stop of a quotation ends the sentence around it: it moves to the end, so that the length stays.
    return QUOTE * (len(quote) - 1) + stop.group()[-1] if stop else QUOTE * len(quote)


def _code_spans(text: str, records: Records) -> str:
    """Return `text` with what stands between equal runs of backticks covered."""
    runs = list(_TICKS.finditer(text))
    closing: dict[int, int] = {}
    following: list[int] = [0] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        length = len(runs[number].group())
        following[number] = closing.get(length, -1)
        closing[length] = number
    pieces, place, number = [], 0, 0
    while number < len(runs):
        end = following[number]
        if end < 0:
            number += 1
            continue
        inside = text[runs[number].end() : runs[end].start()]
        whole = runs[end].end() - runs[number].start()
        name = inside.strip()
        kept = inside.center(whole) if _KEPT.fullmatch(name) or records.is_one(name) else CODE * whole
        pieces += [text[place : runs[number].start()], kept]
        place, number = runs[end].end(), end + 1
    return "".join([*pieces, text[place:]])
