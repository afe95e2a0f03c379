"""Publishing: chosen memories of the user's own as a folder that others can read as a source, after a review."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import files, redaction, time
from segue.base.errors import Failed, InvalidInput, Refused, SegueError
from segue.base.redaction import Field, RedactionRefused
from segue.base.untrusted import one_line
from segue.services.scoped import ScopedService
from segue.sources import publishing
from segue.sources.limits import DEFAULT
from segue.sources.manifest import MAX_TITLE
from segue.sources.paths import MANIFEST
from segue.sources.publishing import Draft

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from segue.memories.memory import Memory
    from segue.services.memories import Memories

_MODE = 0o644  # it is made to be read by others
_PAGE = 500
_NAMED = 3  # of what is left out, in an error
_MEND = "Edit the memories, or choose others; nothing was written"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A memory that was chosen and is not published, and why."""

    id: str
    reason: str

    def to_json(self) -> dict[str, str]:
        """Return `{"id", "reason"}`."""
        return {"id": self.id, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Publication:
    """What is to be published: the records, the files that hold them (the manifest last), and what was left out."""

    drafts: tuple[Draft, ...]
    files: dict[str, bytes]
    left_out: tuple[LeftOut, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what there is to look at before it leaves."""
        return {
            "records": [{"id": each.id, "title": each.title or None, "body": each.body} for each in self.drafts],
            "files": {path: len(data) for path, data in self.files.items()},
            "left_out": [each.to_json() for each in self.left_out],
        }


@dataclass(frozen=True, slots=True)
class Published:
    """A folder that was written: the files that are new in it, and those that were removed."""

    directory: Path
    written: tuple[str, ...]
    removed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{"directory", "written", "removed"}`."""
        return {"directory": str(self.directory), "written": list(self.written), "removed": list(self.removed)}


class Publishing(ScopedService):
    """Publishes memories of one scope."""

    def __init__(self, memories: Memories, **shared: Any) -> None:
        super().__init__(memories.database, memories.scope_id, **shared)
        self._memories = memories

    def prepare(
        self,
        *memory_ids: str,
        tags: Sequence[str] = (),
        projects: Sequence[str] = (),
        title: str = "",
        description: str = "",
    ) -> Publication:
        """Return what would be published: the memories of these ids, and those with any of the tags and projects.

        Only what the user said and what holds now is; of the rest, a memory that was named is refused, others are left
        out. Nothing with a secret or with what is local to this machine leaves. Raises InvalidInput
        `source.nothing_chosen`, NotFound, Ambiguous, Refused `source.unreviewed`, RedactionRefused `source.redaction`,
        and what reading the folder would raise.
        """
        now = self._clock()
        named = [self._memories.get(each) for each in memory_ids]
        for memory in named:
            reason = _unfit(memory, now)
            if reason:
                raise Refused("source.unreviewed", f"{memory.id} cannot be published: {reason}", {"id": memory.id})
        further = list(self._matching(tags, projects)) if tags or projects else []
        chosen = {each.id: each for each in (*named, *further)}
        left_out = [LeftOut(each.id, reason) for each in chosen.values() if (reason := _unfit(each, now))]
        for each in left_out:
            del chosen[each.id]
        if not chosen:
            raise InvalidInput("source.nothing_chosen", _nothing(left_out, searched=bool(tags or projects)))
        drafts = [_draft(each) for each in chosen.values()]
        _require_clean(drafts, title, description)
        made = publishing.folder(drafts, title=title, description=description)
        return Publication(tuple(sorted(drafts, key=lambda each: each.id)), made, tuple(left_out))

    def _matching(self, tags: Sequence[str], projects: Sequence[str]) -> Iterator[Memory]:
        cursor = None
        for _ in range(DEFAULT.records // _PAGE + 1):
            page = self._memories.ls(
                limit=_PAGE, cursor=cursor, statuses=["active"], tags=list(tags), projects=list(projects)
            )
            yield from page.memories
            cursor = page.cursor
            if cursor is None:
                return

    def write(self, publication: Publication, directory: Path) -> Published:
        """Write what was prepared; records that were published there before, and are not now, are removed.

        All of a new state is there before its manifest takes the place of the old one: whoever reads meanwhile, or
        after a crash, finds either. Raises Refused `source.not_a_source` for a folder that holds something else,
        `source.link`, Failed `file.write`.
        """
        before = require_free(directory)
        made = publication.files
        written = tuple(path for path, data in made.items() if _differs(directory, path, data))
        _make_folders(directory, made)
        for path in written:  # the manifest is the last
            files.write_bytes(directory / path, made[path], mode=_MODE)
        there = dict.fromkeys((*before, *_left_behind(directory)))
        removed = tuple(path for path in there if path not in made and _remove(directory, path))
        return Published(directory, written, removed)


def require_free(directory: Path) -> list[str]:
    """Return the records of what was published in this folder; none for a folder that is empty or not there.

    Raises Refused `source.not_a_source` for one that holds something else, also a source that somebody keeps by hand.
    """
    text = f"{directory} holds something else than a source that was published; name another folder"
    refused = Refused("source.not_a_source", text)
    try:
        if not directory.exists() or not any(directory.iterdir()):
            return []
        found = publishing.listed(files.read_bytes(directory / MANIFEST, DEFAULT.manifest_bytes))
    except (OSError, SegueError):
        raise refused from None
    if found is None:
        raise refused
    return found


def _nothing(left_out: Sequence[LeftOut], *, searched: bool) -> str:
    """Why there is nothing to publish, and what to do."""
    if left_out:
        told = "; ".join(f"{each.id}: {each.reason}" for each in left_out[:_NAMED])
        more = f" (and {len(left_out) - _NAMED:,} more)" if len(left_out) > _NAMED else ""
        return f"nothing that was chosen can be published; {told}{more}"
    if searched:
        return "no memory of yours has that tag or project; `segue memories ls --tag TAG` shows which have one"
    return "no memory of yours was chosen; give ids, --tag or --project"


def _unfit(memory: Memory, now: datetime) -> str:
    """Why a memory is not published, "" where nothing speaks against it."""
    if memory.status != "active":
        return "it waits for review" if memory.status == "pending" else "it does not hold any more"
    if memory.provenance.author_class != "user" or memory.provenance.origin == "record":
        return "it is not in the user's own words"
    if memory.valid_to is not None and memory.valid_to <= now:
        return "it has expired"
    if memory.valid_from is not None and memory.valid_from > now:
        return "it does not hold yet"  # which no record can say
    return ""


def _draft(memory: Memory) -> Draft:
    title = one_line(memory.summary)
    return Draft(
        id=memory.id.lower(),
        body=memory.content,
        title=title if len(title) <= MAX_TITLE else "",
        kind=memory.kind,
        project=one_line(memory.project),
        tags=tuple(map(one_line, memory.tags)),
        entities=tuple(map(one_line, memory.entities)),
        created=time.to_text(memory.captured_at),
        occurred_at=time.to_text(memory.occurred_at) if memory.occurred_at else "",
        confidence=memory.confidence,
        expires=time.to_text(memory.valid_to) if memory.valid_to else "",
    )


def _require_clean(drafts: Iterable[Draft], title: str, description: str) -> None:
    fields = [Field("title", title, True), Field("description", description, True)]
    for each in drafts:
        texts = {"body": each.body, "title": each.title, "project": each.project}
        lists = {"tags": each.tags, "entities": each.entities}
        fields += [Field(f"{each.id}.{name}", text, True) for name, text in texts.items() if text]
        fields += [Field(f"{each.id}.{name}", text, True) for name, several in lists.items() for text in several]
    found = redaction.scan(fields)
    if found:
        raise RedactionRefused(found, "source.redaction", _MEND)


def _make_folders(directory: Path, made: Mapping[str, bytes]) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path in made:
            place = directory / path
            for each in (place, place.parent):
                if each.is_symlink() and each != directory:
                    raise Refused("source.link", f"{each} is a link; a source has none")
            place.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise Failed("file.write", f"could not write {directory}: {error.strerror or error}") from error


def _differs(directory: Path, path: str, data: bytes) -> bool:
    place = directory / path
    try:
        return place.is_symlink() or place.read_bytes() != data
    except OSError:
        return True


def _left_behind(directory: Path) -> list[str]:
    """What may be a record that was published and is listed no more, because something ended before it was removed."""
    folder = directory / publishing.FOLDER
    try:
        return sorted(f"{publishing.FOLDER}/{each.name}" for each in folder.iterdir() if each.suffix == ".md")
    except OSError:
        return []


def _remove(directory: Path, path: str) -> bool:
    """Remove a record that is listed no more; nothing that lies elsewhere, is no file, or that something else wrote.

    A manifest may be anybody's, and list whatever else lies in the folder.
    """
    place = directory / path
    try:
        inside = place.parent.resolve().is_relative_to(directory.resolve())
        if not inside or not stat.S_ISREG(place.lstat().st_mode):
            return False
        if not publishing.is_own(path, files.read_bytes(place, DEFAULT.record_bytes)):
            return False
        place.unlink()
    except (OSError, SegueError):
        return False
    return True
