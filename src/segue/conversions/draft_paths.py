"""File paths in the draft: relative to the project, or gone. A packet never names a place on one machine."""

from __future__ import annotations

import re

_PLACEHOLDER = "[path]"
_PROJECT = "the project directory"

# What follows the first separator of a path, up to a space, a quote, a bracket or a comma.
_REST = r"[^\s\"'`<>()\[\]{},;|*?]{0,400}"
_ABSOLUTE = re.compile(
    rf"(?<![\w/:.@%-])(?:file://)?(?:"
    rf"~[\w.-]{{0,32}}/{_REST}"
    rf"|[A-Za-z]:[\\/]{_REST}"
    rf"|\\\\[\w.$-]{{1,64}}\\{_REST}"
    rf"|/(?:home|Users|root|tmp|var|etc|opt|usr|srv|mnt|media|private|Volumes|Library|Applications|workspaces?"
    rf"|proc|dev|nix|snap)(?:/{_REST}|(?![\w/-]))"
    rf")|file://{_REST}"
)
_TRAILING = ".:!?…"


class Paths:
    """Rewrites paths for sessions that worked in the directories `roots`, the first of them foremost."""

    def __init__(self, roots: tuple[str, ...]) -> None:
        spelled = {root.rstrip("/\\") for root in roots if len(root.strip("/\\")) > 2}
        self._roots = sorted(spelled, key=lambda root: (-len(root), root))

    def relative(self, path: str) -> str | None:
        """Return `path` relative to the project with forward slashes, or None where it lies outside."""
        for root in self._roots:
            if path.startswith((root + "/", root + "\\")):
                path = path[len(root) + 1 :]
                break
        path = path.replace("\\", "/").removeprefix("./").strip()
        parts = path.split("/")
        outside = not path or path.startswith(("/", "~")) or re.match(r"[A-Za-z]:", path) or ".." in parts
        return None if outside or len(path) > 200 else " ".join(path.split())

    def shown(self, text: str) -> str:
        """Return `text` with paths inside the project made relative and other absolute paths taken out."""
        for root in self._roots:
            if root in text:
                inside = re.compile(rf"(?:file://)?{re.escape(root)}(?:[/\\](?=[\w.@+-])|[/\\]?(?![\w/\\-]))")
                text = inside.sub(lambda match: "" if match.group()[-1] in "/\\" else _PROJECT, text)
        return _ABSOLUTE.sub(_outside, text)


def _outside(match: re.Match[str]) -> str:
    path = match.group()
    return _PLACEHOLDER + path[len(path.rstrip(_TRAILING)) :]
