"""How a source is read, wherever it lies: the manifest first, then the records that it lists, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from segue.sources import manifest as manifests
from segue.sources import paths
from segue.sources.problems import Problem, error_of
from segue.sources.snapshot import assembled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from segue.sources.limits import Limits
    from segue.sources.snapshot import Resource, Snapshot

Fetch = Callable[[str, int], "Resource"]  # the path of a manifest or record, and how many bytes it may have


def gathered(
    fetch: Fetch,
    limits: Limits,
    *,
    before: Mapping[str, Resource],
    on_progress: Callable[[int, int], None] | None = None,
) -> Snapshot:
    """Return the snapshot of what `fetch` fetches. It stops at what cannot be fetched, and adds up what can.

    Raises what `fetch` and `snapshot.assembled` raise, and InvalidInput `source.limit` beyond the bytes of all.
    """
    first = fetch(paths.MANIFEST, limits.manifest_bytes)
    entries = manifests.read(first.data, limits).records
    found: list[Resource] = []
    total = len(first.data)
    for done, entry in enumerate(entries):
        if on_progress is not None:
            on_progress(done, len(entries))
        found.append(fetch(entry.path, limits.record_bytes))
        total += len(found[-1].data)
        if total > limits.total_bytes:
            message = f"the source has more than {limits.total_bytes:,} bytes in all"
            raise error_of([Problem(rule="limit.total_bytes", message=message, where=entry.path)])
    if on_progress is not None:
        on_progress(len(entries), len(entries))
    hashes = {each.path: each.sha256 for each in (first, *found)}
    unchanged = hashes == {path: each.sha256 for path, each in before.items()}
    return assembled(first, found, limits, unchanged=unchanged)
