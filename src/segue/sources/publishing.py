"""A folder that others can read as a source: its manifest and its records, the same bytes for the same records."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from segue.sources import manifest as manifests
from segue.sources import paths, snapshot
from segue.sources.limits import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = "records"
_NAME_LENGTH = 48
_DIGITS = 12
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A record that is to be published; its fields are those of `Record`, texts on one line but for the body."""

    id: str
    body: str
    title: str = ""
    kind: str = ""
    project: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    created: str = ""
    occurred_at: str = ""
    confidence: float | None = None
    expires: str = ""


def folder(drafts: Sequence[Draft], *, title: str = "", description: str = "") -> dict[str, bytes]:
    """Return the files of a source, by their paths, the manifest last.

    The name of a record's file goes by its content: a new version is another file, so that a folder is whole at each
    moment in which its manifest is. Raises what reading it would: InvalidInput `source.record`, `source.limit`, ….
    """
    ordered = sorted(drafts, key=lambda each: each.id)
    files = {}
    entries = []
    for each in ordered:
        data = _record(each)
        digest = hashlib.sha256(data).hexdigest()
        path = f"{FOLDER}/{_slug(each)}{_ending(digest)}"
        files[path] = data
        entry: dict[str, object] = {"id": each.id, "path": path, "sha256": digest, "bytes": len(data)}
        entries.append(entry | ({"title": each.title} if each.title else {}))
    head = {"memories_version": manifests.VERSION, "title": title, "description": description}
    newest = max((each.created for each in drafts), default="")
    document = {key: value for key, value in (head | {"updated_at": newest}).items() if value} | {"records": entries}
    files[paths.MANIFEST] = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
    require_readable(files)
    return files


def require_readable(files: dict[str, bytes]) -> None:
    """Make sure that a reader takes these files for a source. Raises what reading them raises."""
    resources = [snapshot.resource(path, data) for path, data in files.items()]
    first = next(each for each in resources if each.path == paths.MANIFEST)
    snapshot.assembled(first, [each for each in resources if each is not first], DEFAULT)


def listed(manifest: bytes) -> list[str] | None:
    """Return the paths of the records that a manifest lists, None for one that was not published from here.

    Raises InvalidInput, Refused for what is no manifest.
    """
    entries = manifests.read(manifest, DEFAULT).records
    return [each.path for each in entries] if all(_is_named(each.path, each.sha256) for each in entries) else None


def is_own(path: str, data: bytes) -> bool:
    """Whether a file is a record that was published, as it was: its name goes by its content."""
    return _is_named(path, hashlib.sha256(data).hexdigest())


def _is_named(path: str, digest: str) -> bool:
    folder, _, name = path.partition("/")
    return bool(digest) and folder == FOLDER and "/" not in name and name.endswith(_ending(digest))


def _ending(digest: str) -> str:
    return f"-{digest[:_DIGITS]}.md"


def _record(draft: Draft) -> bytes:
    texts = {name: getattr(draft, name) for name in ("id", "title", "kind", "project")}
    lists = {name: getattr(draft, name) for name in ("tags", "entities")}
    times = {name: getattr(draft, name) for name in ("created", "occurred_at", "expires")}
    lines = [f"{name}: {_quoted(value)}" for name, value in texts.items() if value]
    lines += [f"{name}: [{', '.join(map(_quoted, value))}]" for name, value in lists.items() if value]
    lines += [f"{name}: {_quoted(value)}" for name, value in times.items() if value]
    if draft.confidence is not None:
        lines.append(f"confidence: {_fraction(draft.confidence)}")
    return "\n".join(["---", *lines, "---", "", draft.body.replace("\r\n", "\n").strip(), ""]).encode()


def _quoted(text: str) -> str:
    """A text as YAML, in double quotes: it stays the text that it is."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _fraction(value: float) -> str:
    """A number from 0 to 1 with at most the 17 digits that a reader takes."""
    short = repr(value)
    return short if "e" not in short and len(short) <= len("0.") + 17 else f"{value:.17f}"


def _slug(draft: Draft) -> str:
    """A name that a person can tell apart; what makes it unique stands behind it."""
    words = re.findall(r"[a-z0-9]+", (draft.title or draft.body).lower()[:400])
    name = "-".join(words)[:_NAME_LENGTH].strip("-")
    return name or PurePosixPath(draft.id).name
