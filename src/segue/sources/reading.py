"""How a source is read, wherever it lies: the manifest first, then the records that it lists, and nothing else."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol

from segue.base.errors import SegueError
from segue.sources import manifest as manifests
from segue.sources import paths
from segue.sources.problems import error_of, too_much
from segue.sources.snapshot import assembled

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from segue.sources.limits import Limits
    from segue.sources.snapshot import Resource, Snapshot


class Place(Protocol):
    """Where a source lies, opened for reading."""

    def fetch(self, path: str, limit: int) -> Resource:
        """Return the manifest or the record at `path`, of at most `limit` bytes."""
        ...

    def fetch_all(self, listed: Sequence[str], limit: int) -> Generator[Resource | SegueError]:
        """Yield the records at these paths, in their order, or why they cannot be fetched."""
        ...


def gathered(
    place: Place,
    limits: Limits,
    *,
    before: Mapping[str, Resource],
    on_progress: Callable[[int, int], None] | None = None,
) -> Snapshot:
    """Return the snapshot of a place. It stops at what cannot be fetched, and adds up what can.

    Raises what the place and `snapshot.assembled` raise, and InvalidInput `source.limit` beyond the bytes of all.
    """
    first = place.fetch(paths.MANIFEST, limits.manifest_bytes)
    listed = [entry.path for entry in manifests.read(first.data, limits).records]
    tell = on_progress or (lambda *_: None)
    found: list[Resource] = []
    total = len(first.data)
    tell(0, len(listed))
    with contextlib.closing(place.fetch_all(listed, limits.record_bytes)) as coming:
        for each in coming:
            if isinstance(each, SegueError):
                raise each
            found.append(each)
            tell(len(found), len(listed))
            total += len(each.data)
            if total > limits.total_bytes:
                raise error_of([too_much(limits.total_bytes, each.path)])
    hashes = {each.path: each.sha256 for each in (first, *found)}
    unchanged = hashes == {path: each.sha256 for path, each in before.items()}
    return assembled(first, found, limits, unchanged=unchanged)
