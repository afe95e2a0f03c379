"""The chain of a project's receipts: each names the hash of the one before, and the newest is noted elsewhere.

Whoever edits, deletes, cuts off, reorders or replaces a receipt would have to change the note too (see
`storage.receipt_heads`); what does not hold first is named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from segue.base import jsontext
from segue.base.errors import InvalidInput
from segue.continuity import receipt as receipts
from segue.continuity.receipt import tx_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from segue.continuity.receipt import Artifact, Receipt


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not hold: `code` for programs, the receipt and the path that it is about, "" for none."""

    code: str
    message: str
    tx_id: str = ""
    path: str = ""

    def to_json(self) -> dict[str, str]:
        """Return `{"code", "message", "tx_id", "path"}`."""
        return {"code": self.code, "message": self.message, "tx_id": self.tx_id, "path": self.path}


@dataclass(frozen=True, slots=True)
class Chain:
    """The receipts that hold, oldest first, and the first thing that does not, None where all of them do."""

    receipts: tuple[Receipt, ...] = ()
    problem: Problem | None = None
    by_name: Mapping[str, Receipt] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {each.tx_id: each for each in self.receipts})

    @property
    def newest(self) -> Mapping[str, Receipt]:
        """The newest receipt of each path (decision K2)."""
        return {artifact.path: each for each in self.receipts for artifact in each.artifacts}


@dataclass(frozen=True, slots=True)
class Report:
    """What an examination found. `receipts` were examined, `artifacts` compared with what is on the disk.

    `problems` begins with the first thing that does not hold. `superseded` names, by path, the newer receipt whose
    hash counts now.
    """

    receipts: int
    artifacts: int
    problems: tuple[Problem, ...] = ()
    superseded: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Return `{"holds", "receipts", "artifacts", "problems", "superseded"}`."""
        return {
            "holds": self.holds,
            "receipts": self.receipts,
            "artifacts": self.artifacts,
            "problems": [each.to_json() for each in self.problems],
            "superseded": dict(self.superseded),
        }


def read(documents: Mapping[int, bytes], head: tuple[int, str]) -> Chain:
    """Return the chain that files make, by number; `head` is the number and hash of the newest, (0, "") for none.

    It is read from its first receipt on, up to the first that does not hold. A head without a hash is that of a chain
    that was set aside: numbers go on, and it vouches for no file.
    """
    head = head if head[1] else (0, "")
    number = head[0]
    if not documents:
        return Chain(problem=_missing(number) if number else None)
    found: list[Receipt] = []
    for place in range(min(documents), max(number, *documents) + 1):
        looked = _looked_at(place, documents.get(place), found, head)
        if isinstance(looked, Problem):
            return Chain(tuple(found), looked)
        found.append(looked)
    return Chain(tuple(found))


def _looked_at(place: int, data: bytes | None, before: Sequence[Receipt], head: tuple[int, str]) -> Receipt | Problem:
    """The receipt at a place of the chain, or why it does not hold."""
    number, noted = head
    name = tx_id(place)
    if data is None:
        return _missing(place)
    try:
        found = receipts.parse(jsontext.parse(data, code="receipt.invalid"))
    except InvalidInput as error:
        code = error.code if error.code == "receipt.hash" else "receipt.invalid"
        return Problem(code, f"{name}: {error.message}", name)
    if found.number != place:
        return Problem("receipt.order", f"the file of {name} holds {found.tx_id}", name)
    if not before and found.previous is not None:
        return _missing(place - 1)
    if before and found.previous != before[-1].receipt_hash:
        return Problem("receipt.chain", f"{name} does not follow {before[-1].tx_id} as that is now", name)
    if place > number:
        said = f"the newest that Segue issued is {tx_id(number)}" if number else "Segue knows of none"
        return Problem("receipt.extra", f"{name} was not issued in this store: {said}", name)
    if place == number and found.receipt_hash != noted:
        return Problem("receipt.replaced", f"{name} is not the receipt that Segue issued under that name", name)
    return found


def _missing(number: int) -> Problem:
    return Problem("receipt.missing", f"{tx_id(number)} is missing", tx_id(number))


def differences(receipt: Receipt, now: Mapping[str, Artifact | None], paths: Iterable[str]) -> list[Problem]:
    """Return how the artifacts at `paths` differ from what a receipt says; `now` is what they are, None for absent."""
    found = []
    for artifact in receipt.artifacts:
        if artifact.path not in paths:
            continue
        current = now.get(artifact.path)
        name = receipt.tx_id
        if current is None:
            message = f"{artifact.path}, which {name} proves, cannot be read in this project any more"
            found.append(Problem("receipt.absent", message, name, artifact.path))
        elif current != artifact:
            message = f"{artifact.path} was changed after {name}"
            found.append(Problem("receipt.drift", message, name, artifact.path))
    return found
