"""Many callers of one session at once: whatever the order they come in, it is one conversation."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import forks
import segue
from segue.context.delta import Served
from segue.memories import making

if TYPE_CHECKING:
    from collections.abc import Iterable

CALLS = 10

# Says "ready" when all is imported, waits for a line, and then says what it is told of one pack after the other.
WORKER = """
import json, sys
import segue
import sqlalchemy.dialects.sqlite, sqlalchemy.dialects.postgresql.psycopg
import segue.services.sessions
from segue.context.delta import Served, query_tokens

location, packs = sys.argv[1], json.loads(sys.argv[2])
query_tokens("warm up")
print("ready", flush=True)
sys.stdin.readline()
with segue.open(location) as opened:
    for pack in packs:
        delta = opened.sessions.deliver("chat", [Served(each) for each in pack], task="Ship it.").delta
        print(json.dumps(delta.to_json()))
"""


def filled(opened: segue.Segue, count: int) -> list[str]:
    """The ids of as many memories."""
    written = opened.memories.remember_all([making.item(f"Step {number} is done.") for number in range(count)])
    return [each.memory.id for each in written if each.memory]


def packs_of(ids: list[str], worker: int) -> list[list[str]]:
    """Ten packs that overlap with those of the other workers, and move on, so that some ids get cold."""
    return [[ids[(3 * call + worker + place) % len(ids)] for place in range(6)] for call in range(CALLS)]


def require_one_conversation(opened: segue.Segue, told: Iterable[dict[str, Any]], calls: int) -> None:
    """Assert that the answers, in the order of their cursors, are those of one caller after the other."""
    answers = sorted(told, key=lambda each: int(each["cursor"]))
    assert [each["cursor"] for each in answers] == [str(number) for number in range(1, calls + 1)]
    held: set[str] = set()
    for each in answers:
        new = [one["ref"] for one in each["new"]]
        assert not held & set(new), "an id was announced that was known"
        assert set(each["evicted"]) <= held
        held = held - set(each["evicted"]) | set(new)
    shown = opened.sessions.show("chat")
    assert (set(shown.state.known), shown.state.turn) == (held, calls)


@pytest.mark.requirement("context-session-atomic")
@pytest.mark.requirement("context-delta-cursor")
def test_eight_threads(segue_: segue.Segue) -> None:
    ids = filled(segue_, 24)

    def work(worker: int) -> list[dict[str, Any]]:
        return [
            segue_.sessions.deliver("chat", [Served(each) for each in pack]).delta.to_json()
            for pack in packs_of(ids, worker)
        ]

    with ThreadPoolExecutor(8) as pool:
        told = [each for answers in pool.map(work, range(8)) for each in answers]
    require_one_conversation(segue_, told, 8 * CALLS)


@pytest.mark.requirement("context-delta-no-resend")
def test_eight_threads_with_the_same_pack(segue_: segue.Segue) -> None:
    """One of them is told all of it, the others nothing."""
    ids = filled(segue_, 20)
    with ThreadPoolExecutor(8) as pool:
        deliveries = pool.map(lambda _: segue_.sessions.deliver("chat", [Served(each) for each in ids]), range(8))
        assert sorted(len(each.delta.new) for each in deliveries) == [0] * 7 + [20]


@pytest.mark.requirement("context-session-atomic")
@pytest.mark.requirement("context-delta-cursor")
def test_four_processes(location: str) -> None:
    with segue.open(location) as opened:
        ids = filled(opened, 24)
        workers = [
            subprocess.Popen(
                [forks.program("python"), "-c", WORKER, location, json.dumps(packs_of(ids, worker))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for worker in range(4)
        ]
        told: list[dict[str, Any]] = []
        try:
            for process in workers:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
            for process in workers:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            for process in workers:
                answers, errors = process.communicate()
                assert (errors, process.returncode) == ("", 0)
                told += map(json.loads, answers.splitlines())
        finally:
            for process in workers:
                process.kill()
        require_one_conversation(opened, told, 4 * CALLS)
