"""Kills an operation on a store at each of its writes, one after the other: a program, and how tests run it.

The operation runs in a fork of a warmed-up process, under ptrace: the tracer counts the system calls that change a
file or send to a server and kills at the entry of the chosen one, so that every write of a recorded run becomes a
kill point. Where tracing is not possible (another system, or forbidden) the points are those that Python sees:
statements of SQLite, and calls of the operating system that change files.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import runpy
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import segue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# System calls of Linux on x86-64 that change files or speak to a server.
_CALLS = {
    1: "write", 18: "pwrite64", 20: "writev", 26: "msync", 40: "sendfile", 44: "sendto", 46: "sendmsg", 74: "fsync",
    75: "fdatasync", 76: "truncate", 77: "ftruncate", 82: "rename", 83: "mkdir", 84: "rmdir", 85: "creat", 86: "link",
    87: "unlink", 88: "symlink", 90: "chmod", 91: "fchmod", 258: "mkdirat", 263: "unlinkat", 264: "renameat",
    265: "linkat", 268: "fchmodat", 285: "fallocate", 296: "pwritev", 316: "renameat2", 326: "copy_file_range",
}  # fmt: skip
_OPENAT, _O_CREAT = 257, 0o100
_TRACEME, _PEEKUSER, _SYSCALL, _SETOPTIONS = 0, 3, 24, 0x4200
_SYSGOOD, _EXITKILL = 1, 0x100000
_ORIG_RAX, _RDX = 15 * 8, 12 * 8  # places in the registers of a stopped process
CREATED = "2026-05-04T09:30:00Z"
DRAFT = {"ltm_version": "0.2", "goal": "Survive.", "next_step": "Go on.", "tags": ["one", "two"]}


@dataclass(frozen=True)
class Run:
    """A run that was killed before its write number `point` (of kind `call`), or came to its end before that."""

    point: int
    call: str
    killed: bool
    acknowledged: bool
    folder: Path


def runs(
    operation: str, template: Path, folder: Path, *, step: int = 1, location: str = "", tracing: str = "auto"
) -> Iterator[Run]:
    """Run `operation` on a copy of `template` for each `step`-th write of a recorded run, killed there.

    Killed, too, at each write of another kind than the one before: where a file is made, synchronised, renamed.
    """
    command = [sys.executable, __file__, operation, str(template), str(folder), str(step), location, tracing]
    # What a killed restore leaves in the folder for temporary files shall go with the rest.
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(folder)})
    assert driver.stdout is not None
    with driver, driver.stdout as lines:
        for line in lines:
            said = json.loads(line)
            yield Run(**(said | {"folder": Path(said["folder"])}))
    assert driver.returncode == 0


def new_id(folder: Path) -> str:
    """The id of the packet that a run in this folder saves."""
    return f"new-packet-{folder.name}"


# -- the operations ---------------------------------------------------------------------------------------------------


def _save(folder: Path, location: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(location or folder / "segue.db", directory=folder) as opened:
        opened.packets.save(DRAFT | {"id": new_id(folder), "created_at": CREATED})
        acknowledge()


def _replace(folder: Path, location: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(location or folder / "segue.db", directory=folder) as opened:
        changed = DRAFT | {"id": "packet-0001", "created_at": CREATED, "goal": "Replaced."}
        opened.packets.save(changed, replace_existing=True)
        acknowledge()


def _remove(folder: Path, location: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(location or folder / "segue.db", directory=folder) as opened:
        opened.packets.rm("packet-0001")
        acknowledge()


def _restore(folder: Path, location: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(location or folder / "segue.db", directory=folder) as opened:
        opened.store.restore(folder / "other.db")
        acknowledge()


def _backup(folder: Path, location: str, acknowledge: Callable[[], None]) -> None:
    with segue.open(location or folder / "segue.db", directory=folder) as opened:
        opened.store.backup(folder / "kept" / "backup.db")
        acknowledge()


OPERATIONS = {"save": _save, "replace": _replace, "remove": _remove, "restore": _restore, "backup": _backup}


def _named(name: str) -> Callable[[Path, str, Callable[[], None]], None]:
    """One of OPERATIONS, or a function of another file of the tests: `FILE.py:function`."""
    if name in OPERATIONS:
        return OPERATIONS[name]
    file, _, function = name.rpartition(":")
    found: Callable[[Path, str, Callable[[], None]], None] = runpy.run_path(file)[function]
    return found


# -- killing ----------------------------------------------------------------------------------------------------------


def can_trace() -> bool:
    """Whether this machine lets a process trace its own child."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return False
    child = os.fork()
    if child == 0:
        os._exit(0 if _ptrace(_TRACEME, 0) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def _ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> int:
    function = ctypes.CDLL(None, use_errno=True).ptrace
    function.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    function.restype = ctypes.c_long
    return int(function(request, pid, address, data))


def _traced(act: Callable[[], None], point: int) -> tuple[list[str], bool]:
    """Run `act` in a fork; return the writes that it made, and whether it was killed at number `point` of them."""
    child = os.fork()
    if child == 0:
        _ptrace(_TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        _finish(act)
    os.waitpid(child, 0)
    _ptrace(_SETOPTIONS, child, 0, _SYSGOOD | _EXITKILL)
    writes: list[str] = []
    entering, forwarded = True, 0
    while True:
        _ptrace(_SYSCALL, child, 0, forwarded)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSTOPPED(status):
            return writes, _was_killed(status)
        stopped = os.WSTOPSIG(status)
        forwarded = 0 if stopped == signal.SIGTRAP | 0x80 else stopped
        if forwarded:
            continue
        call = _write_call(child) if entering else None
        entering = not entering
        if call is not None:
            writes.append(call)
            if len(writes) == point:
                os.kill(child, signal.SIGKILL)


def _write_call(child: int) -> str | None:
    number = _ptrace(_PEEKUSER, child, _ORIG_RAX)
    if number == _OPENAT:
        return "create" if _ptrace(_PEEKUSER, child, _RDX) & _O_CREAT else None
    return _CALLS.get(number)


def _stepped(act: Callable[[], None], point: int) -> tuple[list[str], bool]:
    """The same with the points that Python sees."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        count = 0

        def step(name: str) -> None:
            nonlocal count
            count += 1
            os.write(writing, name.encode() + b"\n")
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)

        _watch_statements(step)
        sys.addaudithook(lambda event, arguments: _step_of(event, arguments, step))
        _finish(act)
    os.close(writing)
    with os.fdopen(reading) as names:
        writes = names.read().splitlines()
    return writes, _was_killed(os.waitpid(child, 0)[1])


def _step_of(event: str, arguments: tuple[Any, ...], step: Callable[[str], None]) -> None:
    if event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "shutil.copyfile"):
        step(event.removeprefix("os."))
    elif event == "open" and isinstance(arguments[2], int) and arguments[2] & _O_CREAT:
        step("create")


def _watch_statements(step: Callable[[str], None]) -> None:
    connect = sqlite3.connect

    def watched(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_trace_callback(lambda statement: step(statement.split()[0]))
        return connection

    sqlite3.connect = watched  # type: ignore[assignment]


def _finish(act: Callable[[], None]) -> None:
    try:
        act()
    except BaseException:  # noqa: BLE001 - this fork ends here, whatever happened
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def _was_killed(status: int) -> bool:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    if status != 0:
        raise RuntimeError(f"the operation itself failed with status {status}")
    return False


class _Driver:
    def __init__(self, operation: str, template: str, folder: str, location: str, tracing: str) -> None:
        self._operation = _named(operation)
        self._template = Path(template)
        self._folder = Path(folder)
        self._location = location
        self._run = _traced if tracing != "never" and can_trace() else _stepped

    def once(self, point: int) -> tuple[list[str], Run]:
        folder = self._folder / f"{point:04}"
        shutil.copytree(self._template, folder)
        reading, writing = os.pipe()
        act = self._operation
        writes, killed = self._run(lambda: act(folder, self._location, lambda: _acknowledge(writing)), point)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            acknowledged = pipe.read() == b"a"
        call = writes[-1] if killed else "end"
        return writes, Run(point, call, killed, acknowledged, folder)

    def warm_up(self) -> None:
        """Import what the operations import, so that their forks do not."""
        folder = self._folder / "warm"
        with segue.open(folder / "segue.db", directory=self._folder) as opened:
            opened.packets.save(DRAFT)
            backup = opened.store.backup(folder / "backup.db").path
            opened.store.restore(backup)
        shutil.rmtree(folder)


def _acknowledge(handle: int) -> None:
    os.write(handle, b"a")


def _main(operation: str, template: str, folder: str, step: str, location: str, tracing: str) -> None:
    driver = _Driver(operation, template, folder, location, tracing)
    driver.warm_up()
    recorded, whole = driver.once(0)  # point 0 is never reached: the run is recorded
    _say(whole)
    for point in _points(recorded, int(step)):
        _say(driver.once(point)[1])


def _points(recorded: list[str], step: int) -> list[int]:
    """The numbers of the writes to be killed at: each `step`-th, and where the kind of call changes.

    Kinds of statements, which are in capitals, change all the time and do not count.
    """
    changed = (call.islower() and call != before for before, call in pairwise(["", *recorded]))
    return [number for number, new in enumerate(changed, 1) if new or (number - 1) % step == 0]


def _say(run: Run) -> None:
    print(json.dumps(vars(run) | {"folder": str(run.folder)}), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
