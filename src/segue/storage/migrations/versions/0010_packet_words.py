"""The words of packets, by which lists are searched."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from segue.base.search_words import indexed, searched

revision = "0010"
down_revision = "0009"

_BATCH = 500


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    words = op.create_table(
        "packet_words",
        sa.Column("scope_id", _key(64), primary_key=True),
        sa.Column("word", _key(32), primary_key=True),
        sa.Column("created_us", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("packet_id", _key(64), primary_key=True),
        sqlite_with_rowid=False,
    )
    packets = sa.table("packets", *map(sa.column, ("scope_id", "id", "created_us", "search_text")))
    key = sa.tuple_(packets.c.scope_id, packets.c.id)
    connection, last = op.get_bind(), ("", "")
    while True:
        query = sa.select(packets).where(key > sa.tuple_(*last)).order_by(packets.c.scope_id, packets.c.id)
        batch = connection.execute(query.limit(_BATCH)).all()
        if not batch:
            return
        for row in batch:
            text = searched(row.search_text)
            mine = packets.c.scope_id == row.scope_id, packets.c.id == row.id
            connection.execute(sa.update(packets).where(*mine).values(search_text=text))
            place = {"scope_id": row.scope_id, "created_us": row.created_us, "packet_id": row.id}
            entries = [place | {"word": word} for word in sorted(indexed(text))]
            if entries:
                connection.execute(sa.insert(words), entries)
        last = (batch[-1].scope_id, batch[-1].id)


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the upgrade")
