"""Addresses of what is kept: `segue://memory/mem_…` as a resource, `memory:mem_…` as the id of a search result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import quote, unquote

from segue.base.errors import InvalidInput

Kind = Literal["packet", "memory", "capsule"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SCHEME = "segue://"
LEGEND = f"{SCHEME}legend"
_SAFE = ":@!$'()*,;="  # of the rest, what a path's segment may hold needs no escape


@dataclass(frozen=True, slots=True)
class Address:
    """The `kind` of a thing and its id, `name`, which may be an ending that only one has."""

    kind: Kind
    name: str

    @classmethod
    def parse(cls, given: str) -> Address:
        """Return what an address names. Raises InvalidInput `address.invalid`."""
        if given.startswith(SCHEME):
            kind, _, name = given.removeprefix(SCHEME).partition("/")
            name = unquote(name)
        else:
            kind, _, name = given.partition(":")
        if kind not in KINDS or not name:
            known = ", ".join(f"{SCHEME}{each}/ID" for each in KINDS)
            raise InvalidInput("address.invalid", f"there is no such address; there are {LEGEND}, {known}")
        return cls(kind, name)

    @property
    def uri(self) -> str:
        """The address as a URI."""
        return f"{SCHEME}{self.kind}/{quote(self.name, safe=_SAFE)}"

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"
