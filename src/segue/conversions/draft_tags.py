"""Tags of the draft: that it is one, its host, its branch, and the languages of the files that were changed."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from segue.packets import drafts

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_LANGUAGES = 2
_TRUNKS = {"main", "master", "trunk", "develop", "HEAD"}
_SUFFIXES = {
    "c": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "cs": "csharp",
    "css": "css",
    "dart": "dart",
    "ex": "elixir",
    "exs": "elixir",
    "go": "go",
    "hs": "haskell",
    "java": "java",
    "js": "javascript",
    "jsx": "javascript",
    "kt": "kotlin",
    "lua": "lua",
    "mjs": "javascript",
    "php": "php",
    "py": "python",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "scala": "scala",
    "scss": "css",
    "sh": "shell",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "tf": "terraform",
    "ts": "typescript",
    "tsx": "typescript",
    "vue": "vue",
    "zig": "zig",
}
_NAMES = {"dockerfile": "docker", "makefile": "make"}


def tags(host: str, branch: str | None, files: Iterable[str]) -> list[str]:
    """Return the tags, each once: lower-case slugs of at most 32 characters."""
    named = [drafts.TAG, host, "" if branch in _TRUNKS else branch or "", *languages(files)]
    slugs = (re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:32].strip("-") for text in named)
    return list(dict.fromkeys(slug for slug in slugs if slug))


def languages(files: Iterable[str]) -> list[str]:
    """Return the languages that most of `files` are written in, the commonest first, at most two."""
    counted: Counter[str] = Counter()
    for path in dict.fromkeys(files):
        name = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
        language = _NAMES.get(name) or _SUFFIXES.get(name.rsplit(".", 1)[-1] if "." in name else "")
        if language:
            counted[language] += 1
    return [language for language, _ in counted.most_common(_MOST_LANGUAGES)]
