"""Requests to a host, as careful as they must be: a token goes along, and what answers is not trusted.

No proxy or other setting is taken from the environment, no redirect is followed, and an answer has a size and a time
that it must keep to. Only what reads is tried again. No error holds the token, whatever the host said.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from segue.base import jsontext
from segue.base.errors import Conflict, Failed, Gone, InvalidInput, NotFound, Refused, SegueError, Stale
from segue.base.redaction import harmless
from segue.base.untrusted import one_line, shorten
from segue.client.addresses import normalised
from segue.client.timed import Deadline, Timed

if TYPE_CHECKING:
    from collections.abc import Callable

Params = Mapping[str, str | list[str]]

TIMEOUT_SECONDS = 30.0
MAX_ANSWER = 8 << 20
_WAITS = (0.25, 1.0)  # before the second try and the third
_LONGEST_WAIT = 10.0  # that a host may ask for, where a command waits
_MAX_MESSAGE = 300
_CODE = re.compile(r"[a-z0-9_]{1,40}(?:\.[a-z0-9_]{1,40})?")
_REDACTION = "packet.redaction"


class Unavailable(Failed):
    """The host did not do it now and may do it another time, after `retry_after` seconds where it names any."""

    retry_after = 0


_ERRORS: dict[int, tuple[type[SegueError], str]] = {
    400: (InvalidInput, "host.rejected"),
    401: (Refused, "auth.invalid"),
    403: (Refused, "host.forbidden"),
    404: (NotFound, "host.not_found"),
    405: (Refused, "host.unsupported"),
    409: (Conflict, "packet.exists"),
    410: (Gone, "invite.gone"),
    412: (Stale, "packet.changed"),
    413: (InvalidInput, "host.too_large"),
    415: (InvalidInput, "host.rejected"),
    422: (InvalidInput, "host.rejected"),
    429: (Unavailable, "host.busy"),
    502: (Unavailable, "host.failed"),
    503: (Unavailable, "host.failed"),
    504: (Unavailable, "host.failed"),
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of a host: status, headers by lower-case name, body."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def document(self) -> dict[str, Any]:
        """Return the JSON object of the body. Raises Failed `host.answer`."""
        try:
            value = jsontext.parse(self.body)
        except InvalidInput:
            value = None
        if not isinstance(value, dict):
            raise unexpected()
        return value


class Wire:
    """A connection to one host; `token` goes along with each request to it, and to nowhere else.

    `address` is that of the host (see `addresses.normalised`); `timeout` is in seconds, for a whole request;
    `transport`, `pause` and `ticks` are for tests. Close it, or use it as a context manager.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        transport: httpx2.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.address = normalised(address)
        self._token = token
        self._timeout = timeout
        self._pause = pause
        self._ticks = ticks
        self._deadline = Deadline(ticks)
        self._client = httpx2.Client(
            trust_env=False,
            follow_redirects=False,
            timeout=timeout,
            transport=transport or Timed(self._deadline),
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "segue"},
        )

    @property
    def account(self) -> str:
        """What tells one token from another and gives nothing of it away, "" without one."""
        return hashlib.sha256(self._token.encode()).hexdigest()[:16] if self._token else ""

    def wait(self, seconds: float) -> None:
        """Let that time pass."""
        self._pause(seconds)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def __repr__(self) -> str:
        return f"Wire({self.address!r})"

    def get(self, path: str, params: Params | None = None, *, etag: str = "") -> Reply:
        """Ask for something, once more or twice where the host cannot be reached or is busy.

        With `etag`, an answer of status 304 says that what has that tag has not changed.
        Raises what `send` raises.
        """
        headers = {"If-None-Match": etag} if etag else {}
        for wait in _WAITS:
            try:
                return self._send("GET", path, params, headers, None)
            except Unavailable as error:
                if error.retry_after > _LONGEST_WAIT:
                    raise
                self._pause(max(wait, float(error.retry_after)))
        return self._send("GET", path, params, headers, None)

    def send(
        self,
        method: str,
        path: str,
        params: Params | None = None,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request that changes something, once.

        Raises Unavailable `host.unreachable`, `host.busy`, `host.failed`; Failed `host.failed`, `host.answer`; Refused
        `host.redirect`; and what a status means, with the host's own code where it gives one: InvalidInput, Refused,
        Conflict, Stale, NotFound, Gone.
        """
        given = dict(headers or {})
        if body is not None:
            given["Content-Type"] = "application/json"
        return self._send(method, path, params, given, body)

    def _send(
        self, method: str, path: str, params: Params | None, headers: dict[str, str], body: bytes | None
    ) -> Reply:
        if self._token is not None:
            headers = headers | {"Authorization": f"Bearer {self._token}"}
        until = self._ticks() + self._timeout
        try:
            with (
                self._deadline.within(self._timeout),
                self._client.stream(
                    method, self.address + path, params=params, headers=headers, content=body
                ) as answer,
            ):
                reply = Reply(answer.status_code, dict(answer.headers), self._read(answer, until))
        except httpx2.TimeoutException:
            raise self._unreachable("it did not answer in time") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise self._unreachable(_reason(error)) from None
        if 200 <= reply.status < 300 or (reply.status == 304 and "If-None-Match" in headers):
            return reply
        raise self._error(reply)

    def _read(self, answer: httpx2.Response, until: float) -> bytes:
        body = bytearray()
        for chunk in answer.iter_bytes():
            body += chunk
            if len(body) > MAX_ANSWER:
                raise Failed("host.answer", f"{self.address} sent more than {MAX_ANSWER >> 20} MB")
            if self._ticks() > until:
                raise self._unreachable("it did not answer in time")
        return bytes(body)

    def _unreachable(self, reason: str) -> Unavailable:
        message = f"{self.address} cannot be reached: {self._clean(reason)}"
        return Unavailable("host.unreachable", message, {"host": self.address})

    def _error(self, reply: Reply) -> SegueError:
        status = reply.status
        if 300 <= status < 400:
            return Refused("host.redirect", f"{self.address} sends elsewhere, which is not followed; give its address")
        said, code, details = self._said(reply)
        kind, usual = _ERRORS.get(status, (Failed, "host.failed"))
        if code == _REDACTION:  # which a host answers with the status of an invalid packet
            kind = Refused
        error = kind(code or usual, f"{self.address}: {said or f'it answered {status}'}", details)
        if isinstance(error, Unavailable):
            error.retry_after = _seconds(reply.headers.get("retry-after", ""))
        return error

    def _said(self, reply: Reply) -> tuple[str, str, dict[str, Any]]:
        """What an error's body tells: its message on one line, its code, and the details that a command shows."""
        try:
            document = reply.document()
        except Failed:
            return "", "", {}
        message, code, told = document.get("error"), document.get("code"), document.get("details")
        text = self._clean(message) if isinstance(message, str) else ""
        details: dict[str, Any] = {"status": reply.status}
        if isinstance(told, dict) and isinstance(told.get("id"), str):
            details["id"] = self._clean(told["id"])
        return text, code if isinstance(code, str) and _CODE.fullmatch(self._clean(code)) else "", details

    def _clean(self, text: str) -> str:
        if self._token:
            text = text.replace(self._token, "[token]")
        return shorten(one_line(harmless(text[: 4 * _MAX_MESSAGE])), _MAX_MESSAGE)


def unexpected() -> Failed:
    """Return the error for an answer that is none of the contract's."""
    return Failed("host.answer", "the host did not answer as a packet server does; is the address right?")


def _seconds(text: str) -> int:
    return min(int(text), 3_600) if text.isascii() and text.isdigit() and len(text) < 8 else 0


def _reason(error: Exception) -> str:
    said = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return "its certificate is not trusted here"
    return said or type(error).__name__
