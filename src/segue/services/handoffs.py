"""Handoffs in a project: made of a state that was given, kept in Segue's folder, restored where nothing has changed.

Hooks call this module, so it imports no database.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from segue.base import jsontext, redaction
from segue.base.errors import Failed, InvalidInput, NotFound, SegueError
from segue.base.redaction import ON_PURPOSE, RedactionRefused, shown
from segue.continuity import files, handoff
from segue.continuity.handoff import Handoff, Restored
from segue.continuity.receipt import is_inside
from segue.services import artifacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from segue.services.continuity_place import Place
    from segue.services.project_memory import Tidied

MAX_KEPT = 200  # handoffs of a project; the oldest go
MEMORY_INDEX = ".project-study-memory/MEMORY.md"
_STATE_BYTES = 1024 * 1024
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-[0-9a-f]{8}\.json", re.ASCII)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Created:
    """A handoff that was written to `path`. `dropped` names members of the state that no handoff has.

    `synced` is what the continuity sync did to the project's memory store; `fault` says why there was none, or what is
    wrong in the store all the same, "" for nothing.
    """

    handoff: Handoff
    path: Path
    dropped: tuple[str, ...] = ()
    synced: Tidied | None = None
    fault: str = ""


class Handoffs:
    """The handoffs of a project.

    `candidates` gives the states of those in the journal (see `handoff.candidate_state`); `sync` makes the memory store
    ready (see `ProjectMemory.sync`); `wait` is how many seconds others may keep it waiting.
    """

    def __init__(
        self,
        place: Place,
        *,
        candidates: Callable[[], Iterable[Mapping[str, Any]]],
        sync: Callable[[], Tidied],
        wait: float = files.LOCK_SECONDS,
    ) -> None:
        self._wait = wait
        self._place = place
        self._candidates = candidates
        self._sync = sync

    @property
    def _folder(self) -> Path:
        return self._place.folder / files.HANDOFFS

    @property
    def exists(self) -> bool:
        """Whether a handoff was made in this project."""
        return bool(self._files())

    def create(self, state: object, *, allow_unredacted: bool = False) -> Created:
        """Write the handoff of a state, after a continuity sync.

        Its artifacts are the ledgers and the index of the memory store, where they exist. Where the clock was set
        back, or stands still, its time is just after that of the newest, so that it is the newest. Raises InvalidInput
        `handoff.state`, `continuity.journal`, `continuity.size`, `continuity.unwritable`, RedactionRefused
        `handoff.redaction` for a state with what lets somebody in, Failed.
        """
        if handoff.state_fault(state):
            handoff.create(state, {}, (), self._place.clock())  # it raises, and says why
        if not allow_unredacted:
            _require_clean(handoff.known(state))
        with self._place.locked(self._wait):
            files.sweep(self._folder)
            synced, fault = self._synced()
            hashes = {name: digest for name, digest in self._hashes(self._names()).items() if digest is not None}
            made = handoff.create(state, hashes, list(self._candidates()), self._next_moment())
            path = self._folder / _file_name(made)
            files.write_json(path, made.to_json())
            _require_kept(path, made)
            self._forget_oldest(path)
        dropped = sorted(set(state) - set(made.state)) if isinstance(state, dict) else []
        return Created(made, path, tuple(shown(each, 80) for each in dropped), synced, fault)

    def _next_moment(self) -> datetime:
        now = _in_utc(self._place.clock())
        newest = self._newest_file()
        if newest is None:
            return now
        with contextlib.suppress(ValueError, OverflowError):  # at the end of the calendar nothing comes after
            stamp = newest.name.partition("-")[0]
            return max(now, datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC) + _TICK)
        return now

    def _synced(self) -> tuple[Tidied | None, str]:
        try:
            done = self._sync()
            count = len(done.report.faults) if done.status == "invalid" else 0
            return done, f"{count} {'thing is' if count == 1 else 'things are'} wrong in it" if count else ""
        except SegueError as error:  # a state that is lost would be worse than a store that is not tidy
            return None, error.message

    def restore(self, data: bytes | None = None, *, older: bool = False) -> Restored:
        """Return the handoff in `data`, the newest of this project by default, if all is as it was. Raises nothing.

        Else the reason, and the name of every artifact that differs. One that is older than the newest is restored
        only where `older` says that this is meant.
        """
        try:
            newest = self._newest_file()
            given = data if data is not None else (files.read(newest) if newest is not None else None)
            if given is None:
                return Restored(None, "no handoff was made in this project")
            payload = jsontext.parse(given)
            current = self._hashes([*self._names(), *handoff.artifact_names(payload)])
            return handoff.restore(payload, current, newest=self._newest(newest), older=older)
        except SegueError as error:
            return Restored(None, f"unreadable handoff: {error.message}")
        except OSError as error:
            return Restored(None, f"unreadable handoff: {error.strerror or error}")

    def get(self, data: bytes | None = None) -> Handoff:
        """Return the handoff in `data`, the newest of this project by default, whatever became of its artifacts.

        Raises InvalidInput `handoff.invalid` where it is not whole, NotFound `handoff.none`.
        """
        newest = self._newest_file() if data is None else None
        given = files.read(newest) if newest is not None else data
        if given is None:
            raise NotFound("handoff.none", "no handoff was made in this project; `segue handoff create` does it")
        return handoff.parse(jsontext.parse(given, code="handoff.invalid"))

    def quoting(self, text: str) -> list[Path]:
        """Return the files of handoffs whose state holds a text, white space apart, oldest first.

        A handoff is whole or worth nothing, so it keeps what it says when that is rejected: whoever wants the text to
        be gone removes the file. Raises InvalidInput `file.read`.
        """
        wanted = " ".join(text.split())
        return [each for each in self._files() if wanted and wanted in self._said_in(each)]

    @staticmethod
    def _said_in(path: Path) -> str:
        try:
            return " ".join(jsontext.said(jsontext.parse(files.read(path) or b"")).split())
        except InvalidInput as error:
            if error.code == "file.read":
                raise
            return ""  # it is no handoff any more

    # -- the files ------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return [*self._place.settings.ledgers, MEMORY_INDEX]

    def _hashes(self, names: Iterable[str]) -> dict[str, str | None]:
        """The hash of each artifact now, None where there is none in the project."""
        found: dict[str, str | None] = {}
        for name in dict.fromkeys(names):
            now = artifacts.current(self._place.root, name) if is_inside(name) and not name.endswith("/") else None
            found[name] = now.sha256 if now is not None else None
        return found

    def _files(self) -> list[Path]:
        """The files of handoffs, oldest first: their names begin with the time. Files of other names are none."""
        return [each for each in files.listed(self._folder) if _NAME.fullmatch(each.name)]

    def _newest_file(self) -> Path | None:
        return next(iter(reversed(self._files())), None)

    @staticmethod
    def _newest(path: Path | None) -> Handoff | None:
        try:
            data = files.read(path) if path is not None else None
            return None if data is None else handoff.parse(jsontext.parse(data))
        except InvalidInput:
            return None  # a handoff that does not hold supersedes none

    def _forget_oldest(self, made: Path) -> None:
        others = [each for each in self._files() if each != made]
        for each in others[: max(len(others) + 1 - MAX_KEPT, 0)]:
            with contextlib.suppress(OSError):  # one too many does no harm
                each.unlink(missing_ok=True)


def read_state(root: Path, name: str) -> object:
    """Return the state that a project's state file holds. Raises InvalidInput `handoff.state`, `file.read`, Refused."""
    path = artifacts.located(root, name)
    data = files.read(root / path, _STATE_BYTES)
    return jsontext.parse(data or b"", code="handoff.state")


def _require_kept(path: Path, made: Handoff) -> None:
    """Raise Failed `handoff.unsaved` where the disk gives back something else; nothing is left of it then."""
    try:
        if handoff.parse(files.read_json(path, code="handoff.invalid")) == made:
            return
    except InvalidInput:
        pass
    with contextlib.suppress(OSError):
        path.unlink()
    raise Failed("handoff.unsaved", "the disk gives back another handoff than it got; none was kept")


def _in_utc(moment: datetime) -> datetime:
    """A time in UTC: names of files are in order by it. At the edges of the calendar, as its own clock shows it."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)


def _file_name(made: Handoff) -> str:
    stamp = made.created_at.replace("-", "").replace(":", "").removesuffix("Z")
    whole, _, fraction = stamp.partition(".")
    return f"{whole}.{fraction:0<6}Z-{made.envelope_hash[:8]}.json"


def _require_clean(state: Mapping[str, Any]) -> None:
    """Raise RedactionRefused where a state holds what lets somebody in; names of paths are no matter here."""
    found = [
        finding
        for name, value in state.items()
        for place, entry in enumerate(value if isinstance(value, list) else [value])
        for finding in redaction.credentials(
            f"{name}[{place}]" if isinstance(value, list) else name, jsontext.said(entry)
        )
    ]
    if found:
        mend = f"Take them out of the state, or write it on purpose{ON_PURPOSE}"
        raise RedactionRefused(found, "handoff.redaction", mend)
