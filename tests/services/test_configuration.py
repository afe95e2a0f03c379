"""profiles: read from the home folder and from the project, the project's first."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from segue.base.errors import Failed, InvalidInput
from segue.context.profiles import CLAUDE, GENERIC, resolve
from segue.services.configuration import profiles

if TYPE_CHECKING:
    from pathlib import Path


def table(name: str, budget: int) -> str:
    return f"[context.profiles.{name}]\npack_budget = {budget}\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository, with a folder inside."""
    folder = tmp_path / "work"
    (folder / "inside").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def read(home: Path, directory: Path) -> dict[str, int]:
    return {each.name: each.pack_budget for each in profiles(lambda: home, directory)}


def test_without_files_there_are_none(home: Path, project: Path) -> None:
    assert profiles(lambda: home, project) == ()
    assert profiles(lambda: home / "none" / "at all", project) == ()
    (home / "file").write_text("")
    assert profiles(lambda: home / "file", project) == ()  # no folder


def test_a_user_without_a_home_folder_has_none(project: Path) -> None:
    def missing() -> Path:
        raise Failed("home.missing", "this user has no home folder")

    assert profiles(missing, project) == ()
    (project / "segue.toml").write_text(table("fast", 500))
    assert [each.name for each in profiles(missing, project)] == ["fast"]


def test_the_home_folder_and_the_project_add_profiles(home: Path, project: Path) -> None:
    (home / "config.toml").write_text(table("slow", 5_000) + table("claude", 9_000))
    assert list(read(home, project).items()) == [("slow", 5_000), ("claude", 9_000)]
    (project / "segue.toml").write_text('[project]\nid = "x"\n' + table("fast", 500))
    for folder in (project, project / "inside"):
        assert list(read(home, folder).items()) == [("fast", 500), ("slow", 5_000), ("claude", 9_000)]


def test_the_projects_profile_wins_as_a_whole(home: Path, project: Path) -> None:
    (home / "config.toml").write_text(table("fast", 5_000) + "chars_per_token = 3\n" + table("claude", 9_000))
    (project / "segue.toml").write_text(table("FAST", 500) + table("claude", 7_000))
    fast, claude = profiles(lambda: home, project)
    assert (fast.name, fast.pack_budget, fast.chars_per_token) == ("fast", 500, GENERIC.chars_per_token)
    assert (claude.pack_budget, claude.aliases) == (7_000, CLAUDE.aliases)
    assert resolve("haiku", further=(fast, claude)) is claude


def test_a_project_ends_at_its_repository(home: Path, project: Path) -> None:
    (project.parent / "segue.toml").write_text(table("outside", 500))
    assert read(home, project / "inside") == {}
    assert read(home, project.parent) == {"outside": 500}


def test_a_link_to_the_project_is_the_project(home: Path, project: Path, tmp_path: Path) -> None:
    (project / "segue.toml").write_text(table("fast", 500))
    (tmp_path / "link").symlink_to(project / "inside")
    assert read(home, tmp_path / "link") == {"fast": 500}


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners of files")
def test_a_strangers_file_does_not_count(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "segue.toml").write_text(table("fast", 500))
    # The owner stays; whom it is compared with is another. Files of the administrator count for everybody.
    owner = (project / "segue.toml").stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert read(home, project) == ({"fast": 500} if owner == 0 else {})
    if owner == 0:
        os.chown(project / "segue.toml", 1234, -1)
        assert read(home, project) == {}


@pytest.mark.parametrize("where", ["home", "project"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[context", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"a = " + b"[" * 5_000, "cannot be read"),
        (b"#" * 70_000, "larger than 65536 bytes"),
        ("# ж".encode() * 30_000, "larger than 65536 bytes"),
        (table("fast", 5).encode(), "context.profiles.fast.pack_budget must be a whole number from 300"),
        (b"[context.profiles.fast]\npack_budget = 500\nsize = 1", "context.profiles.fast has a key that is not known"),
    ],
)
def test_a_bad_file_is_refused_by_name(home: Path, project: Path, where: str, content: bytes, said: str) -> None:
    file = home / "config.toml" if where == "home" else project / "segue.toml"
    file.write_bytes(content)
    with pytest.raises(InvalidInput) as refused:
        profiles(lambda: home, project)
    assert refused.value.code == "config.invalid"
    assert refused.value.message.startswith(str(file))
    assert said in refused.value.message


def test_what_is_no_file_is_refused_and_not_waited_for(home: Path, project: Path) -> None:
    (home / "config.toml").mkdir()
    with pytest.raises(InvalidInput, match="is not a file"):
        profiles(lambda: home, project)
    (home / "config.toml").rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(home / "config.toml")
        with pytest.raises(InvalidInput, match="is not a file"):
            profiles(lambda: home, project)
    (home / "config.toml").unlink(missing_ok=True)
    (home / "config.toml").symlink_to("config.toml")
    with pytest.raises(InvalidInput, match="cannot be read"):
        profiles(lambda: home, project)


def test_a_broken_home_is_not_hidden_by_the_project(home: Path, project: Path) -> None:
    (project / "segue.toml").write_text(table("fast", 500))
    (home / "config.toml").write_text(table("fast", 5))
    with pytest.raises(InvalidInput) as refused:
        profiles(lambda: home, project)
    assert refused.value.details == {"file": str(home / "config.toml"), "key": "context.profiles.fast.pack_budget"}


def test_git_is_not_asked_where_no_file_is(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("started"))
    assert profiles(lambda: home, project) == ()
