"""The files that a sentence names: in code spans and in its own words, as people and agents write them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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


class Paths:
    """The paths of a receipt, made ready so that any number of names is told quickly whether it is one of them."""

    def __init__(self, paths: Iterable[str], is_here: Callable[[str], bool]) -> None:
        """`is_here` says whether the project has a file or a folder of exactly that path."""
        own = [unicodedata.normalize("NFC", each) for each in paths]
        self._is_here = is_here
        self._whole = {each.rstrip("/") for each in own}
        self._folders = {each for each in own if each.endswith("/")}
        self._ends = {end for each in self._whole for end in _ends(each)}
        self._glued = {each for path in own for each in (path, path.rpartition("/")[2]) if each}
        self._longest = max(map(len, self._glued), default=0)

    def without(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of `names` that are none of the paths, nor in one that is a folder (it ends with `/`).

        A name may be the end of a path, `MEMORY.md`, unless the project has a file of exactly that path: then that is
        meant. What is to be in a folder has to be there. Whether letters are composed or not makes no difference:
        systems name files both ways.
        """
        return tuple(each for each in names if not self._has(each))

    def _has(self, name: str) -> bool:
        bare = name.rstrip("/")
        if bare in self._whole:
            return True
        if self._is_here(name):
            return self._is_inside(name)
        return bare in self._ends or self._is_glued(name)

    def _is_inside(self, name: str) -> bool:
        parts = name.split("/")
        if {"..", "."} & set(parts):
            return False
        return any("/".join(parts[:end]) + "/" in self._folders for end in range(1, len(parts)))

    def _is_glued(self, name: str) -> bool:
        """Chinese has no spaces: 已保存到进度.md names 进度.md."""
        until = name.find("/") if "/" in name else len(name)
        places = range(max(1, len(name) - self._longest), until + 1)
        return any(not name[place - 1].isascii() and name[place:] in self._glued for place in places)


def _ends(path: str) -> Iterator[str]:
    """Yield a path without its first folders, one after the other."""
    while path:
        yield path
        path = path.partition("/")[2]
