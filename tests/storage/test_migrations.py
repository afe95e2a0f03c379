"""The schema: what the migrations make is what the tables say, on both databases, and nothing else is touched."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.schema import UniqueConstraint

import segue
from segue.storage import schema, settings
from segue.storage.database import Database, open_database
from segue.storage.tables import REFERENCE_TABLES, SERVER_TABLES, metadata

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("own_migrations")

MIGRATIONS = Path(schema.__file__).parent / "migrations"


def test_the_migrations_make_what_the_tables_say(segue_: segue.Segue) -> None:
    with segue_._database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
        assert schema.stored_revision(connection) == schema.HEAD


def test_keys_sort_by_bytes_on_postgresql(locate: Callable[[str], str]) -> None:
    """compare_metadata does not look at collations, and cursors depend on them."""
    with segue.open(locate("postgres")) as opened, opened._database.read() as connection:
        query = "SELECT table_name, column_name, collation_name FROM information_schema.columns WHERE table_schema = "
        found = {(row[0], row[1]): row[2] for row in connection.execute(sa.text(query + "'public'"))}
    for table in metadata.tables.values():
        for column in table.primary_key:
            if isinstance(column.type, sa.String):
                assert found[table.name, column.name] == "C", f"{table.name}.{column.name}"


def test_head_is_the_newest_script_and_the_scripts_are_one_line() -> None:
    scripts = ScriptDirectory(str(MIGRATIONS))
    assert scripts.get_heads() == [schema.HEAD]
    assert len(scripts.get_bases()) == 1
    listed = {path.stem.split("_")[0] for path in (MIGRATIONS / "versions").glob("*.py")}
    assert {script.revision for script in scripts.walk_revisions()} == listed


def test_tables_that_grow_lead_their_keys_with_the_scope() -> None:
    for table in metadata.tables.values():
        unique = [list(each.columns) for each in table.constraints if isinstance(each, UniqueConstraint)]
        unique += [list(each.columns) for each in table.indexes if each.unique]
        if table.name in REFERENCE_TABLES:
            continue
        for columns in [list(table.primary_key), *unique]:
            assert columns[0].name == "scope_id", table.name
    assert set(metadata.tables) >= REFERENCE_TABLES


def test_rows_of_distributed_tables_refer_within_their_scope() -> None:
    for table in metadata.tables.values():
        for constraint in table.foreign_key_constraints:
            target = constraint.referred_table.name
            assert target in REFERENCE_TABLES or constraint.column_keys[0] == "scope_id", table.name


def test_opening_again_changes_nothing_and_imports_no_alembic(location: str) -> None:
    with segue.open(location) as opened, opened._database.read() as connection:
        before = connection.execute(sa.text("SELECT name, value FROM settings ORDER BY name")).all()
    script = "import sys, segue; segue.open(sys.argv[1]).close(); print('alembic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script, location], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    with segue.open(location) as opened, opened._database.read() as connection:
        assert connection.execute(sa.text("SELECT name, value FROM settings ORDER BY name")).all() == before


def test_two_stores_have_two_keys(kind: str, locate: Callable[[str], str]) -> None:
    keys = set()
    for _ in range(2):
        with segue.open(locate(kind)) as opened, opened._database.read() as connection:
            keys.add(connection.execute(sa.text("SELECT value FROM settings WHERE name = 'key'")).scalar_one())
    assert len(keys) == 2
    assert all(len(bytes.fromhex(key)) == 32 for key in keys)


def _run(location: str, *statements: str) -> None:
    database = open_database(location)
    with database.write() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
    database.close()


def _tables(location: str) -> dict[str, list[Any]]:
    database = open_database(location)
    with database.read() as connection:
        names = sa.inspect(connection).get_table_names()
        found = {name: sorted(map(repr, connection.execute(sa.text(f'SELECT * FROM "{name}"')))) for name in names}
    database.close()
    return found


def test_a_newer_revision_is_refused_by_name_and_nothing_changed(
    location: str, draft: Callable[..., dict[str, Any]]
) -> None:
    with segue.open(location) as opened:
        opened.packets.save(draft())
    _run(location, "UPDATE alembic_version SET version_num = '9041'")
    before = _tables(location)
    with pytest.raises(segue.Failed) as refused:
        segue.open(location)
    assert refused.value.code == "store.newer"
    assert "9041" in refused.value.message
    assert refused.value.details == {"revision": "9041", "supported": schema.HEAD}
    assert _tables(location) == before
    if "://" not in location:
        assert not (Path(location).parent / "backups").exists()


@pytest.mark.parametrize("name", ["packets", "notes", "settings"])
def test_foreign_tables_are_refused_and_left_alone(location: str, name: str) -> None:
    _run(location, f"CREATE TABLE {name} (id INTEGER)", f"INSERT INTO {name} VALUES (7)")
    before = _tables(location)
    with pytest.raises(segue.Failed) as refused:
        segue.open(location)
    assert refused.value.code == "store.foreign"
    assert _tables(location) == before == {name: ["(7,)"]}


def _older(path: Path) -> None:
    """A store as the first revision left it, with a packet that says so in its goal."""
    with segue.open(path) as opened:
        opened.packets.save({"ltm_version": "0.2", "goal": "Older.", "next_step": "n", "tags": ["a"]})
    _back_to_the_first(path)


def _without_later() -> list[str]:
    """Take away the tables of the sixth revision and of later ones, those that refer to others first."""
    later = SERVER_TABLES | {"replicas", "replicated_packets", "sources", "source_records", "receipt_heads"}
    later |= {"packet_words"}
    tables = [f"DROP TABLE {each.name}" for each in reversed(metadata.sorted_tables) if each.name in later]
    return ["DROP INDEX packets_by_owner", *tables]


def _back_to_the_first(path: Path) -> None:
    first = {"settings", "scopes", "packets", "packet_tags", "packet_projects", "events"}
    dropped = [f"DROP TABLE {each.name}" for each in reversed(metadata.sorted_tables) if each.name not in first]
    dropped.append("DROP INDEX packets_by_owner")
    _run(str(path), *dropped, "UPDATE alembic_version SET version_num = '0001'")


def test_a_store_is_kept_before_it_is_migrated(tmp_path: Path) -> None:
    import stat

    path = tmp_path / "own.db"
    _older(path)
    before = _tables(str(path))
    with segue.open(path) as opened:
        assert [line.goal for line in opened.packets.ls(tag="a").packets] == ["Older."]
        assert opened.store.doctor() == []
    kept = tmp_path / "backups" / "own-schema-0001.db"
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    connection = sqlite3.connect(f"file:{kept}?mode=ro&immutable=1", uri=True)
    assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)
    assert connection.execute("SELECT goal FROM packets").fetchall() == [("Older.",)]
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()
    content = kept.read_bytes()
    with segue.open(tmp_path / "elsewhere.db") as fresh:
        fresh.store.restore(kept)
        assert [line.goal for line in fresh.packets.ls().packets] == ["Older."]
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]
    assert _tables(str(kept)) == before
    _back_to_the_first(path)
    kept.write_bytes(content)
    segue.open(path).close()
    assert kept.read_bytes() == content  # once for each revision


def test_memories_of_the_fourth_revision_stay_as_they_are(location: str) -> None:
    """There is no index over refs, which sort as the database likes, and no source says when it was changed."""
    with segue.open(location) as opened:
        for number in range(3):
            opened.memories.remember(f"Loaf {number}.", ref=f"Book#{number}", origin="import")
        opened.memories.remember("Another loaf.", ref="Book#2", origin="import")
        before = [(each.id, each.status, each.provenance.ref) for each in opened.memories.ls().memories]
    back = [*_without_later(), "DROP INDEX memories_by_ref", "ALTER TABLE memory_sources DROP COLUMN updated_us"]
    if "://" in location:
        back.append('ALTER TABLE memories ALTER COLUMN ref TYPE text COLLATE "default"')
    _run(location, *back, "UPDATE alembic_version SET version_num = '0004'")
    with segue.open(location) as opened:
        assert [(each.id, each.status, each.provenance.ref) for each in opened.memories.ls().memories] == before
        assert opened.memories.said_by("Book") == (4, 4)
        assert opened.store.doctor() == []
        with opened._database.read() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, metadata) == []
            if "://" in location:
                query = "SELECT collation_name FROM information_schema.columns WHERE column_name = 'ref'"
                assert connection.execute(sa.text(query)).scalar_one() == "C"


def test_a_store_of_the_fifth_revision_becomes_a_server(location: str, draft: Callable[..., dict[str, Any]]) -> None:
    """What was saved alone stays, and is what the root user has."""
    with segue.open(location) as opened:
        saved = opened.packets.save(draft(tags=["a"]))
        opened.memories.remember("The oven is new.")
        before = {name: number for name, number in opened.store.counts().items() if number}
    _run(location, *_without_later(), "UPDATE alembic_version SET version_num = '0005'")
    with segue.open(location) as opened:
        assert {name: number for name, number in opened.store.counts().items() if number} == before
        assert opened.store.doctor() == []
        with opened._database.read() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, metadata) == []
        root = opened.accounts.authenticate(opened.accounts.init())
        assert opened.hub.pull(root, saved.id).body == saved.canonical
        assert opened.teams.create(root, "bakers").owner_id == root.user_id


def test_packets_of_the_ninth_revision_are_found_by_their_words(
    location: str, draft: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with segue.open(location) as opened:
        ids = [opened.packets.save(draft(goal=f"Part{number} of it, in Café 東京.")).id for number in range(5)]
    texts = "UPDATE packets SET search_text = 'part' || substr(goal, 5, 1) || ' of it, in café 東京.'"
    _run(location, "DROP TABLE packet_words", texts, "UPDATE alembic_version SET version_num = '0009'")
    with segue.open(location) as opened:
        for number, packet_id in enumerate(ids):
            assert [each.id for each in opened.packets.ls(search=f"part{number}").packets] == [packet_id]
        assert len(opened.packets.ls(search="café 東京").packets) == 5
        assert {each.code for each in opened.store.doctor(repair=True)} == {"doctor.columns"}
        assert opened.store.doctor() == []


def test_a_store_that_cannot_be_kept_is_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "segue.db"
    _older(path)
    (tmp_path / "backups").write_text("in the way")
    before = _tables(str(path))
    with pytest.raises(segue.Failed) as failed:
        segue.open(path)
    assert failed.value.code == "file.write"
    assert _tables(str(path)) == before


def test_a_migration_that_fails_leaves_nothing(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(connection: sa.Connection, name: str, value: str) -> None:
        connection.execute(sa.text("SELECT * FROM no_such_table"))

    monkeypatch.setattr(settings, "put", failing)
    with pytest.raises(segue.Failed):
        segue.open(location)
    assert _tables(location) == {}
    monkeypatch.undo()
    with segue.open(location) as opened:
        assert opened.store.doctor() == []


def test_a_refused_store_is_let_go(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(location, "CREATE TABLE notes (id INTEGER)")
    closed = []
    close = Database.close

    def watched(database: Database) -> None:
        closed.append(database)
        close(database)

    monkeypatch.setattr(Database, "close", watched)
    with pytest.raises(segue.Failed):
        segue.open(location)
    assert len(closed) == 1


def test_creating_waits_for_another_process_and_says_so_when_it_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    monkeypatch.setattr(schema, "_LOCK_SECONDS", 0)
    path = tmp_path / "segue.db"
    with FileLock(f"{path}.lock"), pytest.raises(segue.Failed) as failed:
        segue.open(path)
    assert failed.value.code == "store.busy"
    with segue.open(path) as opened:
        assert opened.packets.count() == 0


def test_a_lock_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "segue.db.lock").mkdir()
    with pytest.raises(segue.Failed) as failed:
        segue.open(tmp_path / "segue.db")
    assert failed.value.code == "store.cannot_open"
    assert "segue.db.lock" in failed.value.message


def test_a_store_that_left_wal_mode_gets_it_back(tmp_path: Path, draft: Callable[..., dict[str, Any]]) -> None:
    path = tmp_path / "segue.db"
    with segue.open(path) as opened:
        opened.packets.save(draft())
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    connection.close()
    with segue.open(path) as opened, opened._database.read() as reading:
        assert schema.journal_mode(reading) == "wal"
        assert opened.packets.count() == 1
