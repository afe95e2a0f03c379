"""What may be kept for good: the heads of the chains of receipts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "receipt_heads",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("project_key", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("tx_id", sa.String(16), nullable=False),
        sa.Column("receipt_hash", sa.String(64), nullable=False),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
