"""What hooks read of a project's receipts: their files, and the head that vouches for them, by plain SQL."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from segue.base.errors import SegueError
from segue.continuity import chain, files
from segue.hosts import embedded
from segue.services import artifacts
from segue.services.continuity_place import key_and_folder

if TYPE_CHECKING:
    from segue.continuity.chain import Chain
    from segue.hosts.calling import Call
    from segue.hosts.embedded import Embedded

_HEAD = "SELECT number, receipt_hash FROM receipt_heads WHERE scope_id = :scope AND project_key = :key"


def is_bound(call: Call, message: str) -> bool:
    """Whether a receipt of the project that is worked on proves an answer: it holds and is bound to this very text.

    Its files have to be as it says; white space around the text does not matter. Raises nothing for what is missing
    or does not hold.
    """
    stripped = message.strip()
    said = {_hash(each) for each in (message, stripped, f"{stripped}\n", f"{stripped}\r\n")}
    with contextlib.suppress(SegueError, OSError):
        return _proven(call, said)
    return False


def _proven(call: Call, said: set[str]) -> bool:
    from segue.location import home

    project = call.project()
    key, folder = key_and_folder(home(call.environment), project)
    if not (folder / files.RECEIPTS).is_dir():
        return False
    with embedded.opened(call.location) as store:
        found = _chain(store, key, files.receipts(folder))
    if found.problem is not None:
        return False
    root = project.root.resolve()
    bound = [each for each in found.receipts if each.response_sha256 in said]
    return any(all(artifacts.current(root, a.path) == a for a in each.artifacts) for each in bound)


def _chain(store: Embedded, key: str, documents: dict[int, bytes]) -> Chain:
    rows = store.rows(_HEAD, key=key)
    with embedded.legible():
        head = (int(rows[0][0]), str(rows[0][1] or "")) if rows else (0, "")
    return chain.read(documents, head)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
