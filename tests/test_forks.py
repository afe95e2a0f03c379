"""The helper that forks programs for the tests: what it starts behaves as what it stands for."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

import forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the real programs are started")


def _run(script: str, *arguments: str, real: bool = False, **options: Any) -> tuple[int, str, str]:
    program = forks.REAL["python"] if real else forks.program("python")
    command = [program, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **options)
    return done.returncode, done.stdout, done.stderr


WARM = "import sys; print('segue.cli.main' in sys.modules)"
ENDS = [
    "pass",
    "raise SystemExit",
    "raise SystemExit(7)",
    "raise SystemExit('said')",
    "import os; os._exit(9)",
    "import atexit; atexit.register(print, 'late'); print('soon')",
    "import threading; threading.Timer(0.1, print, ['from a thread']).start()",
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "import os, signal; signal.raise_signal(signal.SIGKILL)",
    "import sys; sys.stdout.write('no line end'); sys.stderr.write('none either')",
]
LOOKS = """
import os, sys
print(sys.argv, sys.stdin.read(), os.getcwd(), oct(os.umask(0)), sorted(os.environ.items()), __name__, sys.path[0])
print(sys.stdout.encoding, [(each.isatty(), each.fileno()) for each in (sys.stdin, sys.stdout, sys.stderr)])
print(sorted(int(each) for each in os.listdir("/proc/self/fd"))[:3])
"""


def test_it_is_forked_from_a_warm_process() -> None:
    assert _run(WARM) == (0, "True\n", "")
    assert _run(WARM, real=True) == (0, "False\n", "")


@pytest.mark.parametrize("script", ENDS)
def test_it_ends_as_the_real_one_ends(script: str) -> None:
    assert _run(script) == _run(script, real=True)


def test_an_exception_ends_it_with_its_traceback() -> None:
    code, out, err = _run("1 / 0")
    assert (code, out) == (1, "")
    assert err.startswith("Traceback ")
    assert err.endswith("ZeroDivisionError: division by zero\n")


def test_it_sees_what_the_real_one_sees(tmp_path: Path) -> None:
    options: dict[str, Any] = {"cwd": tmp_path, "env": {"A": "ü\udce9", "HOME": str(tmp_path)}, "input": "given ü"}
    options |= {"umask": 0o027}
    assert _run(LOOKS, "one", "", "\udce9", **options) == _run(LOOKS, "one", "", "\udce9", real=True, **options)


def test_it_is_in_the_terminal_that_it_was_started_in() -> None:
    parent, child = pty.openpty()
    script = "import os, sys; print([os.isatty(each) for each in range(3)], sys.stdout.line_buffering)"
    done = subprocess.run([forks.program("python"), "-c", script], stdin=child, stdout=child, stderr=child)
    os.close(child)
    assert done.returncode == 0
    assert os.read(parent, 1000) == b"[True, True, True] True\r\n"
    os.close(parent)


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_without_a_stream_it_is_the_real_one(closed: int) -> None:
    reading, writing = os.pipe()
    script = f"import os, sys; os.write({writing}, str('segue.cli.main' in sys.modules).encode())"
    shell = f'exec "$0" -c "$1" {closed}>&-'
    done = subprocess.run(["/bin/sh", "-c", shell, forks.program("python"), script], pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as said:
        assert (done.returncode, said.read()) == (0, "False")


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "LC_ALL", "TZ", "FORCE_COLOR"])
def test_with_what_is_read_at_the_start_it_is_the_real_one(name: str) -> None:
    assert _run(WARM, env={name: "1"} if name != "LC_ALL" else {name: "C"}) == (0, "False\n", "")


WAITS = "import os, sys, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_reaches_it(number: signal.Signals) -> None:
    command = [forks.program("python"), "-c", WAITS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        fork = int(process.stdout.readline())
        process.send_signal(number)
        assert process.wait(60) == -number
        assert process.stdout.read() == b""  # the fork had the other end
    deadline = time.monotonic() + 60
    while Path(f"/proc/{fork}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


DIES = """
import subprocess, forks
for script in ("import os; os.kill(os.getppid(), 9)", "import sys; print('segue.cli.main' in sys.modules)"):
    done = subprocess.run([forks.program("python"), "-c", script], capture_output=True, text=True)
    print(done.returncode, done.stdout + done.stderr, end="")
"""


def test_when_its_server_dies_it_fails_and_the_next_is_the_real_one() -> None:
    with tempfile.TemporaryDirectory() as folder:  # a socket has no room for a long path
        environment = os.environ | {"PYTHONPATH": str(Path(forks.__file__).parent), "TMPDIR": folder}
        said = _run(DIES, real=True, env=environment)
    assert said == (0, "70 0 False\n", "")


FAILS = """
import subprocess, forks
asks = lambda: subprocess.run([forks.program("python"), "-c", "print(7)"], capture_output=True, text=True)
print(asks().returncode)  # while the server tries to start
done = asks()
print(done.returncode, done.stdout, end="")
"""


def test_where_its_server_cannot_start_it_is_the_real_one(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['segue.cli.main'] = None")
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join([str(tmp_path), str(Path(forks.__file__).parent)])
        code, out, err = _run(FAILS, real=True, env=os.environ | {"PYTHONPATH": path, "TMPDIR": folder})
        assert list(Path(folder).iterdir()) == []
    assert (code, out) == (0, "70\n0 7\n")
    assert "ModuleNotFoundError" in err


def test_segue_is_the_program() -> None:
    done = subprocess.run([forks.program("segue"), "ls", "--nope"], capture_output=True, text=True)
    real = subprocess.run([forks.REAL["segue"], "ls", "--nope"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (real.returncode, real.stdout, real.stderr)
    assert done.returncode == 2
