"""The words of packets, by which lists are searched."""

from __future__ import annotations

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    pass


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
