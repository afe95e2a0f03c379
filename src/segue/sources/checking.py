"""The dry run: everything that would fail of a source, each with its rule. Nothing is kept, and nothing stops early.

Only what makes every further request fail alike ends it: an address that is refused, a server that is not there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from segue.base.errors import SegueError
from segue.sources import base_url, paths, snapshot
from segue.sources import manifest as manifests
from segue.sources import record as records
from segue.sources.local import Folder
from segue.sources.problems import Problem, problems_of

if TYPE_CHECKING:
    from pathlib import Path

    from segue.sources.https import Https
    from segue.sources.limits import Limits
    from segue.sources.manifest import Manifest
    from segue.sources.reading import Place
    from segue.sources.record import Record
    from segue.sources.snapshot import Resource

_ENDING_CODES = frozenset({"source.address"})
_ENDING_RULES = frozenset({"network.failed", "deadline.request", "deadline.refresh"})
_FOLLOWING = frozenset({"record.missing", "record.superseded"})  # what follows from a record that was not fetched

Progress: TypeAlias = Callable[[int, int], None]
Also: TypeAlias = "Callable[[Record], Iterable[Problem]]"  # what is wrong with a record that can be read


def check_folder(
    directory: Path, limits: Limits, *, also: Also | None = None, on_progress: Progress | None = None
) -> list[Problem]:
    """Return what is wrong with the source in `directory`, and what is remarkable (`fails` is false); [] if nothing.

    `also` says what else is wrong with a record, for whoever is to take it.
    """
    try:
        with Folder(directory) as folder:
            return _checked(folder, limits, also, on_progress)
    except SegueError as error:  # of the folder itself
        return problems_of(error, str(directory))


def check_url(
    https: Https, url: str, *, bearer: str = "", also: Also | None = None, on_progress: Progress | None = None
) -> list[Problem]:
    """Return what is wrong with the source at `url`, and what is remarkable (`fails` is false); [] if nothing.

    Of a URL that is refused, all that is wrong with it, and nothing is asked for. `also` is as for a folder. Raises
    InvalidInput `source.bearer`.
    """
    from segue.sources.https import Visit  # a folder needs no network

    base, errors = base_url.examined(url)
    if base is None:
        return [each for error in errors for each in problems_of(error, "")]
    with Visit(https, base, bearer=bearer) as visit:
        found = _checked(visit, https.limits, also, on_progress)
    return [_without(bearer, each) for each in found] if bearer else found


def _without(bearer: str, problem: Problem) -> Problem:
    """A problem without the token, which a message may quote as an escape in a file stood for it."""
    told = {name: getattr(problem, name).replace(bearer, "[token]") for name in ("message", "where")}
    return replace(problem, **told)


def _checked(place: Place, limits: Limits, also: Also | None, on_progress: Progress | None) -> list[Problem]:
    try:
        first = place.fetch(paths.MANIFEST, limits.manifest_bytes)
    except SegueError as error:
        return problems_of(error, paths.MANIFEST)
    manifest, _ = manifests.examined(first.data, limits)
    listed = [entry.path for entry in manifest.records] if manifest else []
    found, missed = _fetched(place, listed, limits, on_progress)
    about = snapshot.examined(first, found, limits)[1]
    known = [each for each in about if each.rule not in (_FOLLOWING if len(found) < len(listed) else ())]
    if also is not None and manifest is not None:
        known += _further(manifest, found, limits, also)
    order = {path: number for number, path in enumerate((paths.MANIFEST, *listed))}
    return sorted((*known, *missed), key=lambda each: order.get(each.where, len(order)))


def _further(manifest: Manifest, found: Sequence[Resource], limits: Limits, also: Also) -> Iterator[Problem]:
    """What else is wrong with the records that can be read."""
    data = {each.path: each.data for each in found}
    for entry in manifest.records:
        record = records.examined(entry, data[entry.path], limits)[0] if entry.path in data else None
        if record is not None:
            yield from also(record)


def _fetched(
    place: Place, listed: Sequence[str], limits: Limits, on_progress: Progress | None
) -> tuple[list[Resource], list[Problem]]:
    """What can be fetched, and what is wrong with the rest."""
    found: list[Resource] = []
    missed: list[Problem] = []
    total = 0
    tell = on_progress or (lambda *_: None)
    tell(0, len(listed))
    with contextlib.closing(place.fetch_all(listed, limits.record_bytes)) as coming:
        for done, (path, each) in enumerate(zip(listed, coming, strict=False), 1):
            tell(done, len(listed))
            if isinstance(each, SegueError):
                missed += problems_of(each, path)
                if each.code in _ENDING_CODES or each.details.get("rule") in _ENDING_RULES:
                    break
                continue
            found.append(each)
            total += len(each.data)
            if total > limits.total_bytes:
                break
    return found, missed
