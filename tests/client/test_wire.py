"""Requests to a host that does not mean well, or is not well: what is sent, tried again, refused, and told."""

from __future__ import annotations

import contextlib
import gzip
import ipaddress
import itertools
import socket
import ssl
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from client.scripted import Answer, Scripted
from segue.base.errors import Failed, Gone, InvalidInput, NotFound, Refused, SegueError, Stale
from segue.client.contract import PacketServer
from segue.client.wire import MAX_ANSWER, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TOKEN = "tok" + "A1b2C3d4" * 6
EMPTY = Answer(body={"packets": []})


@pytest.fixture(scope="module")
def running() -> Iterator[Scripted]:
    with Scripted() as host:
        yield host


@pytest.fixture
def host(running: Scripted) -> Scripted:
    running.answers(EMPTY)
    return running


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def client(host: Scripted, waits: list[float]) -> Iterator[PacketServer]:
    with PacketServer(host.address, TOKEN, timeout=5, pause=waits.append) as opened:
        yield opened


def test_what_is_sent(host: Scripted, client: PacketServer) -> None:
    client.ls(team="crew", limit=7, cursor="abc")
    asked = host.asked[0]
    assert (asked.method, asked.path) == ("GET", "/v1/packets?limit=7&team=crew&cursor=abc")
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["accept-encoding"] == "identity"
    host.answers(Answer(201, {"id": "packet-0001"}, {"ETag": '"1-ab"'}))
    stored = client.push(b"{}", team="crew", replace=True, if_match='"1-aa"')
    assert (stored.id, stored.etag) == ("packet-0001", '"1-ab"')
    asked = host.asked[0]
    assert (asked.method, asked.path, asked.body) == ("POST", "/v1/packets?team=crew&replace=true", b"{}")
    assert (asked.headers["content-type"], asked.headers["if-match"]) == ("application/json", '"1-aa"')


@pytest.mark.parametrize(("name", "path"), [("a/b?c#d", "a%2Fb%3Fc%23d"), ("..", "%2E%2E"), ("ü x", "%C3%BC%20x")])
def test_names_stay_within_their_segment(host: Scripted, client: PacketServer, name: str, path: str) -> None:
    host.answers(Answer(204))
    client.rm(name)
    client.leave(name)
    assert [each.path for each in host.asked] == [f"/v1/packets/{path}", f"/v1/teams/{path}/leave"]


def test_the_environment_gives_no_proxy_and_no_credentials(
    host: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password elsewhere\n")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NETRC", str(netrc))
    with PacketServer(host.address) as client:
        assert client.ls().packets == ()
    assert "authorization" not in host.asked[0].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(host: Scripted, client: PacketServer, status: int) -> None:
    host.answers(Answer(status, {}, {"Location": f"{host.address}/elsewhere"}))
    with pytest.raises(Refused) as refused:
        client.ls()
    assert refused.value.code == "host.redirect"
    assert [each.path for each in host.asked] == ["/v1/packets?limit=50"]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_reading_is_tried_again(host: Scripted, client: PacketServer, waits: list[float], status: int) -> None:
    host.answers(Answer(status, {"error": "busy"}), Answer(status, {"error": "busy"}), EMPTY)
    assert client.ls().packets == ()
    assert (len(host.asked), waits) == (3, [0.25, 1.0])
    host.answers(Answer(status, {"error": "busy"}))
    with pytest.raises(Unavailable):
        client.ls()
    assert len(host.asked) == 3


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_changes_something_is_sent_once(host: Scripted, client: PacketServer, status: int) -> None:
    for call in _changes(client):
        host.answers(Answer(status, {"error": "no"}))
        with pytest.raises(Failed):
            call()
        assert len(host.asked) == 1


def _changes(client: PacketServer) -> list[Callable[[], Any]]:
    return [
        lambda: client.push(b"{}"),
        lambda: client.rm("packet-0001"),
        lambda: client.create_team("crew"),
        lambda: client.invite("crew"),
        lambda: client.accept("c" * 48),
        lambda: client.publish("packet-0001"),
    ]


def test_a_host_says_how_long_to_wait(host: Scripted, client: PacketServer, waits: list[float]) -> None:
    host.answers(Answer(429, {}, {"Retry-After": "3"}), EMPTY)
    client.ls()
    host.answers(Answer(429, {}, {"Retry-After": "60"}))
    with pytest.raises(Unavailable) as busy:
        client.ls()
    assert (waits, busy.value.retry_after, len(host.asked)) == ([3.0], 60, 1)
    # Work in many requests waits that long, and no longer than it must.
    host.answers(Answer(429, {}, {"Retry-After": "60"}), Answer(201, {"id": "packet-0001"}))
    assert client.patiently(lambda: client.push(b"{}")).id == "packet-0001"
    assert waits == [3.0, 60]
    host.answers(Answer(429, {}, {"Retry-After": "600"}))
    with pytest.raises(Unavailable):
        client.patiently(lambda: client.push(b"{}"))
    assert waits == [3.0, 60]


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, InvalidInput, "host.rejected"),
        (401, Refused, "auth.invalid"),
        (403, Refused, "host.forbidden"),
        (404, NotFound, "host.not_found"),
        (409, Refused, "packet.exists"),
        (410, Gone, "invite.gone"),
        (412, Stale, "packet.changed"),
        (418, Failed, "host.failed"),
        (500, Failed, "host.failed"),
    ],
)
def test_what_a_status_means(
    host: Scripted, client: PacketServer, status: int, kind: type[SegueError], code: str
) -> None:
    host.answers(Answer(status, {"error": "so it is"}))
    with pytest.raises(kind) as plain:
        client.push(b"{}")
    assert (plain.value.code, "so it is" in plain.value.message) == (code, True)
    host.answers(Answer(status, {"error": "x", "code": "team.not_owner", "details": {"id": "a", "other": [1]}}))
    with pytest.raises(kind) as coded:
        client.push(b"{}")
    assert coded.value.code == "team.not_owner"
    assert coded.value.details == {"status": status, "id": "a"}
    host.answers(Answer(status, b"<html>not JSON"))
    with pytest.raises(kind) as mute:
        client.push(b"{}")
    assert mute.value.code == code


def test_no_error_holds_the_token_or_moves_the_terminal(host: Scripted, client: PacketServer) -> None:
    said = f"no\r\nfor {TOKEN} or Bearer {TOKEN} \x1b[2J\u202e" + "x" * 5_000
    for answer in (
        Answer(400, {"error": said, "code": f"a b {TOKEN}", "details": {"id": said}}),
        Answer(400, {"error": said, "code": TOKEN, "details": {"id": TOKEN}}),
        Answer(400, {"error": said, "code": f"a.{TOKEN.lower()}"}),
        Answer(503, {"error": said}, {"Retry-After": TOKEN}),
        Answer(302, {"error": said}, {"Location": f"https://elsewhere.example/{TOKEN}"}),
    ):
        host.answers(answer)
        with pytest.raises(SegueError) as refused:
            client.push(b"{}")
        shown = f"{refused.value!r} {refused.value.message} {refused.value.code} {refused.value.details}"
        assert TOKEN not in shown
        assert not {"\x1b", "\r", "\n", "\u202e"} & set(refused.value.message)
        assert len(refused.value.message) < 500
    assert TOKEN not in repr(client)
    assert TOKEN not in repr(client._wire)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"packets": 3}',
        b'{"packets": [3]}',
        b'{"packets": [{"id": 3}]}',
        b'{"packets": [{"id": "a", "created_at": "x"}]}',
        b'{"packets": [], "packets": []}',
        b"[" * 100_000,
        b"<!doctype html>",
    ],
)
def test_what_is_no_answer(host: Scripted, client: PacketServer, body: bytes) -> None:
    host.answers(Answer(200, body))
    with pytest.raises(Failed) as failed:
        client.ls()
    assert failed.value.code == "host.answer"


def test_an_answer_has_a_size(host: Scripted, client: PacketServer) -> None:
    host.answers(Answer(200, b" " * (MAX_ANSWER + 1)))
    with pytest.raises(Failed) as failed:
        client.ls()
    assert (failed.value.code, "more than 8 MB" in failed.value.message) == ("host.answer", True)
    bomb = gzip.compress(b" " * (4 * MAX_ANSWER))
    host.answers(Answer(200, bomb, {"Content-Encoding": "gzip"}))
    with pytest.raises(Failed) as failed:
        client.ls()
    assert "more than 8 MB" in failed.value.message


def test_a_slow_answer_ends(host: Scripted, waits: list[float]) -> None:
    def drip(write: Callable[[bytes], Any]) -> None:
        for _ in range(50):
            write(b" ")
            time.sleep(0.01)

    host.answers(Answer(200, then=drip))
    began = time.monotonic()
    hurried = PacketServer(host.address, TOKEN, timeout=0.05, pause=waits.append)
    with hurried as client, pytest.raises(Unavailable) as slow:
        client.ls()
    assert slow.value.code == "host.unreachable"
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "before",
    ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n"],
    ids=["status", "headers", "early", "body"],
)
def test_a_host_that_drips_byte_by_byte_ends_in_time(waits: list[float], before: str) -> None:
    """Each byte comes well within the time; all of them together take seconds."""
    listener = socket.create_server(("127.0.0.1", 0))
    dripping = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(before.encode())
            endless = itertools.cycle(b"HTTP/1.1 200 OK\r\nX-Header: " if not before else b"x")
            for each in itertools.islice(endless, 150):
                connection.sendall(bytes([each]))
                if dripping.wait(0.02):
                    break

    thread = threading.Thread(target=drip)
    thread.start()
    began = time.monotonic()
    try:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            PacketServer(address, TOKEN, timeout=0.2, pause=waits.append) as client,
            pytest.raises(Unavailable) as slow,
        ):
            client.push(b"{}")
        assert time.monotonic() - began < 1.5
        assert (slow.value.code, "in time" in slow.value.message) == ("host.unreachable", True)
    finally:
        dripping.set()
        listener.close()
        thread.join(10)


def test_a_connection_is_used_again_with_a_time_of_its_own(host: Scripted) -> None:
    with PacketServer(host.address, TOKEN, timeout=0.5) as client:
        client.ls()
        time.sleep(0.6)
        client.ls()
    assert len(host.asked) == 2


def test_nobody_is_there(waits: list[float]) -> None:
    with PacketServer("http://127.0.0.1:9", TOKEN, pause=waits.append) as client:
        with pytest.raises(Unavailable) as away:
            client.ls()
        assert away.value.code == "host.unreachable"
        assert len(waits) == 2
        with pytest.raises(Unavailable):
            client.push(b"{}")
        assert len(waits) == 2


def test_a_certificate_that_is_not_trusted(tmp_path: Path, waits: list[float]) -> None:
    with Scripted(own_certificate(tmp_path)) as host:
        host.answers(EMPTY)
        with PacketServer(host.address, TOKEN, pause=waits.append) as client, pytest.raises(Unavailable) as refused:
            client.push(b"{}")
        assert "certificate is not trusted" in refused.value.message
        assert host.asked == []


def own_certificate(folder: Path) -> ssl.SSLContext:
    """A server's context with a certificate that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    begins = datetime(2020, 1, 1, tzinfo=UTC)
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    built = built.serial_number(1).not_valid_before(begins).not_valid_after(begins.replace(year=2099))
    own = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = built.add_extension(own, critical=False).sign(key, hashes.SHA256())
    kept = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "own.pem"
    file.write_bytes(kept + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_a_list_without_cursors_may_lack_something(host: Scripted, client: PacketServer) -> None:
    def lines(number: int) -> dict[str, Any]:
        return {"packets": [{"id": f"packet-{n:04d}", "created_at": "x", "goal": "g"} for n in range(number)]}

    host.answers(Answer(200, lines(499)))
    assert client.all_packets().complete
    host.answers(Answer(200, lines(500)))
    assert not client.all_packets().complete
    host.answers(Answer(200, lines(500) | {"cursor": "c"}), Answer(200, {"packets": []}))
    assert client.all_packets().complete
    assert len(host.asked) == 2


def test_verifying_asks_twice(host: Scripted, client: PacketServer) -> None:
    host.answers(Answer(200, {"ok": True, "version": "0.2"}), EMPTY)
    client.verify()
    assert [each.path for each in host.asked] == ["/v1/healthz", "/v1/packets?limit=1"]
    host.answers(Answer(200, {"ok": "maybe"}))
    with pytest.raises(Failed):
        client.verify()
    host.answers(Answer(200, {"ok": True}), Answer(401, {"error": "invalid token"}))
    with pytest.raises(Refused):
        client.verify()
