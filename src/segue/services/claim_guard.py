"""The claim guard over a project: a text is judged by the receipts of this project's chain, as they hold now."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from segue.base import jsontext
from segue.base.errors import InvalidInput, Refused, SegueError
from segue.base.redaction import shown
from segue.continuity import claims, files, guard, receipt
from segue.continuity.guard import Proof, Verdict
from segue.services import artifacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.continuity.claims import Claim
    from segue.continuity.receipt import Receipt
    from segue.services.continuity_place import Place
    from segue.services.receipts import Receipts

_NO_PROJECT = "continuity.no_project"


class ClaimGuard:
    """The guard of a project. It only reads."""

    def __init__(self, place: Place, *, receipts: Callable[[], Receipts]) -> None:
        self._place = place
        self._receipts = receipts

    def check(self, text: str | bytes, given: str | Path | Receipt | None = None) -> Verdict:
        """Return the verdict on a text, to the byte.

        `given` is the receipt that is to prove it: its name, a file that holds a copy of it, or the receipt. Without it
        the newest one that is bound to this very text counts. One that does not read, is not there, or does not hold
        proves nothing. No store is read for a text that claims nothing. Raises Failed `store.…`, InvalidInput
        `config.invalid`, and `file.encoding` for bytes in which no claim is found because they are no UTF-8.
        """
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        read = data.decode("utf-8", "replace") if isinstance(text, bytes) else text
        try:
            root, ledgers = self._place.root, self._place.settings.ledgers
        except Refused as error:
            if error.code != _NO_PROJECT:
                raise
            said = "there is no project here whose receipts could prove it"
            found = claims.find(read)
            self._require_legible(text, found)
            return guard.judged(found, Proof("", fault=said))
        found = claims.find(read, ledgers)
        self._require_legible(text, found)
        if not found:
            return Verdict()
        proof = self._proof(given, hashlib.sha256(data).hexdigest())
        return guard.judged(found, proof, lambda name: _is_there(root / name))

    @staticmethod
    def _require_legible(text: str | bytes, found: tuple[Claim, ...]) -> None:
        if isinstance(text, bytes) and not found:
            guard.require_text(text)

    def _proof(self, given: str | Path | Receipt | None, digest: str) -> Proof | None:
        if given is None:
            return self._bound(digest)
        try:
            found = self._found(given)
        except SegueError as error:
            if not error.code.startswith("receipt."):
                raise
            return Proof(given if isinstance(given, str) and receipt.TX.fullmatch(given) else "", fault=error.message)
        if not self._receipts().holds(found):
            return Proof(found.tx_id, fault=f"{found.tx_id} does not hold: `segue receipt verify` says why")
        return self._examined(found, digest)

    def _bound(self, digest: str) -> Proof | None:
        """What the newest receipt proves that is bound to this text, None where there is none."""
        try:
            chain = self._receipts().ls()
        except SegueError as error:
            if error.code.startswith("receipt."):
                return Proof("", fault=error.message)
            raise
        bound = [each for each in chain if each.response_sha256 == digest]
        return self._examined(bound[-1], digest) if bound else None

    def _found(self, given: str | Path | Receipt) -> Receipt:
        if isinstance(given, receipt.Receipt):
            return given
        if isinstance(given, str) and receipt.TX.fullmatch(given):
            return self._receipts().get(given)
        try:
            document = jsontext.parse(files.read(Path(given)) or b"")
        except InvalidInput as error:
            raise InvalidInput("receipt.invalid", f"the receipt does not read: {error.message}") from None
        return receipt.parse(document)

    def _examined(self, found: Receipt, digest: str) -> Proof:
        root = self._place.root
        same = {each.path: artifacts.current(root, each.path) == each for each in found.artifacts}
        bound = "none" if not found.response_sha256 else "exact" if found.response_sha256 == digest else "other"
        return Proof(
            found.tx_id,
            text=bound,
            paths=frozenset(path for path, holds in same.items() if holds),
            changed=tuple(shown(path, 200) for path, holds in same.items() if not holds),
        )


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
