"""Reading sources into a real store: how long a refresh takes, from a folder and over TLS, and in how much memory.

    python benchmarks/source_refresh.py [--json] [--records 1000] [--bytes 2000]

Made-up records are added (cold) and refreshed (nothing changed; over TLS every answer is a 304), fsync on, from a
folder and from a server of its own on loopback. Each source is read by a process of its own. Told are its peak memory,
and how much of that came on top of what it takes to write one memory (an open store, and the words of the embedder).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "memories.example.org"
WORDS = (
    "importer invoice ledger supplier currency total cents header column delivery archive reject retry night".split()
)


def write_source(folder: Path, records: int, size: int) -> None:
    """Write a source of made-up records of about `size` bytes."""
    chance = random.Random(8)
    (folder / "records").mkdir(parents=True)
    listed = []
    for number in range(records):
        words = " ".join(chance.choice(WORDS) for _ in range(size // 8))
        head = (
            f"---\ntitle: Record {number}\nkind: procedure\ntags: [made-up, n{number % 10}]\nconfidence: medium\n---\n"
        )
        data = f"{head}Step {number}: {words}.\n".encode()
        path = f"records/{number:04}.md"
        (folder / path).write_bytes(data)
        listed.append({"id": f"r{number:04}", "path": path, "sha256": hashlib.sha256(data).hexdigest()})
    manifest = {"memories_version": "0.1", "title": "Made-up", "records": listed}
    (folder / "memories.json").write_text(json.dumps(manifest))


class Handler(BaseHTTPRequestHandler):
    """Serves a folder with an ETag for each file, and 304 where that is asked with."""

    protocol_version = "HTTP/1.1"
    folder: Path
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        data = (self.folder / self.path.removeprefix("/notes/")).read_bytes()
        tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        known = self.headers.get("If-None-Match") == tag
        self.send_response(304 if known else 200)
        self.send_header("ETag", tag)
        if not known:
            self.send_header("Content-Type", "application/json" if self.path.endswith(".json") else "text/markdown")
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not known:
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def serve(folder: Path, authority: Path) -> ThreadingHTTPServer:
    """Serve a folder over TLS on a free port of loopback, from a thread; the certificate's authority goes to a file."""
    import trustme

    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(authority))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(HOST).configure_cert(context)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Handler,), {"folder": folder}))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def measure(place: str, authority: str, store: str) -> dict[str, Any]:
    """Add a source and refresh it; return the seconds of both, and the peak memory of this process."""
    import segue
    from segue.services.source_reading import Readers
    from segue.sources.https import Https
    from segue.sources.network import policy

    def https() -> Https:
        context = ssl.create_default_context(cafile=authority)
        return Https(resolver=lambda *_: ["127.0.0.1"], policy=policy(["127.0.0.0/8"]), ssl_context=context)

    with segue.open(store) as opened:
        sources = opened.sources.reading(Readers(https=https))
        opened.memories.remember("One thing to know.")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        added = sources.add(sources.look(place))
        cold = time.perf_counter()
        again = sources.refresh(added.source.name)
        done = time.perf_counter()
    assert again.counts["unchanged"] == added.counts["new"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "records": added.counts["new"],
        "cold_seconds": round(cold - started, 2),
        "unchanged_seconds": round(done - cold, 2),
        "peak_memory_mb": peak >> 10,
        "on_top_mb": (peak - before) >> 10,
    }


def in_a_process(place: str, authority: Path, store: Path) -> dict[str, Any]:
    """Return what `measure` does in a process of its own, with a store that is there already, as it mostly is."""
    subprocess.run([sys.executable, "-c", "import segue, sys; segue.open(sys.argv[1]).close()", str(store)], check=True)
    command = [sys.executable, __file__, "--measure", place, str(authority), str(store)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure how sources are read.")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.add_argument("--records", type=int, default=1_000, help="how many, at most 1,000")
    parser.add_argument("--bytes", type=int, default=2_000, help="how large each is, about")
    parser.add_argument("--measure", nargs=3, metavar=("PLACE", "AUTHORITY", "STORE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder, authority = Path(name, "notes"), Path(name, "authority.pem")
        write_source(folder, options.records, options.bytes)
        server = serve(folder, authority)
        url = f"https://{HOST}:{server.server_address[1]}/notes/"
        for kind, place in (("folder", str(folder)), ("tls", url)):
            figures = {"source": kind, **in_a_process(place, authority, Path(name, f"{kind}.db"))}
            found.append(figures)
            if not options.json:
                print("  ".join(f"{key} {value}" for key, value in figures.items()), flush=True)
        server.shutdown()
    if options.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
