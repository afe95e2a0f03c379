"""Limits of what is read from a source. The recommended ones hold; a user may set lower ones, never higher."""

from __future__ import annotations

from dataclasses import dataclass, fields

from segue.base.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is read, and for how long. Every value is above 0 and at most the default.

    Bytes are counted while they are read, of a compressed answer as they come out of it. `request_seconds` is for a
    whole request with its redirects, `refresh_seconds` for all of a refresh; `redirects` for each request, `tries` for
    each request that meets an error of the server or a time limit. Raises InvalidInput `source.limit`.
    """

    manifest_bytes: int = 1 << 20
    record_bytes: int = 256 << 10
    total_bytes: int = 64 << 20
    records: int = 1_000
    request_seconds: float = 10.0
    refresh_seconds: float = 120.0
    redirects: int = 5
    tries: int = 3

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            most: float = each.default  # type: ignore[assignment]
            if not 0 < value <= most:
                message = f"the limit {each.name} is above 0 and at most {most:,}"
                raise InvalidInput("source.limit", message, {"limit": each.name})


DEFAULT = Limits()
