"""A release transaction: what is to be proven together is written down first, then committed or aborted as a whole.

The manifest and the states are those of section 001.5 of the facts; the record of a prepared release lies on the disk
before anything is committed, so that a crash at any moment ends in COMMITTED or ABORTED.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from segue.base import jsontext, members, time
from segue.base.errors import InvalidInput
from segue.continuity.canonical import SCHEMA_VERSION, digest, is_hash
from segue.continuity.receipt import Artifact, artifact_of, is_inside, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from segue.continuity.receipt import Receipt

State = Literal["PREPARED", "COMMITTED", "ABORTED"]
LABELS = ("qa", "log", "memory", "document")

_STATES = ("PREPARED", "COMMITTED", "ABORTED")
_GATES = ("qa_log", "memory", "document")
_DOC_TX = re.compile(r"DOC-TX-\d{1,9}", re.ASCII)
_REVISION = re.compile(r"git:[0-9a-f]{7,40}|uncommitted:[0-9a-f]{64}")
_REQUIRED = frozenset(
    {
        "doc_tx_id",
        "artifact_paths",
        "source_revision",
        "readiness_manifest",
        "validator_results",
        "cold_start_result",
        "not_run",
        "current_step",
        "current_node",
    }
)
_OPTIONAL = frozenset({"tx_id", "previous_receipt_hash"})
_PREPARED = _REQUIRED | {"tx_id", "artifacts", "response_sha256", "previous", "created_at"}
_RECORD = frozenset(
    {"schema_version", "state", "prepared", "prepared_hash", "errors", "receipt_hash", "ended_at", "seal"}
)
_LONGEST, _MOST = 1_024, 256


@dataclass(frozen=True, slots=True)
class Manifest:
    """What somebody wants released. `document` is the manifest as given; `number` is 0 where it names no TX-ID."""

    document: Mapping[str, Any]
    number: int
    paths: Mapping[str, str]
    previous: str


@dataclass(frozen=True, slots=True)
class Record:
    """The write-ahead record of a release. `prepared` is what was written down, and `prepared_hash` its hash.

    `errors` says why it was aborted; `receipt_hash` is that of the receipt it was committed as, else "". `seal` is
    the store's own word on `prepared_hash`: who writes the file alone cannot have something committed.
    """

    state: State
    prepared: Mapping[str, Any]
    prepared_hash: str
    errors: tuple[str, ...] = ()
    receipt_hash: str = ""
    ended_at: str = ""
    seal: str = ""

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """What is to be proven, with the hashes of when it was prepared."""
        return tuple(Artifact(each["path"], each["sha256"], each["bytes"]) for each in self.prepared["artifacts"])

    @property
    def release(self) -> dict[str, Any]:
        """What the receipt says of its release."""
        said = {name: self.prepared[name] for name in sorted(_REQUIRED)}
        return {"state": "COMMITTED", "prepared_hash": self.prepared_hash, **said}

    def to_json(self) -> dict[str, Any]:
        """Return the document that its file holds."""
        return {
            "schema_version": SCHEMA_VERSION,
            "state": self.state,
            "prepared": dict(self.prepared),
            "prepared_hash": self.prepared_hash,
            "errors": list(self.errors),
            "receipt_hash": self.receipt_hash,
            "ended_at": self.ended_at,
            "seal": self.seal,
        }


def parse_manifest(document: object) -> Manifest:
    """Return the manifest that a document is. Raises InvalidInput `release.manifest`, which names the member."""
    try:
        return _manifest(document)
    except InvalidInput as error:
        raise InvalidInput("release.manifest", f"the manifest cannot be released: {error.message}") from None


def _manifest(document: object) -> Manifest:
    given = document if isinstance(document, dict) else {}
    if not jsontext.is_json(document):
        raise members.invalid("it holds what JSON has not")
    found = members.exactly(document, _REQUIRED | (_OPTIONAL & given.keys()), "it")
    number = number_of(members.text(found, "tx_id", 16)) if "tx_id" in found else 0
    previous = found.get("previous_receipt_hash") or ""
    if previous and not is_hash(previous):
        raise members.invalid("previous_receipt_hash is not 64 hex digits")
    for name, pattern in (("doc_tx_id", _DOC_TX), ("source_revision", _REVISION)):
        if not pattern.fullmatch(members.text(found, name, 128)):
            raise members.invalid(f"{name} is not {_SHAPES[name]}")
    for name in ("current_step", "current_node"):
        if not members.text(found, name, _LONGEST).strip():
            raise members.invalid(f"{name} is empty")
    _check_gates(found)
    return Manifest(found, number, _paths(found["artifact_paths"]), previous)


_SHAPES = {
    "doc_tx_id": "DOC-TX- and a number",
    "source_revision": "git: with 7 to 40 hex digits, or uncommitted: with 64",
}


def _paths(value: object) -> dict[str, str]:
    found = members.exactly(value, frozenset(LABELS), "artifact_paths")
    paths = {label: members.text(found, label, 4_096) for label in LABELS}
    for label, path in paths.items():
        if not is_inside(path):
            raise members.invalid(f"artifact_paths: {label} is no path relative to the project")
    return paths


def _check_gates(found: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless everything that has to be ready or passed says that it is."""
    ready, results, cold = (found[name] for name in ("readiness_manifest", "validator_results", "cold_start_result"))
    if not isinstance(ready, dict) or ready.get("ready") is not True:
        raise members.invalid("readiness_manifest does not say ready: true")
    if not isinstance(results, dict) or not set(_GATES) <= results.keys():
        raise members.invalid(f"validator_results lacks one of {', '.join(_GATES)}")
    if any(result != "pass" for result in results.values()):
        raise members.invalid("validator_results holds one that is not pass")
    if not isinstance(cold, dict) or cold.get("status") != "pass" or not is_hash(cold.get("report_hash")):
        raise members.invalid("cold_start_result is not a pass with the report's hash")
    skipped = members.items(found, "not_run", _MOST)
    if not all(isinstance(each, str) and each for each in skipped) or len(set(skipped)) < len(skipped):
        raise members.invalid("not_run is not a list of texts that differ")


def prepare(
    manifest: Manifest,
    artifacts: Sequence[Artifact],
    *,
    tx_id: str,
    previous: str | None,
    response_sha256: str,
    now: datetime,
    sealed: Callable[[str], str],
) -> Record:
    """Return the record of a release that is prepared as that receipt, after the one with the hash `previous`.

    `sealed` makes the seal of its hash.
    """
    said = {name: manifest.document[name] for name in _REQUIRED}
    prepared = {
        **said,
        "tx_id": tx_id,
        "artifacts": [each.to_json() for each in artifacts],
        "response_sha256": response_sha256,
        "previous": previous,
        "created_at": time.to_text(now),
    }
    hashed = digest(prepared, "")
    return Record("PREPARED", prepared, hashed, seal=sealed(hashed))


def committed(record: Record, receipt: Receipt, now: datetime) -> Record:
    """Return the record of a release that was committed as that receipt."""
    return replace(record, state="COMMITTED", receipt_hash=receipt.receipt_hash, ended_at=time.to_text(now))


def aborted(record: Record, errors: Sequence[str], now: datetime) -> Record:
    """Return the record of a release that was given up because of these errors."""
    return replace(record, state="ABORTED", errors=tuple(errors), ended_at=time.to_text(now))


def unreadable(message: str, now: datetime) -> Record:
    """Return the record that takes the place of one that does not read: nothing of it can be trusted."""
    return Record("ABORTED", {}, digest({}, ""), (message,), "", time.to_text(now))


def is_intact(record: Record, sealed: Callable[[str], str]) -> bool:
    """Whether what was prepared is as it was written down, in the store whose seals `sealed` makes."""
    return digest(record.prepared, "") == record.prepared_hash and record.seal == sealed(record.prepared_hash)


def read(data: bytes | None) -> Record | None:
    """Return the record that a file holds, None for no file. Raises InvalidInput `release.invalid`."""
    if data is None:
        return None
    try:
        return _record(jsontext.parse(data))
    except InvalidInput as error:
        message = f"the record of the release does not read ({error.message}); `segue receipt recover` ends it"
        raise InvalidInput("release.invalid", message) from None


def _record(document: object) -> Record:
    found = members.exactly(document, _RECORD, "it")
    state, prepared = members.text(found, "state", 16), found["prepared"]
    if found["schema_version"] != SCHEMA_VERSION or state not in _STATES or not isinstance(prepared, dict):
        raise members.invalid("it is of another shape")
    if state != "ABORTED":
        _check_prepared(prepared)
    errors = members.items(found, "errors")
    if not all(isinstance(each, str) for each in errors):
        raise members.invalid("errors holds something other than texts")
    texts = [members.text(found, name) for name in ("prepared_hash", "receipt_hash", "ended_at", "seal")]
    return Record(cast("State", state), prepared, texts[0], tuple(errors), *texts[1:])


def _check_prepared(prepared: object) -> None:
    """Raise InvalidInput unless a receipt can be made of what a record says: somebody may have written it."""
    found = members.exactly(prepared, frozenset(_PREPARED), "what is prepared")
    _manifest({name: found[name] for name in _REQUIRED})
    number_of(members.text(found, "tx_id", 16))
    members.instant(found, "created_at")
    for each in members.items(found, "artifacts"):
        artifact_of(each)
    if not (found["response_sha256"] == "" or is_hash(found["response_sha256"])):
        raise members.invalid("response_sha256 is not 64 hex digits")
    if not (found["previous"] is None or is_hash(found["previous"])):
        raise members.invalid("previous is not 64 hex digits")
