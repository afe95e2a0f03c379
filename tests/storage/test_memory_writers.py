"""Eight writers of one memory store at once: nothing is lost, and no id is given twice."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import memory_operations as operations
import pytest

if TYPE_CHECKING:
    from pathlib import Path

WRITERS, EACH = 8, 2


@pytest.mark.requirement("continuity-store-writers")
def test_eight_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_HOME", str(tmp_path / "home"))
    (tmp_path / operations.LEDGER).write_text("# Log\n")
    with operations.opened(tmp_path) as opened:
        opened.continuity.receipts.issue([operations.LEDGER])
        opened.continuity.memory.init(consent=True)
        operations.keep(opened.continuity.memory, "shared", "feedback", operations.BODY.format("start"))
    waiting, go = os.pipe()
    children = [_fork(tmp_path, number, waiting, go) for number in range(WRITERS)]
    os.close(waiting)
    os.close(go)  # they all begin
    assert [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in children] == [0] * WRITERS
    with operations.opened(tmp_path) as opened:
        memory = opened.continuity.memory
        assert memory.doctor().faults == ()
        facts = memory.ls()
        names = {f"fact-{writer}-{number}" for writer in range(WRITERS) for number in range(EACH)} | {"shared"}
        assert {each.detail.name for each in facts} == names
        assert len({each.detail["memory_id"] for each in facts}) == len(names)
        assert memory.sync().refreshed == ()  # what each wrote was noted by all


def _fork(folder: Path, number: int, waiting: int, go: int) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.alarm(120)
        os.close(go)
        os.read(waiting, 1)
        with operations.opened(folder) as opened:
            for each in range(EACH):
                body = operations.BODY.format(f"{number} {each}")
                operations.keep(opened.continuity.memory, f"fact-{number}-{each}", "feedback", body)
                operations.keep(opened.continuity.memory, "shared", "feedback", body)
        code = 0
    finally:
        os._exit(code)
