"""Where the continuity of one project is: its root, Segue's folder for it, its settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from segue.base.errors import Refused
from segue.continuity import files
from segue.services import continuity_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from segue.services.continuity_settings import ContinuitySettings
    from segue.services.projects import Project
    from segue.storage.database import Database

__all__ = ["Place", "key_and_folder"]


@dataclass(frozen=True)
class Place:
    """What every service of continuity is made with.

    `directory` is the folder that is worked in; `home` gives Segue's own folder. Every property that needs a project
    raises Refused `continuity.no_project` where the work belongs to none (as on a server).
    """

    database: Database
    scope_id: str
    directory: Path
    home: Callable[[], Path]
    identify: Callable[[], Project]
    clock: Callable[[], datetime]
    actor: str = "local"

    @cached_property
    def project(self) -> Project:
        """The project, which has a key and a root."""
        project = self.identify()
        if not project.key:
            raise Refused(
                "continuity.no_project", "continuity belongs to a project on this machine; there is none here"
            )
        return project

    @cached_property
    def root(self) -> Path:
        """The project's root, with its links resolved."""
        return self.project.root.resolve()

    @cached_property
    def _found(self) -> tuple[str, Path]:
        return key_and_folder(self.home(), self.project)

    @property
    def key(self) -> str:
        """The key that the project's receipts lie under."""
        return self._found[0]

    @property
    def folder(self) -> Path:
        """Segue's folder for this project; it may not be there yet."""
        return self._found[1]

    @cached_property
    def settings(self) -> ContinuitySettings:
        """What `segue.toml` says. Raises InvalidInput `config.invalid`."""
        return continuity_settings.read(self.directory)

    def locked(self, seconds: float = files.LOCK_SECONDS) -> AbstractContextManager[None]:
        """Have the folder for oneself; see `continuity.files.locked`."""
        return files.locked(self.folder, seconds)


def key_and_folder(home: Path, project: Project) -> tuple[str, Path]:
    """Return the key that a project's continuity lies under, and its folder. Raises InvalidInput `file.read`.

    A repository that got a remote, or an id, later is the same project still (see `Project.keys`).
    """
    own = files.folder(home, project.key, project.name)
    if files.exists(own):
        return project.key, own
    for key, found in _others(home, project):
        if files.exists(found):
            return key, found
    return project.key, own


def _others(home: Path, project: Project) -> Iterator[tuple[str, Path]]:
    if not files.exists(home / files.FOLDER):
        return  # git need not be asked
    for key in project.keys[1:]:
        yield key, files.folder(home, key, project.name)
