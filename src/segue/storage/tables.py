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
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
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


def _ordered_text() -> Text:
    # Of any length, and in the order of its bytes: what begins alike is one range of an index.
    return Text().with_variant(Text(collation="C"), "postgresql")


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
    Index("packets_by_owner", "owner_id", "id"),  # whoever made a packet in a team may delete it after having left
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

# The words of packets (see `base.search_words`), so that lists are searched. A packet's are known from its
# `search_text`: so they need no index by packet, which would be as large again.
packet_words = Table(
    "packet_words",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("word", _key(32), primary_key=True),
    Column("created_us", BigInteger, primary_key=True, autoincrement=False),
    Column("packet_id", _key(64), primary_key=True),
    sqlite_with_rowid=False,
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

memories = Table(
    "memories",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("id", _key(64), primary_key=True),
    _scope_column("owner_id", nullable=False),
    Column("content", Text, nullable=False),
    Column("summary", Text),
    Column("kind", String(16), nullable=False),
    Column("layer", String(16), nullable=False),
    Column("entities", Text, nullable=False),  # JSON lists; the tables of tags and entities are made from them
    Column("tags", Text, nullable=False),
    Column("project", Text),
    Column("project_key", Text),  # its folded name, for filters
    Column("confidence", Float),
    Column("trust", Float, nullable=False),
    Column("occurred_us", BigInteger),
    Column("captured_us", BigInteger, nullable=False),
    Column("valid_from_us", BigInteger),
    Column("valid_to_us", BigInteger),
    Column("retired_us", BigInteger),
    Column("supersedes", Text),  # a JSON list of ids
    Column("superseded_by", _key(64)),
    Column("status", String(16), nullable=False),
    Column("occurrences", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("content_hash", String(71), nullable=False),
    Column("identity", String(64), nullable=False),
    Column("thread", _key(320)),
    Column("position", BigInteger),
    Column("speaker", Text),
    Column("origin", String(16), nullable=False),
    Column("ref", _ordered_text(), nullable=False),
    Column("url", Text),
    Column("author_class", String(16), nullable=False),
    Column("author", Text),
    Column("receipt", Text),
    Index("memories_by_time", "scope_id", "status", "captured_us", "id"),
    Index("memories_by_kind", "scope_id", "status", "kind", "captured_us", "id"),
    Index("memories_by_identity", "scope_id", "identity"),
    Index("memories_by_thread", "scope_id", "thread", "position"),
    Index("memories_by_ref", "scope_id", "ref"),
)

# Where a memory was said: each place counts once, however often it is read.
memory_sources = Table(
    "memory_sources",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("source", _key(512), primary_key=True),
    Column("place", _key(512), primary_key=True),
    Column("memory_id", _key(64), nullable=False),
    Column("identity", String(64), nullable=False),
    Column("origin", String(16), nullable=False),
    Column("url", Text),
    Column("author_class", String(16), nullable=False),
    Column("author", Text),
    Column("seen_us", BigInteger, nullable=False),
    Column("updated_us", BigInteger),  # when the source says that it was changed last
    ForeignKeyConstraint(["scope_id", "memory_id"], ["memories.scope_id", "memories.id"], ondelete="CASCADE"),
    Index("memory_sources_by_memory", "scope_id", "memory_id", "source", "place"),
)

memory_tags = Table(
    "memory_tags",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("tag", _key(64), primary_key=True),
    Column("memory_id", _key(64), primary_key=True),
    ForeignKeyConstraint(["scope_id", "memory_id"], ["memories.scope_id", "memories.id"], ondelete="CASCADE"),
    Index("memory_tags_by_memory", "scope_id", "memory_id", "tag"),
)

# `key` is the folded name. What was found in the text stands beside what the writer named (`given`).
memory_entities = Table(
    "memory_entities",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("key", _key(160), primary_key=True),
    Column("memory_id", _key(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("given", Boolean, nullable=False),
    ForeignKeyConstraint(["scope_id", "memory_id"], ["memories.scope_id", "memories.id"], ondelete="CASCADE"),
    Index("memory_entities_by_memory", "scope_id", "memory_id", "key"),
)

entity_aliases = Table(
    "entity_aliases",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("alias", _key(160), primary_key=True),
    Column("alias_name", Text, nullable=False),
    Column("key", _key(160), nullable=False),
    Column("name", Text, nullable=False),
    Index("entity_aliases_by_key", "scope_id", "key"),
)

# What a memory said before it was edited; the newest text stands in `memories`.
memory_versions = Table(
    "memory_versions",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("memory_id", _key(64), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("replaced_us", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("body", Text, nullable=False),
    ForeignKeyConstraint(["scope_id", "memory_id"], ["memories.scope_id", "memories.id"], ondelete="CASCADE"),
)

memory_conflicts = Table(
    "memory_conflicts",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("memory_id", _key(64), primary_key=True),
    Column("other_id", _key(64), primary_key=True),
    Column("reason", String(32), nullable=False),
    Column("found_us", BigInteger, nullable=False),
    ForeignKeyConstraint(["scope_id", "memory_id"], ["memories.scope_id", "memories.id"], ondelete="CASCADE"),
    ForeignKeyConstraint(["scope_id", "other_id"], ["memories.scope_id", "memories.id"], ondelete="CASCADE"),
    Index("memory_conflicts_by_other", "scope_id", "other_id", "memory_id"),
)

# All that is left of a forgotten memory. `generation` tells a running search that it is gone.
memory_tombstones = Table(
    "memory_tombstones",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("id", _key(64), primary_key=True),
    Column("keyed_hash", _key(64), primary_key=True),
    Column("forgotten_us", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Index("memory_tombstones_by_hash", "scope_id", "keyed_hash"),
    Index("memory_tombstones_by_generation", "scope_id", "generation", "id"),
)

# What search keeps of each memory that is or was active: made from the memories, and made again by `reindex`.
# One row holds it all, so that a million of them are read in one pass.
memory_index = Table(
    "memory_index",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("memory_id", _key(64), primary_key=True),
    Column("generation", BigInteger, nullable=False),
    Column("terms", LargeBinary, nullable=False),
    Column("counts", LargeBinary, nullable=False),
    Column("length", Integer, nullable=False),
    Column("thread", _key(320)),
    Column("position", BigInteger),
    Column("speaker", Text),
    Column("occurred_us", BigInteger),
    Column("captured_us", BigInteger, nullable=False),
    Column("begins_us", BigInteger),
    Column("ends_us", BigInteger),
    Column("is_question", Boolean, nullable=False),
    Column("tells_time", Boolean, nullable=False),
    Column("embedder", String(64)),
    Column("vector", LargeBinary),
    ForeignKeyConstraint(["scope_id", "memory_id"], ["memories.scope_id", "memories.id"], ondelete="CASCADE"),
    Index("memory_index_by_generation", "scope_id", "generation", "memory_id"),
)

memory_meanings = Table(
    "memory_meanings",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("memory_id", _key(64), primary_key=True),
    Column("encoder", String(64), nullable=False),
    Column("window", LargeBinary, nullable=False),
    Column("sentences", LargeBinary, nullable=False),
    ForeignKeyConstraint(["scope_id", "memory_id"], ["memories.scope_id", "memories.id"], ondelete="CASCADE"),
)

# How often each word stands in the indexed memories of a scope.
memory_words = Table(
    "memory_words",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("word", _key(64), primary_key=True),
    Column("count", BigInteger, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Index("memory_words_by_generation", "scope_id", "generation", "word"),
)

# The state of a scope's index. `epoch` changes when all of it was replaced; `generation` counts the writes since.
memory_state = Table(
    "memory_state",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("epoch", String(26), nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("words", BigInteger, nullable=False),  # in all
    Column("weighed_words", BigInteger, nullable=False),  # as many there were when the vectors were made
    Column("embedder", String(64)),
    Column("reindexed_to", _key(64)),  # the last memory that an unfinished reindex has done
)

# What a conversation was told of the memories. Its columns but the key are JSON texts that `context.delta` defines.
context_sessions = Table(
    "context_sessions",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("session_id", _key(80), primary_key=True),
    Column("known", Text, nullable=False),
    Column("trajectory", Text, nullable=False),
    Column("centroid", Text, nullable=False),
    Column("log", Text, nullable=False),
    Column("delta_cursor", BigInteger, nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("started_us", BigInteger, nullable=False),
    Column("updated_us", BigInteger, nullable=False),
    Index("context_sessions_by_time", "scope_id", "updated_us", "session_id"),
)

# Packs that were pinned, under the SHA-256 of their bytes. What is forgotten leaves `body`; `seal` holds it then.
context_pins = Table(
    "context_pins",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("sha", _key(64), primary_key=True),
    Column("pinned_us", BigInteger, nullable=False),
    Column("session_id", _key(80)),
    Column("asked", Text, nullable=False),  # the arguments of the call, as JSON
    Column("body", LargeBinary, nullable=False),
    Column("seal", String(64)),
    Column("forgotten", Text, nullable=False),  # a JSON list of ids
)

context_pin_memories = Table(
    "context_pin_memories",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("memory_id", _key(64), primary_key=True),
    Column("sha", _key(64), primary_key=True),
    ForeignKeyConstraint(["scope_id", "sha"], ["context_pins.scope_id", "context_pins.sha"], ondelete="CASCADE"),
    Index("context_pin_memories_by_pin", "scope_id", "sha", "memory_id"),
)

# Queries whose next page may be asked for; each is kept for an hour.
kept_queries = Table(
    "kept_queries",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("id", _key(32), primary_key=True),
    Column("caller", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
    Index("kept_queries_by_expiry", "scope_id", "expires_us", "id"),
)

# What a sync knows of a host: for the user's own scope, and for each copy of a team's, which is a scope by itself.
# `account` tells whose packets were compared; another token may be another user's.
replicas = Table(
    "replicas",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("host", _key(255), primary_key=True),
    Column("team_id", _key(64), nullable=False),  # "" for the user's own
    Column("name", _key(64), nullable=False),
    Column("account", String(64), nullable=False),
    Column("synced_us", BigInteger, nullable=False),
)

# The packets that were the same here and on the host when they were last compared.
replicated_packets = Table(
    "replicated_packets",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("host", _key(255), primary_key=True),
    Column("packet_id", _key(64), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("etag", Text, nullable=False),
)

# Folders and addresses whose memories a scope reads; the newest snapshot of each, whole. Nothing of a source that is
# `withheld` is used until it can be read again. `revision` counts what was written: of two refreshes one counts.
sources = Table(
    "sources",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("name", _key(64), primary_key=True),
    Column("source_id", String(26), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("place", Text, nullable=False),
    Column("title", PlainText, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("added_us", BigInteger, nullable=False),
    Column("attempted_us", BigInteger, nullable=False),
    Column("refreshed_us", BigInteger, nullable=False),
    Column("changed_us", BigInteger, nullable=False),  # since when its snapshot says what it says
    Column("fault", String(64), nullable=False),  # why the last attempt failed: a code, "" where it did not
    Column("fault_message", PlainText, nullable=False),
    Column("withheld", Boolean, nullable=False),
    Column("digest", String(71), nullable=False),
    Column("manifest", LargeBinary, nullable=False),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("exports", Text, nullable=False),  # a JSON list: the files of other tools that its records were written to
)

source_records = Table(
    "source_records",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("source", _key(64), primary_key=True),
    Column("record_id", _key(128), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("path", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    ForeignKeyConstraint(["scope_id", "source"], ["sources.scope_id", "sources.name"], ondelete="CASCADE"),
)

# The newest receipt of each project, apart from the files of the receipts: what is taken from their end is missed.
receipt_heads = Table(
    "receipt_heads",
    metadata,
    _scope_column("scope_id", primary_key=True),
    Column("project_key", _ordered_text(), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("tx_id", String(16), nullable=False),
    Column("receipt_hash", String(64), nullable=False),
)

# People who have a token. What somebody keeps for himself lies in the scope of the same id.
users = Table(
    "users",
    metadata,
    _scope_column("user_id", primary_key=True),
    Column("display", Text, nullable=False),
    Column("email", _key(254)),
    Column("created_us", BigInteger, nullable=False),
    Column("ended_us", BigInteger),
    ForeignKeyConstraint(["user_id"], ["scopes.scope_id"]),
    Index("users_by_email", "email", unique=True),
)

# A token itself is nowhere: its SHA-256 is.
tokens = Table(
    "tokens",
    metadata,
    Column("token_hash", _key(64), primary_key=True),
    Column("token_id", _key(16), nullable=False),
    _scope_column("user_id", nullable=False),
    Column("name", Text, nullable=False),
    Column("permissions", String(64), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger),
    Column("revoked_us", BigInteger),
    Column("last_used_us", BigInteger),
    ForeignKeyConstraint(["user_id"], ["users.user_id"], ondelete="CASCADE"),
    Index("tokens_by_id", "token_id", unique=True),
    Index("tokens_by_user", "user_id", "created_us"),
)

# A team is the scope of the same id. The row of a deleted one stays for the log; its name is free again.
teams = Table(
    "teams",
    metadata,
    _scope_column("team_id", primary_key=True),
    Column("name", _key(40), nullable=False),
    _scope_column("owner_id", nullable=False),
    Column("redaction", String(16), nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("deleted_us", BigInteger),
    ForeignKeyConstraint(["team_id"], ["scopes.scope_id"]),
    ForeignKeyConstraint(["owner_id"], ["users.user_id"]),
    Index(
        "teams_by_name",
        "name",
        unique=True,
        sqlite_where=text("deleted_us IS NULL"),
        postgresql_where=text("deleted_us IS NULL"),
    ),
)

team_members = Table(
    "team_members",
    metadata,
    _scope_column("team_id", primary_key=True),
    _scope_column("user_id", primary_key=True),
    Column("role", String(16), nullable=False),
    Column("joined_us", BigInteger, nullable=False),
    ForeignKeyConstraint(["team_id"], ["teams.team_id"], ondelete="CASCADE"),
    ForeignKeyConstraint(["user_id"], ["users.user_id"], ondelete="CASCADE"),
    Index("team_members_by_user", "user_id", "team_id"),
)

# As with tokens, the code is nowhere but with whoever was given it.
invites = Table(
    "invites",
    metadata,
    Column("code_hash", _key(64), primary_key=True),
    Column("invite_id", _key(26), nullable=False),
    _scope_column("team_id", nullable=False),
    _scope_column("created_by", nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
    Column("consumed_us", BigInteger),
    _scope_column("consumed_by"),
    Column("revoked_us", BigInteger),
    ForeignKeyConstraint(["team_id"], ["teams.team_id"], ondelete="CASCADE"),
    Index("invites_by_team", "team_id", "created_us", "invite_id"),
)

# Packets that anybody may read who has the address. It goes with the packet, which may lie on another node.
publications = Table(
    "publications",
    metadata,
    Column("slug", _key(32), primary_key=True),
    _scope_column("scope_id", nullable=False),
    Column("packet_id", _key(64), nullable=False),
    Column("published_us", BigInteger, nullable=False),
    Index("publications_by_packet", "scope_id", "packet_id", unique=True),
)

# What a request with a key was answered, for a day. Without an answer it was begun, and nobody knows how it ended.
idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    _scope_column("user_id", primary_key=True),
    Column("key", _key(255), primary_key=True),
    Column("body_hash", String(64), nullable=False),
    Column("status", Integer),
    Column("answer", LargeBinary),
    Column("created_us", BigInteger, nullable=False),
    Index("idempotency_keys_by_time", "created_us"),
)

# How often something was done within a minute, by whoever `subject` names.
rate_windows = Table(
    "rate_windows",
    metadata,
    Column("subject", _key(128), primary_key=True),
    Column("window_us", BigInteger, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
    Index("rate_windows_by_time", "window_us"),
)

SERVER_TABLES = frozenset(
    {
        "users",
        "tokens",
        "teams",
        "team_members",
        "invites",
        "publications",
        "idempotency_keys",
        "rate_windows",
    }
)
REFERENCE_TABLES = frozenset({"settings", "scopes"}) | SERVER_TABLES
