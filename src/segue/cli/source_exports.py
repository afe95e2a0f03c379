"""Writing the records of sources into the files of other tools, inside a block of Segue's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput, SegueError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from segue.app import Segue
    from segue.services.source_views import Exported
    from segue.sources.adapters import Loss, Target
    from segue.storage.sources import Export


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


def target_named(name: str) -> Target:
    """Return the tool of that name. Raises InvalidInput `source.target`."""
    from segue.base.redaction import shown
    from segue.sources.adapters import TARGETS

    for each in TARGETS:
        if each == name:
            return each
    listed = ", ".join(TARGETS)
    raise InvalidInput("source.target", f"nothing is exported to '{shown(name, 40)}'; there are {listed}")


def export(segue: Segue, names: Sequence[str], target: Target, folder: Path, *, replace: bool) -> Written:
    """Write these sources, and those that were written there before, into a tool's file below `folder`."""
    from segue.sources.adapters import PATHS
    from segue.storage.sources import Export

    path = str((folder / PATHS[target]).absolute())
    known = _there(segue, path)
    for name in names:
        segue.sources.get(name)  # all of them are there before anything is written
    written = _write(segue, Export(target, path), sorted({*names, *known}), replace=replace)
    made = any(each.made for each in known.values()) or written.state == "made"
    for name in sorted({*names, *known}):
        others = [each for each in segue.sources.get(name).stored.exports if each.path != path]
        segue.sources.note_exports(name, [*others, Export(target, path, made)])
    return written


def rewrite(segue: Segue, names: Collection[str], *, without: str = "") -> list[Written]:
    """Write again every file that holds records of these sources; without those of one that is to be removed.

    What cannot be written is told, and the others are written all the same.
    """
    found = {each.path: each for name in names for each in segue.sources.get(name).stored.exports}
    done = []
    for path in sorted(found):
        left = [name for name in sorted(_there(segue, path)) if name != without]
        try:
            done.append(_write(segue, found[path], left, replace=False))
        except SegueError as error:
            done.append(Written(found[path].target, path, "failed", fault=error))
    return done


def _there(segue: Segue, path: str) -> dict[str, Export]:
    """The sources whose records were written to a file."""
    return {each.name: export for each in segue.sources.ls() for export in each.stored.exports if export.path == path}


def _write(segue: Segue, file: Export, names: Sequence[str], *, replace: bool) -> Written:
    from segue.hosts import place as places
    from segue.sources import adapters, blocks

    target = target_named(file.target)
    path = Path(file.path)
    place = places.look(path, path.parents[len(Path(adapters.PATHS[target]).parts) - 1])
    sources = tuple(segue.sources.exported(names))
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
