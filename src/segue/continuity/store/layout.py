"""What lies in a project's memory store, and what its parts are called (section 001.3 of the facts).

.project-study-memory/
  MEMORY.md        the index: a line for each fact, under the heading of its kind
  <name>.md        one fact: front matter, then its text
  archive/         facts that do not hold any more
"""

from __future__ import annotations

import re
import unicodedata

from segue.base.errors import InvalidInput

STORE = ".project-study-memory"
INDEX = "MEMORY.md"
ARCHIVE = "archive"
TITLE = "# Memory Index"
KINDS = ("feedback", "correction", "project", "reference")

SOFT_LINES, SOFT_BYTES = 150, 20_480
HARD_LINES, HARD_BYTES = 200, 25_600
MAX_NAME, MAX_NAME_BYTES = 64, 200  # characters and bytes of a new name: a file's has 255, also in the archive

MEMORY_ID = re.compile(r"MEM-(\d{1,18})", re.ASCII)
TRANSACTION = re.compile(r"TX-\d{1,18}", re.ASCII)
_FILE = re.compile(r"[^/\\:*?\"<>|\x00-\x1f]+\.md", re.DOTALL)
# Names that a Windows machine gives to devices: a project that is copied there would lose such a file.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in "123456789")}
)

# The question to the user before anything is made. The Chinese sentence is the specification's.
QUESTION_ZH = (
    "是否启用当前项目的连续性记忆？启用后将在项目根目录创建 .project-study-memory/，"
    "用于保存可复用规则、纠正和恢复指针；拒绝则不创建。"
)
QUESTION_EN = (
    "Shall this project have a continuity memory? If so, .project-study-memory/ is made in the project's root, to keep "
    "reusable rules, corrections and pointers for going on; if not, nothing is made."
)

_TEMPLATE = f"""\
{TITLE}

> What lasts in this project: one line for each fact, which its file tells in full. It is advice and no authority:
> check it against the ledgers and the sources before you build on it.

## feedback

## correction

## project

## reference
"""


def template() -> bytes:
    """Return the index of a new store."""
    return _TEMPLATE.encode("utf-8")


def is_name(name: str) -> bool:
    """Whether a name is words of lower-case letters and digits with a hyphen between them."""
    words = name.split("-")
    return all(map(_is_word, words)) and name == name.lower() and unicodedata.is_normalized("NFC", name)


def _is_word(word: str) -> bool:
    """Whether it is letters and digits; in many scripts the vowels and tones of a letter are marks that follow it."""
    return word[:1].isalnum() and all(each.isalnum() or unicodedata.category(each).startswith("M") for each in word)


def checked_name(name: str) -> str:
    """Return the name of a new fact, in composed characters.

    Raises InvalidInput `memory.name` for what is no name, or none that every system takes for a file.
    """
    name = unicodedata.normalize("NFC", name)
    if not is_name(name) or len(name) > MAX_NAME or len(name.encode("utf-8")) > MAX_NAME_BYTES:
        raise InvalidInput(
            "memory.name",
            "a name is lower-case words with hyphens, such as read-by-header, of at most "
            f"{MAX_NAME} characters and {MAX_NAME_BYTES} bytes",
        )
    if name in _DEVICES or f"{name}.md" == INDEX.lower():
        raise InvalidInput("memory.name", f"{name} cannot be the name of a file on every system; take another")
    return name


def file_of(name: str) -> str:
    """Return the file of the fact with that name."""
    return f"{name}.md"


def is_detail(file: str) -> bool:
    """Whether a path in the store is that of a detail file: directly in it, and not the index."""
    return bool(_FILE.fullmatch(file)) and file.lower() != INDEX.lower()


def checked_kind(kind: str) -> str:
    """Return a kind. Raises InvalidInput `memory.kind`."""
    if kind not in KINDS:
        raise InvalidInput("memory.kind", f"a kind is {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    return kind
