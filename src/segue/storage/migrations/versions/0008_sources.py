"""What is known of the sources that a scope reads."""

from __future__ import annotations

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    pass


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
