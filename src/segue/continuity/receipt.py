"""A receipt: the proof that files, and perhaps a text, were on the disk as they should be (schema 6.0).

It is bound to the files by their hashes, to a text by its hash (decision K1), and to the receipt before it, so that
receipts form a chain. Paths are relative to the project, with `/` between their parts; one that ends with `/` is a
folder, whose hash is that of section 001.5 of the facts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from segue.base import members, time
from segue.base.errors import InvalidInput
from segue.continuity.canonical import SCHEMA_VERSION, digest, is_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

TX = re.compile(r"TX-(\d{1,9})", re.ASCII)
MAX_NUMBER = 999_999_999
MAX_ARTIFACTS = 1_000
MAX_PATH = 4_096

_CODE = "receipt.invalid"
_MEMBERS = frozenset(
    {
        "schema_version",
        "tx_id",
        "persistence_status",
        "validator",
        "artifacts",
        "previous",
        "created_at",
        "receipt_hash",
    }
)
_OPTIONAL = frozenset({"response_sha256", "release"})
_ARTIFACT = frozenset({"path", "sha256", "bytes"})
_MAX_BYTES = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file, or a folder (its path ends with `/`), as it was: SHA-256 (64 hex digits) and size in bytes."""

    path: str
    sha256: str
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """Return `{"path", "sha256", "bytes"}`."""
        return {"path": self.path, "sha256": self.sha256, "bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class Receipt:
    """One receipt of a project's chain.

    `previous` is the hash of the receipt before, None for the first; `response_sha256` is "" where no text is bound.
    `release` is what a release transaction adds, None for a plain receipt. `receipt_hash` covers all the rest.
    """

    tx_id: str
    artifacts: tuple[Artifact, ...]
    previous: str | None
    created_at: str
    receipt_hash: str
    response_sha256: str = ""
    release: Mapping[str, Any] | None = field(default=None, hash=False)

    @property
    def number(self) -> int:
        """Its place in the chain, from 1."""
        return number_of(self.tx_id)

    def to_json(self) -> dict[str, Any]:
        """Return the document that its file holds."""
        return _document(self) | {"receipt_hash": self.receipt_hash}


def tx_id(number: int) -> str:
    """Return the name of the receipt with that number: `TX-0001`."""
    return f"TX-{number:04}"


def number_of(name: str) -> int:
    """Return the number that a name such as `TX-0012` or `TX-12` has. Raises InvalidInput `receipt.tx`."""
    match = TX.fullmatch(name)
    if match is None or int(match[1]) == 0:
        raise InvalidInput("receipt.tx", "a receipt's name is TX- and a number, such as TX-0001")
    return int(match[1])


def make(
    number: int,
    artifacts: Sequence[Artifact],
    *,
    previous: str | None,
    now: datetime,
    response_sha256: str = "",
    release: Mapping[str, Any] | None = None,
) -> Receipt:
    """Return the receipt with that number, its hash computed. Raises InvalidInput for what no receipt can say."""
    made = Receipt(tx_id(number), tuple(artifacts), previous, time.to_text(now), "", response_sha256, release)
    document = _document(made)
    return parse(document | {"receipt_hash": digest(document, "receipt_hash")})


def _document(receipt: Receipt) -> dict[str, Any]:
    bound = {"response_sha256": receipt.response_sha256} if receipt.response_sha256 else {}
    released = {"release": dict(receipt.release)} if receipt.release is not None else {}
    return {
        "schema_version": SCHEMA_VERSION,
        "tx_id": receipt.tx_id,
        "persistence_status": "saved",
        "validator": "pass",
        "artifacts": [each.to_json() for each in receipt.artifacts],
        **bound,
        **released,
        "previous": receipt.previous,
        "created_at": receipt.created_at,
    }


def parse(document: object) -> Receipt:
    """Return the receipt that a document is, its own hash checked.

    Raises InvalidInput `receipt.invalid` for a wrong shape, `receipt.hash` where the hash is not that of the rest.
    """
    try:
        receipt = _parsed(document)
    except InvalidInput as error:
        raise InvalidInput(_CODE, f"this is no receipt: {error.message}") from None
    if digest(receipt.to_json(), "receipt_hash") != receipt.receipt_hash:
        raise InvalidInput("receipt.hash", f"{receipt.tx_id} was changed: its hash is not that of what it says")
    return receipt


def _parsed(document: object) -> Receipt:
    given = document if isinstance(document, dict) else {}
    found = members.exactly(document, _MEMBERS | (_OPTIONAL & given.keys()), "it")
    fixed = {"schema_version": SCHEMA_VERSION, "persistence_status": "saved", "validator": "pass"}
    for name, value in fixed.items():
        if found[name] != value:
            raise members.invalid(f"{name} is not {value!r}")
    name = members.text(found, "tx_id", 12)
    if tx_id(number_of(name)) != name:
        raise members.invalid("tx_id is not written as TX-0001 is")
    for hashed in ("receipt_hash", *({"previous"} if found["previous"] is not None else ())):
        _require_hash(found, hashed)
    if "response_sha256" in found:
        _require_hash(found, "response_sha256")
    if "release" in found and not isinstance(found["release"], dict):
        raise members.invalid("release is not an object")
    members.instant(found, "created_at")
    artifacts = tuple(artifact_of(each) for each in members.items(found, "artifacts", MAX_ARTIFACTS))
    if not artifacts and "response_sha256" not in found:
        raise members.invalid("it is bound to no file and no text")
    if len({each.path for each in artifacts}) < len(artifacts):
        raise members.invalid("a path stands in it twice")
    return Receipt(
        name,
        artifacts,
        found["previous"],
        found["created_at"],
        found["receipt_hash"],
        found.get("response_sha256", ""),
        found.get("release"),
    )


def _require_hash(document: Mapping[str, Any], name: str) -> None:
    if not is_hash(document[name]):
        raise members.invalid(f"{name} is not 64 hex digits")


def artifact_of(document: object) -> Artifact:
    """Return the artifact that a document is. Raises InvalidInput `value.invalid`."""
    found = members.exactly(document, _ARTIFACT, "an artifact")
    path = members.text(found, "path", MAX_PATH)
    if not is_inside(path):
        raise members.invalid("an artifact's path does not stay in the project")
    _require_hash(found, "sha256")
    return Artifact(path, found["sha256"], members.whole(found, "bytes", 0, _MAX_BYTES))


def is_inside(path: str) -> bool:
    """Whether a path is relative, in its shortest form, and goes nowhere above where it begins."""
    parts = path.removesuffix("/").split("/")
    return not path.startswith("/") and all(part not in ("", ".", "..") for part in parts)
