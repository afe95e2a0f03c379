"""The doctor's eyes: what in a store is not as it should be, and what can be mended."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from segue.base import files, jsontext
from segue.base.errors import InvalidInput
from segue.capsules import parse as parse_capsule
from segue.packets import lineage, schema
from segue.storage import capsules as capsule_rows
from segue.storage import memory_examination, packet_words, server_examination, settings, source_examination
from segue.storage import packets as rows
from segue.storage.findings import Finding
from segue.storage.tables import capsules, events, memories, metadata, packets, scopes
from segue.storage.tables import packet_words as packet_word_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from segue.storage.database import Database

BACKUPS = "backups"

_BATCH = 500
_WRITING_SECONDS = 3_600
_FIRST_US, _LAST_US = 0, 253_402_300_799_999_999  # 1970 to the end of 9999
_KEY = re.compile(r"[0-9a-f]{64}")


def examine_files(database: Database, now: datetime, *, repair: bool) -> list[Finding]:
    """Return what is wrong with the files of an embedded store, its backups included.

    A file that is being written is left alone: only what nobody has touched for an hour was left behind.
    """
    path = database.path
    if path is None:
        return []
    found = []
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        if repair:
            path.chmod(0o600)
        found.append(Finding("doctor.mode", f"others may read {path.name}; it should have mode 0600", repair))
    for folder in (path.parent, path.parent / BACKUPS):
        for partial in sorted(folder.glob(f"*{files.PARTIAL}*")):
            ours = files.PARTIAL_NAME.fullmatch(partial.name) and partial.is_file() and not partial.is_symlink()
            if not ours or now.timestamp() - partial.stat().st_mtime < _WRITING_SECONDS:
                continue
            if repair:
                partial.unlink(missing_ok=True)
            found.append(Finding("doctor.partial", f"{partial.name} was left by an interrupted write", repair))
    return found


def integrity(connection: sa.Connection) -> list[str]:
    """Return what SQLite's own check finds wrong with the file; nothing on PostgreSQL."""
    if connection.dialect.name != "sqlite":
        return []
    answers = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
    damage = [str(answer) for answer in answers if answer != "ok"]
    if damage:  # the next check would stumble over it
        return damage
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    return [f"{row[0]}: a row without its parent" for row in broken]


def examine(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    """Return what is wrong with the rows; with `repair` the columns that follow from bodies are written again."""
    found = [
        Finding("doctor.damaged", f"the file is damaged: {text}; restore a backup") for text in integrity(connection)
    ]
    found += [
        Finding("doctor.schema", f"the table {name} is missing; restore a backup")
        for name in missing_tables(connection)
    ]
    if found:
        return found
    found = _indexes(connection, repair=repair) + _settings(connection, repair=repair)
    try:
        for row, lists in _packet_rows(connection):
            found += _examine_packet(connection, row, lists, repair=repair)
        found += _packet_words(connection, repair=repair)
    except (TypeError, ValueError, OverflowError):  # SQLite takes any type in any column
        return [*found, Finding("doctor.damaged", "a packet's row holds a value of the wrong type; restore a backup")]
    found += _capsules(connection, repair=repair) + memory_examination.examine(connection, repair=repair)
    found += server_examination.examine(connection, repair=repair)
    found += source_examination.examine(connection, repair=repair)
    return found + _cycles(connection) + _events(connection)


def missing_tables(connection: sa.Connection) -> list[str]:
    """Return which of the tables of this version the database lacks."""
    return sorted(set(metadata.tables) - set(sa.inspect(connection).get_table_names()))


def _indexes(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    found = []
    for table in metadata.sorted_tables:
        there = {index["name"] for index in sa.inspect(connection).get_indexes(table.name)}
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            if index.name not in there:
                if repair:
                    index.create(connection)
                found.append(Finding("doctor.schema", f"the index {index.name} is missing", repair))
    return found


def _settings(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    found = []
    if not _KEY.fullmatch(settings.get(connection, settings.KEY) or ""):
        if repair:
            settings.make_key(connection)
        found.append(Finding("doctor.key", "the store has no key of its own to sign cursors with", repair))
    known = set(connection.execute(sa.select(scopes.c.scope_id)).scalars())
    for table in (packets, capsules, memories, events):
        used = connection.execute(sa.select(table.c.scope_id).distinct()).scalars().all()
        found += [
            Finding("doctor.scope", f"{table.name} of the scope {scope_id}, which is missing; restore a backup")
            for scope_id in sorted(set(used) - known)
        ]
    return found


def _capsules(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    found = []
    for row in connection.execute(sa.select(capsules).order_by(capsules.c.scope_id, capsules.c.id)).all():
        try:
            capsule = parse_capsule(row.text)
        except InvalidInput as error:
            found.append(Finding("doctor.body", f"{row.id} does not read: {error.message}; `segue capsule rm` it"))
            continue
        if capsule_rows.key_of(capsule) != row.id:
            found.append(Finding("doctor.body", f"{row.id} holds another capsule's text; `segue capsule rm` it"))
            continue
        wanted = capsule_rows.derived(capsule)
        if not _is_within(row.saved_us, _FIRST_US, _LAST_US):
            # When it was saved is lost; its own time is the next best.
            wanted["saved_us"] = max(wanted["created_us"], _FIRST_US)
        wrong = [name for name, value in wanted.items() if getattr(row, name) != value]
        if wrong:
            if repair:
                capsule_rows.rewrite(connection, row.scope_id, row.id, wanted)
            found.append(Finding("doctor.columns", f"{row.id}: {', '.join(wrong)} do not follow the text", repair))
    return found


def _events(connection: sa.Connection) -> list[Finding]:
    found = []
    query = sa.select(events.c.id, events.c.at_us, events.c.details).execution_options(yield_per=_BATCH)
    for row in connection.execute(query):
        if not isinstance(row.at_us, int):
            found.append(Finding("doctor.event", f"the time of the event {row.id} is none; restore a backup"))
        elif not _is_object(row.details):
            found.append(Finding("doctor.event", f"the details of the event {row.id} do not read; restore a backup"))
    return found


def _is_object(text: object) -> bool:
    """Whether `text` is the JSON text of an object."""
    try:
        return isinstance(text, str) and isinstance(jsontext.parse(text.encode()), dict)
    except (InvalidInput, UnicodeEncodeError):
        return False


def _packet_words(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    scoped = sa.select(packets.c.scope_id).union(sa.select(packet_word_rows.c.scope_id))
    found = []
    for scope_id in sorted(connection.execute(scoped).scalars().all()):
        if not packet_words.agrees(connection, scope_id):
            if repair:
                packet_words.write_again(connection, scope_id)
            text = f"the words by which packets of the scope {scope_id} are found do not follow them"
            found.append(Finding("doctor.words", text, repair))
    return found


def _packet_rows(connection: sa.Connection) -> Iterator[tuple[sa.Row[Any], rows.Lists]]:
    """Yield every packet's row with what it is listed by, a batch of one scope at a time."""
    for scope_id in connection.execute(sa.select(packets.c.scope_id).distinct()).scalars().all():
        last = ""
        while True:
            query = sa.select(packets).where(packets.c.scope_id == scope_id, packets.c.id > last)
            batch = connection.execute(query.order_by(packets.c.id).limit(_BATCH)).all()
            if not batch:
                break
            lists = rows.lists_of(connection, scope_id, [row.id for row in batch])
            yield from ((row, lists[row.id]) for row in batch)
            last = batch[-1].id


def _examine_packet(connection: sa.Connection, row: sa.Row[Any], lists: rows.Lists, *, repair: bool) -> list[Finding]:
    try:
        packet = schema.parse(bytes(row.body))
    except InvalidInput as error:
        return [Finding("doctor.body", f"{row.id} does not read: {error.message}; `segue rm` it or restore a backup")]
    if packet.id != row.id or packet.canonical != bytes(row.body):
        return [Finding("doctor.body", f"{row.id} holds another packet's body; `segue rm` it or restore a backup")]
    found = []
    if not (_is_within(row.revision, 1, _LAST_US) and _is_within(row.saved_us, _FIRST_US, _LAST_US)):
        found.append(Finding("doctor.columns", f"{row.id}: revision or saved_us is out of range; save it again"))
    wrong = [name for name, value in rows.derived(packet).items() if getattr(row, name) != _as_stored(value)]
    if wrong:
        found.append(Finding("doctor.columns", f"{row.id}: {', '.join(wrong)} do not follow the body", repair))
    if lists != rows.wanted_lists(packet, row.project_key, row.project_label):
        found.append(Finding("doctor.lists", f"{row.id}: its tags or projects do not follow the body", repair))
    if repair and any(finding.repaired for finding in found):
        rows.derive_again(connection, row.scope_id, packet, row.project_key, row.project_label)
    return found


def _is_within(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and least <= value <= most  # SQLite takes any type in any column


def _as_stored(value: Any) -> Any:
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def _cycles(connection: sa.Connection) -> list[Finding]:
    found = []
    for scope_id in connection.execute(sa.select(packets.c.scope_id).distinct()).scalars().all():
        above = rows.all_parents(connection, scope_id)
        in_cycle = lineage.in_cycles(above)
        found += [
            Finding("doctor.cycle", f"{packet_id} is its own ancestor; save it again with --replace")
            for packet_id in in_cycle
        ]
    return found
