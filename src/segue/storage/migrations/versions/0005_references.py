"""Memories by what they were first read from, and when a source says that it was changed last.

What is taken back with a source is found without reading all memories; an older export turns no newer one back.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":  # SQLite compares by bytes already
        op.alter_column("memories", "ref", type_=sa.Text(collation="C"), existing_nullable=False)
    op.add_column("memory_sources", sa.Column("updated_us", sa.BigInteger))
    op.create_index("memories_by_ref", "memories", ["scope_id", "ref"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
