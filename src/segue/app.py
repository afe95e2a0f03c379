"""`segue.open()`: the only place that wires the parts together."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from segue.base import time
from segue.base.errors import Failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from segue.services.capsules import Capsules
    from segue.services.packets import Packets
    from segue.services.projects import Project
    from segue.services.store import Store
    from segue.storage.database import Database

STORE_FILE = "segue.db"


class Segue:
    """An open store with its services. Close it, or use it as a context manager."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        home: Callable[[], Path],
        directory: Path,
        clock: Callable[[], datetime],
        actor: str,
    ) -> None:
        self._database = database
        self._scope = scope_id
        self._home = home
        self._directory = directory
        self._clock = clock
        self._actor = actor

    def at(self, directory: Path) -> Segue:
        """Return this Segue as seen from another folder, and so for its project; both share the store."""
        return Segue(
            self._database, self._scope, home=self._home, directory=directory, clock=self._clock, actor=self._actor
        )

    @property
    def home(self) -> Path:
        """The folder of Segue's own files. Raises Failed `home.missing` where the user has no home folder."""
        return self._home()

    @property
    def directory(self) -> Path:
        """The folder that this Segue was opened in."""
        return self._directory

    def now(self) -> datetime:
        """Return the time by this Segue's clock."""
        return self._clock()

    @cached_property
    def project(self) -> Project:
        """The project of the folder that this Segue was opened in. Raises InvalidInput `config.invalid`."""
        from segue.services.projects import identify

        return identify(self._directory)

    @cached_property
    def packets(self) -> Packets:
        """The packets in the store."""
        from segue.services.packets import Packets

        return Packets(self._database, self._scope, project=lambda: self.project, clock=self._clock, actor=self._actor)

    @cached_property
    def capsules(self) -> Capsules:
        """The capsules in the store."""
        from segue.services.capsules import Capsules

        return Capsules(self._database, self._scope, project=lambda: self.project, clock=self._clock, actor=self._actor)

    @cached_property
    def store(self) -> Store:
        """The store itself: backup, restore, doctor, events."""
        from segue.services.store import Store

        return Store(self._database, self._scope, clock=self._clock, home=self._home, actor=self._actor)

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open(  # noqa: A001 - the library's one verb; read as segue.open
    location: str | Path | None = None,
    *,
    directory: Path | None = None,
    clock: Callable[[], datetime] = time.utc_now,
    actor: str = "local",
) -> Segue:
    """Open a store and return the Segue over it.

    `location` is a path, `sqlite:///FILE` or `postgresql+psycopg://…`; without it the variable SEGUE_DB, else
    `segue.db` in the home folder (see `home`). `directory` is the folder whose project is meant, the current one
    by default; `clock` gives the time; `actor` is named in the event log. Raises Failed `store.…`.
    """
    from segue.storage import schema, scopes
    from segue.storage.database import open_database

    environment = os.environ.copy()
    here = directory or current_directory()
    database = open_database(location if location is not None else default_location(environment))
    try:
        schema.ensure(database)
        scope_id = scopes.local(database, clock)
    except BaseException:
        database.close()
        raise
    # A store that is named needs no home folder; its path is asked for where a file goes there.
    return Segue(database, scope_id, home=lambda: home(environment), directory=here, clock=clock, actor=actor)


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
