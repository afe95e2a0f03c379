"""Programs without their start-up: processes that are forked from one that has imported everything.

Starting `segue` takes a third of a second of imports, and a run of all tests starts it a thousand times. `program`
returns small programs that stand for `segue` and for Python: each asks a warm server (this file, run as a program) to
fork, hands over its arguments, environment, working directory and streams, and ends as the fork ends. The fork is a
process of its own, and what it runs is the program's entry. What happens before that, in the installed script and in
Python's start, is proven by the tests that start the real program. Where a fork could not behave like a fresh process,
because a stream is closed or the environment sets what is read at the start, the small program becomes the real one.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import marshal
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from alembic import command

import migrated

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

REAL = {"segue": str(Path(sys.executable).with_name("segue")), "python": sys.executable}
# What Python, or a library while it is imported, reads once and never again.
_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "MALLOC_", "OPENBLAS_", "OMP_", "TYPER_", "_TYPER_",
             "TERMINAL_WIDTH", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS")  # fmt: skip

# Imports only what is built in, and so runs within ten milliseconds.
_SMALL_PROGRAM = """#!{python} -ISs
import _signal, _socket, marshal, posix, sys

def become_the_real_one():
    posix.execv({real!r}, [{real!r}, *sys.argv[1:]])

expected = {own!r}
for key, value in posix.environ.items():
    if key.startswith({at_start!r}) and expected.get(key) != value:
        become_the_real_one()
if {name!r} == "python" and "-c" not in sys.argv[1:2]:
    become_the_real_one()
try:
    for each in (0, 1, 2):
        posix.fstat(each)  # before anything is opened that would take the place of a closed one
    here = posix.open(".", posix.O_RDONLY)
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect({address!r})
    handles = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2, here))
    umask = posix.umask(0)
    posix.umask(umask)
    request = marshal.dumps(({name!r}, sys.argv[1:], posix.environ, umask))
    server.sendmsg([len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
except OSError:
    become_the_real_one()
for each in (0, 1, 2, here):
    posix.close(each)  # who reads what the fork writes has to see the end of it
try:
    server.sendall(request)
    for each in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        _signal.signal(each, lambda number, frame: server.sendall(bytes([number])))
    answer = server.recv(4, _socket.MSG_WAITALL)
except OSError:
    answer = b""
if len(answer) < 4:
    posix._exit(70)  # the server has died, and there is no stream left to say so
code = int.from_bytes(answer, "big", signed=True)
if code < 0:
    if -code != _signal.SIGKILL:
        _signal.signal(-code, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -code)
posix._exit(code)
"""

_WARMING = (
    "save ~/packet.json",
    "ls",
    "resume",
    "remember Warmth.",
    "memories ls",
    "search warmth",
    "context warmth",
    "doctor",
)


def program(name: str) -> str:
    """Return the path of the program that stands for `segue`, or for `python` (with `-c`)."""
    # A script's first line takes no longer path, and no white space in it; nor does the address of a socket.
    short = len(sys.executable) < 100 and len(tempfile.gettempdir()) < 70
    usable = short and not any(character.isspace() for character in sys.executable)
    return str(_folder() / name) if usable and sys.platform == "linux" else REAL[name]


@cache
def _folder() -> Path:
    """Start the server of this process, which ends with it; return the folder of the small programs."""
    folder = Path(tempfile.mkdtemp(prefix="segue-forks-"))
    address = str(folder / "socket")
    at_start = tuple(each.encode() for each in _AT_START)
    environment = {key: value for key, value in os.environb.items() if not key.startswith(b"SEGUE_")}
    own = {key: value for key, value in environment.items() if key.startswith(at_start)}
    own.setdefault(b"LC_CTYPE", b"C.UTF-8")  # Python's own start sets it where nothing else is set
    filled = {"python": sys.executable, "address": address, "at_start": at_start, "own": own}
    for name, real in REAL.items():
        text = _SMALL_PROGRAM.format(name=name, real=real, **filled)
        (folder / name).write_text(text, "utf-8")
        (folder / name).chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:  # who connects before the server is warm waits for it
        listener.bind(address)
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, __file__, str(listener.fileno()), str(folder)],
            stdin=subprocess.PIPE,  # its other end goes with this process, however that ends
            stdout=subprocess.DEVNULL,
            env=environment,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
    atexit.register(server.communicate)
    return folder


# -- the server -------------------------------------------------------------------------------------------------------


def _warm_up() -> None:
    """Import everything, and let the parts work once, so that forks find what a process makes only once."""
    import importlib
    import pkgutil

    import segue

    for module in pkgutil.walk_packages(segue.__path__, "segue."):
        if not module.name.endswith("__main__") and ".migrations." not in module.name:
            importlib.import_module(module.name)
    for name in ("sqlalchemy.dialects.postgresql.psycopg", "anyio._backends._asyncio"):
        importlib.import_module(name)
    command.upgrade = migrated.replay  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        environment = {"HOME": folder, "SEGUE_HOME": folder, "PATH": os.environ.get("PATH", os.defpath)}
        (Path(folder) / "packet.json").write_text('{"ltm_version": "0.2", "goal": "Warm up.", "next_step": "Go on."}')
        for each in _WARMING:
            _in_place([part.replace("~", folder) for part in each.split()], environment)
    with contextlib.suppress(ChildProcessError):
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)
    assert threading.active_count() == 1, "a fork has only the thread that made it"
    gc.collect()
    gc.freeze()  # what is warm is not looked at again, and so stays shared


def _in_place(arguments: list[str], environment: dict[str, str]) -> None:
    from segue.cli.main import run

    kept = dict(os.environ)
    os.environ |= environment
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            assert run(arguments) == 0, (arguments, streams[1].buffer.getvalue())
    finally:
        os.environ.clear()
        os.environ |= kept


class _Server:
    """Forks for whoever asks, in one thread: a fork has only the thread that made it."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._askers: dict[int, socket.socket] = {}  # by the fork that each waits for
        self._ended, self._ending = os.pipe()
        os.set_blocking(self._ending, False)
        signal.set_wakeup_fd(self._ending)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._ended, selectors.EVENT_READ, self._reap)
        self._selector.register(0, selectors.EVENT_READ)

    def serve(self) -> Callable[[], NoReturn] | None:
        """Serve until stdin ends; in a fork, return what it has to do."""
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    self._kill_all()
                    return None
                task: Callable[[], NoReturn] | None = key.data()
                if task is not None:
                    return task

    def _accept(self) -> Callable[[], NoReturn] | None:
        asker, _ = self._listener.accept()
        size, handles, _, _ = socket.recv_fds(asker, 4, 4)
        if len(handles) < 4:
            asker.close()
            return None
        request = marshal.loads(asker.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
        fork = os.fork()
        if fork == 0:
            self._forget_all()
            asker.close()
            return lambda: _run(handles, *request)
        for each in handles:
            os.close(each)
        self._askers[fork] = asker
        self._selector.register(asker, selectors.EVENT_READ, lambda: self._pass_on(fork, asker))
        return None

    def _forget_all(self) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        self._listener.close()
        os.close(self._ended)
        os.close(self._ending)
        for each in self._askers.values():
            each.close()

    def _pass_on(self, fork: int, asker: socket.socket) -> None:
        """Pass a signal on to a fork; one whose asker was killed is killed too."""
        if fork not in self._askers:
            return  # it has ended at the same moment
        try:
            number = asker.recv(1)
        except OSError:
            number = b""
        os.kill(fork, number[0] if number else signal.SIGKILL)
        if not number:
            self._selector.unregister(asker)

    def _reap(self) -> None:
        os.read(self._ended, 4096)
        while self._askers:
            fork, status = os.waitpid(-1, os.WNOHANG)
            if fork == 0:
                return
            asker = self._askers.pop(fork)
            with contextlib.suppress(KeyError):
                self._selector.unregister(asker)
            with contextlib.suppress(OSError):
                asker.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
            asker.close()

    def _kill_all(self) -> None:
        for fork in self._askers:
            os.kill(fork, signal.SIGKILL)


# -- a fork -----------------------------------------------------------------------------------------------------------


def _run(handles: list[int], name: str, arguments: list[str], environment: dict[bytes, bytes], umask: int) -> NoReturn:
    for target, handle in enumerate(handles[:3]):
        os.dup2(handle, target)
    os.fchdir(handles[3])
    for each in handles:
        os.close(each)
    os.umask(umask)
    os.environb.clear()
    os.environb.update(environment)
    sys.stdin, sys.stdout, sys.stderr = (_stream(number) for number in range(3))
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)
    code = _code_of(_entry(name, arguments))
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            code = 120 if stream is sys.stdout else code
    os._exit(code)


def _stream(number: int) -> Any:
    binary = open(number, "rb" if number == 0 else "wb", buffering=-1, closefd=False)  # noqa: SIM115
    errors = "backslashreplace" if number == 2 else sys.stdin.errors
    lines = number == 2 or os.isatty(number)
    return io.TextIOWrapper(binary, encoding="utf-8", errors=errors, newline="\n", line_buffering=lines)


def _entry(name: str, arguments: list[str]) -> Callable[[], object]:
    if name == "segue":
        from segue.__main__ import main

        sys.argv = [REAL[name], *arguments]
        sys.path[0] = str(Path(REAL[name]).parent)
        return main
    command.upgrade = migrated.upgrade
    sys.argv = ["-c", *arguments[2:]]
    sys.path[0] = ""
    sys.modules["__main__"] = module = ModuleType("__main__")
    return lambda: exec(compile(arguments[1], "<string>", "exec"), module.__dict__)


def _code_of(entry: Callable[[], object]) -> int:
    """Run it; return the exit code that Python gives a process that ends so."""
    try:
        entry()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001 - it ends here, whatever it is
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _main(listening: int, folder: str) -> None:
    sys.path[0] = ""  # the folders of the tests have names that libraries have too
    task = None
    try:
        with socket.socket(fileno=listening) as listener:
            _warm_up()
            task = _Server(listener).serve()
    except Exception:  # noqa: BLE001 - it is said, and until the tests end the real programs are started
        traceback.print_exc()
        sys.stdin.buffer.read()
    finally:
        if task is None:
            shutil.rmtree(folder, ignore_errors=True)
    if task is not None:
        task()


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2])
