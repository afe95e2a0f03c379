"""The receipts of a project on the disk, and their head in the store: read together, and made longer one by one.

A receipt is issued in three writes, so that a crash between them is mended without trusting anything that does not
verify: it is written under the name `next.json`; its hash becomes the head, in one transaction that looks whether the
head is still the one that it follows; then the file gets its own name. A file `next.json` that the head vouches for
gets its name later, any other was never issued and goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.base import files as base_files
from segue.base.errors import Failed, InvalidInput, Stale
from segue.continuity import chain, files, receipt
from segue.storage import events, receipt_heads
from segue.storage.receipt_heads import Head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from segue.continuity.chain import Chain
    from segue.continuity.receipt import Artifact, Receipt
    from segue.services.continuity_place import Place

NEXT = "next.json"


class ReceiptChain:
    """The chain of one project. What writes is to be called with the place locked."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @property
    def _folder(self) -> Path:
        return self._place.folder / files.RECEIPTS

    def load(self) -> Chain:
        """Return the chain, after a receipt that was issued and has not got its name yet has got it.

        Nothing is written, and nothing locked, where the project has no folder yet.
        """
        if not files.exists(self._place.folder):
            return chain.read({}, _pair(self._head()))
        with self._place.locked():
            head = self._head()
            self._mend(head)
            return chain.read(files.receipts(self._place.folder), _pair(head))

    def sound(self) -> Chain:
        """Return the chain where all of it holds. Raises InvalidInput `receipt.…`, as its problem says."""
        found = self.load()
        if found.problem is not None:
            problem = found.problem
            message = f"the receipts do not hold: {problem.message}; bring it back, or see `segue receipt restart`"
            raise InvalidInput(problem.code, message, problem.to_json())
        return found

    def next_number(self) -> int:
        """Return the number that the next receipt gets."""
        head = self._head()
        return (head.number if head else 0) + 1

    def append(
        self, artifacts: Sequence[Artifact], *, response_sha256: str = "", release: Mapping[str, Any] | None = None
    ) -> Receipt:
        """Issue the next receipt, bound to these artifacts and text. Raises InvalidInput `receipt.…`, Stale, Failed.

        The folder has to be locked.
        """
        before = self.sound().receipts
        head = self._head()
        made = receipt.make(
            (head.number if head else 0) + 1,
            artifacts,
            previous=before[-1].receipt_hash if before else None,
            now=self._place.clock(),
            response_sha256=response_sha256,
            release=release,
        )
        staged = self._folder / NEXT
        files.write_json(staged, made.to_json())
        if receipt.parse(files.read_json(staged, code="receipt.invalid")) != made:
            raise Failed("receipt.unsaved", "the disk gives back another receipt than it got; none was issued")
        self._vouch(made, head)
        self._name(made.tx_id)
        return made

    def set_aside(self) -> Path | None:
        """Begin a new chain: the old receipts move to a folder beside, and numbers go on; the folder has to be locked.

        Returns where the old ones are, None where there were no files. A receipt that lies there proves nothing.
        """
        head = self._head()
        number = _last_used(files.receipts(self._place.folder), head.number if head else 0)
        last = Head(number, receipt.tx_id(number) if number else "", "")
        number = 1
        while (target := self._folder.with_name(f"{files.RECEIPTS}-aside-{number}")).exists():
            number += 1
        with self._place.database.write(self._place.scope_id) as connection:
            receipt_heads.put(connection, self._place.scope_id, self._place.key, last)
            self._log(connection, "receipts.set_aside", last.tx_id)
        if not files.exists(self._folder):
            return None
        try:
            self._folder.rename(target)
        except OSError as error:
            raise Failed("file.write", f"could not set {self._folder} aside: {error.strerror or error}") from error
        return target

    def _head(self) -> Head | None:
        with self._place.database.read() as connection:
            return receipt_heads.get(connection, self._place.scope_id, self._place.key)

    def _vouch(self, made: Receipt, expected: Head | None) -> None:
        place = self._place
        with place.database.write(place.scope_id) as connection:
            if receipt_heads.get(connection, place.scope_id, place.key) != expected:
                raise Stale("receipt.moved", "another receipt was issued meanwhile, elsewhere; try again")
            head = Head(made.number, made.tx_id, made.receipt_hash)
            receipt_heads.put(connection, place.scope_id, place.key, head)
            self._log(connection, "receipt.issued", made.tx_id)

    def _log(self, connection: Any, kind: str, subject: str) -> None:
        place = self._place
        events.append(connection, place.scope_id, kind, subject, actor=place.actor, now=place.clock())

    def _mend(self, head: Head | None) -> None:
        """Give a receipt its name that a crash has kept from it, if the head vouches for it; else it was none."""
        staged = self._folder / NEXT
        if not files.exists(staged):
            return
        try:
            found = receipt.parse(files.read_json(staged, code="receipt.invalid"))
        except InvalidInput:
            found = None
        vouched = found is not None and head is not None and (found.number, found.receipt_hash) == _pair(head)
        if found is not None and vouched:
            self._name(found.tx_id)  # whatever has that name now, nothing vouches for it
            return
        try:
            staged.unlink()
        except OSError as error:
            raise Failed("file.write", f"could not remove {staged}: {error.strerror or error}") from error

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _name(self, name: str) -> None:
        try:
            (self._folder / NEXT).replace(self._path(name))
            base_files.flush_to_disk(self._folder)
        except OSError as error:
            raise Failed("file.write", f"could not write {self._path(name)}: {error.strerror or error}") from error


def _last_used(documents: Mapping[int, bytes], number: int) -> int:
    """The number after which a new chain goes on: that of the head, or of the last receipt where the head is lost.

    A file that follows none is no receipt that was issued, and takes no numbers away.
    """
    last = number or min(documents, default=1) - 1
    while last + 1 in documents:
        last += 1
    return last if last < receipt.MAX_NUMBER else number


def _pair(head: Head | None) -> tuple[int, str]:
    return (head.number, head.receipt_hash) if head is not None else (0, "")
