"""Candidates for what is kept for good: proposed, approved or rejected by the user, saved with a receipt, retired.

A candidate lives in the project's journal alone until it is saved. Saved, it is an active memory of the store too, with
the receipt in its provenance. Of a rejected one nothing is left but its id, a keyed hash, a time and a reason.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segue.base.errors import Failed, NotFound, Refused, SegueError
from segue.continuity import candidate as candidates
from segue.continuity import classifier, files, handoff, journal, lifecycle
from segue.memories import identity as same
from segue.memories import making
from segue.memories.source import source_of
from segue.services.contradicting import contradicted
from segue.storage import events, memory_sources, settings
from segue.storage import memories as rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import sqlalchemy as sa

    from segue.continuity.candidate import Candidate, Status
    from segue.continuity.journal import Journal
    from segue.continuity.receipt import Receipt
    from segue.memories.item import Item, Kind
    from segue.memories.memory import Memory
    from segue.services.continuity_place import Place
    from segue.services.memories import Memories
    from segue.services.project_memory import ProjectMemory
    from segue.services.receipts import Receipts
    from segue.services.remembering import Writer

_SOURCE = "continuity"
# What a candidate of a kind is among the memories of the store.
_KINDS: dict[str, Kind] = {
    "feedback": "preference",
    "correction": "claim",
    "project": "decision",
    "reference": "claim",
}
_KNOWN: tuple[Status, ...] = ("candidate", "approved", "saved")


@dataclass(frozen=True, slots=True)
class Saved:
    """A candidate that was saved, the id of its memory, and the ids of those that this contradicts."""

    candidate: Candidate
    memory_id: str
    conflicts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue continuity save --json`."""
        return {"candidate": self.candidate.to_json(), "memory": self.memory_id, "conflicts": list(self.conflicts)}


@dataclass(frozen=True, slots=True)
class Retired:
    """A candidate that is stale now.

    `archived` is the name of the fact in the project's memory store that was archived with it, "" where there is none;
    `fault` says why one could not be.
    """

    candidate: Candidate
    archived: str = ""
    fault: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue continuity retire --json`."""
        return {"candidate": self.candidate.to_json(), "archived": self.archived or None, "fault": self.fault or None}


class Candidates:
    """The candidates of a project. Each change is made alone, under the project's lock, and is whole or absent."""

    def __init__(
        self,
        place: Place,
        *,
        memories: Callable[[], Memories],
        receipts: Callable[[], Receipts],
        facts: Callable[[], ProjectMemory],
    ) -> None:
        self._place = place
        self._facts = facts
        self._memories = memories
        self._receipts = receipts

    # -- reading --------------------------------------------------------------------------------------------------

    def ls(self, *statuses: Status) -> list[Candidate]:
        """Return the candidates of any of the statuses, all where none is named, in the order of their proposal.

        Raises InvalidInput `continuity.journal` for a journal that cannot be used, Refused `continuity.no_project`.
        """
        return self._read()[0].of(*statuses)

    def get(self, candidate_id: str) -> Candidate:
        """Return a candidate. Raises NotFound `continuity.not_found`, else as `ls`."""
        return self._read()[0].get(candidate_id)

    def waiting(self) -> list[Candidate]:
        """Return the candidates that wait to be approved or rejected; none where the work belongs to no project.

        Raises InvalidInput `continuity.journal`.
        """
        try:
            if not files.exists(self._place.home() / files.FOLDER) or not files.exists(self._file):
                return []  # where nothing was ever proposed, git need not be asked for the project
        except (Failed, Refused):
            return []
        return self.ls("candidate")

    def states(self) -> list[dict[str, str]]:
        """Return what a handoff says of each candidate. Raises as `ls`."""
        found, keyed = self._read()
        return [handoff.candidate_state(each, keyed) for each in found.candidates]

    # -- the lifecycle --------------------------------------------------------------------------------------------

    def propose(self, text: str, *, trigger: str = "message", kind: str = "", again: bool = False) -> Candidate | None:
        """Make a candidate of a text, None where it teaches nothing that lasts: nothing is kept of it then.

        `trigger` is `message` or `step_complete`; `kind`, where it is given, takes the place of the one that the text
        was told by. `again` lets a text be proposed that was rejected. Raises what `classifier.classify` and
        `lifecycle.propose` raise, Conflict `continuity.duplicate`, Refused `continuity.rejected`, each of which names
        the other candidate.
        """
        found = classifier.classify(text, trigger)
        if found is None:
            return None
        with self._changing() as (before, keyed):
            if not again:
                _require_not_rejected(text, before, keyed)
            classifier.require_new(text, before.of(*_KNOWN))
            made = lifecycle.propose(
                before.next_id(self._last_saved()),
                text,
                kind=kind or found.kind,
                trigger=trigger,
                now=self._place.clock(),
            )
            self._write(before.with_(made))
            self._note("candidate.proposed", made)
        return made

    def approve(self, candidate_id: str, content_hash: str, *, by: str = "user") -> Candidate:
        """Approve what was looked at: `content_hash` is its hash, 64 hex digits, `sha256:` before them or not.

        Raises NotFound, and what `lifecycle.approve` raises.
        """
        seen = content_hash.removeprefix("sha256:")
        with self._changing() as (before, keyed):
            after = lifecycle.approve(before.get(candidate_id), seen_hash=seen, approved_by=by, now=self._place.clock())
            self._write(before.with_(after))
            # Keyed: the log outlives the candidate, and must not name a text that is rejected later.
            self._note("candidate.approved", after, {"by": by, "keyed_hash": keyed(after.content_hash)})
        return after

    def reject(self, candidate_id: str, reason: str) -> Candidate:
        """Reject a candidate, approved or not; its text goes. Returns what is left of it.

        Secrets in the reason are masked. Raises NotFound, and what `lifecycle.reject` raises.
        """
        with self._changing() as (before, keyed):
            old = before.get(candidate_id)
            after = lifecycle.reject(old, reason=reason, keyed=keyed, now=self._place.clock())
            if old.status == "approved":
                self._take_back(old, "its candidate was rejected")
            self._write(before.with_(after))
            self._note("candidate.rejected", after)
        return after

    def save(self, candidate_id: str, tx: str) -> Saved:
        """Make an approved candidate an active memory, proven by the receipt `tx`.

        Raises NotFound, Refused `continuity.transition`, Refused `continuity.not_covered` where the receipt does not
        verify now, or is bound neither to a file that holds the text nor to the exact text; RedactionRefused.
        """
        with self._changing() as (before, _):
            old = before.get(candidate_id)
            lifecycle.require_edge(old, "saved")
            receipt = self._covering(old, tx)
            memory, conflicts = self._remember(old, receipt)
            after = lifecycle.save(
                old,
                release_tx_id=receipt.tx_id,
                receipt_hash=receipt.receipt_hash,
                memory_id=memory.id,
                now=self._place.clock(),
            )
            self._write(before.with_(after))
            self._note("candidate.saved", after, {"receipt": receipt.tx_id, "memory": memory.id})
        self._memories().reindexing.refresh(small=True)
        return Saved(after, memory.id, conflicts)

    def forget(self, candidate_id: str) -> Candidate:
        """Take the text of a saved or stale candidate out of the journal, and forget its memory, if it is still there.

        What is left is stale, with its receipt and the keyed hash. A memory that something else says too stays, and
        files of the project keep what they say. Raises
        NotFound, and what `lifecycle.forget` raises.
        """
        with self._changing() as (before, keyed):
            old = before.get(candidate_id)
            after = lifecycle.forget(old, keyed=keyed, now=self._place.clock())
            self._take_back(old, "its candidate was forgotten")
            self._write(before.with_(after))
            self._note("candidate.forgotten", after)
        return after

    def retire(self, candidate_id: str, reason: str) -> Retired:
        """Say of a saved candidate that it does not hold any more: it is stale, and its memory retired.

        A fact of the project's memory store that was made of it goes into the archive.

        Raises NotFound, and what `lifecycle.retire` raises.
        """
        with self._changing() as (before, _):
            after = lifecycle.retire(before.get(candidate_id), reason=reason, now=self._place.clock())
            self._retire_memory(after)
            archived, fault = self._archive(after)
            self._write(before.with_(after))
            self._note("candidate.retired", after)
        return Retired(after, archived, fault)

    # -- the journal ----------------------------------------------------------------------------------------------

    @property
    def _file(self) -> Path:
        return self._place.folder / files.JOURNAL

    def _read(self) -> tuple[Journal, Callable[[str], str]]:
        key = b""

        def keyed(content_hash: str) -> str:
            nonlocal key
            if not key:
                with self._place.database.read() as connection:
                    key = settings.signing_key(connection)
            return same.keyed(content_hash, key)

        data = files.read(self._file, journal.MAX_BYTES)
        return (journal.Journal() if data is None else journal.parse(data, keyed)), keyed

    @contextlib.contextmanager
    def _changing(self) -> Iterator[tuple[Journal, Callable[[str], str]]]:
        """Yield the journal, and what makes keyed hashes, while nobody else may change it."""
        with self._place.locked():
            files.sweep(self._place.folder)  # what lies beside may hold the text of a candidate that goes
            yield self._read()

    def _write(self, after: Journal) -> None:
        files.write(self._file, journal.dump(after, self._place.clock()))

    def _note(self, kind: str, candidate: Candidate, details: dict[str, Any] | None = None) -> None:
        place = self._place
        subject = f"{place.folder.name}#{candidate.id}"
        with place.database.write(place.scope_id) as connection:
            events.append(
                connection, place.scope_id, kind, subject, actor=place.actor, now=place.clock(), details=details
            )

    # -- the store ------------------------------------------------------------------------------------------------

    def _covering(self, candidate: Candidate, tx: str) -> Receipt:
        receipts = self._receipts()
        receipt = receipts.get(tx)
        if not receipts.covers(receipt, candidate.content):
            raise Refused(
                "continuity.not_covered",
                f"{receipt.tx_id} does not prove {candidate.id}: write its text into a file of the project, then `segue"
                " receipt issue` for that file",
                {"id": candidate.id, "receipt": receipt.tx_id},
            )
        return receipt

    def _ref(self, candidate: Candidate) -> str:
        return f"{source_of(_SOURCE, self._place.folder.name)}#{candidate.id}"

    def _item(self, candidate: Candidate, receipt: Receipt) -> Item:
        item = making.item(
            candidate.content,
            kind=_KINDS[candidate.kind],
            origin="continuity",
            ref=self._ref(candidate),
            author_class="user",
            project=self._place.project.name,
        )
        return replace(item, provenance=replace(item.provenance, receipt=receipt.tx_id))

    def _remember(self, candidate: Candidate, receipt: Receipt) -> tuple[Memory, tuple[str, ...]]:
        """Make the memory; done once more, after a run that was killed, it makes no second one."""
        memories = self._memories()
        with memories.writing() as (connection, writer):
            item = writer.clean(self._item(candidate, receipt))
            written = writer.write([item], "active", deliberate=True)[0]
            assert written.memory is not None  # noqa: S101 - what is meant is kept
            memory = self._proven(writer, written.memory, item)
            writer.finish()
            found = written.contested
            if written.verdict == "new":
                found += contradicted(connection, self._place.scope_id, memory, self._place.clock())
        return memory, tuple(sorted(set(found)))

    @staticmethod
    def _proven(writer: Writer, memory: Memory, item: Item) -> Memory:
        """A memory that was there before gets the receipt into its provenance, and holds again."""
        proven = replace(memory, provenance=item.provenance, status="active", retired_at=None)
        if memory.superseded_by or proven == memory:
            return memory
        writer.rewrite(memory, proven)
        return proven

    def _retire_memory(self, candidate: Candidate) -> None:
        memories = self._memories()
        with memories.writing() as (connection, writer):
            memory = self._stored(connection, candidate)
            if memory is None or memory.status != "active":
                return
            writer.retire(memory)
            writer.finish()

    def _archive(self, candidate: Candidate) -> tuple[str, str]:
        """Archive the fact that was made of a candidate. A store that is not in order keeps none from being stale."""
        try:
            facts = self._facts()
            return (facts.archive(candidate.id, candidate.reason).name if facts.exists else ""), ""
        except NotFound:
            return "", ""
        except SegueError as error:
            return "", error.message

    def _stored(self, connection: sa.Connection, candidate: Candidate) -> Memory | None:
        memory_id = candidate.members.get("memory_id")
        if not isinstance(memory_id, str) or not memory_id:
            return None
        return rows.get(connection, self._place.scope_id, memory_id)

    def _last_saved(self) -> int:
        """The highest number of a candidate of this project that the store knows, whatever became of its journal.

        Given once more, it would name the memory of another one.
        """
        source = source_of(_SOURCE, self._place.folder.name)
        with self._place.database.read() as connection:
            said = memory_sources.from_source(connection, self._place.scope_id, source)
        return max((int(each.place[2:]) for each in said if candidates.ID.fullmatch(each.place)), default=0)

    def _take_back(self, candidate: Candidate, reason: str) -> None:
        """Forget what a candidate has put into the store, by a save that was killed half way or by one that was not."""
        memories, ref = self._memories(), self._ref(candidate)
        try:
            _, alone = memories.said_by(ref)
        except NotFound:
            return
        memories.forget_source(ref, confirmed=alone, reason=reason)


def _require_not_rejected(text: str, before: Journal, keyed: Callable[[str], str]) -> None:
    rejected = before.of("rejected")
    if not rejected:
        return
    wanted = keyed(candidates.content_hash(text))
    for each in rejected:
        if each.content_hash == wanted:
            raise Refused(
                "continuity.rejected",
                f"{each.id} said this and was rejected ({each.reason}); only the user has it proposed again (--again)",
                {"id": each.id},
            )
