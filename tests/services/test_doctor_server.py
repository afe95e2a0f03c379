"""Store.doctor over what a server keeps: each damage is found, and mended; on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from server_samples import FIRST, body, code, join, person

if TYPE_CHECKING:
    import segue
    from segue.services.callers import Caller

DAMAGES = {
    "packet gone": ("DELETE FROM packets", "doctor.publication"),
    "published elsewhere": ("UPDATE publications SET packet_id = 'packet-0009'", "doctor.publication"),
    "no owner": ("UPDATE team_members SET role = 'member'", "doctor.team"),
    "two owners": ("UPDATE team_members SET role = 'owner'", "doctor.team"),
    "another owner": (
        "UPDATE team_members SET role = CASE role WHEN 'owner' THEN 'member' ELSE 'owner' END",
        "doctor.team",
    ),
    "the owner is no member": ("DELETE FROM team_members WHERE role = 'owner'", "doctor.team"),
}


@pytest.fixture
def people(segue_: segue.Segue) -> tuple[Caller, Caller]:
    """Two people who share a team with a published packet; another team was deleted."""
    ann, bob = person(segue_, "Ann"), person(segue_, "Bob")
    for team in ("bakers", "gone"):
        segue_.teams.create(ann, team)
    segue_.teams.rm(ann, "gone")
    join(segue_, ann, "bakers", bob)
    segue_.hub.push(ann, body(), "bakers")
    segue_.publishing.publish(ann, FIRST)
    assert segue_.store.doctor() == []
    return ann, bob


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_that_is_mended(segue_: segue.Segue, people: tuple[Caller, Caller], name: str) -> None:
    statement, expected = DAMAGES[name]
    with segue_._database.write() as connection:
        connection.execute(sa.text(statement))
        if "packets" in statement:
            connection.execute(sa.text("DELETE FROM memory_sources"))
    found = [each for each in segue_.store.doctor() if each.code == expected]
    assert [each.repaired for each in found] == [False]
    assert len([each for each in segue_.store.doctor(repair=True) if each.code == expected and each.repaired]) == 1
    assert not [each for each in segue_.store.doctor() if each.code == expected]
    ann, bob = people
    members = [(each.display, each.role) for each in segue_.teams.members(bob, "bakers")]
    assert members == [("Ann", "owner"), ("Bob", "member")]
    assert segue_.teams.get(ann, "bakers").role == "owner"


def test_a_permission_that_nobody_knows_allows_nothing(segue_: segue.Segue) -> None:
    token = segue_.accounts.issue("Ann")
    with segue_._database.write() as connection:
        connection.execute(sa.text("UPDATE tokens SET permissions = 'fly'"))
    assert code(segue_.hub.ls, segue_.accounts.authenticate(token)) == "auth.permission"
