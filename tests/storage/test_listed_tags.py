"""What a list reads of tags does not depend on how large its scope is, whatever plan PostgreSQL keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

import segue

if TYPE_CHECKING:
    from conftest import Draft, Locate

PACKETS = 60


def test_one_statement_however_many_packets_are_listed(locate: Locate, draft: Draft) -> None:
    with segue.open(locate("postgres")) as opened:
        for number in range(PACKETS):
            opened.packets.save(draft(goal=f"Ship part {number}.", tags=["oven", f"part-{number}"]))
        database, seen = opened._database, list[str]()

        @sa.event.listens_for(database.engine, "before_cursor_execute")
        def noted(_: Any, __: Any, statement: str, *___: Any) -> None:
            if "FROM packet_tags" in statement:
                seen.append(statement)

        assert len(opened.packets.ls(limit=50).packets) == 50
        assert all(len(each.tags) == 2 for each in opened.packets.ls(limit=3).packets)
    first, second = seen
    # With values one by one each number of them is a statement of its own, whose kept plan reads all tags of a scope.
    assert first == second
