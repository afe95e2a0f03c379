"""The doctor of a memory store: reads all of it, and finds whatever breaks the format (section 001.3 of the facts)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.continuity.store import detail as details
from segue.continuity.store import index as indexes
from segue.continuity.store.fault import Fault
from segue.continuity.store.index import Index
from segue.continuity.store.layout import ARCHIVE, INDEX, STORE, is_detail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from segue.continuity.store.detail import Detail
    from segue.continuity.store.snapshot import Snapshot

ROOT = "store.missing"
_EMPTY = Index((), (), ())


@dataclass(frozen=True, slots=True)
class Checked:
    """A store that was read: its index, its facts by their file, those in the archive, and everything that is wrong."""

    snapshot: Snapshot
    index: Index
    details: Mapping[str, Detail]
    archived: Mapping[str, Detail]
    faults: tuple[Fault, ...]

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong that makes it unusable; the soft limits alone do not."""
        return not any(each.blocks for each in self.faults)

    def listed(self) -> Iterator[tuple[str, Detail]]:
        """Yield the kind and the fact of each pointer that leads to one, in the order of the index, each once."""
        seen: set[str] = set()
        for pointer in self.index.pointers:
            if pointer.target in self.details and pointer.target not in seen:
                seen.add(pointer.target)
                yield pointer.kind, self.details[pointer.target]

    def next_id(self) -> str:
        """Return an id that no fact has had, in the archive neither."""
        used = [each.number for each in (*self.details.values(), *self.archived.values())]
        files = self.snapshot.files
        unread = files.keys() - self.details.keys() - self.archived.keys() - {INDEX}
        used += [details.claimed_number(files[each]) for each in unread]
        return f"MEM-{max(used, default=0) + 1:03}"


def no_store() -> Fault:
    """Return the fault of a project that has no store."""
    return Fault(
        ROOT, STORE, 1, "there is no memory store", "`segue continuity init --user-consent`, if the user agrees"
    )


def check(snapshot: Snapshot, before: Checked | None = None) -> Checked:
    """Return a store as it reads, with all of its faults, in the order of its files.

    `before` is the store that a change was made of: what has the same bytes is not read again.
    """
    faults = list(snapshot.faults)
    if INDEX in snapshot.files:
        index = indexes.read(snapshot.files[INDEX])
    else:
        index = _EMPTY
        if not any(each.file == INDEX for each in faults):
            mend = f"restore it from a backup or the repository; nothing makes {STORE} anew"
            faults.append(Fault("index.missing", INDEX, 1, f"{INDEX} is missing", mend))
    faults += index.faults
    found: dict[str, Detail] = {}
    unreadable: dict[str, list[Fault]] = {}
    archived: dict[str, Detail] = {}
    for file in (*snapshot.details, *snapshot.archived):
        read, wrong = _read(file, snapshot, before)
        if read is not None:
            (archived if file.startswith(f"{ARCHIVE}/") else found)[file] = read
        else:
            unreadable[file] = wrong
    faults += _targets(index, snapshot)
    for file in snapshot.details:
        faults += _of_detail(file, index, found.get(file), unreadable.get(file, []))
    faults += _same_ids(index, found)
    return Checked(snapshot, index, found, archived, tuple(faults))


def _read(file: str, snapshot: Snapshot, before: Checked | None) -> tuple[Detail | None, list[Fault]]:
    if before is not None and before.snapshot.files.get(file) == snapshot.files[file]:
        known = before.details.get(file) or before.archived.get(file)
        if known is not None:
            return known, []
    return details.read(file, snapshot.files[file])


def _targets(index: Index, snapshot: Snapshot) -> Iterator[Fault]:
    there = snapshot.files.keys() | {each.file for each in snapshot.faults}
    wrong = {each.line for each in index.faults if each.code == "index.target"}
    for each in index.pointers:
        if each.target not in there and each.line not in wrong:
            mend = "restore the file, or remove the line"
            yield Fault("index.missing_target", INDEX, each.line, "a pointer leads to a file that is not there", mend)


def _of_detail(file: str, index: Index, found: Detail | None, unreadable: list[Fault]) -> Iterator[Fault]:
    pointer = index.pointer(file)
    if pointer is None:
        mend = f"move it to archive/, or point to it from {INDEX} if a receipt proves it"
        if not is_detail(file):
            mend = "move it to archive/, or call it by lower-case words with hyphens"
        yield Fault("detail.orphan", file, 1, "it is not in the index", mend)
    elif found is None:
        yield from unreadable
    else:
        yield from details.faults(found, pointer.kind)


def _same_ids(index: Index, found: Mapping[str, Detail]) -> Iterator[Fault]:
    first: dict[int, str] = {}
    for file, each in sorted(found.items(), key=lambda item: (index.pointer(item[0]) is None, item[0])):
        if each.number in first:
            mend = "give it the next id that no file in the store or its archive has"
            said = f"its id is that of {first[each.number]}"
            yield Fault("detail.duplicate_id", file, each.head.lines.get("memory_id", 1), said, mend)
        if each.number >= 0:
            first.setdefault(each.number, file)
