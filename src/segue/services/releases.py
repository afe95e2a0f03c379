"""Release transactions: prepare, commit, recover and validate (section 001.5 of the facts)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from segue.base import jsontext, redaction
from segue.base.errors import Failed, InvalidInput, NotFound, Refused, SegueError
from segue.base.redaction import RedactionRefused, shown
from segue.continuity import files, receipt, release
from segue.continuity.chain import Problem, Report
from segue.memories import identity as same
from segue.services import artifacts
from segue.services.receipt_chain import ReceiptChain
from segue.storage import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from segue.continuity.receipt import Receipt
    from segue.continuity.release import Record
    from segue.services.continuity_place import Place
    from segue.services.receipts import Receipts


class Releases:
    """The release of a project: at most one is prepared at a time, and while it is no other receipt is issued."""

    def __init__(self, place: Place, *, receipts: Callable[[], Receipts]) -> None:
        self._place = place
        self._receipts = receipts
        self._chain = ReceiptChain(place)

    @property
    def _file(self) -> Path:
        return self._place.folder / files.RELEASE

    def prepare(self, manifest: object, response: bytes | None = None) -> Record:
        """Write down what is to be released: the manifest, the hashes of its files now, and of a text's exact bytes.

        The files are validated as `Receipts.issue` does. Raises InvalidInput `release.manifest`, `receipt.…`, Refused
        `release.pending` while another is prepared, `release.tx` for a TX-ID that is not the next, RedactionRefused
        `release.redaction` for a manifest with what lets somebody in, Failed.
        """
        wanted = release.parse_manifest(manifest)
        _require_clean(wanted.document)
        root = self._place.root
        names = list(dict.fromkeys(artifacts.located(root, each) for each in wanted.paths.values()))
        proven = artifacts.validated(root, names, self._place.settings.validator)
        with self._place.locked():
            record = release.read(files.read(self._file))
            if record is not None and record.state == "PREPARED":
                raise Refused(
                    "release.pending",
                    "a release is prepared already; `segue receipt commit` or `segue receipt recover` ends it",
                )
            artifacts.require_same(root, proven)
            before = self._chain.sound().receipts
            number, previous = self._chain.next_number(), before[-1].receipt_hash if before else None
            name = receipt.tx_id(number)
            if wanted.number not in (0, number):
                raise Refused("release.tx", f"the next receipt is {name}; let the manifest say so, or leave it out")
            if wanted.previous and wanted.previous != previous:
                raise Refused(
                    "release.previous", "the manifest's previous_receipt_hash is not that of the newest receipt"
                )
            prepared = release.prepare(
                wanted,
                proven,
                tx_id=name,
                previous=previous,
                response_sha256="" if response is None else hashlib.sha256(response).hexdigest(),
                now=self._place.clock(),
                sealed=self._sealed,
            )
            files.write_json(self._file, prepared.to_json())
            return prepared

    def commit(self) -> Receipt:
        """Commit what is prepared: every file is hashed again, and the receipt is issued.

        Raises InvalidInput `release.aborted` where a file is not as it was prepared, or the chain went on meanwhile;
        then it is aborted, and no receipt is issued. Raises NotFound `release.none` where nothing is prepared, Failed.
        """
        record = self.recover()
        if record.state == "ABORTED":
            message = f"the release was aborted, no receipt was issued: {record.errors[0] if record.errors else ''}"
            raise InvalidInput("release.aborted", message, {"errors": [{"message": each} for each in record.errors]})
        return self._receipts().get(record.prepared["tx_id"])

    def recover(self) -> Record:
        """Bring the release to its end after a crash at any moment: COMMITTED, or ABORTED with the errors.

        Called again it returns the same. Raises NotFound `release.none` where none was ever prepared, InvalidInput
        `file.read` or Failed where the disk or the store does not do it; then it may be called again.
        """
        if not files.exists(self._file):
            raise NotFound("release.none", "no release is prepared in this project; `segue receipt prepare` does it")
        with self._place.locked():
            try:
                record = release.read(files.read(self._file))
            except InvalidInput as error:
                if error.code == "file.read":
                    raise  # it may be readable later
                return self._ended(release.unreadable(error.message, self._place.clock()))
            if record is None:
                raise NotFound("release.none", "no release is prepared in this project")
            return record if record.state == "ABORTED" else self._brought_to_end(record)

    def _brought_to_end(self, record: Record) -> Record:
        now = self._place.clock()
        if not release.is_intact(record, self._sealed):
            message = "the record was changed after it was prepared, or was not prepared in this store"
            return self._ended(release.aborted(record, [message], now))
        try:
            known = self._chain.sound().receipts
            done = next((each for each in known if _is_of(each, record)), None)
            if done is None:
                errors = self._errors(record, known)
                if errors:
                    return self._ended(release.aborted(record, errors, now))
                bound = record.prepared["response_sha256"]
                done = self._chain.append(record.artifacts, response_sha256=bound, release=record.release)
        except Failed:
            raise
        except SegueError as error:  # a chain that does not hold, or went on elsewhere
            return self._ended(release.aborted(record, [error.message], now))
        return record if record.state == "COMMITTED" else self._ended(release.committed(record, done, now))

    def _errors(self, record: Record, known: tuple[Receipt, ...]) -> list[str]:
        """Why a prepared release cannot be committed now."""
        if record.state == "COMMITTED":
            return [f"{record.prepared['tx_id']} is not in the chain of receipts any more"]
        if (known[-1].receipt_hash if known else None) != record.prepared["previous"]:
            return ["another receipt was issued after it was prepared"]
        now = {each.path: artifacts.current(self._place.root, each.path) for each in record.artifacts}
        changed = [each for each in record.artifacts if now[each.path] != each]
        return [f"{shown(each.path, 80)} is not as it was when it was prepared" for each in changed]

    def _sealed(self, prepared_hash: str) -> str:
        with self._place.database.read() as connection:
            return same.keyed(f"release\n{prepared_hash}", settings.signing_key(connection))

    def _ended(self, record: Record) -> Record:
        files.write_json(self._file, record.to_json())
        return record

    def validate(self, tx: str | None = None, response: bytes | None = None) -> Report:
        """Examine a release receipt, the newest by default: the chain, its files as they are now, and its exact text.

        Raises NotFound `release.none` where there is none, `receipt.not_found`.
        """
        report = self._receipts().verify(tx)
        found = self._chain.load()
        if found.problem is not None:
            return report
        named = [each for each in found.receipts if each.release is not None and (tx is None or _is_named(each, tx))]
        if not named:
            what = "no release was made in this project" if tx is None else f"{tx} is no receipt of a release"
            raise NotFound("release.none", f"{what}; `segue receipt prepare` begins one")
        own = named[-1]
        report = self._receipts().verify(own.tx_id)
        problem = _response_problem(own, response)
        problems = (*report.problems, *([problem] if problem else []))
        return Report(report.receipts, report.artifacts, problems, report.superseded)


def _require_clean(manifest: Mapping[str, Any]) -> None:
    """Raise where a manifest holds what lets somebody in: a receipt says it for good, and cannot be changed."""
    found = [each for name, value in manifest.items() for each in redaction.credentials(name, jsontext.said(value))]
    if found:
        raise RedactionRefused(found, "release.redaction", "Take them out of the manifest: a receipt is for good")


def _is_of(each: Receipt, record: Record) -> bool:
    said: Any = each.release or {}
    return bool(said) and said.get("prepared_hash") == record.prepared_hash


def _is_named(each: Receipt, tx: str) -> bool:
    return each.number == receipt.number_of(tx)


def _response_problem(own: Receipt, response: bytes | None) -> Problem | None:
    if response is None or own.response_sha256 == hashlib.sha256(response).hexdigest():
        return None
    said = "is bound to another text" if own.response_sha256 else "is bound to no text"
    return Problem("receipt.response", f"{own.tx_id} {said}", own.tx_id)
