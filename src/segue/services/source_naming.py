"""What sources are called, and what their snapshots are told apart by."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput
from segue.base.redaction import shown
from segue.sources import manifest as manifests
from segue.sources.limits import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Collection

    from segue.sources.manifest import Manifest
    from segue.sources.snapshot import Resource, Snapshot

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
_LONGEST = 48  # characters of a name that is made of a place


def is_name(text: str) -> bool:
    """Whether a source can have this name."""
    return bool(_NAME.fullmatch(text))


def require_name(text: str) -> str:
    """Return a name. Raises InvalidInput `source.name`."""
    if not is_name(text):
        rule = "1 to 64 lower-case letters, digits, dots, underscores and hyphens, a letter or digit first"
        raise InvalidInput("source.name", f"'{shown(text, 64)}' is no name of a source: {rule}")
    return text


def suggested(place: str) -> str:
    """Return a name for what is read from a place: its folder's, or that of its host and the last part of its path."""
    scheme, joint, rest = place.partition("://")
    parts = [each for each in re.split(r"[/\\]", rest if joint else scheme) if each]
    named = [parts[0].partition(":")[0], *parts[1:][-1:]] if joint and parts else parts[-1:]
    name = re.sub(r"[^a-z0-9._-]+", "-", "-".join(named).lower())[:_LONGEST].strip("-._")
    return name if is_name(name) else "source"


def unused(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number where it is taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def manifest_of(resource: Resource) -> Manifest:
    """Return the manifest that was read once already."""
    return manifests.read(resource.data, DEFAULT)


def digest(snapshot: Snapshot) -> str:
    """Return `sha256:` and the hash of all of a snapshot's files."""
    named = "\n".join(f"{each.sha256} {each.path}" for each in snapshot.resources)
    return "sha256:" + hashlib.sha256(named.encode()).hexdigest()
