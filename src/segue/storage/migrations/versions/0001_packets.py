"""Settings, scopes, packets with their tags, and the event log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "settings",
        sa.Column("name", _key(64), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "scopes",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
    )
    _packets()
    _listed_by("packet_tags", sa.Column("tag", _key(32), primary_key=True))
    _listed_by("packet_projects", sa.Column("project", _key(320), primary_key=True))
    op.create_table(
        "events",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("id", _key(26), primary_key=True),
        sa.Column("at_us", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.create_index("events_by_time", "events", ["scope_id", "at_us", "id"])


def _packets() -> None:
    op.create_table(
        "packets",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("id", _key(64), primary_key=True),
        sa.Column("owner_id", _key(64), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("ltm_version", sa.String(8), nullable=False),
        sa.Column("parent_id", _key(64)),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("saved_us", sa.BigInteger, nullable=False),
        sa.Column("goal", sa.Text, nullable=False),
        sa.Column("project_name", sa.Text),
        sa.Column("project_ref", sa.Text),
        sa.Column("project_key", sa.Text),
        sa.Column("project_label", sa.Text),
        sa.Column("content_hash", sa.String(71), nullable=False),
        sa.Column("flagged", sa.Boolean, nullable=False),
        sa.Column("search_text", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("packets_by_time", "packets", ["scope_id", "created_us", "id"])
    op.create_index("packets_by_parent", "packets", ["scope_id", "parent_id"])
    op.create_index("packets_by_content", "packets", ["scope_id", "content_hash"])


def _listed_by(table: str, column: sa.Column[str]) -> None:
    op.create_table(
        table,
        sa.Column("scope_id", _key(64), primary_key=True),
        column,
        sa.Column("created_us", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("packet_id", _key(64), primary_key=True),
        sa.ForeignKeyConstraint(["scope_id", "packet_id"], ["packets.scope_id", "packets.id"], ondelete="CASCADE"),
    )
    op.create_index(f"{table}_by_packet", table, ["scope_id", "packet_id", column.name])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
