"""Where Segue's files lie: the home folder, and the store in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from segue.base.errors import Failed

if TYPE_CHECKING:
    from collections.abc import Mapping

STORE_FILE = "segue.db"


def default_location(environment: Mapping[str, str]) -> str | Path:
    """Return where the user's store is: SEGUE_DB (a path or URL), else `segue.db` in the home folder."""
    return environment.get("SEGUE_DB") or home(environment) / STORE_FILE


def home(environment: Mapping[str, str]) -> Path:
    """Return the folder of Segue's own files: SEGUE_HOME, else the platform's folder for user data.

    Raises Failed `home.missing` where the user has no home folder.
    """
    given = environment.get("SEGUE_HOME")
    try:
        if given:
            return Path(given).expanduser().absolute()
        from platformdirs import user_data_path

        folder = user_data_path("segue")
    except RuntimeError:
        folder = Path("~")
    if not folder.is_absolute():
        raise Failed("home.missing", "this user has no home folder; set SEGUE_HOME to a folder for Segue's files")
    return folder


def current_directory() -> Path:
    """Return the current folder. Raises Failed `directory.missing` where it was removed."""
    try:
        return Path.cwd()
    except OSError:
        raise Failed("directory.missing", "the current folder does not exist any more; change to another one") from None
