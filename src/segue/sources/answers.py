"""Answers of a server that is not trusted: what of one is taken once its type, size and packing are checked."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.base.errors import Failed, Refused, SegueError
from segue.base.redaction import shown
from segue.sources import paths
from segue.sources.problems import too_long
from segue.sources.snapshot import Validators

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpcore2

    from segue.sources.base_url import BaseUrl

MANIFEST_TYPES = ("application/json",)
RECORD_TYPES = ("text/markdown", "text/plain")

_VALIDATOR = re.compile(r"[ -~]{1,512}", re.ASCII)
_MEDIA = re.compile(r"([a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+)[ \t]*((?:;[^;]*)*)", re.ASCII | re.IGNORECASE)
_CHARSET = re.compile(r"charset=(?:utf-8|\"utf-8\")", re.IGNORECASE)
_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 64 << 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: a path of the source at `base`, of at most `limit` bytes."""

    base: BaseUrl
    path: str
    limit: int

    @property
    def target(self) -> str:
        """What to ask for at the origin. Raises Refused `source.path`."""
        return self.base.manifest() if self.path == paths.MANIFEST else self.base.target(self.path)

    @property
    def types(self) -> tuple[str, ...]:
        """The media types that it may have."""
        return MANIFEST_TYPES if self.path == paths.MANIFEST else RECORD_TYPES

    def failed(self, code: str, rule: str, why: str) -> Failed:
        """Return the error for what the server or the network did not do."""
        return Failed(code, f"cannot read {self.path} of {self.base}: {why}", {"rule": rule, "where": self.path})

    def refused(self, rule: str, why: str) -> Refused:
        """Return the error for a type that is not read."""
        details = {"rule": rule, "where": self.path}
        return Refused("source.media", f"{self.path} of {self.base} is refused: {why}", details)

    def too_large(self) -> SegueError:
        """Return the error for more bytes than the limit."""
        return too_long(self.path, self.limit)


def location(wanted: Wanted, answer: httpcore2.Response) -> str:
    """Return where a redirect leads, as the server wrote it. Raises Failed `source.response`."""
    found = _values(answer, b"location")
    if len(found) != 1:
        raise wanted.failed(
            "source.response", "response.location", f"it answered {answer.status} without one place to go to"
        )
    return found[0]


def body(wanted: Wanted, answer: httpcore2.Response) -> bytes:
    """Return the bytes of an answer of status 200, unpacked; they are counted before and after unpacking.

    Raises Refused `source.media`, InvalidInput `source.limit`, Failed `source.response`.
    """
    _check_type(wanted, answer)
    encodings = [each.lower() for each in _values(answer, b"content-encoding")]
    if encodings not in ([], ["identity"], ["gzip"]):
        said = shown(", ".join(encodings), 80)
        raise wanted.refused("media.encoding", f"it comes plain, or as gzip; the server says '{said}'")
    lengths = _values(answer, b"content-length")
    if lengths and int(lengths[0]) > wanted.limit:  # the protocol's reader has checked that it is one number
        raise wanted.too_large()
    data = bytearray()
    for piece in _plain(wanted, answer) if encodings != ["gzip"] else _unpacked(wanted, answer):
        data += piece
        if len(data) > wanted.limit:
            raise wanted.too_large()
    came = answer.extensions["network_stream"].body_bytes
    if lengths and came is not None and came > int(lengths[0]):
        text = f"it announced {int(lengths[0]):,} bytes and sent more"
        raise wanted.failed("source.response", "response.length", text)
    return bytes(data)


def skip(wanted: Wanted, answer: httpcore2.Response) -> None:
    """Take what an answer without a body has, so that its connection can go on. Raises InvalidInput `source.limit`."""
    for _ in _plain(wanted, answer):
        pass


def validators(answer: httpcore2.Response) -> Validators:
    """Return what the server gave to ask by; what could not be sent back as it is counts as not given."""
    etag, modified = _values(answer, b"etag"), _values(answer, b"last-modified")
    return Validators(
        etag=etag[0] if len(etag) == 1 and _VALIDATOR.fullmatch(etag[0]) else "",
        last_modified=modified[0] if len(modified) == 1 and _VALIDATOR.fullmatch(modified[0]) else "",
    )


def _check_type(wanted: Wanted, answer: httpcore2.Response) -> None:
    given = _values(answer, b"content-type")
    media = _MEDIA.fullmatch(given[0].strip()) if len(given) == 1 else None
    if media is None or media[1].lower() not in wanted.types:
        said = f"'{shown(', '.join(given), 80)}'" if given else "nothing"
        raise wanted.refused("media.type", f"its type is {' or '.join(wanted.types)}; the server says {said}")
    parameters = [each.strip() for each in media[2].split(";") if each.strip()]
    if any(each.lower().startswith("charset") and not _CHARSET.fullmatch(each) for each in parameters):
        raise wanted.refused("media.charset", f"it is UTF-8; the server says '{shown(given[0], 80)}'")


def _plain(wanted: Wanted, answer: httpcore2.Response) -> Iterator[bytes]:
    """The pieces of an answer as they come, as long as they are not too much."""
    received = 0
    for piece in answer.iter_stream():
        received += len(piece)
        if received > wanted.limit:
            raise wanted.too_large()
        yield piece


def _unpacked(wanted: Wanted, answer: httpcore2.Response) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        for packed in _plain(wanted, answer):
            rest = packed
            while rest:
                yield unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
    except zlib.error:
        raise wanted.refused("media.encoding", "it is no gzip, though the server says so") from None
    if not unpacker.eof or unpacker.unused_data:
        raise wanted.refused("media.encoding", "its gzip is cut, or something follows it")


def _values(answer: httpcore2.Response, name: bytes) -> list[str]:
    return [value.decode("latin-1") for each, value in answer.headers if each.lower() == name]
