"""Sources and their records as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base import time
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.memory_lines import indented
from segue.cli.table import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from segue.memories.memory import Memory
    from segue.services.source_exporting import Written
    from segue.services.source_publishing import Publication
    from segue.services.source_views import Offer, Refreshed, Shown, Source
    from segue.sources.problems import Problem
    from segue.sources.record import Record

_SHOWN_RECORDS = 10
_LEAST = {"STATE": 50, "READ": 60, "RECORDS": 40, "KIND": 50}
_LABEL_WIDTH = 11
_STATES = {
    "active": "served",
    "retired": "not served: replaced",
    "pending": "waits for review",
    "expired": "not served: expired",
}


def print_sources(sources: Sequence[Source], now: datetime) -> None:
    """Print sources as a table, and below it why reading them failed."""
    rows = [
        {
            "NAME": each.name,
            "RECORDS": f"{each.records:,}",
            "READ": time.ago(each.stored.refreshed_at, now),
            "STATE": state(each),
            "PLACE": one_line(each.stored.place),
        }
        for each in sources
    ]
    print_table(rows, _LEAST, empty="no sources; `segue source add` reads one", last=100)
    output.notes(fault(each, now) for each in sources if each.stored.fault)


def state(source: Source) -> str:
    """Return how a source is: in use, stale, withheld."""
    return "withheld" if source.stored.withheld else "stale" if source.stored.fault else "in use"


def fault(source: Source, now: datetime) -> str:
    """Return why the last attempt to read a source failed, and what that means."""
    kept = source.stored
    told = f"{kept.name}: {one_line(kept.fault_message)} ({time.ago(kept.attempted_at, now)})"
    if kept.withheld:
        return f"{told}; nothing of it is used until it can be read again"
    return f"{told}; in use is what was read {time.ago(kept.refreshed_at, now)}"


def portrait(source: Source, now: datetime) -> list[str]:
    """Return what is known of a source, a field a line."""
    kept = source.stored
    fields = {
        "Source": kept.name,
        "Place": one_line(kept.place),
        "Title": one_line(kept.title),
        "State": state(source),
        "Records": f"{source.records:,}",
        "Read": f"{time.to_text(kept.refreshed_at)} ({time.ago(kept.refreshed_at, now)})",
        "Snapshot": kept.digest,
        "Written to": ", ".join(one_line(each.path) for each in kept.exports),
    }
    return [f"{name:{_LABEL_WIDTH}}{value}" for name, value in fields.items() if value]


def print_records(records: Sequence[Record], states: Mapping[str, str]) -> None:
    """Print the records of a source as a table."""
    rows = [
        {
            "RECORD": each.id,
            "KIND": one_line(each.kind or "claim"),
            "STATE": _STATES.get(states.get(each.id, ""), "not served"),
            "TITLE": one_line(each.title or each.body.strip().partition("\n")[0]),
        }
        for each in records
    ]
    print_table(rows, _LEAST, empty="it lists no records", last=100)


def served_as(memory: Memory, now: datetime) -> str:
    """Return how the memory of a record is served: its status, or expired."""
    expired = memory.status == "active" and memory.valid_to is not None and memory.valid_to <= now
    return "expired" if expired else memory.status


def record_lines(shown: Shown, now: datetime) -> list[str]:
    """Return a record: who says it first, then what it says, each line behind a bar."""
    record, kept = shown.record, shown.source.stored
    fields = {
        "Record": f"{kept.name}#{record.id}",
        "From": f"{one_line(kept.place)}, {one_line(record.path)}",
        "As of": time.to_text(kept.refreshed_at),
        "SHA-256": record.sha256,
        "Title": one_line(record.title),
        "Kind": one_line(record.kind or "claim"),
        "Scope": one_line(record.scope),
        "Project": one_line(record.project),
        "Tags": one_line(", ".join(record.tags)),
        "About": one_line(", ".join(record.entities)),
        "Created": record.created,
        "Updated": record.updated,
        "Happened": record.occurred_at,
        "Expires": record.expires,
        "Confidence": "" if record.confidence is None else f"{record.confidence:g}, as it says itself",
        "Supersedes": ", ".join(record.supersedes),
        "Claims": f"to be from {one_line(record.source)}" if record.source else "",
        "Further": one_line(", ".join(record.unknown)),
        "Memory": ", ".join(f"{each.id} ({_STATES[served_as(each, now)]})" for each in shown.memories) or "none",
    }
    head = [f"{name:{_LABEL_WIDTH}}{value}" for name, value in fields.items() if value]
    return [*head, "", *indented(record.body.strip())]


def offer_lines(offer: Offer) -> Iterator[str]:
    """Yield what a place holds, for whoever is asked whether to use it."""
    manifest, records = offer.snapshot.manifest, offer.snapshot.records
    title = f" '{one_line(manifest.title)}'" if manifest.title else ""
    yield f"{one_line(offer.place)}{title} has {output.counted(len(records), 'record')}:"
    for each in records[:_SHOWN_RECORDS]:
        yield f"  {each.id}  {one_line(each.title or each.body.strip().partition(chr(10))[0])[:80]}"
    if len(records) > _SHOWN_RECORDS:
        yield f"  … and {len(records) - _SHOWN_RECORDS:,} more"
    yield from (f"  note: {one_line(str(each))}" for each in offer.snapshot.remarks[:_SHOWN_RECORDS])


def refreshed_line(done: Refreshed) -> str:
    """Return what became of the records of a source."""
    counts = [f"{done.counts[name]:,} {name}" for name in ("new", "changed", "removed") if done.counts[name]]
    what = ", ".join(counts) or "nothing changed"
    back = "; it is in use again" if done.returned else ""
    return f"{done.source.name}: {output.counted(done.source.records, 'record')}, {what}{back}"


def problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield what is wrong with a place, a line each: the rule first."""
    for each in problems:
        where = f"{one_line(each.place)}: " if each.where else ""
        yield f"{'' if each.fails else 'note: '}{each.rule}  {where}{one_line(each.message)}"


def written_lines(done: Written) -> Iterator[str]:
    """Yield what became of a file of another tool, and what it cannot say."""
    for source in done.sources:
        if source.withheld:
            yield f"  {source.shown.name} is withheld, so nothing of it is there"
        elif source.left_out:
            left = output.counted(len(source.left_out), "record")
            yield f"  {source.shown.name}: {left} left out, which are not served: {', '.join(source.left_out[:5])}"
    by_reason: dict[tuple[str, str], list[str]] = {}
    for each in done.losses:
        by_reason.setdefault((each.field, each.reason), []).append(each.ref)
    for (field, reason), refs in by_reason.items():
        more = f" and {len(refs) - 3:,} more" if len(refs) > 3 else ""
        yield f"  {field}: {reason} ({', '.join(refs[:3])}{more})"


def publication_lines(publication: Publication) -> Iterator[str]:
    """Yield all of what would leave, for whoever is to look at it, and how many records that are."""
    for each in publication.drafts:
        about = "; ".join(filter(None, [each.kind, one_line(each.title), one_line(", ".join(each.tags))]))
        yield f"{each.id}  {about}"
        yield from indented(each.body)
    for left in publication.left_out:
        yield f"left out: {left.id}, since {left.reason}"
    yield f"{output.counted(len(publication.drafts), 'record')} for everybody who may read the folder"
