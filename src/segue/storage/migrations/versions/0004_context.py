"""Sessions, pinned packs, and queries that are kept for their next page."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_index("memories_by_kind", "memories", ["scope_id", "status", "kind", "captured_us", "id"])
    op.create_table(
        "context_sessions",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("session_id", _key(80), primary_key=True),
        sa.Column("known", sa.Text, nullable=False),
        sa.Column("trajectory", sa.Text, nullable=False),
        sa.Column("centroid", sa.Text, nullable=False),
        sa.Column("log", sa.Text, nullable=False),
        sa.Column("delta_cursor", sa.BigInteger, nullable=False),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("started_us", sa.BigInteger, nullable=False),
        sa.Column("updated_us", sa.BigInteger, nullable=False),
    )
    op.create_index("context_sessions_by_time", "context_sessions", ["scope_id", "updated_us", "session_id"])
    op.create_table(
        "context_pins",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("sha", _key(64), primary_key=True),
        sa.Column("pinned_us", sa.BigInteger, nullable=False),
        sa.Column("session_id", _key(80)),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("seal", sa.String(64)),
        sa.Column("forgotten", sa.Text, nullable=False),
    )
    op.create_table(
        "context_pin_memories",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("memory_id", _key(64), primary_key=True),
        sa.Column("sha", _key(64), primary_key=True),
        sa.ForeignKeyConstraint(["scope_id", "sha"], ["context_pins.scope_id", "context_pins.sha"], ondelete="CASCADE"),
    )
    op.create_index("context_pin_memories_by_pin", "context_pin_memories", ["scope_id", "sha", "memory_id"])
    op.create_table(
        "kept_queries",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("id", _key(32), primary_key=True),
        sa.Column("caller", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("expires_us", sa.BigInteger, nullable=False),
    )
    op.create_index("kept_queries_by_expiry", "kept_queries", ["scope_id", "expires_us", "id"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
