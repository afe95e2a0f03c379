"""The files that a sentence names: in code spans and in its own words, as people and agents write them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ENDINGS = (
    "md markdown mdx txt text rst adoc org tex json jsonl ndjson yaml yml toml ini cfg conf csv tsv xml html htm pdf "
    "doc docx odt xls xlsx ppt pptx ipynb py pyi js jsx ts tsx mjs go rs c h cc cpp hpp cs java kt swift rb php sh sql "
    "db sqlite log lock svg png jpg jpeg"
)
_FILE = re.compile(rf"(?:.*[/\w)\]])?\.(?:{'|'.join(_ENDINGS.split())})", re.IGNORECASE | re.DOTALL)
_FOLDER = re.compile(r"[\w.@-][\w.@/-]*/", re.ASCII)
_SPAN = re.compile(r"(?<!`)`++([^`\n]{1,4096})`++")
_BREAKS = r"\s`\"'“”‘’«»「」『』《》()（）\[\]{}<>*|,;:!?，。；：！？、…"
_WORD = re.compile(rf"(?:[A-Za-z]:[\\/])?[^{_BREAKS}]+")


def named(sentence: str) -> tuple[str, ...]:
    """Return the files and folders that a sentence names, each once, with `/` between their parts."""
    found = [_path(span) for span in _SPAN.findall(sentence) if _is_file(span.strip()) or "/" in span.strip(" /")]
    for word in _WORD.findall(_SPAN.sub(" ", sentence)):
        shorter = word.rstrip(".")
        if "//" not in shorter and _is_file(shorter):
            found.append(_path(shorter))
    return tuple(dict.fromkeys(each for each in found if each and "//" not in each))


def _is_file(text: str) -> bool:
    return _FILE.fullmatch(text) is not None or _FOLDER.fullmatch(text) is not None


def _path(text: str) -> str:
    return re.sub(r"^(?:\./)+", "", unicodedata.normalize("NFC", text).strip().replace("\\", "/"))


def unproven(names: Iterable[str], proven: Iterable[str], is_here: Callable[[str], bool]) -> tuple[str, ...]:
    """Return those of `names` that are none of the paths `proven`, nor in one that is a folder (it ends with `/`).

    A name may be the end of a path: `MEMORY.md`. `is_here` says whether the project has a file of exactly that path,
    which is meant then. Whether letters are composed or not makes no difference: systems name files both ways.
    """
    paths = tuple(unicodedata.normalize("NFC", each) for each in proven)
    return tuple(each for each in names if not any(_is(each, path, is_here) for path in paths))


def _is(name: str, path: str, is_here: Callable[[str], bool]) -> bool:
    if name.rstrip("/") == path.rstrip("/") or (path.endswith("/") and _inside(name, path)):
        return True
    if is_here(name):
        return False
    if f"/{path}".rstrip("/").endswith(f"/{name.rstrip('/')}"):
        return True
    # Chinese has no spaces: 已保存到进度.md names 进度.md.
    return any(_glued(name, own) for own in (path, path.rpartition("/")[2]) if own)


def _inside(name: str, folder: str) -> bool:
    return name.startswith(folder) and not {"..", "."} & set(name.split("/"))


def _glued(name: str, own: str) -> bool:
    before = name[: -len(own)]
    return name.endswith(own) and bool(before) and not before[-1].isascii() and "/" not in before
