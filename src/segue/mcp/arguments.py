"""Arguments that several tools take: a time, and the folder that a call is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from segue.app import Segue

TIME = {"type": "string", "maxLength": 40, "description": "RFC 3339 with its offset, as 2026-05-04T12:00:00Z."}
DIRECTORY = {
    "type": "string",
    "maxLength": 4096,
    "description": "Absolute path of the folder you work in. Only needed when this server was not started there.",
}


def at_directory(segue: Segue, arguments: dict[str, Any]) -> Segue:
    """Return the Segue that a call is about: of the folder that it names, else of the one the server was started in.

    The project is recognised anew at each call: a remote or a `segue.toml` can appear while the server runs.
    Raises InvalidInput `directory.invalid`.
    """
    given = arguments.get("directory")
    if given is None:
        return segue.at(segue.directory)
    path = Path(given)
    if not path.is_absolute() or not _is_folder(path):
        raise InvalidInput("directory.invalid", "'directory' must be the absolute path of an existing folder")
    return segue.at(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long for one, or a folder that may not be looked into
        return False
