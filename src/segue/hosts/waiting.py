"""How many candidates of a project's continuity wait for its user: they lie in the journal, and not in the store."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from segue.base.errors import SegueError
from segue.continuity import files
from segue.location import home
from segue.services.continuity_place import key_and_folder

if TYPE_CHECKING:
    from pathlib import Path

    from segue.hosts.calling import Call
    from segue.services.projects import Project


def candidates(call: Call, project: Project) -> int:
    """Return the number of candidates that wait; 0 where no journal can be read, which `segue status` tells."""
    own = home(call.environment)
    with contextlib.suppress(SegueError, OSError):
        if (own / files.FOLDER).is_dir():
            return _waiting(key_and_folder(own, project)[1] / files.JOURNAL)
    return 0


def _waiting(path: Path) -> int:
    if not path.exists():
        return 0
    from segue.continuity import journal  # few projects have one

    data = files.read(path, journal.MAX_BYTES) or b""
    return len(journal.parse(data, lambda content_hash: content_hash).of("candidate"))
