"""The tables, one schema for SQLite and PostgreSQL.

Tables that grow with tenants lead their keys with `scope_id`, so that PostgreSQL can be distributed by it; the
others are named in REFERENCE_TABLES and copied to every node. Times are microseconds since 1970 in UTC.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

metadata = MetaData()


class PlainText(TypeDecorator[str]):
    """Text copied out of documents for lists and filters; PostgreSQL holds no NUL, so it becomes U+FFFD."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:  # noqa: ARG002 - its name is the base class's
        return None if value is None else value.replace("\0", "\ufffd")


def _key(length: int) -> String:
    # Keys sort by bytes on both databases: cursors compare them.
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def _scope_column(name: str, **options: Any) -> Column[str]:
    """A column that names a scope, or the user of a personal one: a restore renames these."""
    return Column(name, _key(64), info={"scope": True}, **options)


settings = Table(
    "settings",
    metadata,
    Column("name", _key(64), primary_key=True),
    Column("value", Text, nullable=False),
)

scopes = Table(
    "scopes",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("name", Text, nullable=False),
    Column("created_us", BigInteger, nullable=False),
)

packets = Table(
    "packets",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("id", _key(64), primary_key=True),
    _scope_column("owner_id", nullable=False),
    Column("revision", Integer, nullable=False),
    Column("ltm_version", String(8), nullable=False),
    Column("parent_id", _key(64)),
    Column("created_at", Text, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("saved_us", BigInteger, nullable=False),
    Column("goal", PlainText, nullable=False),
    Column("project_name", PlainText),
    Column("project_ref", PlainText),
    Column("project_key", PlainText),
    Column("project_label", PlainText),
    Column("content_hash", String(71), nullable=False),
    Column("flagged", Boolean, nullable=False),
    Column("search_text", PlainText, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index("packets_by_time", "scope_id", "created_us", "id"),
    Index("packets_by_parent", "scope_id", "parent_id"),
    Index("packets_by_content", "scope_id", "content_hash"),
)

# What packets are listed by; each row repeats the packet's time, so that a list is read in its order.
# The indexes by packet hold all of a row's keys: SQLite would rather scan a covering key than use one that lacks any.
packet_tags = Table(
    "packet_tags",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("tag", _key(32), primary_key=True),
    Column("created_us", BigInteger, primary_key=True, autoincrement=False),
    Column("packet_id", _key(64), primary_key=True),
    ForeignKeyConstraint(["scope_id", "packet_id"], ["packets.scope_id", "packets.id"], ondelete="CASCADE"),
    Index("packet_tags_by_packet", "scope_id", "packet_id", "tag"),
)

packet_projects = Table(
    "packet_projects",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("project", _key(320), primary_key=True),
    Column("created_us", BigInteger, primary_key=True, autoincrement=False),
    Column("packet_id", _key(64), primary_key=True),
    ForeignKeyConstraint(["scope_id", "packet_id"], ["packets.scope_id", "packets.id"], ondelete="CASCADE"),
    Index("packet_projects_by_packet", "scope_id", "packet_id", "project"),
)

events = Table(
    "events",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("id", _key(26), primary_key=True),
    Column("at_us", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", PlainText, nullable=False),
    Column("details", Text, nullable=False),
    Index("events_by_time", "scope_id", "at_us", "id"),
)

capsules = Table(
    "capsules",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("id", _key(64), primary_key=True),
    _scope_column("owner_id", nullable=False),
    Column("text", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("seed", Text, nullable=False),
    Column("hops", Integer, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("saved_us", BigInteger, nullable=False),
    Column("origin_id", _key(64)),
    Column("project_key", Text),
    Column("flagged", Boolean, nullable=False),
    Index("capsules_by_time", "scope_id", "created_us", "id"),
    Index("capsules_by_origin", "scope_id", "origin_id"),
)

REFERENCE_TABLES = frozenset({"settings", "scopes"})
