"""What stands around the routes: headers, logs, counts, limits, proxies, failures."""

from __future__ import annotations

import re
import socket
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from unittest import mock

import psycopg
import pytest
import sqlalchemy as sa
from http_live import Live, packet, served

from segue.base.errors import Failed, InvalidInput
from segue.http.limits import Rates, TooMany
from segue.http.settings import Settings
from segue.services.requests import Requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx2

    import segue

pytest_plugins = ["http_fixtures"]


# -- headers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/v1/healthz", "/v1/packets", "/p/none", "/none", "/metrics", "/openapi.json", "/mcp"]
)
def test_every_answer_has_the_headers_that_keep_browsers_calm(single: Live, path: str) -> None:
    headers = single.nobody.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "server" not in headers
    assert "strict-transport-security" not in headers  # it came over plain HTTP
    assert "access-control-allow-origin" not in headers


def test_requests_have_ids_and_keep_those_that_they_come_with(single: Live) -> None:
    assert re.fullmatch("[0-9a-f]{16}", single.nobody.get("/v1/healthz").headers["x-request-id"])
    given = single.nobody.get("/v1/healthz", headers={"X-Request-Id": "from.the-proxy_1"}).headers["x-request-id"]
    assert given == "from.the-proxy_1"
    for bad in ("a b", "a" * 65, 'a"b'):
        assert single.nobody.get("/v1/healthz", headers={"X-Request-Id": bad}).headers["x-request-id"] != bad


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/none", 404), ("PUT", "/v1/packets", 405), ("GET", "/v1/packets/", 404)]
)
def test_what_is_no_route_is_answered_in_the_same_shape(single: Live, method: str, path: str, status: int) -> None:
    reply = single.user().request(method, path)
    assert (reply.status_code, set(reply.json())) == (status, {"error", "code", "details"})


# -- logs and counts --------------------------------------------------------------------------------------------------


def test_a_request_is_one_line_without_secrets(single: Live) -> None:
    token = single.token()
    client = single.client(token)
    document = packet(goal="A goal that nobody logs.")
    client.post("/v1/packets", json=document, headers={"X-Request-Id": "the-push"})
    client.post("/v1/teams", json={"name": "logged"})
    code = client.post("/v1/teams/logged/invites").json()["code"]
    slug = client.post(f"/v1/packets/{document['id']}/publish").json()["public_url"].rpartition("/")[2]
    single.nobody.get(f"/p/{slug}")
    minted = single.nobody.post(f"/v1/invites/{code}/accept", json={"display": "Secretive"}).json()["token"]
    client.get("/v1/memories/search?q=whatismysecret")
    line = single.line("the-push")
    client.get("/v1/whoami", headers={"X-Request-Id": "the-last"})
    single.line("the-last")
    logged = single.log.getvalue()
    for secret in (token, minted, code, slug, "nobody logs", "whatismysecret", "Secretive"):
        assert secret not in logged
    assert line["route"] == "/v1/packets"
    assert (line["method"], line["status"], line["address"]) == ("POST", 201, "127.0.0.1")
    assert line["user_id"] == single.caller(token).user_id
    assert line["ms"] >= 0
    assert {each["route"] for each in single.lines()} >= {"/p/{slug}", "/v1/invites/{code}/accept"}
    client.delete("/v1/teams/logged")


def test_a_route_with_a_slash_in_an_id_is_logged_by_its_template(single: Live) -> None:
    single.user().get("/v1/packets/a%2Fb", headers={"X-Request-Id": "slashed"})
    line = single.line("slashed")
    assert (line["route"], line["code"]) == ("/v1/packets/{id}", "packet.not_found")


def test_counts_name_routes_and_nothing_else(single: Live) -> None:
    token = single.token()
    single.client(token).get("/v1/packets/none-such-packet")
    single.nobody.get("/none-such-route")
    single.nobody.request("BREW", "/none-such-route")
    text = single.nobody.get("/metrics").text
    assert re.search(r'segue_http_requests_total\{method="GET",route="/v1/packets/\{id\}",status="404"\} [1-9]', text)
    assert "segue_http_request_seconds_bucket" in text
    assert "none-such" not in text
    assert "BREW" not in text
    assert token not in text


# -- failures ---------------------------------------------------------------------------------------------------------


@contextmanager
def failing(single: Live, error: Exception) -> Iterator[None]:
    with mock.patch.object(type(single.segue.hub), "ls", side_effect=error):
        yield


def test_a_failure_of_the_store_is_503_and_tells_the_log_alone(single: Live) -> None:
    client = single.user()
    with failing(single, Failed("store.busy", "the store /srv/secret/place.db: another process holds it")):
        reply = client.get("/v1/packets", headers={"X-Request-Id": "busy"})
    assert (reply.status_code, reply.json()["code"], reply.headers["retry-after"]) == (503, "store.busy", "1")
    assert "/srv" not in reply.text
    line = single.line("busy")
    assert (line["level"], line["code"]) == ("error", "store.busy")
    assert "/srv/secret/place.db" in line["failure"]


def test_what_nobody_expected_is_500_and_shows_no_values(single: Live) -> None:
    client = single.user()
    with failing(single, ValueError("a value with a secret in it")):
        reply = client.get("/v1/packets", headers={"X-Request-Id": "unexpected"})
    assert (reply.status_code, reply.json()["code"]) == (500, "server.internal")
    assert reply.headers["x-content-type-options"] == "nosniff"
    line = single.line("unexpected")
    assert (line["level"], line["failure"]) == ("error", "ValueError")
    assert any("http/packets.py" in each for each in line["trace"])
    assert "a secret" not in single.log.getvalue() + reply.text
    assert client.get("/v1/packets").status_code == 200


def test_a_server_without_its_database_is_alive_and_not_ready(places: Callable[[str], str]) -> None:
    with served(places("postgres")) as live:
        assert live.nobody.get("/readyz").json() == {"ok": True}
        token = live.token()
        database = live.segue.tenancy._database
        with database.read() as connection:
            name = connection.execute(sa.text("SELECT current_database()")).scalar_one()
        away = psycopg.OperationalError("no such server")
        with mock.patch.object(database.engine.dialect, "connect", side_effect=away):
            database.engine.dispose()
            assert live.nobody.get("/v1/healthz").status_code == 200
            ready = live.nobody.get("/readyz")
            assert (ready.status_code, ready.json()["ok"]) == (503, False)
            reply = live.client(token).get("/v1/packets")
            assert (reply.status_code, reply.json()["code"]) == (503, "store.unreachable")
            assert str(name) not in reply.text
        assert live.client(token).get("/v1/packets").status_code == 200  # it is back


# -- rates ------------------------------------------------------------------------------------------------------------


def test_nobody_does_more_than_the_limit_a_minute(places: Callable[[str], str]) -> None:
    now = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    with served(places("sqlite"), Settings(reads=12, writes=6, accepts=4)) as live, fixed(live, now):
        ann = live.user()
        pushes = [ann.post("/v1/packets", json=packet()) for _ in range(8)]
        assert [each.status_code for each in pushes] == [201] * 6 + [429] * 2
        assert pushes[-1].json()["code"] == "rate.exceeded"
        assert pushes[-1].headers["retry-after"] == "60"
        assert live.user("bob").post("/v1/packets", json=packet()).status_code == 429  # it is the address that counts
        assert ann.get("/v1/packets").status_code == 200  # reading is another matter
        accepts = [live.nobody.post(f"/v1/invites/{'0' * 48}/accept").status_code for _ in range(5)]
        assert accepts == [410] * 4 + [429]
        assert [live.nobody.get("/v1/packets").status_code for _ in range(14)][-1] == 429


@contextmanager
def fixed(live: Live, now: datetime) -> Iterator[None]:
    """Let the limits see one minute only."""
    rates = live.app.state.served.rates
    with mock.patch.object(rates, "_clock", lambda: now), mock.patch.object(live.segue.requests, "_clock", lambda: now):
        yield


@pytest.mark.parametrize("limit", [1, 40, 250, 3_000])
def test_one_process_lets_just_the_limit_through(segue_: segue.Segue, limit: int) -> None:
    now = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    rates = Rates(Requests(segue_.accounts._database, lambda: now), {"writes": limit}, lambda: now)
    for _ in range(limit):
        rates.take("writes", "from here")
    with pytest.raises(TooMany):
        rates.take("writes", "from here")
    rates.take("writes", "from there")


def test_processes_count_together_and_refuse_nobody_within_the_limit(segue_: segue.Segue) -> None:
    now, limit = datetime(2026, 5, 4, 9, 30, tzinfo=UTC), 400
    processes = [
        Rates(Requests(segue_.accounts._database, lambda: now), {"writes": limit}, lambda: now) for _ in range(3)
    ]
    taken = 0
    with pytest.raises(TooMany):
        while True:
            processes[taken % 3].take("writes", "from here")
            taken += 1
    assert limit <= taken <= limit + 2 * 4  # a step of a hundredth for each further process


def test_the_next_minute_begins_anew(segue_: segue.Segue) -> None:
    moments = [datetime(2026, 5, 4, 9, 30, 59, tzinfo=UTC)]
    rates = Rates(Requests(segue_.accounts._database, lambda: moments[-1]), {"accepts": 1}, lambda: moments[-1])
    rates.take("accepts", "from here")
    with pytest.raises(TooMany) as raised:
        rates.take("accepts", "from here")
    assert raised.value.details == {"seconds": 1}
    moments.append(datetime(2026, 5, 4, 9, 31, tzinfo=UTC))
    rates.take("accepts", "from here")


# -- proxies ----------------------------------------------------------------------------------------------------------

FORWARDED = {
    "X-Forwarded-For": "198.51.100.7, 203.0.113.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "hub.example",
}


def invite(live: Live, headers: dict[str, str]) -> tuple[str, httpx2.Response]:
    client = live.user()
    client.post("/v1/teams", json={"name": "proxied"})
    reply = client.post("/v1/teams/proxied/invites", headers=headers | {"X-Request-Id": "forwarded"})
    client.delete("/v1/teams/proxied")
    line = live.line("forwarded")
    return line["address"], reply


def test_what_a_stranger_says_of_proxies_is_not_believed(places: Callable[[str], str]) -> None:
    with served(places("sqlite")) as live:
        address, reply = invite(live, FORWARDED)
    assert address == "127.0.0.1"
    assert reply.json()["url"].startswith(f"{live.url}/v1/invites/")
    assert "strict-transport-security" not in reply.headers


def test_a_proxy_that_was_named_is_believed_as_far_as_it_knows(places: Callable[[str], str]) -> None:
    with served(places("sqlite"), Settings(proxies=("127.0.0.0/8", "203.0.113.9"))) as live:
        address, reply = invite(live, FORWARDED)
        # Whoever stands left of the first stranger may be anybody's invention.
        client = live.nobody.get(
            "/v1/packets", headers={"X-Forwarded-For": "10.0.0.1, 192.0.2.5", "X-Request-Id": "left"}
        )
        assert client.status_code == 401
        assert live.line("left")["address"] == "192.0.2.5"
    assert address == "198.51.100.7"
    assert reply.json()["url"].startswith("https://hub.example/v1/invites/")
    assert reply.headers["strict-transport-security"]


@pytest.mark.parametrize("host", ["evil.example/x", "a b", "user@host", "", "hub.example?x"])
def test_a_forwarded_host_that_is_none_is_left_alone(places: Callable[[str], str], host: str) -> None:
    with served(places("sqlite"), Settings(proxies=("127.0.0.1",))) as live:
        _, reply = invite(live, {"X-Forwarded-Host": host})
        assert reply.json()["url"].startswith(f"{live.url}/v1/invites/")


def test_the_external_url_goes_before_what_anybody_says(places: Callable[[str], str]) -> None:
    settings = Settings(external_url="https://hub.example/segue/", proxies=("127.0.0.1",))
    with served(places("sqlite"), settings) as live:
        _, reply = invite(live, FORWARDED | {"X-Forwarded-Host": "evil.example"})
    assert reply.json()["url"].startswith("https://hub.example/segue/v1/invites/")
    assert reply.headers["strict-transport-security"]


@pytest.mark.parametrize(
    "given",
    [
        {"external_url": "hub.example"},
        {"external_url": "ftp://hub.example"},
        {"external_url": "https://hub.example?x=1"},
        {"external_url": "https://hub.example:no"},
        {"proxies": ("proxy.example",)},
        {"accepts": 0},
    ],
)
def test_settings_that_cannot_be_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Settings(**given)


# -- what no client library sends -------------------------------------------------------------------------------------


def raw(live: Live, request: bytes) -> bytes:
    """The answer to bytes as they are."""
    host, port = live.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    return answer


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /v1/packets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n", b"401"),
        (b"GET /v1/packets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \xff\xfe\r\n", b"401"),
        (b"GET /%ff%fe HTTP/1.1\r\nHost: h\r\n", b"404"),
        (b"GET /p/%2F%2f%00 HTTP/1.1\r\nHost: h\r\n", b"404"),
        (b"GET /v1/healthz HTTP/1.1\r\n", b"400"),
        (b"nonsense\r\n", b"400"),
    ],
)
def test_odd_requests_are_answered(single: Live, request_: bytes, status: bytes) -> None:
    answer = raw(single, request_ + b"Connection: close\r\n\r\n")
    assert answer.split(b" ", 2)[1] == status
