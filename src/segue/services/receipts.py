"""Receipts: issued for files that were read back, bound to them and to a text, verified whenever they are shown."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from segue.base import jsontext
from segue.base.errors import InvalidInput, NotFound, Refused, SegueError
from segue.base.redaction import shown
from segue.continuity import chain, files, receipt, release
from segue.continuity.chain import Problem, Report
from segue.services import artifacts
from segue.services.receipt_chain import ReceiptChain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from segue.continuity.chain import Chain
    from segue.continuity.receipt import Receipt
    from segue.services.continuity_place import Place


class Receipts:
    """The receipts of a project."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._chain = ReceiptChain(place)

    def issue(self, paths: Sequence[str | Path], response: bytes | None = None) -> Receipt:
        """Issue the next receipt for files or folders, and for the exact bytes of a text, if one is given.

        Relative paths begin at the project's root. Each file is read back, and the validator that `segue.toml` names
        is run, if any (decision K4). Raises InvalidInput `receipt.validator`, `file.read`, `receipt.…` where the
        chain so far does not hold, Refused `receipt.outside` for a path elsewhere, `release.pending` while a release
        is prepared, Failed.
        """
        root = self._place.root
        names = list(dict.fromkeys(artifacts.located(root, each) for each in paths))
        if not names and response is None:
            raise InvalidInput("receipt.empty", "name at least one file, or a text, that the receipt is to prove")
        if len(names) > receipt.MAX_ARTIFACTS:
            raise InvalidInput("receipt.size", f"a receipt proves at most {receipt.MAX_ARTIFACTS:,} files")
        proven = artifacts.validated(root, names, self._place.settings.validator)
        with self._place.locked():
            self._require_no_release()
            artifacts.require_same(root, proven)
            return self._chain.append(proven, response_sha256="" if response is None else _hash(response))

    def _require_no_release(self) -> None:
        record = release.read(files.read(self._place.folder / files.RELEASE))
        if record is not None and record.state == "PREPARED":
            raise Refused(
                "release.pending",
                "a release is prepared; end it first by `segue receipt commit` or `segue receipt recover`",
            )

    def ls(self) -> tuple[Receipt, ...]:
        """Return all receipts, oldest first. Raises InvalidInput `receipt.…` where the chain does not hold."""
        return self._chain.sound().receipts

    def get(self, tx: str) -> Receipt:
        """Return a receipt of the chain. Raises InvalidInput `receipt.…`, NotFound `receipt.not_found`."""
        return _named(self._chain.sound(), tx)

    def verify(self, tx: str | None = None) -> Report:
        """Examine the whole chain, or one receipt and its place in the chain.

        What is on the disk is compared with the newest receipt of each path (decision K2). Raises NotFound
        `receipt.not_found`, InvalidInput `receipt.tx`.
        """
        found = self._chain.load()
        if tx is not None and found.problem is None:
            return self._report(found, [_named(found, tx)])
        return self._report(found, found.receipts)

    def verify_file(self, path: Path) -> Report:
        """Examine a file: a copy of a receipt, which has to be the one in the chain, or a file that receipts prove.

        Raises InvalidInput `file.read`, NotFound `receipt.not_found` for a file that no receipt speaks of.
        """
        copied = _copied(path)
        found = self._chain.load()
        if found.problem is not None:
            return self._report(found, ())
        if copied is None:
            name = artifacts.located(self._place.root, path)
            newest = found.newest.get(name)
            if newest is None:
                raise NotFound("receipt.not_found", f"no receipt speaks of {shown(name, 80)}")
            return self._report(found, [newest], only={name})
        own = found.by_name.get(copied.tx_id)
        if own != copied:
            message = f"{copied.tx_id} is not the receipt of that name in this project's chain"
            return Report(len(found.receipts), 0, (Problem("receipt.replaced", message, copied.tx_id),))
        return self._report(found, [own])

    def _report(self, found: Chain, about: Sequence[Receipt], only: set[str] | None = None) -> Report:
        if found.problem is not None:
            return Report(len(found.receipts), 0, (found.problem,))
        newest, problems, compared = found.newest, list[Problem](), 0
        superseded = {}
        for each in about:
            current = [a.path for a in each.artifacts if newest[a.path] is each and (only is None or a.path in only)]
            now = {path: artifacts.current(self._place.root, path) for path in current}
            problems += chain.differences(each, now, now)
            compared += len(now)
            if len(about) == 1:
                superseded = {a.path: newest[a.path].tx_id for a in each.artifacts if newest[a.path] is not each}
        return Report(len(found.receipts), compared, tuple(problems), superseded)

    # -- what a receipt proves ------------------------------------------------------------------------------------

    def holds(self, given: Receipt) -> bool:
        """Whether a receipt is one of this project's chain, and all of the chain holds. Raises nothing of ours."""
        try:
            found = self._chain.load()
        except SegueError:
            return False
        return found.problem is None and found.by_name.get(given.tx_id) == given

    def covers(self, given: Receipt, text: str) -> bool:
        """Whether a receipt proves a text now: it holds, and is bound to the exact text or to a file that holds it.

        The file is read again and has to be as the receipt says; white space counts as one space.
        """
        wanted = _folded(text)
        if not wanted or not self.holds(given):
            return False
        if given.response_sha256 and given.response_sha256 == _hash(text.encode("utf-8", "surrogatepass")):
            return True
        return any(wanted in held for artifact in given.artifacts for held in self._texts(artifact))

    def covers_paths(self, given: Receipt, paths: Iterable[str | Path]) -> bool:
        """Whether a receipt proves each of these files as it is now: it holds and names them with the hash they have.

        Relative paths begin at the project's root.
        """
        known = {each.path: each for each in given.artifacts}
        try:
            names = {artifacts.located(self._place.root, each) for each in paths}
        except SegueError:
            return False
        if not names or not names <= known.keys() or not self.holds(given):
            return False
        return all(artifacts.current(self._place.root, each) == known[each] for each in names)

    def _texts(self, artifact: receipt.Artifact) -> list[str]:
        """The texts of an artifact that is as a receipt says, none where it was changed."""
        try:
            now, held = artifacts.taken(self._place.root, artifact.path)
        except SegueError:
            return []
        return [_folded(data.decode("utf-8", "replace")) for data in held] if now == artifact else []

    def set_aside(self) -> Path | None:
        """Begin a new chain where the old one does not hold and cannot be mended; see `ReceiptChain.set_aside`."""
        with self._place.locked():
            return self._chain.set_aside()


def _named(found: Chain, tx: str) -> Receipt:
    name = receipt.tx_id(receipt.number_of(tx))
    if name not in found.by_name:
        raise NotFound("receipt.not_found", f"there is no receipt {name} in this project; see `segue receipt ls`")
    return found.by_name[name]


def _copied(path: Path) -> Receipt | None:
    """The receipt that a file holds, None for a file that does not look like one. Raises InvalidInput `file.read`."""
    try:
        document = jsontext.parse(files.read(path) or b"") if not path.is_dir() else None
    except InvalidInput as error:
        if error.code == "file.read":
            raise
        return None
    if not isinstance(document, dict) or not {"tx_id", "receipt_hash"} <= document.keys():
        return None
    return receipt.parse(document)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _folded(text: str) -> str:
    return " ".join(text.split())
