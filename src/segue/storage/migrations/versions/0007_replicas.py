"""What a sync knows of hosts: copies of teams' scopes, and the packets that were the same on both sides."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "replicas",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("host", _key(255), primary_key=True),
        sa.Column("team_id", _key(64), nullable=False),
        sa.Column("name", _key(64), nullable=False),
        sa.Column("account", sa.String(64), nullable=False),
        sa.Column("synced_us", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "replicated_packets",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("host", _key(255), primary_key=True),
        sa.Column("packet_id", _key(64), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("etag", sa.Text, nullable=False),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
