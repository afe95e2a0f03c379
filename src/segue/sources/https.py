"""The HTTPS reader: a manifest and its records from one approved origin and path, and from nowhere else.

No proxy, cookie or other setting is taken from the environment. A server is not trusted: what it sends has its size
counted while it comes, its type checked and its time limited, and where it leads to stays within the base URL.
"""

from __future__ import annotations

import json
import random as randomness
import re
import ssl
import time
import zlib
from typing import TYPE_CHECKING, Any, Self

import httpcore2

from segue.base.errors import Failed, InvalidInput, Refused, SegueError
from segue.base.redaction import shown
from segue.sources import connection, paths
from segue.sources.connection import Deadline, Guard
from segue.sources.limits import DEFAULT
from segue.sources.network import PUBLIC_ONLY
from segue.sources.problems import Problem, error_of
from segue.sources.reading import gathered
from segue.sources.snapshot import Resource, Validators, resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from segue.sources.base_url import BaseUrl
    from segue.sources.connection import Resolver
    from segue.sources.limits import Limits
    from segue.sources.network import Policy
    from segue.sources.snapshot import Snapshot

MANIFEST_TYPES = ("application/json",)
RECORD_TYPES = ("text/markdown", "text/plain")

_REDIRECTS = (301, 302, 303, 307, 308)
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 4.0  # seconds before the second try and before a later one, at most
_BEARER = re.compile(r"[A-Za-z0-9._~+/-]{1,4096}=*", re.ASCII)
_VALIDATOR = re.compile(r"[ -~]{1,512}", re.ASCII)
_MEDIA = re.compile(r"([a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+)[ \t]*((?:;[^;]*)*)", re.ASCII | re.IGNORECASE)
_CHARSET = re.compile(r"charset=(?:utf-8|\"utf-8\")", re.IGNORECASE)
_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 64 << 10


class AccessLost(Refused):
    """The server lets nobody in with what was sent (401 or 403): what was read before is not to be used."""


class _Again(Exception):
    """A try failed in a way that another one may mend."""

    def __init__(self, error: Failed) -> None:
        super().__init__(error.message)
        self.error = error


class Https:
    """Reads sources over HTTPS.

    `resolver` finds the addresses of a name, `policy` permits such as are not public, `ssl_context` says whom to trust
    (None: whom this machine trusts). `clock` runs forward in seconds, `sleep` waits, `random` gives 0 to 1.
    """

    def __init__(
        self,
        *,
        resolver: Resolver = connection.resolve,
        policy: Policy = PUBLIC_ONLY,
        limits: Limits = DEFAULT,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = randomness.random,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        if ssl_context is not None and (ssl_context.verify_mode != ssl.CERT_REQUIRED or not ssl_context.check_hostname):
            raise ValueError("a source's server is always checked: its certificate and its name")
        self.resolver, self.policy, self.limits = resolver, policy, limits
        self.clock, self.sleep, self.random = clock, sleep, random
        self.ssl_context = ssl_context

    def read(
        self,
        base: BaseUrl,
        *,
        before: Mapping[str, Resource] | None = None,
        bearer: str = "",
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Snapshot:
        """Return the snapshot of the source at `base`.

        `before` are the resources of the last snapshot by path: what the server says has not changed is taken from
        there. `bearer` is sent to the origin of `base` only. `on_progress` is told how many of how many records are
        read. Raises what `Visit.fetch` and `snapshot.assembled` raise.
        """
        with Visit(self, base, before=before, bearer=bearer) as visit:
            return gathered(visit.fetch, self.limits, before=before or {}, on_progress=on_progress)


class Visit:
    """One refresh: its connection and its time. Use it as a context manager."""

    def __init__(
        self, https: Https, base: BaseUrl, *, before: Mapping[str, Resource] | None = None, bearer: str = ""
    ) -> None:
        if bearer and not _BEARER.fullmatch(bearer):
            raise InvalidInput("source.bearer", "a bearer token has letters, digits and - . _ ~ + / only, = at its end")
        self._https, self._limits, self._base = https, https.limits, base
        self._before = before or {}
        self._bearer = bearer
        self._deadline = Deadline(https.clock, self._limits.refresh_seconds)
        self._guard = Guard(https.resolver, https.policy)
        self._context = https.ssl_context or _trusted()
        self._pool: httpcore2.ConnectionPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._disconnect()

    def fetch(self, path: str, limit: int) -> Resource:
        """Return what lies at `path` below the base URL, of at most `limit` bytes; again after 5xx or a silence.

        Raises Refused `source.address`, `source.redirect`, `source.media`, `source.path`, `source.credential`;
        AccessLost `source.access`; InvalidInput `source.limit`; Failed `source.unreachable`, `source.deadline`,
        `source.response`.
        """
        target = self._base.manifest() if path == paths.MANIFEST else self._base.target(path)
        try:
            return self._fetch(path, target, limit)
        except SegueError as error:  # which may quote what the server said
            raise self._without_token(error) from None

    def _fetch(self, path: str, target: str, limit: int) -> Resource:
        number = 1
        while True:
            try:
                return self._try(path, target, limit)
            except _Again as failed:
                wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (number - 1)) * (0.5 + self._https.random() / 2)
                if number >= self._limits.tries or wait >= self._deadline.left:
                    raise failed.error from None
            self._https.sleep(wait)
            number += 1

    def _try(self, path: str, target: str, limit: int) -> Resource:
        if self._deadline.left <= 0:
            raise self._late(path)
        self._guard.deadline = Deadline(self._https.clock, self._limits.request_seconds, self._deadline)
        try:
            return self._follow(path, target, limit)
        except httpcore2.TimeoutException:
            self._disconnect()
            if self._deadline.left <= 0:
                raise self._late(path) from None
            text = f"it did not answer within {self._limits.request_seconds:g} seconds"
            raise _Again(self._failed("source.deadline", "deadline.request", path, text)) from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            self._disconnect()
            raise self._failed("source.unreachable", "network.failed", path, _reason(error)) from None
        except BaseException:
            self._disconnect()
            raise

    def _follow(self, path: str, target: str, limit: int) -> Resource:
        """Ask, and go where redirects lead as long as that is within the base URL."""
        for _ in range(self._limits.redirects + 1):
            with self._asked(path, target) as answer:
                if answer.status not in _REDIRECTS:
                    return self._taken(path, answer, limit)
                locations = _values(answer, b"location")
                if len(locations) != 1:
                    raise self._odd(
                        "response.location", path, f"it answered {answer.status} without one place to go to"
                    )
                target = self._base.redirected(target, locations[0])
            self._disconnect()  # each hop is looked up and checked anew
        many = f"{self._base}: {path} redirects more than {self._limits.redirects} times"
        raise Refused("source.redirect", many, {"rule": "redirect.count", "where": path})

    def _asked(self, path: str, target: str) -> Any:
        pool = self._pool = self._pool or httpcore2.ConnectionPool(
            ssl_context=self._context, max_connections=1, network_backend=self._guard
        )
        host = self._base.host.strip("[]")
        url = httpcore2.URL(scheme=b"https", host=host.encode(), port=self._base.port, target=target.encode())
        return pool.stream("GET", url, headers=self._headers(path))

    def _headers(self, path: str) -> list[tuple[str, str]]:
        wanted = MANIFEST_TYPES if path == paths.MANIFEST else RECORD_TYPES
        headers = [
            ("Host", self._base.authority),
            ("User-Agent", "segue"),
            ("Accept", ", ".join(wanted)),
            ("Accept-Encoding", "identity"),
        ]
        if self._bearer:
            headers.append(("Authorization", f"Bearer {self._bearer}"))
        known = self._before.get(path)
        if known is not None and known.validators.etag:
            headers.append(("If-None-Match", known.validators.etag))
        if known is not None and known.validators.last_modified:
            headers.append(("If-Modified-Since", known.validators.last_modified))
        return headers

    def _taken(self, path: str, answer: httpcore2.Response, limit: int) -> Resource:
        """The resource of an answer that is no redirect."""
        status = answer.status
        if status in (401, 403):
            text = (
                f"{self._base} refuses access to {path} ({status}); what was read from it before is not used any more"
            )
            raise AccessLost("source.access", text, {"rule": f"access.{status}", "where": path, "status": status})
        if status >= 500:
            text = f"the server has a fault ({status})"
            raise _Again(self._failed("source.unreachable", "response.server", path, text))
        known = self._before.get(path)
        if status == 304:
            if known is None or known.validators == Validators():
                raise self._odd("response.not_modified", path, "it answered 304, but nothing was read before")
            for _ in _plain(path, answer, limit):  # there is none, and the connection goes on
                pass
            return known
        if status != 200:
            raise self._odd("response.status", path, f"it answered {status}")
        self._check_type(path, answer)
        data = self._body(path, answer, limit)
        if self._bearer and self._bearer.encode() in data:
            text = "it holds the token that was sent to it"
            raise error_of([Problem(rule="credential.bearer", message=text, where=path, refused=True)])
        return resource(path, data, _validators(answer))

    def _check_type(self, path: str, answer: httpcore2.Response) -> None:
        wanted = MANIFEST_TYPES if path == paths.MANIFEST else RECORD_TYPES
        given = _values(answer, b"content-type")
        media = _MEDIA.fullmatch(given[0].strip()) if len(given) == 1 else None
        if media is None or media[1].lower() not in wanted:
            said = f"'{shown(', '.join(given), 80)}'" if given else "nothing"
            raise self._media("media.type", path, f"its type is {' or '.join(wanted)}; the server says {said}")
        parameters = [each.strip() for each in media[2].split(";") if each.strip()]
        if any(each.lower().startswith("charset") and not _CHARSET.fullmatch(each) for each in parameters):
            raise self._media("media.charset", path, f"it is UTF-8; the server says '{shown(given[0], 80)}'")

    def _body(self, path: str, answer: httpcore2.Response, limit: int) -> bytes:
        """The bytes of an answer, as they are after decompression, counted before and after it."""
        encodings = [each.lower() for each in _values(answer, b"content-encoding")]
        if encodings not in ([], ["identity"], ["gzip"]):
            said = shown(", ".join(encodings), 80)
            raise self._media("media.encoding", path, f"it comes plain, or as gzip; the server says '{said}'")
        lengths = _values(answer, b"content-length")
        if lengths and int(lengths[0]) > limit:  # the protocol's reader has checked that it is one number
            raise _too_large(path, limit)
        pieces = _plain(path, answer, limit) if encodings != ["gzip"] else self._unpacked(path, answer, limit)
        data = bytearray()
        for piece in pieces:
            data += piece
            if len(data) > limit:
                raise _too_large(path, limit)
        came = answer.extensions["network_stream"].body_bytes
        if lengths and came is not None and came > int(lengths[0]):
            raise self._odd("response.length", path, f"it announced {int(lengths[0]):,} bytes and sent more")
        return bytes(data)

    def _unpacked(self, path: str, answer: httpcore2.Response, limit: int) -> Iterator[bytes]:
        unpacker = zlib.decompressobj(_GZIP)
        try:
            for packed in _plain(path, answer, limit):
                rest, piece = packed, b""
                while rest or len(piece) == _PIECE:  # a full piece: there may be more to come of what went in
                    piece = unpacker.decompress(rest, _PIECE)
                    rest = unpacker.unconsumed_tail
                    yield piece
        except zlib.error:
            raise self._media("media.encoding", path, "it is no gzip, though the server says so") from None
        if not unpacker.eof or unpacker.unused_data:
            raise self._media("media.encoding", path, "its gzip is cut, or something follows it")

    def _without_token(self, error: SegueError) -> SegueError:
        told = json.dumps([error.message, error.details])
        if not self._bearer or self._bearer not in told:
            return error
        message, details = json.loads(told.replace(self._bearer, "[token]"))
        return type(error)(error.code, message, details)

    def _disconnect(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _late(self, path: str) -> SegueError:
        text = f"the refresh took more than {self._limits.refresh_seconds:g} seconds"
        return self._failed("source.deadline", "deadline.refresh", path, text)

    def _odd(self, rule: str, path: str, text: str) -> SegueError:
        return self._failed("source.response", rule, path, text)

    def _failed(self, code: str, rule: str, path: str, text: str) -> Failed:
        return Failed(code, f"cannot read {path} of {self._base}: {text}", {"rule": rule, "where": path})

    def _media(self, rule: str, path: str, text: str) -> Refused:
        return Refused("source.media", f"{path} of {self._base} is refused: {text}", {"rule": rule, "where": path})


def _plain(path: str, answer: httpcore2.Response, limit: int) -> Iterator[bytes]:
    """The pieces of an answer as they come, as long as they are not too much."""
    received = 0
    for piece in answer.iter_stream():
        received += len(piece)
        if received > limit:
            raise _too_large(path, limit)
        yield piece


def _too_large(path: str, limit: int) -> SegueError:
    rule = "limit.manifest_bytes" if path == paths.MANIFEST else "limit.record_bytes"
    return error_of([Problem(rule=rule, message=f"it has more than {limit:,} bytes", where=path)])


def _values(answer: httpcore2.Response, name: bytes) -> list[str]:
    return [value.decode("latin-1") for each, value in answer.headers if each.lower() == name]


def _validators(answer: httpcore2.Response) -> Validators:
    """What the server gave to ask by; what could not be sent back as it is counts as not given."""
    etag, modified = _values(answer, b"etag"), _values(answer, b"last-modified")
    return Validators(
        etag=etag[0] if len(etag) == 1 and _VALIDATOR.fullmatch(etag[0]) else "",
        last_modified=modified[0] if len(modified) == 1 and _VALIDATOR.fullmatch(modified[0]) else "",
    )


def _trusted() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)


def _reason(error: Exception) -> str:
    said = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return "its certificate is not trusted here, or is for another name"
    return shown(said, 160) or type(error).__name__
