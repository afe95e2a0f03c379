"""The helper that runs PostgreSQL for the tests: it goes away by itself, also after a kill."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

import postgres

USER = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import postgres
from pathlib import Path
server = postgres.running(Path(sys.argv[2]))
with server.connect() as connection:
    print(connection.execute("SHOW data_directory").fetchone()[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not postgres.SUPPORTED, reason="the wheel is for Linux on x86-64")
def test_the_server_ends_with_its_last_user(tmp_path: Path) -> None:
    here = str(Path(postgres.__file__).parent)
    # Not through a pipe: the guardian is a child of the killed process, and the end of a pipe would wait for it.
    with (tmp_path / "said").open("w") as said:
        killed = subprocess.run([sys.executable, "-c", USER, here, str(tmp_path)], stdout=said)
    assert killed.returncode == -9
    data = Path((tmp_path / "said").read_text().strip())
    assert data.is_absolute()
    handle = os.open(tmp_path / "postgres.users", os.O_RDWR)
    while data.exists():  # the guardian holds the lock until the server and its data are gone
        fcntl.flock(handle, fcntl.LOCK_EX)
        fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)
    assert not (tmp_path / "postgres.address").exists()
