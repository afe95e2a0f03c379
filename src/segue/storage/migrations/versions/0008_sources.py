"""What is known of the sources that a scope reads: each with the newest snapshot of its records."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("name", _key(64), primary_key=True),
        sa.Column("source_id", sa.String(26), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("added_us", sa.BigInteger, nullable=False),
        sa.Column("attempted_us", sa.BigInteger, nullable=False),
        sa.Column("refreshed_us", sa.BigInteger, nullable=False),
        sa.Column("changed_us", sa.BigInteger, nullable=False),
        sa.Column("fault", sa.String(64), nullable=False),
        sa.Column("fault_message", sa.Text, nullable=False),
        sa.Column("withheld", sa.Boolean, nullable=False),
        sa.Column("digest", sa.String(71), nullable=False),
        sa.Column("manifest", sa.LargeBinary, nullable=False),
        sa.Column("etag", sa.Text, nullable=False),
        sa.Column("last_modified", sa.Text, nullable=False),
        sa.Column("exports", sa.Text, nullable=False),
    )
    op.create_table(
        "source_records",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("source", _key(64), primary_key=True),
        sa.Column("record_id", _key(128), primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("etag", sa.Text, nullable=False),
        sa.Column("last_modified", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["scope_id", "source"], ["sources.scope_id", "sources.name"], ondelete="CASCADE"),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
