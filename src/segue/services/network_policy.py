"""The administrator's policy for the network, read from a file that only the administrator can write.

It lies where the system keeps the configuration of a site, and nothing in the environment moves it: whoever sets a
variable must not thereby open the network behind this machine.
"""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from segue.base.errors import Refused
from segue.sources.network import PUBLIC_ONLY, policy

if TYPE_CHECKING:
    from segue.sources.network import Policy

FILE = "config.toml"
_MOST = 1 << 20
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


def site_folder() -> Path:
    """Return the folder of the site's configuration: `/etc/xdg/segue`, on macOS it is below `/Library`."""
    return Path("/Library/Application Support/segue" if sys.platform == "darwin" else "/etc/xdg/segue")


def read(folder: Path | None = None, *, owner: int = 0) -> Policy:
    """Return what `[network] allow` in the site's `config.toml` permits; without the file, public addresses alone.

    `folder` is another folder than the site's, `owner` the user id that file and folder must belong to. Raises Refused
    `source.policy_file` where others may write either, or it cannot be read: then it is not known what is permitted.
    """
    place = (site_folder() if folder is None else folder) / FILE
    if os.name != "posix":  # who may write there cannot be told
        return PUBLIC_ONLY
    try:
        handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return PUBLIC_ONLY
    except OSError as error:
        raise _refused(place, f"it cannot be read: {error.strerror or error}") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _refused(place, "it is no file")
        _require_safe(place, os.fstat(handle), owner)
        _require_safe(place.parent, place.parent.stat(), owner)
        document = tomllib.loads(_whole(place, handle).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        raise _refused(place, "it is no TOML") from None
    finally:
        os.close(handle)
    network = document.get("network", {})
    allowed = network.get("allow", []) if isinstance(network, dict) else None
    if not isinstance(allowed, list):
        raise _refused(place, "[network] allow is a list of networks")
    return policy(allowed)


def _whole(place: Path, handle: int) -> bytes:
    """All of the file: the half of a policy is another policy."""
    data = bytearray()
    while piece := os.read(handle, _MOST + 1 - len(data)):
        data += piece
    if len(data) > _MOST:
        raise _refused(place, f"it has more than {_MOST:,} bytes")
    return bytes(data)


def _require_safe(place: Path, status: os.stat_result, owner: int) -> None:
    if status.st_uid != owner:
        raise _refused(place, "it does not belong to the administrator")
    if status.st_mode & _WRITABLE:
        raise _refused(place, "others than the administrator may write it")


def _refused(place: Path, why: str) -> Refused:
    return Refused("source.policy_file", f"{place} is not followed, and no address is read meanwhile: {why}")
