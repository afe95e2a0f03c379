"""Capsules beside the packets that they were made from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "capsules",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("id", _key(64), primary_key=True),
        sa.Column("owner_id", _key(64), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("hops", sa.Integer, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("saved_us", sa.BigInteger, nullable=False),
        sa.Column("origin_id", _key(64)),
        sa.Column("project_key", sa.Text),
        sa.Column("flagged", sa.Boolean, nullable=False),
    )
    op.create_index("capsules_by_time", "capsules", ["scope_id", "created_us", "id"])
    op.create_index("capsules_by_origin", "capsules", ["scope_id", "origin_id"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
