"""The files of a memory store at one moment, and what a change makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from segue.continuity.store.layout import ARCHIVE, INDEX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from segue.continuity.store.fault import Fault


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The Markdown files of a store, by their path in it (`x.md`, `archive/x.md`), in composed characters.

    `names` says what the disk calls those that it calls otherwise; `faults` tells what could not be read.
    """

    files: Mapping[str, bytes]
    names: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    @property
    def details(self) -> list[str]:
        """The files that are to be facts, in order: all but the index and the archive, whatever they are called."""
        return sorted(each for each in self.files if each != INDEX and not each.startswith(f"{ARCHIVE}/"))

    @property
    def archived(self) -> list[str]:
        """The files of the archive, in order."""
        return sorted(each for each in self.files if each.startswith(f"{ARCHIVE}/"))


@dataclass(frozen=True, slots=True)
class Plan:
    """A change of a store as one: files with their new bytes, and files that go."""

    writes: Mapping[str, bytes] = field(default_factory=dict)
    removals: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.writes or self.removals)

    def after(self, snapshot: Snapshot) -> Snapshot:
        """Return what the store is when the change is made."""
        files = {name: data for name, data in snapshot.files.items() if name not in self.removals} | dict(self.writes)
        return Snapshot(files, snapshot.names, snapshot.faults)

    def steps(self, snapshot: Snapshot) -> list[tuple[str, bytes | None]]:
        """Return the files to change, None for one that goes, so that the index never names a file that is not there.

        Files that are as they shall be already are left out.
        """
        new = [each for each in sorted(self.writes) if each != INDEX]
        order = [*new, *([INDEX] if INDEX in self.writes else [])]
        writes = [(each, self.writes[each]) for each in order if snapshot.files.get(each) != self.writes[each]]
        return [*writes, *((each, None) for each in sorted(self.removals) if each in snapshot.files)]
