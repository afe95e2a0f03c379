"""Memories, what search keeps of them, and what is left of forgotten ones."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def _of_memory(column: str = "memory_id") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["scope_id", column], ["memories.scope_id", "memories.id"], ondelete="CASCADE")


def upgrade() -> None:
    _memories()
    _forgotten_and_index()


def _memories() -> None:
    op.create_table(
        "memories",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("id", _key(64), primary_key=True),
        sa.Column("owner_id", _key(64), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("summary", sa.Text),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("layer", sa.String(16), nullable=False),
        sa.Column("entities", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("project", sa.Text),
        sa.Column("project_key", sa.Text),
        sa.Column("confidence", sa.Float),
        sa.Column("trust", sa.Float, nullable=False),
        sa.Column("occurred_us", sa.BigInteger),
        sa.Column("captured_us", sa.BigInteger, nullable=False),
        sa.Column("valid_from_us", sa.BigInteger),
        sa.Column("valid_to_us", sa.BigInteger),
        sa.Column("retired_us", sa.BigInteger),
        sa.Column("supersedes", sa.Text),
        sa.Column("superseded_by", _key(64)),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("occurrences", sa.Integer, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("content_hash", sa.String(71), nullable=False),
        sa.Column("identity", sa.String(64), nullable=False),
        sa.Column("thread", _key(320)),
        sa.Column("position", sa.BigInteger),
        sa.Column("speaker", sa.Text),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("ref", sa.Text, nullable=False),
        sa.Column("url", sa.Text),
        sa.Column("author_class", sa.String(16), nullable=False),
        sa.Column("author", sa.Text),
        sa.Column("receipt", sa.Text),
    )
    op.create_index("memories_by_identity", "memories", ["scope_id", "identity"])
    op.create_index("memories_by_thread", "memories", ["scope_id", "thread", "position"])
    op.create_index("memories_by_time", "memories", ["scope_id", "status", "captured_us", "id"])
    op.create_table(
        "memory_sources",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("source", _key(512), primary_key=True),
        sa.Column("place", _key(512), primary_key=True),
        sa.Column("memory_id", _key(64), nullable=False),
        sa.Column("identity", sa.String(64), nullable=False),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("url", sa.Text),
        sa.Column("author_class", sa.String(16), nullable=False),
        sa.Column("author", sa.Text),
        sa.Column("seen_us", sa.BigInteger, nullable=False),
        _of_memory(),
    )
    op.create_index("memory_sources_by_memory", "memory_sources", ["scope_id", "memory_id", "source", "place"])
    op.create_table(
        "memory_tags",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("tag", _key(64), primary_key=True),
        sa.Column("memory_id", _key(64), primary_key=True),
        _of_memory(),
    )
    op.create_index("memory_tags_by_memory", "memory_tags", ["scope_id", "memory_id", "tag"])
    op.create_table(
        "memory_entities",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("key", _key(160), primary_key=True),
        sa.Column("memory_id", _key(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("given", sa.Boolean, nullable=False),
        _of_memory(),
    )
    op.create_index("memory_entities_by_memory", "memory_entities", ["scope_id", "memory_id", "key"])
    op.create_table(
        "entity_aliases",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("alias", _key(160), primary_key=True),
        sa.Column("alias_name", sa.Text, nullable=False),
        sa.Column("key", _key(160), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
    )
    op.create_index("entity_aliases_by_key", "entity_aliases", ["scope_id", "key"])
    op.create_table(
        "memory_versions",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("memory_id", _key(64), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("replaced_us", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        _of_memory(),
    )
    op.create_table(
        "memory_conflicts",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("memory_id", _key(64), primary_key=True),
        sa.Column("other_id", _key(64), primary_key=True),
        sa.Column("reason", sa.String(32), nullable=False),
        sa.Column("found_us", sa.BigInteger, nullable=False),
        _of_memory(),
        _of_memory("other_id"),
    )
    op.create_index("memory_conflicts_by_other", "memory_conflicts", ["scope_id", "other_id", "memory_id"])


def _forgotten_and_index() -> None:
    op.create_table(
        "memory_tombstones",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("id", _key(64), primary_key=True),
        sa.Column("keyed_hash", _key(64), primary_key=True),
        sa.Column("forgotten_us", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
    )
    op.create_index("memory_tombstones_by_generation", "memory_tombstones", ["scope_id", "generation", "id"])
    op.create_index("memory_tombstones_by_hash", "memory_tombstones", ["scope_id", "keyed_hash"])
    op.create_table(
        "memory_index",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("memory_id", _key(64), primary_key=True),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("terms", sa.LargeBinary, nullable=False),
        sa.Column("counts", sa.LargeBinary, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("thread", _key(320)),
        sa.Column("position", sa.BigInteger),
        sa.Column("speaker", sa.Text),
        sa.Column("occurred_us", sa.BigInteger),
        sa.Column("captured_us", sa.BigInteger, nullable=False),
        sa.Column("begins_us", sa.BigInteger),
        sa.Column("ends_us", sa.BigInteger),
        sa.Column("is_question", sa.Boolean, nullable=False),
        sa.Column("tells_time", sa.Boolean, nullable=False),
        sa.Column("embedder", sa.String(64)),
        sa.Column("vector", sa.LargeBinary),
        _of_memory(),
    )
    op.create_index("memory_index_by_generation", "memory_index", ["scope_id", "generation", "memory_id"])
    op.create_table(
        "memory_meanings",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("memory_id", _key(64), primary_key=True),
        sa.Column("encoder", sa.String(64), nullable=False),
        sa.Column("window", sa.LargeBinary, nullable=False),
        sa.Column("sentences", sa.LargeBinary, nullable=False),
        _of_memory(),
    )
    op.create_table(
        "memory_words",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("word", _key(64), primary_key=True),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
    )
    op.create_index("memory_words_by_generation", "memory_words", ["scope_id", "generation", "word"])
    op.create_table(
        "memory_state",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("epoch", sa.String(26), nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("words", sa.BigInteger, nullable=False),
        sa.Column("weighed_words", sa.BigInteger, nullable=False),
        sa.Column("embedder", sa.String(64)),
        sa.Column("reindexed_to", _key(64)),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
