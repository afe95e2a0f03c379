"""`segue server run`: real processes that start, end, are killed, and share a database."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx2
import pytest
from http_live import packet

import segue
from forks import REAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Locate = Callable[[str], str]

pytest_plugins = ["http_fixtures"]

ENOUGH_SECONDS = 120


class Running:
    """A server process and where it listens; `said` is what it wrote to stderr."""

    def __init__(self, home: Path, location: str, *options: str) -> None:
        command = [REAL["segue"], "server", "run", "--db", location, "--port", "0", *options]
        environment = {"HOME": str(home), "SEGUE_HOME": str(home), "PATH": os.environ["PATH"]}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True)
        self.said: list[str] = []
        self.url = ""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"http://[\d.:]+", line)
            if found:
                self.url = found[0]
                break
        self._reader = threading.Thread(target=lambda: self.said.extend(self.process.stderr or ()))
        self._reader.start()

    def ready(self) -> None:
        """Wait until a process answers."""
        with self.client() as client:
            assert client.get("/readyz").status_code == 200, self.said

    def client(self, token: str = "") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers=headers, trust_env=False, timeout=ENOUGH_SECONDS)

    def wait(self) -> int:
        code = self.process.wait(ENOUGH_SECONDS)
        self._reader.join(ENOUGH_SECONDS)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    def kill(self) -> None:
        self.process.kill()
        self.wait()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """A function that starts a server, which is gone after the test."""
    started: list[Running] = []

    def new(location: str, *options: str) -> Running:
        started.append(Running(tmp_path, location, *options))
        return started[-1]

    yield new
    for each in started:
        each.kill()


def root(location: str) -> str:
    """Make the root user of a store and return the token."""
    with segue.open(location) as store:
        return store.accounts.init()


def test_what_was_acknowledged_is_there_after_a_kill_in_the_middle(
    location: str, start: Callable[..., Running]
) -> None:
    token = root(location)
    server = start(location)
    server.ready()
    acknowledged: list[str] = []
    enough = threading.Event()

    def push() -> None:
        with server.client(token) as client, contextlib.suppress(httpx2.HTTPError):
            while True:
                reply = client.post("/v1/packets", json=packet())
                assert reply.status_code == 201
                acknowledged.append(reply.json()["id"])
                if len(acknowledged) >= 40:
                    enough.set()

    with ThreadPoolExecutor(4) as pool:
        pushing = [pool.submit(push) for _ in range(4)]
        assert enough.wait(ENOUGH_SECONDS)
        server.process.send_signal(signal.SIGKILL)
        for each in pushing:
            each.result(ENOUGH_SECONDS)
    assert server.wait() == -signal.SIGKILL

    with segue.open(location) as store:
        caller = store.accounts.authenticate(token)
        there = {each.id for each in store.hub.ls(caller, limit=500).packets}
        assert set(acknowledged) <= there
        assert len(there) <= len(acknowledged) + 4  # at most one of each client was on its way
        assert {store.hub.pull(caller, each).body for each in acknowledged}


def test_the_end_is_soon_and_running_requests_are_answered(locate: Locate, start: Callable[..., Running]) -> None:
    location = locate("sqlite")
    token = root(location)
    server = start(location)
    server.ready()
    with server.client(token) as client:
        assert client.get("/v1/packets").status_code == 200

        def slowly() -> Iterator[bytes]:
            body = json.dumps(packet()).encode()
            yield body[:50]
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            yield body[50:]

        reply = client.post("/v1/packets", content=slowly(), headers={"Content-Type": "application/json"})
        begun = time.monotonic()
    assert reply.status_code == 201
    assert server.wait() == 0
    assert time.monotonic() - begun < 30
    assert not [line for line in server.said if "Traceback" in line or "Error" in line], server.said


def test_two_processes_share_the_work_the_counts_and_the_limits(locate: Locate, start: Callable[..., Running]) -> None:
    location = locate("postgres")
    token = root(location)
    with segue.open(location) as store:
        caller = store.accounts.authenticate(token)
        store.teams.create(caller, "core")
        code = store.invites.create(caller, "core").code
    server = start(location, "--workers", "2", "--accepts", "30")
    server.ready()
    path = f"/v1/invites/{code}/accept"
    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(lambda _: httpx2.post(server.url + path, trust_env=False).status_code, range(40)))
    assert statuses.count(201) == 1
    assert statuses.count(410) == 29  # the limit holds across both
    assert statuses.count(429) == 10 or _minute_passed(statuses)
    with server.client(token) as client:
        members = client.get("/v1/teams/core/members").json()["members"]
        assert len(members) == 2
        text = client.get("/metrics").text
    counted = re.findall(r'route="/v1/invites/\{code\}/accept",status="\d+"\} ([\d.]+)', text)
    assert sum(float(each) for each in counted) == 40
    workers = {each.split()[0] for each in _children(server.process.pid)}
    assert len(workers) == 2
    server.process.send_signal(signal.SIGTERM)
    assert server.wait() == 0
    assert not [each for each in workers if _alive(int(each))]


def _minute_passed(statuses: list[int]) -> bool:
    """Whether a new minute began while all of them were asked, which gives them another thirty."""
    return statuses.count(410) == 39


def _children(pid: int) -> list[str]:
    found = subprocess.run(
        ["ps", "-ww", "--ppid", str(pid), "-o", "pid=,args="], capture_output=True, text=True, check=False
    )
    return [line for line in found.stdout.splitlines() if "spawn_main" in line]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_a_database_that_is_away_is_said_in_one_line(
    tmp_path: Path, start: Callable[..., Running], options: tuple[str, ...]
) -> None:
    secret = secrets.token_hex(8)
    server = start(f"postgresql+psycopg://ann:{secret}@127.0.0.1:9/none", *options)
    assert server.wait() == 1
    assert len(server.said) == 1
    assert "does not answer" in server.said[0]
    assert secret not in server.said[0]


def test_a_store_without_root_and_a_port_that_is_taken_are_said_in_one_line(
    tmp_path: Path, start: Callable[..., Running]
) -> None:
    location = str(tmp_path / "new.db")
    first = start(location)
    assert (first.wait(), len(first.said)) == (1, 1)
    assert "segue server init" in first.said[0]
    root(location)
    server = start(location)
    server.ready()
    port = server.url.rpartition(":")[2]
    taken = start(location, "--port", port)
    assert (taken.wait(), len(taken.said)) == (1, 1)
    assert f"port {port}" in taken.said[0]
