"""Addresses of repositories: what identifies one, and how a packet shows it."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

_SCP = re.compile(r"(?:[^@/\s]+@)?([A-Za-z0-9.\-]+):(?!//)([^\s]+)")
_HOSTED = re.compile(r"[a-z0-9\-]+(?:\.[a-z0-9\-]+)+/\S+", re.I)
_DUBIOUS = re.compile(r"[@:;?#&=]")  # in a path: another address with its credentials, or a token, also if escaped
_REMOTE_SCHEMES = frozenset({"http", "https", "ssh", "git", "git+ssh", "ssh+git", "git+https", "ftp", "ftps"})


def remote_key(address: str) -> str | None:
    """Return the identity of the repository at `address`: `remote:host/path`, in lower case.

    User names, passwords, default ports, `.git` and the scheme do not matter; None where it is no network address.
    """
    shown = remote_ref(address)
    return f"remote:{shown.lower()}" if shown else None


def remote_ref(address: str) -> str:
    """Return `address` as a packet shows it, `github.com/acme/app`, without credentials; "" where it is local."""
    address = address.strip()
    host_and_path = _split_address(address)
    if host_and_path is None:
        return ""
    host, path = host_and_path
    path = re.split(r"[;?#&]", path, maxsplit=1)[0]
    if _DUBIOUS.search(unquote(path)):
        return ""
    path = re.sub(r"/{2,}", "/", path).strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if host and path else ""


def _split_address(address: str) -> tuple[str, str] | None:
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return None
        if parts.scheme not in _REMOTE_SCHEMES:
            return None
        usual = {None, 80, 443, 22, 9418}
        return (host if port in usual else f"{host}:{port}"), parts.path
    if _HOSTED.fullmatch(address) and "@" not in address.split("/", maxsplit=1)[0]:
        host, _, path = address.partition("/")
        return host.lower(), path.split("?")[0].split("#")[0]
    scp = _SCP.fullmatch(address)
    if scp and len(scp[1]) > 1:  # one letter is a Windows drive
        return scp[1].lower(), scp[2]
    return None
