"""The base URL of a source: `https://host[:port]/path/`. Nothing is asked for outside of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from segue.base.errors import Refused, SegueError
from segue.base.redaction import shown
from segue.sources import addresses, paths

MAX_URL = 2_048
HTTPS = 443

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_PATH = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*", re.ASCII)
# What a server may take for a separator, a dot, the end of a text, or another escape.
_ESCAPES = re.compile(r"%(?:2e|2f|5c|25|3b|0[0-9a-f]|1[0-9a-f]|7f)", re.IGNORECASE)
# Addresses without a host, which some take to be on the origin and some for another host.
_HOSTLESS = re.compile(r"(?:https?:)?///|https?:(?!//)", re.IGNORECASE)
_SAFE = "!$&'()*+,;=@-._~"  # in a part of a path, beside letters and digits


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """Where a source lies. `host` is in lower case (IPv6 in brackets), `path` begins and ends with a slash."""

    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """`https://example.org`, with the port where it is not the usual one."""
        return f"https://{self.authority}"

    @property
    def authority(self) -> str:
        """`example.org` or `example.org:8443`, as the header Host has it."""
        return self.host if self.port == HTTPS else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return self.origin + self.path

    def target(self, path: str) -> str:
        """Return what is asked for at the origin for a path in the source. Raises Refused `source.path`."""
        return self.path + "/".join(quote(part, safe=_SAFE) for part in paths.checked(path))

    def manifest(self) -> str:
        """Return what is asked for at the origin for the manifest."""
        return self.path + paths.MANIFEST

    def redirected(self, target: str, location: str) -> str:
        """Return what to ask for at the origin where `target` answered with a redirect to `location`.

        Raises Refused `source.redirect` for what is not on the origin and under the base path, or could be taken so.
        """
        if any(not "!" <= char <= "~" for char in location) or "\\" in location or len(location) > MAX_URL:
            raise self._stray("redirect.url", location, "it is no address")
        if _HOSTLESS.match(location):
            raise self._stray("redirect.origin", location, "it names no host")
        try:
            parts = urlsplit(urljoin(self.origin + target, location))
            port = parts.port or HTTPS
        except ValueError:
            raise self._stray("redirect.url", location, "it is no address") from None
        if parts.scheme != "https":
            raise self._stray("redirect.scheme", location, "it is not https")
        if "@" in parts.netloc:
            raise self._stray("redirect.credentials", location, "it has a user or a password")
        if _shown_host(parts.hostname or "") != self.host or port != self.port:
            raise self._stray("redirect.origin", location, "it is another origin, which needs a consent of its own")
        path = parts.path
        if not _PATH.fullmatch(path) or _ESCAPES.search(path) or _has_odd_parts(path):
            raise self._stray("redirect.path", location, "its path can be read in two ways")
        if not path.startswith(self.path):
            raise self._stray("redirect.outside", location, f"it is not under {self.path}")
        return f"{path}?{parts.query}" if parts.query else path

    def _stray(self, rule: str, location: str, why: str) -> Refused:
        message = f"{self} redirects to '{shown(location, 120)}', which is not followed: {why}"
        return Refused("source.redirect", message, {"rule": rule})


def parse(text: str) -> BaseUrl:
    """Return the base URL that `text` gives; a slash at its end does not matter.

    Raises Refused `source.url`: not https, a user, a query, a fragment, a host or path that can be read in two ways;
    and Refused `source.address` for an address in an unusual spelling.
    """
    found, problems = examined(text)
    if found is None:
        raise problems[0]
    return found


def examined(text: str) -> tuple[BaseUrl | None, list[SegueError]]:
    """Return the base URL, None where anything is wrong, and all that is wrong, as `parse` would raise it."""
    try:
        if any(not "!" <= char <= "~" for char in text) or "\\" in text or len(text) > MAX_URL:
            raise ValueError
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        why = f"it has at most {MAX_URL:,} characters, all of them visible ASCII (a name in its xn-- form)"
        return None, [_refused("url.form", text, why)]
    host, path = _shown_host(parts.hostname or ""), parts.path.rstrip("/") + "/"
    rules = {
        "url.scheme": (parts.scheme != "https", "it begins with https://"),
        "url.credentials": ("@" in parts.netloc, "it has no user and no password"),
        "url.query": ("?" in text, "it has no query"),
        "url.fragment": ("#" in text, "it has no fragment"),
        "url.port": (port == 0 or parts.netloc.endswith(":"), "its port is 1 to 65535"),
        "url.path": (
            not _PATH.fullmatch(path) or bool(_ESCAPES.search(path)) or _has_odd_parts(path),
            "its path has no empty part, no dots alone, and no escaped dots, slashes or controls",
        ),
    }
    problems: list[SegueError] = [_refused(rule, text, why) for rule, (broken, why) in rules.items() if broken]
    try:
        address = addresses.literal(host)
        host = _shown_host(str(address)) if address else host
        if not address and (not _NAME.fullmatch(host) or len(host) > 253):
            problems.append(_refused("url.host", text, "its host is a name of letters, digits, hyphens and dots"))
    except Refused as error:
        problems.append(error)
    return (None if problems else BaseUrl(host, port or HTTPS, path)), problems


def _shown_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _has_odd_parts(path: str) -> bool:
    parts = path.removeprefix("/").removesuffix("/").split("/")
    return path not in ("", "/") and any(part in ("", ".", "..") or part.startswith((".;", "..;")) for part in parts)


def _refused(rule: str, text: str, why: str) -> Refused:
    message = f"a source's base URL is https://HOST/PATH/: {why}"
    return Refused("source.url", message, {"rule": rule, "where": _without_user(text)})


def _without_user(text: str) -> str:
    """The address for a message, without what may be a password or a token in it."""
    head = re.split(r"[?#]", text, maxsplit=1)[0]
    scheme, separator, rest = head.partition("//")
    return shown(scheme + separator + rest.rpartition("@")[2], 120)
