"""What each fact of a memory store was when Segue last looked: so that a sync sees which were edited by hand since."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base.errors import Failed, InvalidInput
from segue.continuity import files
from segue.continuity.store import editing

if TYPE_CHECKING:
    from pathlib import Path

    from segue.continuity.store.doctor import Checked

NOTES = "memory.json"


@dataclass(frozen=True, slots=True)
class Note:
    """The hash of a fact's file, and what the index was to say of it."""

    sha256: str
    hook: str
    gloss: str


class MemoryNotes:
    """The notes of one store in the folder of its project; other clones and worktrees have notes of their own."""

    def __init__(self, folder: Path, store: Path) -> None:
        self._file = folder / NOTES
        self._own = hashlib.sha256(os.fsencode(store)).hexdigest()[:16]

    def read(self) -> dict[str, Note]:
        """Return the notes by the facts' files; what does not read is no note."""
        own = self._all().get(self._own)
        found = own if isinstance(own, dict) else {}
        return {file: note for file, given in found.items() if (note := _note(given)) is not None}

    def edited(self, checked: Checked) -> dict[str, Note]:
        """Return the notes of the active facts that are not any more what they were."""
        noted = self.read()
        return {
            each.file: noted[each.file]
            for _, each in checked.listed()
            if each.is_active and each.file in noted and noted[each.file].sha256 != _digest(checked, each.file)
        }

    def keep(self, before: Checked, after: Checked) -> None:
        """Note the facts that a change is about, and those that have no note. It is no loss where the disk refuses."""
        noted = self.read()
        now = {
            file: noted[file]
            if file in noted and before.snapshot.files.get(file) == after.snapshot.files[file]
            else Note(_digest(after, file), *editing.pointing(detail))
            for file, detail in after.details.items()
        }
        if now == noted:
            return
        own = {file: {"sha256": each.sha256, "hook": each.hook, "gloss": each.gloss} for file, each in now.items()}
        with contextlib.suppress(Failed):
            files.write_json(self._file, {**self._all(), self._own: own})

    def _all(self) -> dict[str, Any]:
        try:
            found = files.read_json(self._file, code="memory.notes")
        except InvalidInput:
            return {}
        return found if isinstance(found, dict) else {}


def _note(given: Any) -> Note | None:
    if not isinstance(given, dict):
        return None
    texts = [each for name in ("sha256", "hook", "gloss") if isinstance(each := given.get(name), str)]
    return Note(*texts) if len(texts) == 3 else None


def _digest(checked: Checked, file: str) -> str:
    return hashlib.sha256(checked.snapshot.files[file]).hexdigest()
