"""Writing the records of sources into the files of other tools, inside a block of Segue's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base import place as places
from segue.base import redaction, time
from segue.base.errors import Refused, SegueError
from segue.services.source_views import Exported
from segue.sources import adapters, blocks
from segue.storage.sources import Export

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from segue.memories.memory import Memory
    from segue.services.sources import Sources
    from segue.sources.adapters import Loss, Target
    from segue.sources.record import Record


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one file; `losses` is what it cannot say.

    `state` is made, written, unchanged, cleared (of the block), removed, or failed for `fault`.
    """

    target: str
    path: str
    state: str
    size: int = 0
    losses: tuple[Loss, ...] = ()
    sources: tuple[Exported, ...] = ()
    fault: SegueError | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the shape of an entry of `exports` in `segue source export --json`."""
        error = None if self.fault is None else {"code": self.fault.code, "message": self.fault.message}
        return {
            "to": self.target,
            "path": self.path,
            "state": self.state,
            "bytes": self.size,
            "records": sum(len(each.shown.records) for each in self.sources),
            "left_out": [f"{each.shown.name}#{left}" for each in self.sources for left in each.left_out],
            "withheld": [each.shown.name for each in self.sources if each.withheld],
            "losses": [each.to_json() for each in self.losses],
            "error": error,
        }


class Exporting:
    """Writes records of the sources of one scope into the files of other tools."""

    def __init__(self, sources: Sources, *, clock: Callable[[], datetime]) -> None:
        self._sources = sources
        self._clock = clock

    def write(self, names: Sequence[str], target: str, folder: Path, *, replace: bool = False) -> Written:
        """Write these sources, and those that were written there before, into a tool's file below `folder`.

        `target` is claude-code or agents-md; `replace` also replaces a block that somebody changed, and keeps a backup.
        Raises InvalidInput `source.target`, `source.block`, `hosts.unreadable`, NotFound `source.not_found`, Refused
        `source.block_edited`, `hosts.backup_link`, Failed `file.write`, `hosts.…`.
        """
        tool = adapters.target_named(target)
        path = str(_file_in(folder.absolute(), tool))
        known = self._there(path)
        for name in names:
            self._sources.get(name)  # all of them are there before anything is written
        listed = sorted({*names, *known})
        made = any(each.made for each in known.values()) or not Path(path).exists()
        export = Export(tool, path, made)
        for name in listed:  # first, so that `rm` finds the block even where the writing was killed
            self._sources.note_export(name, export)
        try:
            return self._write(export, listed, replace=replace)
        except SegueError as error:
            for name in listed:
                self._sources.note_export(name, export, gone=name not in known)
            if error.code != "source.block_edited":
                raise
            raise Refused(error.code, f"{path}: {error.message}") from None

    def rewrite(self, names: Collection[str], *, without: str = "") -> list[Written]:
        """Write again every file that holds records of these sources; without those of one that is to be removed.

        What cannot be written is told, and the others are written all the same. Raises NotFound `source.not_found`.
        """
        found = {each.path: each for name in names for each in self._sources.get(name).stored.exports}
        done = []
        for path in sorted(found):
            left = [name for name in sorted(self._there(path)) if name != without]
            try:
                done.append(self._write(found[path], left, replace=False))
            except SegueError as error:
                done.append(Written(found[path].target, path, "failed", fault=error))
        return done

    def _there(self, path: str) -> dict[str, Export]:
        """The sources whose records were written to a file."""
        listed = [(each.name, export) for each in self._sources.ls() for export in each.stored.exports]
        return {name: export for name, export in listed if export.path == path}

    def _exported(self, names: Sequence[str]) -> list[Exported]:
        """What other tools may be told of these sources: records whose memories are served now.

        What was forgotten, replaced or has expired is left out, and all of a source that is withheld. What is masked in
        the memories is masked here.
        """
        now = self._clock()
        found = []
        for name in names:
            stored = self._sources.get(name).stored
            everything = () if stored.withheld else self._sources.records(name)
            states = self._sources.states(name)
            kept = tuple(_masked(each) for each in everything if _is_served(states.get(each.id, []), now))
            shown = adapters.Shown(
                name=name,
                title=stored.title,
                place=stored.place,
                at=time.to_text(stored.changed_at),
                records=kept,
            )
            left = {each.id for each in everything} - {each.id for each in kept}
            found.append(Exported(shown, tuple(sorted(left)), stored.withheld))
        return found

    def _write(self, file: Export, names: Sequence[str], *, replace: bool) -> Written:
        target = adapters.target_named(file.target)
        path = Path(file.path)
        place = places.look(path, path.parents[len(Path(adapters.PATHS[target]).parts) - 1])
        if place.target.parent != path.parent:  # it became a link after it was written first
            raise _linked(path)
        sources = tuple(self._exported(names))
        before = place.data or b""
        if names:
            content = adapters.rendered([each.shown for each in sources if not each.withheld])
            after = blocks.with_block(before, content, replace_edited=replace)
        else:
            after = blocks.without_block(before, replace_edited=replace)
        losses = tuple(adapters.losses([each.shown for each in sources], target, len(after)))
        if after == before:
            return Written(target, file.path, "unchanged", len(after), losses, sources)
        places.check_writable(place)
        if not after and file.made:
            places.remove(place)
            return Written(target, file.path, "removed", 0)
        edited = blocks.found(before)
        places.write(place, after, backup=before if edited is not None and edited.edited else None)
        state = "made" if place.data is None else "written" if names else "cleared"
        return Written(target, file.path, state, len(after), losses, sources)


def _file_in(folder: Path, tool: Target) -> Path:
    """The tool's file below a folder, by the one path that it has: what leads there through links is the same file.

    What others wrote goes into no file beyond that folder, such as one of a shell, whatever link a project comes with.
    Raises Refused `source.link`, InvalidInput `hosts.unreadable`.
    """
    named = folder / adapters.PATHS[tool]
    target = places.look(named, folder).target
    if not target.is_relative_to(folder.resolve()):
        raise _linked(named)
    return target


def _linked(path: Path) -> Refused:
    message = f"{path} is a link that leads elsewhere; records of others are written into no file beyond its folder"
    return Refused("source.link", message, {"path": str(path)})


def _is_served(memories: Sequence[Memory], now: datetime) -> bool:
    return bool(memories) and all(
        each.status == "active" and (each.valid_to is None or each.valid_to > now) for each in memories
    )


def _masked(record: Record) -> Record:
    """A record without what is local to the machine of who wrote it, and without secrets."""

    def clean(text: str) -> str:
        return redaction.mask(redaction.Field("record", text, True))[0] if text else text

    texts: dict[str, Any] = {
        name: clean(getattr(record, name)) for name in ("body", "title", "kind", "scope", "project", "source")
    }
    lists: dict[str, Any] = {name: tuple(map(clean, getattr(record, name))) for name in ("tags", "entities")}
    return replace(record, **texts, **lists)
