"""A repository is somebody's data: looking at it starts nothing, follows nothing, believes nothing it should not."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.shell import InPlace, Shell
from segue.base.errors import InvalidInput
from segue.base.remotes import remote_key, remote_ref
from segue.services import projects
from segue.services.projects import branch, identify

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = "sw" + "ordfish" + "-9"
STRANGER = 12_345


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InPlace:
    return InPlace(Shell(tmp_path), monkeypatch)


@contextmanager
def ends_soon(seconds: int = 20) -> Iterator[None]:
    """Fail instead of waiting for ever, as a reader of a pipe would."""

    def fail(*_: object) -> None:
        raise AssertionError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def repository(folder: Path, **settings: str) -> Path:
    """A repository with settings; its branch names a commit that it lacks, so that git wants to fetch that."""
    git(Path("/"), "init", "-q", "-b", "main", str(folder))
    (folder / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    for name, value in settings.items():
        git(folder, "config", name.replace("__", "."), value)
    return folder


def _promisor(url: str) -> dict[str, str]:
    return {
        "core__repositoryformatversion": "1",
        "extensions__partialClone": "origin",
        "remote__origin__promisor": "true",
        "remote__origin__url": url,
        "protocol__allow": "always",
        "protocol__ssh__allow": "always",
        "protocol__file__allow": "always",
        "protocol__ext__allow": "always",
    }


def _traps(program: Path, folder: Path) -> dict[str, dict[str, str]]:
    """Settings of a repository by which git starts `program`."""
    return {
        "sshCommand": _promisor("ssh://host.example/app") | {"core__sshCommand": str(program)},
        "uploadpack": _promisor(str(folder)) | {"remote__origin__uploadpack": str(program)},
        "ext": _promisor(f"ext::{program}"),
        "fsmonitor": {"core__fsmonitor": str(program)},
        "hooks": {"core__hooksPath": str(program.parent)},
        "helpers": {
            "core__pager": str(program),
            "core__askPass": str(program),
            "credential__helper": str(program),
            "gpg__program": str(program),
            "alias__rev-list": f"!{program}",
        },
    }


@pytest.mark.parametrize("trap", ["sshCommand", "uploadpack", "ext", "fsmonitor", "hooks", "helpers"])
def test_a_repository_starts_nothing(cli: InPlace, tmp_path: Path, trap: str) -> None:
    marker, program = tmp_path / "marker", tmp_path / "hooks" / "reference-transaction"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    program.chmod(0o755)
    work = repository(cli.shell.project, **_traps(program, tmp_path)[trap])
    identify(work)
    branch(work)
    assert identify(work).keys
    cli.write("packet.json", {"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Test it."})
    for arguments in (["where"], ["save", "packet.json", "--continue", "newest"], ["save", "packet.json"]):
        assert cli(*arguments).code in (0, 5)
    for arguments in (["save", "--print"], ["status"], ["resume"], ["ls", "--project", "."], ["hosts", "status"]):
        assert cli(*arguments).code == 0
    assert not marker.exists()
    if trap in ("sshCommand", "uploadpack", "ext"):  # the trap is a real one: git alone walks into it
        subprocess.run(["git", "-C", str(work), "rev-list", "HEAD"], capture_output=True)
        assert marker.exists()


def test_a_work_tree_elsewhere_is_not_followed(tmp_path: Path) -> None:
    other = repository(tmp_path / "other")
    (other / "segue.toml").write_text('[project]\nid = "importer"\n')
    work = repository(tmp_path / "work", core__worktree=str(other))
    for folder in (work, work / "inside"):
        folder.mkdir(exist_ok=True)
        project = identify(folder)
        assert project.root == folder
        assert project.key.startswith("folder:")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives a file to another user")
def test_settings_of_another_user_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    (shared / "mine").mkdir(parents=True)
    mine, settings = shared / "mine", shared / "segue.toml"
    settings.write_text('[project]\nid = "importer"\n')
    assert identify(mine).key == "set:importer"
    os.chown(settings, STRANGER, STRANGER)
    assert identify(mine).key.startswith("folder:")
    monkeypatch.setattr(os, "getuid", lambda: STRANGER + 1)
    assert identify(mine).key.startswith("folder:")
    os.chown(settings, 0, 0)  # the administrator's
    assert identify(mine).key == "set:importer"
    settings.rename(shared / "real.toml")
    settings.symlink_to(shared / "real.toml")
    os.chown(settings, STRANGER, STRANGER, follow_symlinks=False)
    assert identify(mine).key.startswith("folder:")


ADDRESSES = [
    f"https://alice:{WORD}@host.example/acme/app.git",
    f"https://mirror.example/https://alice:{WORD}@host.example/acme/app",
    f"https://mirror.example/alice:{WORD}@host.example/app",
    f"https://mirror.example/{WORD}@host.example/app",
    f"https://host.example/acme/app;token={WORD}",
    f"https://host.example/acme/app?token={WORD}",
    f"https://host.example/acme/app#{WORD}",
    f"https://host.example/acme/app&token={WORD}",
    f"https://host.example/token={WORD}/app",
    f"https://host.example/acme/app%3Ftoken%3D{WORD}",
    f"https://host.example/alice%3A{WORD}%40other.example/app",
    f"https:alice:{WORD}@host.example/app",
    f"https:/alice:{WORD}@host.example/app",
    f"https:///alice:{WORD}@host.example/app",
    f"HTTPS:alice:{WORD}@host.example/app",
    f"ssh:{WORD}@host.example/app",
    f"https://alice@corp:{WORD}@host.example/app",
    f"https://alice:{WORD}@host.example@other.example/app",
    f"https://alice:{WORD}@[host.example/app",
    f"alice:{WORD}@host.example:acme/app",
    f"alice:{WORD}@host.example/acme/app",
    f"host.example/acme/app;{WORD}",
    f"host.example/acme/app@{WORD}",
    f"host.example:alice:{WORD}@other.example",
]


@pytest.mark.parametrize("address", ADDRESSES, ids=[each.replace(WORD, "…") for each in ADDRESSES])
def test_no_spelling_of_a_remote_gives_its_password_away(address: str) -> None:
    assert WORD not in remote_ref(address)
    assert WORD not in (remote_key(address) or "")


def test_a_project_holds_no_password_of_its_remote(cli: InPlace) -> None:
    work = repository(cli.shell.project, remote__origin__url="-")
    for address in ADDRESSES[:8]:
        git(work, "config", "remote.origin.url", address)
        found = identify(work)
        assert WORD not in repr((found.key, found.name, found.ref, found.source, found.keys))
    assert WORD not in cli("where", "--json").out
    assert WORD not in cli("save", "--print").out


def test_the_plain_spellings_still_name_the_repository() -> None:
    for address in (f"https://alice:{WORD}@host.example/acme/app.git", "git@host.example:acme/app.git"):
        assert remote_ref(address) == "host.example/acme/app"
    assert remote_ref("https://host.example/acme/some%20app") == "host.example/acme/some%20app"


@pytest.mark.parametrize("address", ["file://[x", "file:///\0x", "//[x", "x" * 5_000, "/" + "x" * 5_000, "../" * 1_700])
def test_an_address_that_is_none_breaks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    work = repository(tmp_path / "work")
    monkeypatch.setattr(projects._Git, "remote", address)  # git itself would not keep each of them
    assert identify(work).key.startswith("folder:")


def test_a_very_long_address_is_kept_out_of_no_store(cli: InPlace) -> None:
    repository(cli.shell.project, remote__origin__url="https://host.example/" + "a" * 5_000)
    packet_id = cli.save()
    assert cli("ls", "--project", ".", "--json").json["packets"][0]["id"] == packet_id
    drafted = cli("save", "--print")
    assert drafted.code == 0
    cli.write("drafted.json", drafted.stdout)
    assert cli("save", "drafted.json").code == 0


SETTINGS = {
    "deep": b"[project]\nid = " + b"[" * 5_000 + b"]" * 5_000,
    "digits": b"[project]\nid = " + b"7" * 5_000,
    "large": b'[project]\nid = "importer"\n' + b"# x\n" * 250_000,
    "long id": b'[project]\nid = "' + b"a" * 10_000 + b'"\n',
    "bytes": b'[project]\nid = "\xff\xfe"\n',
    "a secret": b'[project]\nid = "a" ' + WORD.encode(),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_hostile_settings_are_refused_or_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "segue.toml").write_bytes(SETTINGS[name])
    with ends_soon(), pytest.raises(InvalidInput) as refused:
        identify(tmp_path)
    assert refused.value.code == "config.invalid"
    assert len(refused.value.message) < 1_000
    assert WORD not in refused.value.message


def test_settings_with_a_deep_table_are_read_in_time(tmp_path: Path) -> None:
    (tmp_path / "segue.toml").write_bytes(b"[project" + b".a" * 20_000 + b"]\nx = 1\n")
    with ends_soon():
        assert identify(tmp_path).key.startswith("folder:")


def test_settings_that_are_a_pipe_are_no_settings(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "segue.toml")
    with ends_soon():
        assert identify(tmp_path).key.startswith("folder:")
