"""The doctor's eyes on what a server keeps: published packets that are gone, teams that nobody owns."""

from __future__ import annotations

import sqlalchemy as sa

from segue.base import time
from segue.storage import publications as publication_rows
from segue.storage import teams as team_rows
from segue.storage.findings import Finding
from segue.storage.tables import packets, publications, team_members, teams


def examine(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    """Return what is wrong with publications and teams; with `repair` it is mended."""
    return _publications(connection, repair=repair) + _teams(connection, repair=repair)


def _publications(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    columns = publications.c
    there = sa.exists().where(packets.c.scope_id == columns.scope_id, packets.c.id == columns.packet_id)
    rows = connection.execute(sa.select(columns.scope_id, columns.packet_id).where(~there)).all()
    for row in rows if repair else ():
        publication_rows.delete(connection, row.scope_id, row.packet_id)
    text = "a packet is published that is not there"
    return [Finding("doctor.publication", text, repair) for _ in rows]


def _teams(connection: sa.Connection, *, repair: bool) -> list[Finding]:
    members = team_members.c
    owners = members.team_id == teams.c.team_id, members.role == "owner"
    number = sa.select(sa.func.count()).select_from(team_members).where(*owners).scalar_subquery()
    right = sa.exists().where(*owners, members.user_id == teams.c.owner_id)
    wrong = sa.or_(number != 1, ~right)
    query = sa.select(teams).where(teams.c.deleted_us.is_(None), wrong).order_by(teams.c.team_id)
    rows = connection.execute(query).all()
    for row in rows if repair else ():
        if not team_rows.role(connection, row.team_id, row.owner_id):
            joined_at = time.from_microseconds(row.created_us)
            team_rows.add_member(connection, row.team_id, row.owner_id, "owner", joined_at)
        team_rows.set_owner(connection, row.team_id, row.owner_id)
    return [
        Finding("doctor.team", f"the team {row.name} has not its owner alone as an owner among its members", repair)
        for row in rows
    ]
