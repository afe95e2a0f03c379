"""What happens on the disk: links, modes, owners, read-only files, other writers, failures half-way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from hosts.single import install, status, uninstall
from segue.base import files, place
from segue.base.errors import Failed, InvalidInput, Refused, SegueError
from segue.hosts import Surroundings

ORIGINAL = b'{\n  "mcpServers": {\n    "other": {}\n  }\n}\n'
NOBODY = 65534

is_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="changes the user id")
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX modes")


@pytest.fixture
def path(around: Surroundings) -> Path:
    assert around.root is not None
    path = around.root / ".mcp.json"
    path.write_bytes(ORIGINAL)
    return path


def names(folder: Path) -> list[str]:
    return sorted(item.name for item in folder.iterdir())


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_the_mode_stays_and_the_backup_is_no_more_open(mode: int, around: Surroundings, path: Path) -> None:
    path.chmod(mode)
    backup = install("claude-code", "project", around).backup
    assert backup is not None
    assert [stat.S_IMODE(item.stat().st_mode) for item in (path, backup)] == [mode, mode]
    uninstall("claude-code", "project", around)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_new_file_of_the_user_is_private(around: Surroundings) -> None:
    assert stat.S_IMODE(install("claude-code", "user", around).path.stat().st_mode) == 0o600
    assert stat.S_IMODE(install("claude-code", "project", around).path.stat().st_mode) == 0o644


@is_root
def test_the_owner_stays(around: Surroundings, path: Path) -> None:
    os.chown(path, NOBODY, NOBODY)
    install("claude-code", "project", around)
    assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, NOBODY)


# Links


def test_a_link_stays_a_link_and_the_backup_lies_beside_the_real_file(around: Surroundings, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    real = dotfiles / "claude.json"
    real.write_bytes(ORIGINAL)
    link = around.home / ".claude.json"
    link.symlink_to(Path("..") / "dotfiles" / "claude.json")
    change = install("claude-code", "user", around)
    assert (change.path, change.backup) == (link, dotfiles.resolve() / "claude.json.segue-backup")
    assert link.is_symlink() and b"segue" in real.read_bytes()
    assert names(around.home) == [".claude.json"]
    uninstall("claude-code", "user", around)
    assert link.is_symlink() and real.read_bytes() == ORIGINAL and names(dotfiles) == ["claude.json"]


def test_a_link_to_nothing_is_filled_and_emptied(around: Surroundings, tmp_path: Path) -> None:
    link = around.home / ".claude.json"
    link.symlink_to(tmp_path / "later" / "claude.json")
    assert install("claude-code", "user", around).action == "created"
    assert (tmp_path / "later" / "claude.json").is_file()
    uninstall("claude-code", "user", around)
    assert link.is_symlink() and not (tmp_path / "later").exists()


def test_two_hosts_may_share_one_file(around: Surroundings, path: Path) -> None:
    assert around.root is not None
    (around.root / ".cursor").mkdir()
    (around.root / ".cursor" / "mcp.json").symlink_to(path)
    assert install("claude-code", "project", around).action == "changed"
    assert install("cursor", "project", around).action == "unchanged"
    assert uninstall("cursor", "project", around).action == "removed"
    assert path.read_bytes() == ORIGINAL
    assert uninstall("claude-code", "project", around).action == "unchanged"


def test_what_is_no_file_is_unreadable(around: Surroundings, path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)
    _check_unreadable(around, "loop")
    path.unlink()
    path.mkdir()
    _check_unreadable(around, "not a file")
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        _check_unreadable(around, "not a file")


def test_a_file_that_is_too_large_is_unreadable(
    around: Surroundings, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "MAX_BYTES", len(ORIGINAL) - 1)
    _check_unreadable(around, "larger than")
    assert path.read_bytes() == ORIGINAL


def _check_unreadable(around: Surroundings, reason: str) -> None:
    for change in (install, uninstall):
        with pytest.raises(InvalidInput, match=reason) as caught:
            change("claude-code", "project", around)
        assert caught.value.code == "hosts.unreadable"
    assert status("claude-code", around)[0].installed == "unreadable"


def test_a_link_in_the_place_of_a_backup_is_not_followed(around: Surroundings, path: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for suffix in (place.BACKUP, place.CREATED):
        link = path.with_name(path.name + suffix)
        link.symlink_to(precious)
        with pytest.raises(Refused) as caught:
            install("claude-code", "project", around)
        assert caught.value.code == "hosts.backup_link"
        assert precious.read_text() == "mine" and path.read_bytes() == ORIGINAL
        link.unlink()


def test_a_forged_record_removes_no_folder_of_the_project(around: Surroundings) -> None:
    assert around.root is not None
    change = install("cursor", "project", around)
    change.path.with_name("mcp.json.segue-created").write_text("99")
    uninstall("cursor", "project", around)
    assert around.root.is_dir() and names(around.root) == []


# What may not be written


@posix
def test_a_read_only_file_stays_as_it_is(around: Surroundings, path: Path) -> None:
    path.chmod(0o444)
    for dry_run in (False, True):
        with pytest.raises(Failed, match="read-only") as caught:
            install("claude-code", "project", around, dry_run=dry_run)
        assert caught.value.code == "hosts.not_writable" and str(path) in caught.value.message
    assert path.read_bytes() == ORIGINAL and names(path.parent) == [".mcp.json"]


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_read_only_folder_stays_as_it_is(exists: bool, around: Surroundings, path: Path) -> None:
    if not exists:
        path.unlink()
    path.parent.chmod(0o555)
    try:
        for host in ("claude-code", "cursor"):
            with pytest.raises(Failed, match="read-only"):
                install(host, "project", around)
    finally:
        path.parent.chmod(0o755)
    assert names(path.parent) == [".mcp.json"] * exists


@is_root
def test_another_user_gets_a_clear_error() -> None:
    """The same, as a user whom the kernel stops; outside of pytest's folder, which is closed to others."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads: the child only tries and ends
        top = Path(name)
        top.chmod(0o755)
        around = Surroundings(top, {}, top, "/opt/tools/bin/segue")
        path = top / ".mcp.json"
        path.write_bytes(ORIGINAL)
        install("claude-code", "project", around)
        path.chmod(0o644)
        before = {item.name: item.read_bytes() for item in top.iterdir()}
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                code = _refused_as_another_user(around)
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert {item.name: item.read_bytes() for item in top.iterdir()} == before


def _refused_as_another_user(around: Surroundings) -> int:
    codes = []
    for host, change in (("claude-code", uninstall), ("cursor", install)):
        try:
            change(host, "project", around)
        except SegueError as error:
            codes.append(error.code)
    return 0 if codes == ["hosts.not_writable"] * 2 else 2


def test_a_file_in_the_place_of_the_folder(around: Surroundings) -> None:
    (around.home / ".cursor").write_text("mine")
    with pytest.raises(Failed, match="not a folder"):
        install("cursor", "user", around)
    assert (around.home / ".cursor").read_text() == "mine"


# Failures half-way


class DiskFull:
    """`Path.replace` that fails for the files whose name ends in `suffix`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
        real = Path.replace

        def replace(self: Path, target: Path) -> Path:
            if str(target).endswith(suffix):
                raise OSError(28, "No space left on device")
            return real(self, target)

        monkeypatch.setattr(Path, "replace", replace)


@pytest.mark.parametrize("suffix", ["mcp.json", ".segue-backup"])
def test_a_full_disk_changes_nothing(
    suffix: str, around: Surroundings, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    DiskFull(monkeypatch, suffix)
    with pytest.raises(Failed, match="No space left") as caught:
        install("claude-code", "project", around)
    assert caught.value.code == "file.write"
    assert path.read_bytes() == ORIGINAL and names(path.parent) == [".mcp.json"]


@pytest.mark.parametrize("suffix", ["mcp.json", ".segue-created"])
def test_a_full_disk_leaves_no_folder_behind(
    suffix: str, around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    DiskFull(monkeypatch, suffix)
    with pytest.raises(Failed, match="No space left"):
        install("cursor", "user", around)
    assert names(around.home) == []


def test_an_older_backup_survives_a_failed_write(
    around: Surroundings, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = path.with_name(".mcp.json.segue-backup")
    backup.write_bytes(b"{}")
    with monkeypatch.context() as patch:
        DiskFull(patch, ".mcp.json")
        with pytest.raises(Failed):
            install("claude-code", "project", around)
    assert backup.read_bytes() == b"{}"
    install("claude-code", "project", around)
    assert backup.read_bytes() == ORIGINAL


@pytest.mark.parametrize("written", [b'{"by": "the host"}', None])
def test_another_program_that_writes_in_the_meantime_wins(
    written: bytes | None, around: Surroundings, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = files.flush_to_disk

    def meanwhile(target: Path) -> None:
        real(target)
        if target.name.startswith(".mcp.json.segue-backup"):
            path.unlink() if written is None else path.write_bytes(written)

    monkeypatch.setattr(files, "flush_to_disk", meanwhile)
    with pytest.raises(Failed) as caught:
        install("claude-code", "project", around)
    assert caught.value.code == "hosts.changed"
    assert names(path.parent) == ([] if written is None else [".mcp.json"])
    assert written is None or path.read_bytes() == written


def test_a_file_that_changed_is_not_removed(around: Surroundings) -> None:
    path = install("claude-code", "project", around).path
    seen = place.look(path, path.parent)
    path.write_bytes(ORIGINAL)
    with pytest.raises(Failed, match="in the meantime"):
        place.remove(seen)
    assert path.read_bytes() == ORIGINAL


def test_the_program_needs_no_locale_and_no_home(around: Surroundings, path: Path) -> None:
    code = (
        "import sys, pathlib; from segue.hosts import Surroundings, install\n"
        "top = pathlib.Path(sys.argv[1])\n"
        "install('claude-code', 'project', Surroundings(top, {}, top, '/bin/segue'))"
    )
    path.write_bytes('{"é": "ü"}'.encode())
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PATH": os.environ["PATH"]}
    subprocess.run([sys.executable, "-c", code, str(path.parent)], check=True, env=environment)
    assert path.read_bytes().startswith('{"é": "ü", "mcpServers"'.encode())
