"""The HTTPS reader: a manifest and its records from one approved origin and path, and from nowhere else.

No proxy, cookie or other setting is taken from the environment. A server is not trusted: what it sends has its size
counted while it comes, its type checked and its time limited, and where it leads to stays within the base URL.
"""

from __future__ import annotations

import itertools
import json
import random as randomness
import re
import ssl
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from queue import LifoQueue
from typing import TYPE_CHECKING, Any, Self

import httpcore2

from segue.base.errors import Failed, InvalidInput, Refused, SegueError
from segue.base.redaction import shown
from segue.sources import answers, connection, paths
from segue.sources.answers import Wanted
from segue.sources.connection import Deadline, Guard, Names
from segue.sources.limits import DEFAULT
from segue.sources.network import PUBLIC_ONLY
from segue.sources.problems import Problem, error_of
from segue.sources.reading import gathered
from segue.sources.snapshot import Resource, Validators, resource

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from concurrent.futures import Future

    from segue.sources.base_url import BaseUrl
    from segue.sources.connection import Resolver
    from segue.sources.limits import Limits
    from segue.sources.network import Policy
    from segue.sources.snapshot import Snapshot

_REDIRECTS = (301, 302, 303, 307, 308)
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 4.0  # seconds before the second try and before a later one, at most
_BEARER = re.compile(r"[A-Za-z0-9._~+/-]{1,4096}=*", re.ASCII)
_LINES = 4  # connections at a time, so that a far server is read within the time of a refresh
_PER_LINE = 8  # records for which another connection is worth while
_AHEAD = 2  # requests for each connection that are on their way or wait to be taken


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
        read. Raises what `Visit.fetch` and `snapshot.assembled` raise, InvalidInput `source.bearer`.
        """
        with Visit(self, base, before=before, bearer=bearer) as visit:
            try:
                snapshot = gathered(visit, self.limits, before=before or {}, on_progress=on_progress)
            except SegueError as error:  # which may quote what an escape in a file stood for
                raise visit.without_token(error) from None
        for path, read in ((paths.MANIFEST, snapshot.manifest), *((each.path, each) for each in snapshot.records)):
            if bearer and bearer in repr(read):  # here no escape of JSON or YAML hides it
                raise _holds_token(path)
        return snapshot


class Visit:
    """One refresh: its connections and its time. Use it as a context manager. Raises InvalidInput `source.bearer`."""

    def __init__(
        self, https: Https, base: BaseUrl, *, before: Mapping[str, Resource] | None = None, bearer: str = ""
    ) -> None:
        if bearer and not _BEARER.fullmatch(bearer):
            raise InvalidInput("source.bearer", "a bearer token has letters, digits and - . _ ~ + / only, = at its end")
        self.https, self.base, self.bearer = https, base, bearer
        self.before = before or {}
        self.context = https.ssl_context or _trusted()
        self.names = Names(https.resolver, https.policy)
        self.deadline = Deadline(https.clock, https.limits.refresh_seconds)
        self._lines: list[_Line] = []
        self._free: LifoQueue[_Line] = LifoQueue()
        self._add_line()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for line in self._lines:
            line.disconnect()

    def fetch(self, path: str, limit: int) -> Resource:
        """Return what lies at `path` below the base URL, of at most `limit` bytes; again after 5xx or a silence.

        Raises Refused `source.address`, `source.redirect`, `source.media`, `source.path`, `source.credential`;
        AccessLost `source.access`; InvalidInput `source.limit`; Failed `source.unreachable`, `source.deadline`,
        `source.response`.
        """
        line = self._free.get()
        try:
            return line.fetch(Wanted(self.base, path, limit))
        except SegueError as error:  # which may quote what the server said
            raise self.without_token(error) from None
        finally:
            self._free.put(line)

    def fetch_all(self, listed: Sequence[str], limit: int) -> Generator[Resource | SegueError]:
        """Yield what `fetch` returns or raises for each path, in their order; of many, some are fetched at a time.

        Closed before its end, it stops what it is at, and the visit is over.
        """
        while len(self._lines) < min(_LINES, 1 + len(listed) // _PER_LINE):
            self._add_line()
        if len(self._lines) == 1:
            yield from (self._outcome(path, limit) for path in listed)
            return
        coming = iter(listed)
        with ThreadPoolExecutor(len(self._lines), "segue-source") as threads:
            pending: deque[Future[Resource | SegueError]] = deque()
            try:
                while True:
                    for path in itertools.islice(coming, _AHEAD * len(self._lines) - len(pending)):
                        pending.append(threads.submit(self._outcome, path, limit))
                    if not pending:
                        return
                    yield pending.popleft().result()
            finally:
                if pending:
                    self._stop()
                threads.shutdown(cancel_futures=True)

    def _outcome(self, path: str, limit: int) -> Resource | SegueError:
        try:
            return self.fetch(path, limit)
        except SegueError as error:
            return error

    def _stop(self) -> None:
        self.deadline.end()
        for line in self._lines:
            line.abort()

    def _add_line(self) -> None:
        self._lines.append(_Line(self))
        self._free.put(self._lines[-1])

    def without_token(self, error: SegueError) -> SegueError:
        """Return the error without the token, whatever it quotes."""
        told = json.dumps([error.message, error.details]) if self.bearer else ""
        if not told or self.bearer not in told:
            return error
        message, details = json.loads(told.replace(self.bearer, "[token]"))
        return type(error)(error.code, message, details)


class _Line:
    """One connection of a visit, for one request after the other; it is made anew when it ended."""

    def __init__(self, visit: Visit) -> None:
        self._visit, self._https, self._limits = visit, visit.https, visit.https.limits
        self._guard = Guard(visit.names)
        self._pool: httpcore2.ConnectionPool | None = None

    def disconnect(self) -> None:
        """End the connection."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()
        self._guard.close()

    def abort(self) -> None:
        """Wake who waits at the connection: nothing comes any more."""
        self._guard.abort()

    def fetch(self, wanted: Wanted) -> Resource:
        """See `Visit.fetch`."""
        number = 1
        while True:
            try:
                return self._try(wanted)
            except _Again as failed:
                wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (number - 1)) * (0.5 + self._https.random() / 2)
                if number >= self._limits.tries or wait >= self._visit.deadline.left:
                    raise failed.error from None
            self._https.sleep(wait)
            number += 1

    def _try(self, wanted: Wanted) -> Resource:
        self._guard.deadline = Deadline(self._https.clock, self._limits.request_seconds, self._visit.deadline)
        try:
            if self._visit.deadline.left <= 0:
                raise httpcore2.ReadTimeout
            return self._on_an_open_one(wanted)
        except httpcore2.TimeoutException:
            self.disconnect()
            if self._visit.deadline.left <= 0:
                text = f"the refresh took more than {self._limits.refresh_seconds:g} seconds"
                raise wanted.failed("source.deadline", "deadline.refresh", text) from None
            text = f"it did not answer within {self._limits.request_seconds:g} seconds"
            raise _Again(wanted.failed("source.deadline", "deadline.request", text)) from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            self.disconnect()
            raise wanted.failed("source.unreachable", "network.failed", _reason(error)) from None
        except BaseException:
            self.disconnect()
            raise

    def _on_an_open_one(self, wanted: Wanted) -> Resource:
        """Ask; once more within the same time where a connection that was kept had been closed at the other end.

        A server may end one whenever it likes, also as it is asked; to ask again on a new one changes nothing there.
        """
        kept = self._pool is not None
        self._guard.heard = False
        try:
            return self._follow(wanted)
        except (httpcore2.NetworkError, httpcore2.ProtocolError):
            if not kept or self._guard.heard:
                raise
        self.disconnect()
        return self._follow(wanted)

    def _follow(self, wanted: Wanted) -> Resource:
        """Ask, and go where redirects lead as long as that is within the base URL."""
        target = wanted.target
        for _ in range(self._limits.redirects + 1):
            with self._asked(wanted, target) as answer:
                if answer.status not in _REDIRECTS:
                    return self._taken(wanted, answer)
                target = wanted.base.redirected(target, answers.location(wanted, answer))
            self.disconnect()
            self._visit.names.forget()  # each hop is looked up and checked anew
        many = f"{wanted.base}: {wanted.path} redirects more than {self._limits.redirects} times"
        raise Refused("source.redirect", many, {"rule": "redirect.count", "where": wanted.path})

    def _asked(self, wanted: Wanted, target: str) -> Any:
        pool = self._pool = self._pool or httpcore2.ConnectionPool(
            ssl_context=self._visit.context, max_connections=1, network_backend=self._guard
        )
        host = wanted.base.host.strip("[]")
        url = httpcore2.URL(scheme=b"https", host=host.encode(), port=wanted.base.port, target=target.encode())
        return pool.stream("GET", url, headers=self._headers(wanted))

    def _headers(self, wanted: Wanted) -> list[tuple[str, str]]:
        headers = [
            ("Host", wanted.base.authority),
            ("User-Agent", "segue"),
            ("Accept", ", ".join(wanted.types)),
            ("Accept-Encoding", "identity"),
        ]
        if self._visit.bearer:
            headers.append(("Authorization", f"Bearer {self._visit.bearer}"))
        known = self._visit.before.get(wanted.path)
        if known is not None and known.validators.etag:
            headers.append(("If-None-Match", known.validators.etag))
        if known is not None and known.validators.last_modified:
            headers.append(("If-Modified-Since", known.validators.last_modified))
        return headers

    def _taken(self, wanted: Wanted, answer: httpcore2.Response) -> Resource:
        """The resource of an answer that is no redirect."""
        status, path = answer.status, wanted.path
        if status in (401, 403):
            text = f"{wanted.base} refuses access to {path} ({status}); what was read before is not used any more"
            raise AccessLost("source.access", text, {"rule": f"access.{status}", "where": path, "status": status})
        if status >= 500:
            text = f"the server has a fault ({status})"
            raise _Again(wanted.failed("source.unreachable", "response.server", text))
        if status == 304:
            known = self._visit.before.get(path)
            if known is None or known.validators == Validators():
                text = "it answered 304, but nothing was read before"
                raise wanted.failed("source.response", "response.not_modified", text)
            answers.skip(wanted, answer)
            return known
        if status != 200:
            raise wanted.failed("source.response", "response.status", f"it answered {status}")
        data = answers.body(wanted, answer)
        if self._visit.bearer and self._visit.bearer.encode() in data:
            raise _holds_token(path)
        found = answers.validators(answer)
        if self._visit.bearer and any(self._visit.bearer in each for each in (found.etag, found.last_modified)):
            found = Validators()  # they are kept with the snapshot
        return resource(path, data, found)


def _trusted() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)


def _holds_token(path: str) -> SegueError:
    text = "it holds the token that was sent to it"
    return error_of([Problem(rule="credential.bearer", message=text, where=path, refused=True)])


def _reason(error: Exception) -> str:
    said = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return "its certificate is not trusted here, or is for another name"
    return shown(said, 160) or type(error).__name__
