"""What a server knows: people and their tokens, teams, invites, published packets, answers and rates."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_index("packets_by_owner", "packets", ["owner_id", "id"])
    _people()
    _teams()
    _requests()


def _people() -> None:
    op.create_table(
        "users",
        sa.Column("user_id", _key(64), primary_key=True),
        sa.Column("display", sa.Text, nullable=False),
        sa.Column("email", _key(254)),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("ended_us", sa.BigInteger),
        sa.ForeignKeyConstraint(["user_id"], ["scopes.scope_id"]),
    )
    op.create_index("users_by_email", "users", ["email"], unique=True)
    op.create_table(
        "tokens",
        sa.Column("token_hash", _key(64), primary_key=True),
        sa.Column("token_id", _key(16), nullable=False),
        sa.Column("user_id", _key(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("permissions", sa.String(64), nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("expires_us", sa.BigInteger),
        sa.Column("revoked_us", sa.BigInteger),
        sa.Column("last_used_us", sa.BigInteger),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], ondelete="CASCADE"),
    )
    op.create_index("tokens_by_id", "tokens", ["token_id"], unique=True)
    op.create_index("tokens_by_user", "tokens", ["user_id", "created_us"])


def _teams() -> None:
    op.create_table(
        "teams",
        sa.Column("team_id", _key(64), primary_key=True),
        sa.Column("name", _key(40), nullable=False),
        sa.Column("owner_id", _key(64), nullable=False),
        sa.Column("redaction", sa.String(16), nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("deleted_us", sa.BigInteger),
        sa.ForeignKeyConstraint(["team_id"], ["scopes.scope_id"]),
        sa.ForeignKeyConstraint(["owner_id"], ["users.user_id"]),
    )
    living = sa.text("deleted_us IS NULL")
    op.create_index("teams_by_name", "teams", ["name"], unique=True, sqlite_where=living, postgresql_where=living)
    op.create_table(
        "team_members",
        sa.Column("team_id", _key(64), primary_key=True),
        sa.Column("user_id", _key(64), primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("joined_us", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.team_id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], ondelete="CASCADE"),
    )
    op.create_index("team_members_by_user", "team_members", ["user_id", "team_id"])
    op.create_table(
        "invites",
        sa.Column("code_hash", _key(64), primary_key=True),
        sa.Column("invite_id", _key(26), nullable=False),
        sa.Column("team_id", _key(64), nullable=False),
        sa.Column("created_by", _key(64), nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("expires_us", sa.BigInteger, nullable=False),
        sa.Column("consumed_us", sa.BigInteger),
        sa.Column("consumed_by", _key(64)),
        sa.Column("revoked_us", sa.BigInteger),
        sa.ForeignKeyConstraint(["team_id"], ["teams.team_id"], ondelete="CASCADE"),
    )
    op.create_index("invites_by_team", "invites", ["team_id", "created_us", "invite_id"])
    op.create_table(
        "publications",
        sa.Column("slug", _key(32), primary_key=True),
        sa.Column("scope_id", _key(64), nullable=False),
        sa.Column("packet_id", _key(64), nullable=False),
        sa.Column("published_us", sa.BigInteger, nullable=False),
    )
    op.create_index("publications_by_packet", "publications", ["scope_id", "packet_id"], unique=True)


def _requests() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("user_id", _key(64), primary_key=True),
        sa.Column("key", _key(255), primary_key=True),
        sa.Column("body_hash", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("answer", sa.LargeBinary),
        sa.Column("created_us", sa.BigInteger, nullable=False),
    )
    op.create_index("idempotency_keys_by_time", "idempotency_keys", ["created_us"])
    op.create_table(
        "rate_windows",
        sa.Column("subject", _key(128), primary_key=True),
        sa.Column("window_us", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("count", sa.Integer, nullable=False),
    )
    op.create_index("rate_windows_by_time", "rate_windows", ["window_us"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
