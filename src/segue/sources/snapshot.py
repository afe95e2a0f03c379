"""The snapshot: a manifest and all of its records, as they were at one time. It is whole, or there is none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from segue.sources import manifest as manifests
from segue.sources import record as records
from segue.sources.problems import Problem, too_much, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.sources.limits import Limits
    from segue.sources.manifest import Manifest
    from segue.sources.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """What a server is asked with whether a resource changed, "" where it gave none. They belong to its bytes."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One file of a source: its path there, its bytes, their SHA-256 (64 hex digits), and the validators."""

    path: str
    data: bytes = field(repr=False)
    sha256: str
    validators: Validators = Validators()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A source as it was read. `records` and `resources` are in the order of the manifest, whose own resource is first.

    `unchanged` says that every byte is what was there before. `remarks` are problems that do not fail: keys and kinds
    that are not known, superseded records that are not there.
    """

    manifest: Manifest
    records: tuple[Record, ...]
    resources: tuple[Resource, ...]
    unchanged: bool = False
    remarks: tuple[Problem, ...] = ()


def resource(path: str, data: bytes, validators: Validators | None = None) -> Resource:
    """Return the resource of these bytes."""
    digest = hashlib.sha256(data).hexdigest()
    return Resource(path=path, data=data, sha256=digest, validators=validators or Validators())


def assembled(
    manifest_resource: Resource, record_resources: Sequence[Resource], limits: Limits, *, unchanged: bool = False
) -> Snapshot:
    """Return the snapshot of a manifest and the records that it lists, in its order, after all checks.

    Ids are unique; hashes and sizes are those of the manifest; what a record supersedes is kept only where the source
    has it. Raises InvalidInput `source.manifest`, `source.record`, `source.limit`; Refused `source.path`,
    `source.credential`.
    """
    found = whole(*examined(manifest_resource, record_resources, limits))
    return replace(found, unchanged=unchanged)


def examined(
    manifest_resource: Resource, record_resources: Sequence[Resource], limits: Limits
) -> tuple[Snapshot | None, list[Problem]]:
    """Return the snapshot, None where anything fails, and everything that is wrong or remarkable."""
    manifest, problems = manifests.examined(manifest_resource.data, limits)
    if manifest is None:
        return None, problems
    by_path = {each.path: each for each in record_resources}
    found: list[Record] = []
    for entry in manifest.records:
        given = by_path.get(entry.path)
        if given is None:
            problems.append(Problem(rule="record.missing", message="it is not there", where=entry.path))
            continue
        record, wrong = records.examined(entry, given.data, limits)
        problems += wrong
        found += [record] if record else []
    problems += [*_total(manifest_resource, record_resources, limits), *_duplicates(found)]
    kept, wrong = _supersessions(found)
    problems += wrong
    if any(each.fails for each in problems):
        return None, problems
    snapshot = Snapshot(
        manifest=manifest,
        records=tuple(kept),
        resources=(manifest_resource, *(by_path[each.path] for each in kept)),
        remarks=tuple(problems),
    )
    return snapshot, problems


def _total(first: Resource, others: Sequence[Resource], limits: Limits) -> list[Problem]:
    if len(first.data) + sum(len(each.data) for each in others) <= limits.total_bytes:
        return []
    return [too_much(limits.total_bytes)]


def _duplicates(found: Sequence[Record]) -> list[Problem]:
    first: dict[str, str] = {}
    problems = []
    for each in found:
        if first.setdefault(each.id, each.path) != each.path:
            message = f"its id '{each.id}' is that of {first[each.id]} too"
            problems.append(Problem(rule="record.duplicate_id", message=message, where=each.path))
    return problems


def _supersessions(found: Sequence[Record]) -> tuple[list[Record], list[Problem]]:
    """The records without what they supersede elsewhere, and what is wrong: none may supersede itself."""
    ids = {each.id for each in found}
    problems = []
    kept = []
    for each in found:
        here = tuple(name for name in each.supersedes if name in ids)
        kept.append(replace(each, supersedes=here) if here != each.supersedes else each)
        for name in each.supersedes:
            if name not in ids:
                message = f"the source has no record '{name}', which this one supersedes"
                problems.append(Problem(rule="record.superseded", message=message, where=each.path, fails=False))
    problems += [
        Problem(rule="record.cycle", message="it supersedes itself, at once or by detours", where=each.path)
        for each in _in_cycles(kept)
    ]
    return kept, problems


def _in_cycles(found: Sequence[Record]) -> list[Record]:
    """The records of which no order puts every one after what it supersedes."""
    waiting = {each.id: set(each.supersedes) for each in found}
    ready = [name for name, others in waiting.items() if not others]
    behind: dict[str, list[str]] = {}
    for name, others in waiting.items():
        for other in others:
            behind.setdefault(other, []).append(name)
    while ready:
        done = ready.pop()
        for name in behind.get(done, ()):
            waiting[name].discard(done)
            if not waiting[name]:
                ready.append(name)
    return [each for each in found if waiting[each.id]]
