"""Whether statements go by indexes: what SQLite says that it would do."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import segue

# A table read as a whole, or all that one scope has in it.
WHOLE = re.compile(r"SCAN (?P<scanned>\w+)|SEARCH (?P<table>\w+) USING .*\(scope_id=\?\)$")

# All memories of a status besides, but for a look into an index alone, which counts them.
WHOLE_STATUS = re.compile(WHOLE.pattern + r"|SEARCH (?P<of_status>\w+) USING INDEX .*\(scope_id=\? AND status=\?\)$")


@contextlib.contextmanager
def by_indexes(
    opened: segue.Segue, small: Collection[str], least: int, whole: re.Pattern[str] = WHOLE
) -> Iterator[None]:
    """Look at each statement inside the block: it reads no table as a whole, but for `small` ones.

    There are more than `least` of them; `whole` says which steps read one.
    """
    asked: dict[str, Any] = {}

    def note(_: Any, __: Any, statement: str, values: Any, ___: Any, many: bool) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
            asked.setdefault(statement, values[0] if many else values)

    event.listen(opened._database.engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(opened._database.engine, "before_cursor_execute", note)
    assert len(asked) > least
    with opened._database.read() as connection:
        for statement, values in asked.items():
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
            steps = [step.detail for step in plan]
            in_order = not any(each.startswith("USE TEMP B-TREE FOR ORDER") for each in steps)
            bounded = "LIMIT" in statement and (in_order or any(each.startswith("CO-ROUTINE") for each in steps))
            for step in steps:
                found = whole.match(step)
                table = found and next(filter(None, found.groups()))
                assert not table or table in small or bounded, (statement, step)
