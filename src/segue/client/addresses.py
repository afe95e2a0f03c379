"""Addresses of hosts and invites. Only a loopback address may go without https: a token is sent to it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from segue.base.errors import InvalidInput, Refused

MAX_LENGTH = 255
_INVITES = "/v1/invites/"
_CODE = re.compile(r"[A-Za-z0-9_-]{8,128}", re.ASCII)
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_DEFAULT_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class InviteAddress:
    """Where an invite is accepted: the host's address and the invite's code."""

    host: str
    code: str


def normalised(given: str) -> str:
    """Return the one spelling of a host's address: `https://packets.example.org`, without a slash at its end.

    Without a scheme it is https, on a loopback address http. Names are compared in lower case, a usual port is left
    out. Raises InvalidInput `host.invalid`, Refused `host.insecure` for http to another machine.
    """
    text = given.strip()
    if not _SCHEME.match(text):
        text = f"{'http' if _is_loopback(_split(f'https://{text}').hostname or '') else 'https'}://{text}"
    parts = _split(text)
    name, scheme = parts.hostname or "", parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not _is_name(name):
        raise _invalid()
    if "@" in parts.netloc or parts.query or parts.fragment or "?" in text or "#" in text:
        raise _invalid("it has no user, query or fragment")
    path = parts.path.rstrip("/")
    if not _PATH.fullmatch(path) or any(each in (".", "..") for each in path.split("/")):
        raise _invalid("its path has letters, digits, - . _ and ~ only")
    if scheme == "http" and not _is_loopback(name):
        raise Refused("host.insecure", "a host on another machine is reached by https only; give https://…")
    shown = f"[{name}]" if ":" in name else name
    port = f":{parts.port}" if parts.port is not None and parts.port != _DEFAULT_PORTS[scheme] else ""
    address = f"{scheme}://{shown}{port}{path}"
    if len(address) > MAX_LENGTH:
        raise _invalid(f"it has at most {MAX_LENGTH} characters")
    return address


def invite(given: str, host: str | None) -> InviteAddress:
    """Return what an invite's URL, or its code alone for the configured `host`, names.

    Raises InvalidInput `invite.invalid`, `host.missing` for a code without a host, and what `normalised` raises.
    """
    text = given.strip()
    before, separator, code = text.partition(_INVITES)
    code = code.rstrip("/") if separator else text
    if not _CODE.fullmatch(code):
        raise InvalidInput("invite.invalid", f"an invite is https://HOST{_INVITES}CODE, or the code alone")
    if separator:
        return InviteAddress(normalised(before), code)
    if host is None:
        raise InvalidInput("host.missing", "a code alone needs a host; give the whole URL of the invite")
    return InviteAddress(host, code)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise _invalid() from None
    if any(char.isspace() or not char.isprintable() for char in text):  # urlsplit drops some of these in silence
        raise _invalid()
    return parts


def _is_name(name: str) -> bool:
    if ":" in name or name.replace(".", "").isdigit():
        return _address(name) is not None
    return len(name) <= 253 and _NAME.fullmatch(name) is not None


def _is_loopback(name: str) -> bool:
    address = _address(name)
    return name == "localhost" if address is None else address.is_loopback


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _invalid(why: str = "") -> InvalidInput:
    return InvalidInput("host.invalid", f"a host is given as https://NAME[:PORT]{'; ' + why if why else ''}")
