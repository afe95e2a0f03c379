"""The HTTPS reader against a server that lies: one table of lies, and what a good refresh does."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import select
import socket
import ssl
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import httpcore2
import pytest
import trustme

from segue.base.errors import Failed, InvalidInput, Refused, SegueError
from segue.sources import base_url, checking
from segue.sources.connection import Deadline, Guard, Names
from segue.sources.https import AccessLost, Https
from segue.sources.limits import Limits
from segue.sources.network import PUBLIC_ONLY, policy
from segue.sources.snapshot import Resource, Snapshot, Validators, resource
from sources.folders import RECORDS, manifest
from sources.liar import LOOPBACK, MARKDOWN, NAME, USUAL, Asked, Liar, reader, reply, served, trusting

Lie = Callable[[Liar], Any]  # an answer to the request for the record a.md, or several in turn


@pytest.fixture(scope="module")
def running() -> Iterator[Liar]:
    with Liar() as liar:
        yield liar


@pytest.fixture
def liar(running: Liar) -> Liar:
    running.serves()
    return running


def kept(snapshot: Snapshot) -> dict[str, Resource]:
    return {each.path: each for each in snapshot.resources}


def said(data: bytes) -> Lie:
    return lambda liar: data


def dripping(head: bytes, piece: bytes, seconds: float) -> Lie:
    """Something now and then, for much longer than anybody should wait."""

    def lie(liar: Liar) -> Any:
        def answer(asked: Asked) -> Iterator[bytes]:
            yield head
            for _ in itertools.takewhile(lambda _: liar.pause(seconds), range(200)):
                yield piece

        return answer

    return lie


def cut(data: bytes) -> Lie:
    """That, and then the connection ends."""
    return lambda liar: lambda asked: iter([data])


def endless(head: bytes, piece: bytes) -> Lie:
    return lambda liar: lambda asked: itertools.chain([head], itertools.repeat(piece))


def moved(location: str, status: int = 302) -> Lie:
    return lambda liar: reply(b"", status, location=location.replace("{port}", str(liar.port)))


def bomb(size: int) -> bytes:
    return gzip.compress(b"x" * size)


HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: {MARKDOWN}\r\n"
TEXT = b"Text.\n"
OK = reply(TEXT)
PACKED = gzip.compress(TEXT)
TOO_LARGE = USUAL.record_bytes + 1

LIES: list[tuple[str, Lie, str, str]] = [
    # time
    ("silent", dripping(b"", b"", 0.05), "source.deadline", "deadline.request"),
    ("slow head", dripping(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n", 0.05), "source.deadline", "deadline.request"),
    (
        "slow body",
        dripping(f"{HEAD}Content-Length: 9999\r\n\r\n".encode(), b"x", 0.05),
        "source.deadline",
        "deadline.request",
    ),
    (
        "slow chunks",
        dripping(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode(), b"1\r\nx\r\n", 0.05),
        "source.deadline",
        "deadline.request",
    ),
    ("slow end", dripping(f"{HEAD}\r\n".encode(), b"x", 0.05), "source.deadline", "deadline.request"),
    ("endless hints", endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), "source.deadline", "deadline.request"),
    # length
    (
        "endless head",
        endless(b"HTTP/1.1 200 OK\r\n", b"X-A: bbbbbbbb\r\n" * 500),
        "source.unreachable",
        "network.failed",
    ),
    ("endless body", endless(f"{HEAD}\r\n".encode(), b"x" * 65_536), "source.limit", "limit.record_bytes"),
    (
        "endless chunks",
        endless(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode(), b"1000\r\n" + b"x" * 4_096 + b"\r\n"),
        "source.limit",
        "limit.record_bytes",
    ),
    ("announced too large", said(reply(TEXT, content_length=str(TOO_LARGE))), "source.limit", "limit.record_bytes"),
    ("too large by one", said(reply(b"x" * TOO_LARGE)), "source.limit", "limit.record_bytes"),
    ("length too large", cut(reply(TEXT, content_length="7")), "source.unreachable", "network.failed"),
    ("length too small", said(reply(b"x" * 500, content_length="5")), "source.response", "response.length"),
    ("length no number", said(reply(TEXT, content_length="five")), "source.unreachable", "network.failed"),
    ("length negative", said(reply(TEXT, content_length="-5")), "source.unreachable", "network.failed"),
    (
        "two lengths",
        said(reply(TEXT, content_length="6\r\nContent-Length: 5")),
        "source.unreachable",
        "network.failed",
    ),
    (
        "chunks cut",
        cut(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n6\r\nText.\n\r\n".encode()),
        "source.unreachable",
        "network.failed",
    ),
    ("cut, without a length", cut(f"{HEAD}\r\nText.".encode()), "source.unreachable", "network.failed"),
    ("no answer", cut(b""), "source.unreachable", "network.failed"),
    ("no HTTP", said(b"SSH-2.0-server\r\n\r\n"), "source.unreachable", "network.failed"),
    ("HTTP 0.9", cut(TEXT), "source.unreachable", "network.failed"),
    # compression
    ("gzip bomb", said(reply(bomb(50 << 20), content_encoding="gzip")), "source.limit", "limit.record_bytes"),
    (
        "gzip of nothing without an end",
        endless(f"{HEAD}Content-Encoding: gzip\r\n\r\n".encode() + PACKED[:10], b"\0\0\0\xff\xff" * 5_000),
        "source.limit",
        "limit.record_bytes",
    ),
    (
        "bomb in a bomb",
        said(reply(gzip.compress(bomb(50 << 20)), content_encoding="gzip, gzip")),
        "source.media",
        "media.encoding",
    ),
    ("deflate", said(reply(zlib.compress(TEXT), content_encoding="deflate")), "source.media", "media.encoding"),
    ("brotli", said(reply(TEXT, content_encoding="br")), "source.media", "media.encoding"),
    ("no gzip", said(reply(TEXT, content_encoding="gzip")), "source.media", "media.encoding"),
    ("gzip cut", said(reply(PACKED[:-9], content_encoding="gzip")), "source.media", "media.encoding"),
    ("gzip and more", said(reply(PACKED + PACKED, content_encoding="gzip")), "source.media", "media.encoding"),
    ("gzip nothing", said(reply(b"", content_encoding="gzip")), "source.media", "media.encoding"),
    # type and text
    ("html", said(reply(TEXT, media="text/html")), "source.media", "media.type"),
    ("json for a record", said(reply(TEXT, media="application/json")), "source.media", "media.type"),
    ("no type", said(reply(TEXT, media="")), "source.media", "media.type"),
    ("type without a form", said(reply(TEXT, media="markdown")), "source.media", "media.type"),
    (
        "two types",
        said(reply(TEXT, media="text/plain\r\nContent-Type: text/html")),
        "source.media",
        "media.type",
    ),
    ("latin-1", said(reply(TEXT, media="text/plain; charset=iso-8859-1")), "source.media", "media.charset"),
    ("utf-16", said(reply(TEXT, media='text/plain; Charset="utf-16"')), "source.media", "media.charset"),
    ("no utf-8", said(reply(b"caf\xe9")), "source.record", "record.utf8"),
    ("byte order mark", said(reply(b"\xef\xbb\xbfText.")), "source.record", "record.bom"),
    ("empty", said(reply(b"")), "source.record", "record.empty"),
    # redirects
    ("redirect outside", moved("/elsewhere/a.md"), "source.redirect", "redirect.outside"),
    ("redirect up", moved("../a.md"), "source.redirect", "redirect.outside"),
    ("redirect up, 301", moved("../../../a.md", 301), "source.redirect", "redirect.outside"),
    ("redirect by dots", moved("/team/../a.md", 307), "source.redirect", "redirect.outside"),
    ("redirect by escaped dots", moved("/team/%2e%2e/a.md", 308), "source.redirect", "redirect.path"),
    ("redirect by escaped slash", moved("/team/..%2fa.md"), "source.redirect", "redirect.path"),
    ("redirect to //", moved("//evil.example/team/a.md"), "source.redirect", "redirect.origin"),
    ("redirect to another host", moved("https://evil.example:{port}/team/a.md"), "source.redirect", "redirect.origin"),
    ("redirect to another port", moved(f"https://{NAME}/team/a.md"), "source.redirect", "redirect.origin"),
    ("redirect to the address", moved("https://127.0.0.1:{port}/team/a.md"), "source.redirect", "redirect.origin"),
    ("redirect to http", moved(f"http://{NAME}:{{port}}/team/a.md"), "source.redirect", "redirect.scheme"),
    ("redirect to a file", moved("file:///etc/passwd"), "source.redirect", "redirect.scheme"),
    ("redirect with a user", moved(f"https://me@{NAME}:{{port}}/team/a.md"), "source.redirect", "redirect.credentials"),
    ("redirect with a backslash", moved("/team/\\evil.example"), "source.redirect", "redirect.url"),
    ("redirect to itself", moved("a.md"), "source.redirect", "redirect.count"),
    ("redirect to nowhere", said(reply(b"", 302)), "source.response", "response.location"),
    (
        "redirect to two places",
        said(reply(b"", 302, location="b.md\r\nLocation: c.md")),
        "source.response",
        "response.location",
    ),
    # status
    ("not found", said(reply(TEXT, 404)), "source.response", "response.status"),
    ("gone", said(reply(TEXT, 410)), "source.response", "response.status"),
    ("a part", said(reply(TEXT, 206)), "source.response", "response.status"),
    ("no content", said(reply(b"", 204, content_length="")), "source.response", "response.status"),
    ("several choices", said(reply(TEXT, 300, location="b.md")), "source.response", "response.status"),
    ("use a proxy", said(reply(TEXT, 305, location="b.md")), "source.response", "response.status"),
    ("busy", said(reply(TEXT, 429)), "source.response", "response.status"),
    ("another protocol", said(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), "source.unreachable", "network.failed"),
    ("fault", said(reply(TEXT, 503)), "source.unreachable", "response.server"),
    (
        "unchanged, though nothing was read",
        said(reply(b"", 304, media="", content_length="")),
        "source.response",
        "response.not_modified",
    ),
    ("unauthorised", said(reply(TEXT, 401)), "source.access", "access.401"),
    ("forbidden", said(reply(TEXT, 403)), "source.access", "access.403"),
]
MANY = [f"{n:02}.md" for n in range(40)]
EXITS = {"source.limit": 3, "source.record": 3, "source.media": 4, "source.redirect": 4, "source.access": 4}


@pytest.mark.requirement("sources-lies")
@pytest.mark.requirement("sources-media")
@pytest.mark.requirement("sources-boundary")
@pytest.mark.requirement("sources-limits")
@pytest.mark.requirement("sources-deadlines")
@pytest.mark.parametrize(("lie", "code", "rule"), [pytest.param(*each[1:], id=each[0]) for each in LIES])
def test_a_lie_fails_the_refresh(liar: Liar, lie: Lie, code: str, rule: str) -> None:
    """The manifest and one record are good; then comes the lie, about another."""
    liar.answers({"memories.json": served("good.md", "a.md"), "good.md": OK, "a.md": lie(liar)})
    seconds = 0.3 if code == "source.deadline" else USUAL.request_seconds
    began = time.monotonic()
    with pytest.raises(SegueError) as caught:
        reader(limits=Limits(request_seconds=seconds, tries=1)).read(liar.base)
    assert time.monotonic() - began < 8
    found = caught.value.details.get("problems", [caught.value.details])[0]
    assert (caught.value.code, found["rule"]) == (code, rule)
    assert caught.value.exit_code == EXITS.get(code, 1)
    assert {each.target for each in liar.asked} <= {f"/team/{path}" for path in ("memories.json", "good.md", "a.md")}


@pytest.mark.requirement("sources-lies")
@pytest.mark.parametrize(
    ("answer", "code", "rule"),
    [
        (reply(manifest(), media="text/markdown"), "source.media", "media.type"),
        (reply(manifest(), media="text/json"), "source.media", "media.type"),
        (reply(manifest(), media="application/json; charset=utf-16"), "source.media", "media.charset"),
        (reply(b"\xef\xbb\xbf" + manifest(), media="application/json"), "source.manifest", "manifest.json"),
        (reply(manifest()[:-1], media="application/json"), "source.manifest", "manifest.json"),
        (reply(manifest("../a.md"), media="application/json"), "source.path", "path.parent"),
        (reply(b" " * (1 << 20) + manifest(), media="application/json"), "source.limit", "limit.manifest_bytes"),
        (served(*(f"{n}.md" for n in range(1_001))), "source.limit", "limit.records"),
        (reply(b"", 404), "source.response", "response.status"),
    ],
)
def test_a_lie_about_the_manifest_asks_for_nothing_else(liar: Liar, answer: bytes, code: str, rule: str) -> None:
    liar.answers({"memories.json": answer})
    with pytest.raises(SegueError) as caught:
        reader().read(liar.base)
    found = caught.value.details.get("problems", [caught.value.details])[0]
    assert (caught.value.code, found["rule"]) == (code, rule)
    assert liar.targets() == ["memories.json"]


@pytest.mark.requirement("sources-https")
def test_a_good_server(liar: Liar) -> None:
    told: list[tuple[int, int]] = []
    found = reader().read(liar.base, on_progress=lambda done, total: told.append((done, total)))
    assert [each.path for each in found.resources] == ["memories.json", *RECORDS]
    assert [each.data.decode() for each in found.resources[1:]] == list(RECORDS.values())
    assert [each.id for each in found.records] == ["test-command", "style"]
    assert (found.unchanged, told) == (False, [(0, 2), (1, 2), (2, 2)])
    assert (liar.targets(), liar.connections) == (["memories.json", *RECORDS], 1)
    assert liar.names == [NAME]  # though it goes to an address
    assert liar.asked[0].headers == {
        "host": f"{NAME}:{liar.port}",
        "user-agent": "segue",
        "accept": "application/json",
        "accept-encoding": "identity",
    }
    assert liar.asked[1].headers["accept"] == "text/markdown, text/plain"


@pytest.mark.requirement("sources-media")
@pytest.mark.parametrize(
    "answer",
    [
        reply(TEXT, media="text/plain"),
        reply(TEXT, media="TEXT/Markdown;charset=UTF-8"),
        reply(TEXT, media='text/markdown; variant=GFM; charset="utf-8"'),
        reply(TEXT, content_encoding="identity"),
        reply(PACKED, content_encoding="gzip"),
        f"{HEAD}Transfer-Encoding: chunked\r\n\r\n3\r\nTex\r\n3\r\nt.\n\r\n0\r\n\r\n".encode(),
        b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + OK,
    ],
)
def test_what_is_good_as_well(liar: Liar, answer: bytes) -> None:
    liar.answers({"memories.json": served("a.md", "b.md"), "a.md": answer, "b.md": OK})
    assert [each.body for each in reader().read(liar.base).records] == ["Text.\n"] * 2


def test_gzip_of_any_size_comes_out_whole(liar: Liar) -> None:
    for size in (65_535, 65_536, 65_537, 131_072, 262_144):
        packed = gzip.compress(b"x" * size)
        pieces = [b"%x\r\n%s\r\n" % (len(each), each) for each in (packed[:100], packed[100:-8], packed[-8:])]
        head = f"{HEAD}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        for answer in (reply(packed, content_encoding="gzip"), b"".join([head, *pieces, b"0\r\n\r\n"])):
            liar.answers({"memories.json": served("a.md"), "a.md": answer})
            assert reader().read(liar.base).records[0].bytes == size


@pytest.mark.requirement("sources-limits")
def test_a_bomb_is_stopped_at_the_limit_and_not_after_it(liar: Liar) -> None:
    packed = bomb(40 << 20)
    liar.answers({"memories.json": served("a.md"), "a.md": reply(packed, content_encoding="gzip")})
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput) as caught:
            reader().read(liar.base)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert caught.value.code == "source.limit"


@pytest.mark.requirement("sources-conditional")
def test_what_has_not_changed_is_taken_from_before(liar: Liar) -> None:
    first = reader().read(liar.base)
    again = reader().read(liar.base, before=kept(first))
    assert (again.unchanged, liar.connections) == (True, 2)
    assert again.resources == first.resources
    assert [each.headers["if-none-match"] for each in liar.asked[3:]] == [
        each.validators.etag for each in first.resources
    ]
    liar.serves({**RECORDS, "records/style.md": "Names are verbs.\n"})
    changed = reader().read(liar.base, before=kept(first))
    assert not changed.unchanged
    assert [each.body for each in changed.records] == ["Run `make test`.\n", "Names are verbs.\n"]
    assert changed.resources[1] is kept(first)["records/test-command.md"]


@pytest.mark.requirement("sources-conditional")
def test_validators_belong_to_the_bytes_they_came_with(liar: Liar) -> None:
    date = "Tue, 26 May 2026 10:00:00 GMT"
    liar.answers({"memories.json": served("a.md"), "a.md": reply(TEXT, last_modified=date)})
    first = reader().read(liar.base)
    assert first.resources[1].validators == Validators(last_modified=date)
    unchanged = reply(b"", 304, media="", content_length="", etag='"other"')
    liar.answers({"memories.json": served("a.md"), "a.md": unchanged})
    second = reader().read(liar.base, before=kept(first))
    assert liar.asked[1].headers["if-modified-since"] == date
    assert second.resources[1].validators == Validators(last_modified=date)
    liar.answers({"memories.json": served("a.md"), "a.md": reply(b"Other.\n")})
    assert reader().read(liar.base, before=kept(second)).resources[1].validators == Validators()


def test_a_validator_that_cannot_be_sent_back_is_not_kept(liar: Liar) -> None:
    for etag in ('"\xe9"', '"' + "x" * 600 + '"', '"a"\r\nETag: "b"'):
        liar.answers({"memories.json": served("a.md"), "a.md": reply(TEXT, etag=etag)})
        assert reader().read(liar.base).resources[1].validators == Validators()


@pytest.mark.requirement("sources-conditional")
def test_304_for_what_was_not_asked_with_a_validator(liar: Liar) -> None:
    unchanged = reply(b"", 304, media="", content_length="")
    liar.answers({"memories.json": served("a.md"), "a.md": unchanged})
    with pytest.raises(Failed) as caught:
        reader().read(liar.base, before={"a.md": resource("a.md", TEXT)})
    assert caught.value.details["rule"] == "response.not_modified"


@pytest.mark.requirement("sources-conditional")
def test_what_was_read_before_is_checked_again(liar: Liar) -> None:
    """304 for bytes that are not what the manifest says by now: the refresh fails, and takes nothing for granted."""
    entry = {"id": "a", "path": "a.md", "sha256": "0" * 64}
    before = {"a.md": resource("a.md", TEXT, Validators(etag='"1"'))}
    unchanged = reply(b"", 304, media="", content_length="")
    liar.answers({"memories.json": reply(manifest(entry), media="application/json"), "a.md": unchanged})
    with pytest.raises(InvalidInput) as caught:
        reader().read(liar.base, before=before)
    assert caught.value.details["problems"][0]["rule"] == "record.sha256"


@pytest.mark.requirement("sources-snapshot")
def test_half_a_refresh_is_none(liar: Liar) -> None:
    liar.answers({"memories.json": served("a.md", "b.md"), "a.md": OK, "b.md": cut(OK[:-2])(liar)})
    with pytest.raises(Failed) as caught:
        reader().read(liar.base)
    assert caught.value.details["where"] == "b.md"


@pytest.mark.requirement("sources-access")
@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("where", ["memories.json", "b.md"])
def test_access_that_is_lost_is_told_apart(liar: Liar, status: int, where: str) -> None:
    answers: dict[str, Any] = {"memories.json": served("a.md", "b.md", "c.md"), "a.md": OK, "b.md": OK, "c.md": OK}
    liar.answers(answers | {where: reply(b"", status)})
    with pytest.raises(AccessLost) as caught:
        reader().read(liar.base, before={"b.md": resource("b.md", TEXT, Validators(etag='"1"'))})
    assert (caught.value.code, caught.value.exit_code) == ("source.access", 4)
    assert (caught.value.details["status"], caught.value.details["where"]) == (status, where)
    assert liar.targets()[-1] == where  # and nothing is asked for after it
    assert liar.targets().count(where) == 1


@pytest.mark.requirement("sources-boundary")
def test_redirects_within_the_base_are_followed_and_checked_anew(liar: Liar) -> None:
    looked: list[tuple[str, int]] = []

    def resolver(host: str, port: int) -> list[str]:
        looked.append((host, port))
        return ["127.0.0.1"]

    liar.answers(
        {
            "memories.json": reply(b"", 301, location="v2/memories.json"),
            "v2/memories.json": served("a.md"),
            "a.md": reply(b"", 307, location=f"https://{NAME}:{liar.port}/team/v2/b.md?x=1"),
            "v2/b.md?x=1": reply(b"", 308, location="../c.md"),
            "c.md": OK,
        }
    )
    found = reader(resolver=resolver).read(liar.base)
    assert [(each.id, each.path) for each in found.records] == [("a", "a.md")]
    assert liar.targets() == ["memories.json", "v2/memories.json", "a.md", "v2/b.md?x=1", "c.md"]
    assert looked == [(NAME, liar.port)] * 4  # at first, and after each redirect


@pytest.mark.requirement("sources-boundary")
def test_five_redirects_and_no_more(liar: Liar) -> None:
    chain: dict[str, Any] = {f"{n}.md": reply(b"", 302, location=f"{n + 1}.md") for n in range(6)}
    liar.answers({"memories.json": served("1.md"), **chain, "6.md": OK})
    assert reader().read(liar.base).records[0].body == "Text.\n"
    liar.answers({"memories.json": served("0.md"), **chain, "6.md": OK})
    with pytest.raises(Refused) as caught:
        reader().read(liar.base)
    assert caught.value.details["rule"] == "redirect.count"


@pytest.mark.requirement("sources-guard")
@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["8.8.8.8", "127.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["169.254.169.254"],
        ["10.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["fe80::1%eth0"],
        ["example.org"],
    ],
)
def test_what_a_name_leads_to_is_checked_before_anything_is_sent(liar: Liar, answers: list[str]) -> None:
    with pytest.raises(Refused) as caught:
        reader(resolver=lambda host, port: answers, policy=PUBLIC_ONLY).read(liar.base)
    assert (caught.value.code, caught.value.exit_code) == ("source.address", 4)
    assert liar.connections == 0


@pytest.mark.requirement("sources-guard")
def test_a_name_that_changes_its_answer_is_looked_up_once_and_then_connected_to(liar: Liar) -> None:
    """The second answer would be another machine; what was checked is where it goes, without a second look."""
    turns = iter([["127.0.0.1"], ["169.254.169.254"]])
    found = reader(resolver=lambda host, port: next(turns)).read(liar.base)
    assert len(found.records) == 2
    assert next(turns) == ["169.254.169.254"]


@pytest.mark.requirement("sources-guard")
def test_a_name_that_changes_its_answer_behind_a_redirect_is_refused(liar: Liar) -> None:
    turns = iter([["127.0.0.1"], ["169.254.169.254"]])
    liar.answers({"memories.json": reply(b"", 302, location="v2.json"), "v2.json": served()})
    with pytest.raises(Refused) as caught:
        reader(resolver=lambda host, port: next(turns)).read(liar.base)
    assert caught.value.details["rule"] == "address.metadata"
    assert liar.targets() == ["memories.json"]


@pytest.mark.requirement("sources-guard")
def test_a_connection_that_ended_is_made_anew_to_what_was_checked(liar: Liar) -> None:
    turns = iter([["127.0.0.1"], ["10.0.0.1"]])
    liar.answers({"memories.json": served("a.md", connection="close"), "a.md": OK})
    found = reader(resolver=lambda host, port: next(turns)).read(liar.base)
    assert (len(found.records), liar.connections) == (1, 2)


@pytest.mark.requirement("sources-guard")
def test_the_other_addresses_of_a_name_are_tried(liar: Liar) -> None:
    """Nothing listens at the first."""
    found = reader(resolver=lambda host, port: ["127.0.0.2", "127.0.0.1"]).read(liar.base)
    assert len(found.records) == 2


@pytest.mark.requirement("sources-deadlines")
def test_an_address_that_is_silent_leaves_time_for_the_others(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    real = socket.create_connection

    def connected(address: tuple[str, int], timeout: float) -> socket.socket:
        given.append(timeout)
        if address[0] == "127.0.0.2":
            raise TimeoutError
        return real(address, timeout)

    monkeypatch.setattr(socket, "create_connection", connected)
    assert reader(resolver=lambda host, port: ["127.0.0.2", "127.0.0.1"]).read(liar.base)
    assert given[0] <= USUAL.request_seconds / 2 < given[1]


@pytest.mark.requirement("sources-guard")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "metadata.google.internal"])
def test_a_host_that_is_never_public_is_not_even_looked_up(liar: Liar, host: str) -> None:
    looked: list[str] = []

    def resolver(name: str, port: int) -> list[str]:
        looked.append(name)
        return ["8.8.8.8"]

    site = base_url.parse(f"https://{host}:{liar.port}/team/")
    with pytest.raises(Refused) as caught:
        reader(resolver=resolver, policy=policy([])).read(site)
    assert caught.value.code == "source.address"
    assert (looked, liar.connections) == ([], 0)


def failing(error: Exception) -> Callable[[str, int], list[str]]:
    def resolver(host: str, port: int) -> list[str]:
        raise error

    return resolver


@pytest.mark.parametrize(
    "resolver",
    [
        failing(socket.gaierror(-2, "Name or service not known")),
        lambda host, port: [],
        lambda host, port: ["127.0.0.3"],
    ],
)
def test_a_name_without_an_address_that_answers(liar: Liar, resolver: Callable[[str, int], list[str]]) -> None:
    with pytest.raises(Failed) as caught:
        reader(resolver=resolver).read(liar.base)
    assert caught.value.code == "source.unreachable"


@pytest.mark.requirement("sources-deadlines")
def test_a_look_up_has_a_deadline_too(liar: Liar) -> None:
    def slow(host: str, port: int) -> list[str]:
        liar.pause(5)
        return ["127.0.0.1"]

    began = time.monotonic()
    with pytest.raises(Failed) as caught:
        reader(resolver=slow, limits=Limits(request_seconds=0.1, tries=1)).read(liar.base)
    assert caught.value.code == "source.deadline"
    assert time.monotonic() - began < 4


@pytest.mark.requirement("sources-deadlines")
@pytest.mark.parametrize("piece", [b"", b"x"])
def test_a_handshake_has_a_deadline_too(piece: bytes) -> None:
    """From a server that says nothing, and from one that says a byte of it now and then."""

    def drip() -> None:
        with contextlib.suppress(OSError), listening.accept()[0] as connected:
            connected.sendall(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc")
            for _ in itertools.takewhile(lambda _: not over.wait(0.02), range(400)):
                connected.sendall(piece)

    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        site = base_url.parse(f"https://{NAME}:{listening.getsockname()[1]}/")
        with pytest.raises(Failed) as caught:
            reader(limits=Limits(request_seconds=0.2, tries=1)).read(site)
        over.set()
        thread.join(5)
    assert caught.value.code == "source.deadline"


@pytest.mark.requirement("sources-deadlines")
def test_a_piece_of_tls_has_a_deadline_too(liar: Liar) -> None:
    """What is encrypted comes byte by byte, so that nothing of it can be read for long."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=slow_way, args=(listening, liar.port), daemon=True)
        thread.start()
        site = base_url.parse(f"https://{NAME}:{listening.getsockname()[1]}/team/")
        with pytest.raises(Failed) as caught:
            reader(limits=Limits(request_seconds=0.3, tries=1)).read(site)
        thread.join(5)
    assert caught.value.code == "source.deadline"


def slow_way(listening: socket.socket, port: int) -> None:
    """Hand on what two ends say; what the server says after the client has said two things goes byte by byte."""
    with (
        contextlib.suppress(OSError),
        listening.accept()[0] as client,
        socket.create_connection(("127.0.0.1", port)) as server,
    ):
        handed = 0
        while ready := select.select([client, server], [], [], 2)[0]:
            for end in ready:
                data = end.recv(65_536)
                if not data:
                    return
                handed += end is client
                if end is client or handed < 2:
                    (server if end is client else client).sendall(data)
                    continue
                for byte in data:
                    client.sendall(bytes([byte]))
                    time.sleep(0.01)


@pytest.mark.requirement("sources-deadlines")
def test_all_of_a_refresh_has_a_deadline(liar: Liar) -> None:
    """Each request is quick enough; together they are not."""

    def slow(asked: Asked) -> bytes:
        liar.pause(0.1)
        return OK

    liar.answers({"memories.json": served(*MANY), **dict.fromkeys(MANY, slow)})
    with pytest.raises(Failed) as caught:
        reader(limits=Limits(request_seconds=0.4, refresh_seconds=0.4)).read(liar.base)
    assert (caught.value.code, caught.value.details["rule"]) == ("source.deadline", "deadline.refresh")
    assert len(liar.asked) < len(MANY)


@pytest.mark.requirement("sources-limits")
def test_all_of_a_refresh_has_a_size(liar: Liar) -> None:
    names = [f"{n}.md" for n in range(100)]
    liar.answers({"memories.json": served(*names), **dict.fromkeys(names, reply(b"x" * 1_000))})
    with pytest.raises(InvalidInput) as caught:
        reader(limits=Limits(total_bytes=10_000)).read(liar.base)
    assert caught.value.code == "source.limit"
    assert len(liar.asked) < 30


@pytest.mark.requirement("sources-https")
def test_many_records_come_over_several_connections_and_in_order(liar: Liar) -> None:
    """The first four answers come only when all four are asked for, and the very first after the others."""
    together = threading.Barrier(4)

    def slow(asked: Asked) -> bytes:
        if asked.target < "/team/04.md":
            together.wait(10)
        liar.pause(0.1 if asked.target == "/team/00.md" else 0)
        return reply(asked.target.encode())

    looked: list[str] = []

    def resolver(host: str, port: int) -> list[str]:
        looked.append(host)
        return ["127.0.0.1"]

    liar.answers({"memories.json": served(*MANY), **dict.fromkeys(MANY, slow)})
    told: list[int] = []
    found = reader(resolver=resolver).read(liar.base, on_progress=lambda done, total: told.append(done))
    assert [each.body for each in found.records] == [f"/team/{name}" for name in MANY]
    assert (told, looked, liar.connections) == (list(range(41)), [NAME], 4)


def test_no_more_is_fetched_ahead_than_a_few(liar: Liar) -> None:
    """The first answer keeps the others waiting to be taken."""
    asked_by_then: list[int] = []

    def first(asked: Asked) -> bytes:
        liar.pause(0.3)
        asked_by_then.append(len(liar.asked))
        return OK

    liar.answers({"memories.json": served(*MANY), **dict.fromkeys(MANY, OK), "00.md": first})
    assert len(reader().read(liar.base).records) == len(MANY)
    assert asked_by_then[0] <= 9


@pytest.mark.requirement("sources-access")
@pytest.mark.requirement("sources-snapshot")
def test_a_lie_among_many_stops_what_is_on_its_way(liar: Liar) -> None:
    """Other requests are kept waiting when it comes; nobody waits for them."""
    silent = dripping(b"", b"", 0.05)(liar)
    records: dict[str, Any] = {name: OK if name < "10.md" else silent for name in MANY}
    liar.answers({"memories.json": served(*MANY), **records, "10.md": reply(b"", 401)})
    began = time.monotonic()
    with pytest.raises(AccessLost) as caught:
        reader().read(liar.base)
    assert caught.value.details["where"] == "10.md"
    assert time.monotonic() - began < USUAL.request_seconds - 1
    assert len(liar.asked) < 25


@pytest.mark.requirement("sources-retries")
def test_a_fault_of_the_server_is_tried_again_with_growing_waits(liar: Liar) -> None:
    waits: list[float] = []
    liar.answers({"memories.json": served("a.md"), "a.md": [reply(b"", 500), reply(b"", 503), OK]})
    found = reader(sleep=waits.append, random=lambda: 0.5).read(liar.base)
    assert found.records[0].body == "Text.\n"
    assert waits == [0.375, 0.75]
    waits.clear()
    liar.answers({"memories.json": served("a.md"), "a.md": reply(b"", 502)})
    with pytest.raises(Failed) as caught:
        reader(sleep=waits.append, random=lambda: 0.0).read(liar.base)
    assert (caught.value.code, waits) == ("source.unreachable", [0.25, 0.5])
    assert liar.targets().count("a.md") == 3


@pytest.mark.requirement("sources-retries")
def test_a_silence_is_tried_again(liar: Liar) -> None:
    silent = dripping(b"", b"", 0.05)(liar)
    liar.answers({"memories.json": [silent, served("a.md")], "a.md": [silent, OK]})
    found = reader(limits=Limits(request_seconds=0.3)).read(liar.base)
    assert found.records[0].body == "Text.\n"
    assert liar.targets().count("memories.json") >= 2
    assert liar.targets().count("a.md") >= 2


@pytest.mark.requirement("sources-retries")
@pytest.mark.parametrize("answer", [reply(b"", 404), reply(b"", 429), reply(b"", 401), cut(b""), reply(b"x", media="")])
def test_nothing_else_is_tried_again(liar: Liar, answer: Any) -> None:
    answer = answer(liar) if callable(answer) else answer
    waits: list[float] = []
    liar.answers({"memories.json": [answer, served()]})
    with pytest.raises(SegueError):
        reader(sleep=waits.append).read(liar.base)
    assert (waits, len(liar.asked)) == ([], 1)


@pytest.mark.requirement("sources-retries")
def test_no_wait_goes_beyond_the_deadline(liar: Liar) -> None:
    waits: list[float] = []
    liar.answers({"memories.json": reply(b"", 500)})
    with pytest.raises(Failed):
        reader(sleep=waits.append, limits=Limits(refresh_seconds=0.5)).read(liar.base)
    assert waits == []


TOKEN = "tok." + "A1b2-C3d4" * 4


def _once(body: bytes) -> Callable[[Asked], Iterator[bytes]]:
    """What ends its connection after it has answered, without a word of that."""
    return lambda asked: iter([body])


@pytest.mark.parametrize("number", [2, 40])
def test_a_server_that_ends_each_connection_is_read(liar: Liar, number: int) -> None:
    paths = [f"r{each}.md" for each in range(number)]
    liar.answers({"memories.json": _once(served(*paths)), **{each: _once(reply(each.encode())) for each in paths}})
    assert [each.body for each in reader().read(liar.base).records] == paths
    assert liar.targets()[0] == "memories.json"
    assert len(liar.asked) == number + 1


def test_a_server_that_never_answers_is_not_asked_for_ever(liar: Liar) -> None:
    liar.answers({"memories.json": served("a.md"), "a.md": lambda asked: iter([])})
    with pytest.raises(Failed) as caught:
        reader().read(liar.base)
    assert caught.value.code == "source.unreachable"
    assert liar.targets() == ["memories.json", "a.md", "a.md"]


@pytest.mark.requirement("sources-bearer-origin")
def test_a_bearer_goes_along_to_the_origin_and_is_never_shown(liar: Liar, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    found = reader().read(liar.base, bearer=TOKEN)
    assert [each.headers["authorization"] for each in liar.asked] == [f"Bearer {TOKEN}"] * 3
    assert TOKEN not in caplog.text + repr(found)
    for answer, code in (
        (reply(b"", 403), "source.access"),
        (reply(b"", 302, location=f"https://evil.example/{TOKEN}"), "source.redirect"),
        (reply(b"", media=TOKEN), "source.media"),
        (reply(b"{}", media="application/json", content_encoding=TOKEN), "source.media"),
        (f"HTTP/1.1 {TOKEN}\r\n\r\n".encode(), "source.unreachable"),
        (reply(f'{{"{TOKEN}": 1}}'.encode(), media="application/json"), "source.credential"),
    ):
        liar.answers({"memories.json": answer})
        with pytest.raises(SegueError) as caught:
            reader().read(liar.base, bearer=TOKEN)
        assert caught.value.code == code
        assert TOKEN not in caught.value.message + json.dumps(caught.value.details)


@pytest.mark.requirement("sources-bearer-origin")
def test_without_a_bearer_none_is_sent(liar: Liar) -> None:
    reader().read(liar.base)
    assert all("authorization" not in each.headers for each in liar.asked)


@pytest.mark.requirement("sources-bearer-origin")
@pytest.mark.parametrize("bearer", ["a b!", "a\r\nX-Evil: 1", "é", "=a", "x" * 5_000])
def test_a_bearer_has_a_form(liar: Liar, bearer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        reader().read(liar.base, bearer=bearer)
    assert caught.value.code == "source.bearer"
    assert bearer not in caught.value.message
    assert liar.connections == 0


@pytest.mark.requirement("sources-bearer-origin")
def test_no_validator_is_kept_that_holds_the_bearer(liar: Liar) -> None:
    liar.serves(etag=f'"{TOKEN}"', last_modified=f"at {TOKEN}")
    found = reader().read(liar.base, bearer=TOKEN)
    assert len(found.resources) == 3
    assert {each.validators for each in found.resources} == {Validators()}
    assert reader().read(liar.base).resources[0].validators.etag == f'"{TOKEN}"'


@pytest.mark.requirement("sources-bearer-origin")
@pytest.mark.parametrize("place", ["title", "id", "front", "wrong"])
def test_no_escape_hides_the_bearer(liar: Liar, place: str) -> None:
    escaped = "".join(f"\\u{ord(each):04x}" for each in TOKEN)
    entry = {"id": f'{{"path": "records/a.md", "id": "{escaped}"}}'}.get(place, '"records/a.md"')
    title = escaped if place == "title" else "Notes"
    text = f'{{"memories_version": "0.1", "title": "{title}", "records": [{entry}]}}'
    front = {"front": f'note: "{escaped}"', "wrong": f'created: "{escaped}"'}.get(place, "kind: claim")
    record = f"---\n{front}\n---\nText.\n"
    liar.answers(
        {"memories.json": reply(text.encode(), media="application/json"), "records/a.md": reply(record.encode())}
    )
    with pytest.raises(SegueError) as caught:
        reader().read(liar.base, bearer=TOKEN)
    assert TOKEN not in caught.value.message + json.dumps(caught.value.details)
    assert TOKEN not in repr(checking.check_url(reader(), str(liar.base), bearer=TOKEN))


@pytest.mark.requirement("sources-bearer-origin")
def test_a_server_that_says_the_bearer_again_is_refused(liar: Liar) -> None:
    liar.answers(
        {"memories.json": served("a.md"), "a.md": lambda asked: reply(asked.headers["authorization"].encode())}
    )
    with pytest.raises(Refused) as caught:
        reader().read(liar.base, bearer=TOKEN)
    assert caught.value.code == "source.credential"
    assert TOKEN not in caught.value.message + json.dumps(caught.value.details)


@pytest.mark.requirement("sources-https")
def test_the_environment_gives_no_proxy_and_no_trust(
    liar: Liar, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password elsewhere\n")
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NETRC", str(netrc))
    assert len(reader().read(liar.base).records) == 2
    assert all("authorization" not in each.headers for each in liar.asked)


@pytest.mark.requirement("sources-https")
def test_cookies_are_not_kept(liar: Liar) -> None:
    liar.serves(set_cookie="a=b; Path=/")
    reader().read(liar.base)
    assert all("cookie" not in each.headers for each in liar.asked)


@pytest.mark.requirement("sources-https")
@pytest.mark.parametrize("trusted", [True, False])
def test_certificate_and_name_are_checked(trusted: bool) -> None:
    """Another name under a trusted authority, and the right name under another authority."""
    stranger = Liar("other.example.org") if trusted else Liar(NAME, trustme.CA())
    with stranger as liar:
        liar.serves()
        with pytest.raises(Failed) as caught:
            reader().read(liar.base, bearer=TOKEN)
    assert caught.value.code == "source.unreachable"
    assert "certificate" in caught.value.message
    assert liar.asked == []


@pytest.mark.requirement("sources-https")
def test_an_address_is_a_host_as_well() -> None:
    def resolver(host: str, port: int) -> list[str]:
        raise AssertionError("an address is not looked up")

    with Liar("127.0.0.1") as liar:
        liar.serves()
        site = base_url.parse(f"https://127.0.0.1:{liar.port}/team")
        assert len(reader(resolver=resolver).read(site).records) == 2


def test_a_reader_that_checks_nothing_cannot_be_made() -> None:
    for name, value in (("check_hostname", False), ("verify_mode", ssl.CERT_NONE)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        setattr(context, name, value)
        with pytest.raises(ValueError, match="always checked"):
            Https(ssl_context=context)


def test_by_itself_it_permits_public_addresses_only_and_trusts_whom_this_machine_trusts(liar: Liar) -> None:
    usual = Https(resolver=lambda host, port: ["127.0.0.1"])
    with pytest.raises(Refused) as caught:
        usual.read(liar.base)
    assert caught.value.code == "source.address"
    with pytest.raises(Failed) as untrusted:
        Https(resolver=lambda host, port: ["127.0.0.1"], policy=LOOPBACK).read(liar.base)
    assert "certificate" in untrusted.value.message
    assert trusting() is not None


def test_a_guard_holds_one_connection_and_lets_none_stay_open() -> None:
    """Whoever asked for it may have given up before it had it."""
    guard = Guard(Names(lambda *_: [], policy(["127.0.0.0/8"])))
    guard.deadline = Deadline(time.monotonic, 30)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        first, second = (guard.connect_tcp("127.0.0.1", listening.getsockname()[1]) for _ in range(2))
        with pytest.raises(httpcore2.WriteError):
            first.write(b"x")
        second.write(b"x")
        guard.close()
        guard.close()
        with pytest.raises(httpcore2.WriteError):
            second.write(b"x")
