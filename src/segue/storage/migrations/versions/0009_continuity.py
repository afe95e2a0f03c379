"""What may be kept for good: the heads of the chains of receipts."""

from __future__ import annotations

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    pass


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
