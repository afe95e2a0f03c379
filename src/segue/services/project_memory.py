"""The memory store of a project, changed: made with consent, and every change staged, checked and made as one."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base import time
from segue.base.errors import InvalidInput, Refused, SegueError
from segue.continuity import files, swap, unkept
from segue.continuity.store import doctor, editing
from segue.continuity.store.editing import Entry, between, require_no_worse
from segue.continuity.store.fault import require_none
from segue.continuity.store.layout import INDEX, STORE, template
from segue.continuity.store.snapshot import Plan
from segue.services.memory_notes import MemoryNotes
from segue.services.project_memory_reading import MemoryReading, Report, consent_pending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from segue.continuity.receipt import Receipt
    from segue.continuity.store.doctor import Checked
    from segue.continuity.store.editing import Edit
    from segue.continuity.store.index import Index
    from segue.services.project_memory_reading import Status

    _Changed = tuple[Checked, list[str], list[str]]  # the store, and the names of what was archived and refreshed

_WRITING = 60.0  # seconds that a change waits for others


@dataclass(frozen=True, slots=True)
class SavedFact:
    """The receipt of a change that is on the disk: files with the hashes that were read back."""

    action: str
    memory_id: str
    name: str
    source_transaction: str
    hashes: dict[str, str]
    created_at: str

    def to_json(self) -> dict[str, Any]:
        """Return the memory receipt; paths are relative to the project."""
        return {
            "memory_status": "saved",
            "action": self.action,
            "memory_id": self.memory_id,
            "name": self.name,
            "source_transaction": self.source_transaction,
            "files": sorted(self.hashes),
            "hashes": self.hashes,
            "validator": "pass",
            "created_at": self.created_at,
        }


@dataclass(frozen=True, slots=True)
class Tidied:
    """What dedupe, compact and sync did: names of the facts that went into the archive, or were brought up to date.

    `cold_start` says that a fresh read found every pointer of the index; `report` is the doctor's, after it all.
    """

    archived: tuple[str, ...]
    refreshed: tuple[str, ...]
    changed: bool
    cold_start: bool
    report: Report

    @property
    def status(self) -> Status:
        return self.report.status

    def to_json(self) -> dict[str, Any]:
        """Return what was done, and the doctor's report."""
        return {
            "memory_status": self.status,
            "changed": self.changed,
            "archived": list(self.archived),
            "refreshed": list(self.refreshed),
            "cold_start": self.cold_start,
            "lines": self.report.lines,
            "bytes": self.report.bytes,
            "faults": [each.to_json() for each in self.report.faults],
        }


class ProjectMemory(MemoryReading):
    """The memory store of the project that is worked in."""

    def init(self, *, consent: bool | None) -> Status:
        """Make the store, if the user agrees; return `enabled`, or `disabled` where the user declines.

        Raises Refused `memory.consent_pending` without an answer, `memory.store_exists` where there is a store already,
        InvalidInput `memory.invalid` where that one is not in order, Failed `file.write`.
        """
        if self.exists:
            report = self.doctor()
            require_none(report.faults, f"{STORE} exists already and is not in order; it is not made anew")
            raise Refused(
                "memory.store_exists",
                f"{STORE} exists already and is in order; it is not made anew",
                {"memory_status": "enabled", "path": str(self.path)},
            )
        if consent is False:
            return "disabled"
        if consent is None:
            raise consent_pending()
        with self._place.locked():
            swap.create(self.path, {INDEX: template()})
            checked = doctor.check(swap.read(self.path))
        require_none(checked.faults, "the new store is not in order")
        return "enabled"

    def upsert(
        self,
        name: str,
        *,
        kind: str,
        description: str,
        body: str,
        receipt: str,
        sources: Sequence[str | Path],
        source_path: str = "",
        candidate: str = "",
    ) -> SavedFact:
        """Keep a fact under its name: a new one, or in place of what its file says.

        `receipt` names the receipt that proves each of `sources` as it is now; `source_path` is one of them, the first
        by default. Whatever goes wrong, every file is as it was, and `details["memory_status"]` of the error is
        `unsaved-memory`. `candidate` names what it was, which has to be saved; once that is stale, so is the fact.
        Raises Refused `memory.consent_pending`, `memory.unproven`, `memory.candidate`, `continuity.not_kept`,
        RedactionRefused, InvalidInput `memory.…`, `receipt.…`, NotFound, Failed.
        """
        if not self.exists:
            raise consent_pending()
        with _unsaved(), self._changing() as checked:
            proof, paths = self._proof(receipt, sources)
            path = self._relative(source_path) if source_path else paths[0]
            if path not in paths:
                raise Refused("memory.unproven", "source_path is none of the files that the receipt is to prove")
            require_none(checked.faults, "the memory store is not in order")
            entry = editing.checked_entry(Entry(name, kind, description, body, path, proof.tx_id, candidate))
            _require_kept(entry)
            self._require_saved(candidate)
            edit = editing.upsert(checked, entry, self._today())
            self._require_proven(proof, paths)  # once more: a source may have changed since
            return self._save(checked, edit, proof.tx_id)

    def archive(self, reference: str, reason: str) -> SavedFact:
        """Take a fact that does not hold any more out of the index, into the archive.

        `reference` is its name, its id or its candidate's. Raises NotFound, Ambiguous, InvalidInput `memory.…`.
        """
        if not self.exists:
            raise consent_pending()
        with _unsaved(), self._changing() as checked:
            found = editing.find(checked, reference)
            return self._save(checked, editing.archive(checked, found.file, self._today(), reason))

    def rekind(self, reference: str, kind: str) -> SavedFact:
        """Make a fact one of another kind, in its file and in the index. Raises as `archive`."""
        if not self.exists:
            raise consent_pending()
        with _unsaved(), self._changing() as checked:
            found = editing.find(checked, reference)
            return self._save(checked, editing.rekind(checked, found.file, kind, self._today()))

    def dedupe(self) -> Tidied:
        """Archive facts that say what an older one says already, and drop second pointers to one file."""
        return self._tidy(self._deduplicated)

    def compact(self) -> Tidied:
        """Bring the index within its soft limits, by shorter hooks and glosses and fewer empty lines.

        The facts stay as they are. Where that is not enough, the report says so.
        """
        return self._tidy(lambda checked: (self._with_index(checked, editing.tightened(checked.index)), [], []))

    def sync(self) -> Tidied:
        """Get the store ready for who comes next, before a compaction or a handoff, or after an interruption.

        Deduplicates, brings date and pointer of facts that were edited by hand up to date, archives what is not active
        any more, validates, and reads all of it afresh: every pointer has to lead to its fact. What it does not mend
        is in the report. Without a store, nothing is done or raised.
        """
        if not self.exists:
            return Tidied((), (), False, False, self.doctor())
        return self._tidy(self._synced)

    # -- how it is done ---------------------------------------------------------------------------------------------

    @property
    def _notes(self) -> MemoryNotes:
        return MemoryNotes(self._place.folder, self.path)

    def _today(self) -> str:
        return time.to_text(self._place.clock())[:10]

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Checked]:
        """Yield the store while nobody else may change it, by way of another home of Segue's neither.

        Else one could come between that leaves what is compared as it was: a fact that was kept and archived meanwhile
        has used an id, and the index is what it was.
        """
        with self._place.locked(_WRITING), files.alone(self.path, _WRITING):
            swap.recover(self.path)
            yield doctor.check(swap.read(self.path))

    def _save(self, checked: Checked, edit: Edit, transaction: str = "") -> SavedFact:
        after = require_no_worse(checked, edit.plan)
        written = swap.swap(self.path, edit.plan, checked.snapshot)
        self._notes.keep(checked, after)
        hashes = {f"{STORE}/{name}": digest for name, digest in written.items()}
        detail = after.details.get(f"{edit.name}.md")
        proof = transaction or (detail["source_transaction"] if detail else "")
        return SavedFact(edit.action, edit.memory_id, edit.name, proof, hashes, time.to_text(self._place.clock()))

    def _tidy(self, change: Callable[[Checked], _Changed]) -> Tidied:
        if not self.exists:
            raise consent_pending()
        with self._changing() as checked:
            after, archived, refreshed = change(checked)
            plan = between(checked.snapshot, after.snapshot)
            if _worse(checked, after):
                after, plan, archived, refreshed = checked, Plan(), [], []
            swap.swap(self.path, plan, checked.snapshot)
            self._notes.keep(checked, after)
            cold = doctor.check(swap.read(self.path))  # as one reads it who knows nothing yet
        finds_all = all(each.target in cold.details for each in cold.index.pointers)
        done = cold.snapshot.files != checked.snapshot.files
        return Tidied(tuple(archived), tuple(refreshed), done, cold.is_valid and finds_all, self._report(cold))

    def _deduplicated(self, checked: Checked) -> _Changed:
        checked = self._with_index(checked, editing.without_double_pointers(checked.index))
        archived = []
        for file, older in editing.duplicates(checked).items():
            archived.append(checked.details[file].name)
            checked = _applied(checked, editing.archive(checked, file, self._today(), f"it says what {older} says"))
        return checked, archived, []

    def _synced(self, checked: Checked) -> _Changed:
        edited = self._notes.edited(checked)
        checked, archived, _ = self._deduplicated(checked)
        refreshed = []
        for file, was in edited.items():
            if file in checked.details:
                refreshed.append(checked.details[file].name)
                edit = editing.refresh(checked, file, self._today(), hook=was.hook, gloss=was.gloss)
                checked = _applied(checked, edit)
        for _, each in list(checked.listed()):
            if not each.is_active and each["status"]:
                archived.append(each.name)
                reason = each.head.values.get("stale_reason") or f"its status is {each['status']}"
                checked = _applied(checked, editing.archive(checked, each.file, self._today(), reason))
        return checked, archived, refreshed

    @staticmethod
    def _with_index(checked: Checked, index: Index) -> Checked:
        if index.data == checked.index.data:
            return checked
        return doctor.check(Plan({INDEX: index.data}).after(checked.snapshot), checked)

    # -- the proof --------------------------------------------------------------------------------------------------

    def _proof(self, name: str, sources: Sequence[str | Path]) -> tuple[Receipt, list[str]]:
        """The receipt that proves the sources as they are now, and their paths in the project (decision K1)."""
        if self._receipts is None:
            raise Refused("memory.unproven", "nothing is kept here without the receipts of this project")
        if not sources:
            raise InvalidInput("memory.source_path", "name at least one file that the fact comes from")
        paths = [self._relative(each) for each in sources]
        if any(each.startswith(f"{STORE}/") for each in paths):
            raise InvalidInput("memory.source_path", f"{STORE} is no source: nothing that it says proves itself")
        proof = self._receipts().get(name)
        self._require_proven(proof, paths)
        return proof, paths

    def _require_proven(self, proof: Receipt, paths: list[str]) -> None:
        if self._receipts is None or not self._receipts().covers_paths(proof, paths):
            raise Refused(
                "memory.unproven",
                f"{proof.tx_id} does not prove {', '.join(paths[:3])} as it is now; name a fresh one (`segue receipt "
                "issue`)",
                {"receipt": proof.tx_id, "sources": paths},
            )

    def _require_saved(self, candidate: str) -> None:
        """Refuse what is made of a candidate that is not saved yet, or not any more."""
        if not candidate:
            return
        status = self._candidates().get(candidate).status if self._candidates is not None else "unknown"
        if status != "saved":  # what is approved may still be rejected, and then nothing of it is to be left
            raise Refused("memory.candidate", f"{candidate} is {status}; a fact is made of a candidate that is saved")

    def _relative(self, path: str | Path) -> str:
        from segue.services import artifacts

        return artifacts.located(self._place.root, path)


def _applied(checked: Checked, edit: Edit) -> Checked:
    return doctor.check(edit.plan.after(checked.snapshot), checked)


def _worse(before: Checked, after: Checked) -> bool:
    """Whether a change leaves something wrong that it cannot leave: what tidying does not mend is for a person."""
    known = {(each.code, each.file) for each in before.faults}
    return any(each.blocks and (each.code, each.file) not in known for each in after.faults)


def _require_kept(entry: Entry) -> None:
    """Refuse what is never kept. Where something is may be said by a reference, and in a correction's old wording."""
    text = f"{entry.description}\n\n{entry.body}"
    if entry.kind in ("feedback", "project"):
        unkept.require_kept(text)
    elif unkept.is_transcript(text):
        raise Refused("continuity.not_kept", "this is a piece of a conversation; keep what follows from it")


@contextlib.contextmanager
def _unsaved() -> Iterator[None]:
    """Say of whatever goes wrong inside that nothing was kept."""
    try:
        yield
    except SegueError as error:
        error.details["memory_status"] = "unsaved-memory"
        error.message = f"unsaved-memory: {error.message}"
        error.args = (error.message,)
        raise
