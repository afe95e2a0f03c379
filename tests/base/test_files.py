"""Files are whole or absent: what a failure leaves behind, links, modes."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from segue.base import files
from segue.base.errors import Failed, InvalidInput

STEPS = ["open", "write", "fsync", "chmod", "rename"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def failing(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def break_step(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    places = {
        "open": (os, "open"),
        "write": (Path, "write_bytes"),
        "fsync": (os, "fsync"),
        "chmod": (Path, "chmod"),
        "rename": (Path, "replace"),
    }
    owner, name = places[step]
    monkeypatch.setattr(owner, name, failing)


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_at_any_step_leaves_the_old_bytes_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "store" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(b"old")
    with monkeypatch.context() as broken:
        break_step(broken, step)
        with pytest.raises(Failed) as raised:
            files.write_bytes(path, b"new")
    assert raised.value.code == "file.write"
    assert "No space left" in raised.value.message
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["config.toml"]


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_leaves_no_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    with monkeypatch.context() as broken:
        break_step(broken, step)
        with pytest.raises(Failed):
            files.write_bytes(tmp_path / "new", b"new")
    assert names(tmp_path) == []


def test_what_the_caller_raises_passes_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), files.staged(path) as partial:
        partial.write_bytes(b"half")
        raise KeyError("no")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_the_target_is_untouched_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with files.staged(path) as partial:
        assert partial.parent == path.parent
        assert partial.name.endswith(files.PARTIAL)
        partial.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


def test_file_and_folder_reach_the_disk_before_and_after_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        events.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def renamed(self: Path, target: Path) -> Path:
        events.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    files.write_bytes(tmp_path / "file", b"x")
    assert events == ["file", "rename", "folder"]


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_the_mode_is_the_one_asked_for(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o666)
    before = os.umask(0o000)
    try:
        files.write_bytes(path, b"new", mode=mode)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_secrets_are_private_from_their_first_byte(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        with files.staged(tmp_path / "file") as partial:
            assert stat.S_IMODE(partial.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_folders_are_made(tmp_path: Path) -> None:
    files.write_bytes(tmp_path / "a" / "b" / "file", b"x")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"x"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to(Path("dotfiles") / "real")
    files.write_bytes(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert names(tmp_path) == ["dotfiles", "link"]
    assert names(real.parent) == ["real"]


def test_a_link_to_itself_is_a_clear_failure(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(Failed) as raised:
        files.write_bytes(link, b"new")
    assert raised.value.code == "file.write"
    assert names(tmp_path) == ["link"]


def test_a_folder_in_the_place_of_the_file_is_a_clear_failure(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(Failed):
        files.write_bytes(tmp_path / "file", b"new")
    assert names(tmp_path) == ["file"]


def test_reading_stops_after_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345678")
    assert files.read_bytes(path, 8) == b"12345678"
    assert files.read_bytes(path, 5) == b"123456"


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(InvalidInput) as raised:
            files.read_bytes(path, 10)
        assert raised.value.code == "file.read"
        assert str(path) in raised.value.message


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "link to a pipe", "folder"])
def test_only_ordinary_files_are_read(tmp_path: Path, kind: str) -> None:
    """With nobody at the other end of a pipe, to open it would wait for ever."""
    path = tmp_path / "notes.md"
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            listening.bind(str(path))
        elif kind == "device":
            path = Path("/dev/zero")
        elif kind == "folder":
            path.mkdir()
        else:
            os.mkfifo(tmp_path / "pipe")
            path.symlink_to(tmp_path / "pipe")
        said = "Is a directory" if kind == "folder" else "it is no ordinary file"
        with pytest.raises(OSError, match=said), files.open_ordinary(path):
            pass
        with pytest.raises(InvalidInput, match=said) as refused:
            files.read_bytes(path, 10)
        assert refused.value.code == "file.read"


def test_a_file_that_becomes_a_pipe_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(b"x")
    known = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda *_, **__: known)
    with pytest.raises(OSError, match="it is no ordinary file"), files.open_ordinary(path):
        pass
