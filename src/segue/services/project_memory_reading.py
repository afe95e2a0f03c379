"""The memory store of a project, read: its state, its doctor, its facts, what a task calls for, and drift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from segue.base.errors import InvalidInput, Refused, SegueError
from segue.continuity import files, swap
from segue.continuity import receipt as receipts
from segue.continuity.store import doctor, drift, editing, recalled
from segue.continuity.store.fault import require_none
from segue.continuity.store.layout import INDEX, QUESTION_EN, QUESTION_ZH, STORE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from segue.continuity.receipt import Receipt
    from segue.continuity.store.detail import Detail
    from segue.continuity.store.doctor import Checked
    from segue.continuity.store.drift import Drift
    from segue.continuity.store.fault import Fault
    from segue.services.candidates import Candidates
    from segue.services.continuity_place import Place
    from segue.services.receipts import Receipts

Status = Literal["enabled", "disabled", "invalid", "memory-consent-pending"]
SourceState = Literal["unchanged", "changed", "missing", "unproven"]
MAX_LEDGER = 16 * 1024 * 1024  # bytes
_SAID: dict[str, str] = {
    "changed": "its source has changed since {tx}: check it again",
    "missing": "its source is not there any more: check it again",
    "unproven": "{tx} does not prove its source here: check it first",
}


@dataclass(frozen=True, slots=True)
class Report:
    """What the doctor found: the state of the store, where it lies, its size, and everything that is wrong."""

    status: Status
    path: Path
    facts: int
    archived: int
    lines: int
    bytes: int
    faults: tuple[Fault, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue continuity doctor --json`."""
        return {
            "memory_status": self.status,
            "valid": self.status == "enabled",
            "path": str(self.path),
            "facts": self.facts,
            "archived": self.archived,
            "lines": self.lines,
            "bytes": self.bytes,
            "faults": [each.to_json() for each in self.faults],
        }


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact, and whether its source is as its receipt says: unproven where there is no such receipt here."""

    detail: Detail
    source_state: SourceState

    @property
    def said(self) -> str:
        """What is to be said of its source, "" for nothing."""
        return _SAID.get(self.source_state, "").format(tx=self.detail["source_transaction"])

    def to_json(self, *, body: bool = False) -> dict[str, Any]:
        """Return its fields, and its text where that is asked for."""
        names = ("memory_id", "kind", "description", "source_transaction", "created", "updated", "status")
        fields = {name: self.detail[name] for name in names}
        own = {"name": self.detail.name, "file": self.detail.file, "source_path": self.detail.source_path}
        state = {"source_state": self.source_state}
        return fields | own | state | ({"body": self.detail.body.strip()} if body else {})


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is recalled for a task: the index, the facts that the task calls for, and those to be checked again."""

    index: str
    facts: tuple[Fact, ...]
    flagged: tuple[Fact, ...]

    @property
    def text(self) -> str:
        """All of it as Markdown, as advisory data."""
        shown = {each.detail.file for each in self.facts}
        flags = [
            f"{each.detail['memory_id']} {each.detail.name}: {each.said}"
            for each in self.flagged
            if each.detail.file not in shown
        ]
        return recalled.rendered(self.index, [(each.detail, each.said) for each in self.facts], flags)

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue continuity recall --json`."""
        return {
            "memory_status": "enabled",
            "advisory": True,
            "treat_as_data": True,
            "index": self.index,
            "facts": [each.to_json(body=True) for each in self.facts],
            "flagged": [each.to_json() for each in self.flagged],
        }


@dataclass(frozen=True, slots=True)
class Drifts:
    """Where old wording still stands, which ledgers were read, and which are not there."""

    found: tuple[Drift, ...]
    read: tuple[str, ...]
    missing: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue continuity drift --json`."""
        return {
            "drift": [each.to_json() for each in self.found],
            "ledgers": list(self.read),
            "missing": list(self.missing),
        }


def consent_pending() -> Refused:
    """Return the refusal of whatever needs a store where the user has not agreed to one."""
    return Refused(
        "memory.consent_pending",
        "memory-consent-pending: this project has no memory store, and none is made without the user's consent; ask, "
        "then `segue continuity init --user-consent`",
        {"memory_status": "memory-consent-pending", "question": {"zh": QUESTION_ZH, "en": QUESTION_EN}},
    )


class MemoryReading:
    """Reads the memory store of a project. A change that was interrupted is finished first.

    It needs no database. Without `receipts` no source is proven and nothing can be kept.

    Every method raises Refused `memory.consent_pending` where there is no store, unless it says otherwise.
    """

    def __init__(
        self,
        place: Place,
        *,
        receipts: Callable[[], Receipts] | None = None,
        candidates: Callable[[], Candidates] | None = None,
    ) -> None:
        self._place = place
        self._receipts = receipts
        self._candidates = candidates

    @property
    def path(self) -> Path:
        """Where the store lies, or would lie: in the project's root."""
        return self._place.root / STORE

    @property
    def exists(self) -> bool:
        """Whether the project has a store, in order or not."""
        return swap.exists(self.path)

    def doctor(self) -> Report:
        """Examine all of the store; that there is none is a finding, too."""
        if not self.exists:
            return Report("memory-consent-pending", self.path, 0, 0, 0, 0, (doctor.no_store(),))
        with self._place.locked():
            try:
                swap.recover(self.path)
            except InvalidInput as error:
                if error.code != "memory.interrupted":
                    raise
            checked = doctor.check(swap.read(self.path))
        return self._report(checked)

    def _report(self, checked: Checked) -> Report:
        return Report(
            "enabled" if checked.is_valid else "invalid",
            self.path,
            len(checked.details),
            len(checked.archived),
            len(checked.index.lines),
            len(checked.snapshot.files.get(INDEX, b"")),
            checked.faults,
        )

    def ls(self, *, archive: bool = False) -> tuple[Fact, ...]:
        """Return the facts in the order of the index, or those of the archive by their ids."""
        checked = self._checked()
        if archive:
            return self._facts(sorted(checked.archived.values(), key=lambda each: (each.number, each.file)))
        return self._facts(each for _, each in checked.listed())

    def show(self, reference: str) -> Fact:
        """Return a fact by its name, its id or its candidate's, from the archive too. Raises NotFound, Ambiguous."""
        return self._facts([editing.find(self._checked(), reference, archive=True)])[0]

    def recall(self, task: str = "") -> Recalled:
        """Return the index, and the facts that a task calls for. Raises InvalidInput `memory.invalid`."""
        from segue.services.memory_relevance import relevant

        checked = self._valid()
        facts = {each.detail.file: each for each in self._facts(each for _, each in checked.listed())}
        texts = {
            file: f"{each.detail.name} {each.detail['description']}\n{each.detail.body}" for file, each in facts.items()
        }
        called = relevant(task, texts) if task.strip() else []
        index = checked.snapshot.files[INDEX].decode("utf-8").removeprefix("\ufeff")
        flagged = tuple(each for each in facts.values() if each.said)
        return Recalled(index, tuple(facts[each] for each in called), flagged)

    def drift(self) -> Drifts:
        """Look for the old wording of corrections in the project's ledgers.

        Raises InvalidInput `memory.invalid`, `file.read`, `continuity.size`; Refused `memory.ledger` for one that leads
        out of the project.
        """
        corrections = [each for kind, each in self._valid().listed() if kind == "correction"]
        found: list[Drift] = []
        read, missing = [], []
        for ledger in self._place.settings.ledgers:
            path = self._place.root / ledger
            if not path.exists():
                missing.append(ledger)
                continue
            if not path.resolve().is_relative_to(self._place.root):
                raise Refused("memory.ledger", f"{ledger} leads out of the project")
            data = files.read(path, MAX_LEDGER) or b""
            read.append(ledger)
            found += drift.find(corrections, ledger, data.decode("utf-8", "replace"))
        return Drifts(tuple(found), tuple(read), tuple(missing))

    # -- the store --------------------------------------------------------------------------------------------------

    def _checked(self) -> Checked:
        """The store as it is now, after what was interrupted is finished."""
        if not self.exists:
            raise consent_pending()
        with self._place.locked():
            swap.recover(self.path)
            return doctor.check(swap.read(self.path))

    def _valid(self) -> Checked:
        checked = self._checked()
        require_none(checked.faults, "the memory store is not in order")
        return checked

    # -- sources ----------------------------------------------------------------------------------------------------

    def _facts(self, details: Iterable[Detail]) -> tuple[Fact, ...]:
        held = self._held()
        return tuple(Fact(each, self._source_state(each, held)) for each in details)

    def _held(self) -> dict[int, Receipt]:
        """The receipts of this project by their number, none where their chain does not hold."""
        if self._receipts is None:
            return {}
        try:
            return {each.number: each for each in self._receipts().ls()}
        except SegueError:
            return {}

    def _source_state(self, detail: Detail, held: dict[int, Receipt]) -> SourceState:
        from segue.services import artifacts

        try:
            proof = held.get(receipts.number_of(detail["source_transaction"]))
        except InvalidInput:
            proof = None
        wanted = next((each for each in proof.artifacts if each.path == detail.source_path), None) if proof else None
        if not receipts.is_inside(detail.source_path):
            return "unproven"
        if not (self._place.root / detail.source_path).exists():
            return "missing"
        if wanted is None:
            return "unproven"
        return "unchanged" if artifacts.current(self._place.root, wanted.path) == wanted else "changed"
