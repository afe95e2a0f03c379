"""identify: which project a folder belongs to, and never a credential in what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from segue.base.errors import Failed, InvalidInput
from segue.base.remotes import remote_key, remote_ref
from segue.services.projects import Project, branch, identify

WORD = "hunter" + "2"  # the password in an address
TOKEN = "ghp_" + "z" * 36


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _repository(folder: Path, remote: str = "", *, commit: bool = True) -> Path:
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    if commit:
        (folder / "file").write_bytes(os.fsencode(folder.name))
        _git(folder, "add", "file")
        _git(folder, "commit", "-q", "-m", "first")
    if remote:
        _git(folder, "remote", "add", "origin", remote)
    return folder


def _clone(source: Path, target: Path) -> Path:
    subprocess.run(["git", "clone", "-q", str(source), str(target)], check=True, capture_output=True)
    return target


def _all_fields(project: Project) -> str:
    return f"{project!r} {project.keys!r}"


SPELLINGS = [
    "https://github.com/acme/app",
    "https://github.com/acme/app.git",
    "https://github.com/acme/app/",
    "https://github.com/acme/app.git/",
    "https://github.com//acme//app.git",
    "https://GitHub.com/Acme/App.git",
    "HTTPS://github.com/acme/app",
    "http://github.com/acme/app.git",
    "https://github.com:443/acme/app.git",
    "https://alice@github.com/acme/app.git",
    f"https://alice:{WORD}@github.com/acme/app.git",
    f"https://{TOKEN}:x-oauth-basic@github.com/acme/app.git",
    f"https://alice:p%40{WORD}@github.com/acme/app.git",
    f"https://alice:p@{WORD}@github.com/acme/app.git",
    f"https://github.com/acme/app.git?token={TOKEN}",
    "ssh://git@github.com/acme/app.git",
    "ssh://git@github.com:22/acme/app.git",
    "ssh://github.com/acme/app",
    "git+ssh://git@github.com/acme/app.git",
    "git://github.com/acme/app.git",
    "git://github.com:9418/acme/app.git",
    "git@github.com:acme/app.git",
    "git@github.com:/acme/app.git",
    "github.com:acme/app",
    f"alice:{WORD}@github.com:acme/app.git",
    "  git@github.com:acme/app.git  ",
    "github.com/acme/app",
    "github.com/acme/app.git",
    f"github.com/acme/app?token={TOKEN}",
]


@pytest.mark.parametrize("address", SPELLINGS)
def test_every_spelling_of_a_remote_is_one_project(address: str) -> None:
    assert remote_key(address) == "remote:github.com/acme/app"
    shown = remote_ref(address)
    assert shown.lower() == "github.com/acme/app"
    assert WORD not in shown
    assert TOKEN not in shown


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("ssh://git@host.example:2222/acme/app.git", "remote:host.example:2222/acme/app"),
        ("https://host.example:8443/acme/app.git", "remote:host.example:8443/acme/app"),
        ("https://gitlab.com/group/sub/group/app", "remote:gitlab.com/group/sub/group/app"),
        ("git@ssh.dev.azure.com:v3/org/project/app", "remote:ssh.dev.azure.com/v3/org/project/app"),
        ("build-host:app.git", "remote:build-host/app"),
        ("ssh://git@host.example/~alice/app", "remote:host.example/~alice/app"),
        ("https://host.example/app.git.git", "remote:host.example/app.git"),
    ],
)
def test_other_remotes(address: str, key: str) -> None:
    assert remote_key(address) == key


@pytest.mark.parametrize(
    "address",
    [
        "",
        "   ",
        "/srv/git/app.git",
        "../app.git",
        "./app",
        "app",
        "~/app",
        "file:///srv/git/app.git",
        "C:\\work\\app",
        "C:/projects/app",
        "c:app",
        "https://",
        "https:///acme/app",
        "https://github.com",
        "https://github.com/",
        f"https://alice:{WORD}@github.com:notaport/acme/app",
        f"https://alice:{WORD}@[::1/acme/app",
        f"s3://key:{WORD}@bucket/app",
        "git@github.com:",
    ],
)
def test_what_is_no_network_address(address: str) -> None:
    assert remote_key(address) is None
    assert remote_ref(address) == ""


def test_the_remote_decides(tmp_path: Path) -> None:
    project = identify(_repository(tmp_path / "work", f"https://alice:{WORD}@GitHub.com/Acme/App.git"))
    assert (project.key, project.name, project.ref) == ("remote:github.com/acme/app", "App", "github.com/Acme/App")
    assert (project.root, branch(project.root), project.source) == (tmp_path / "work", "main", "the remote repository")
    first = _git(project.root, "rev-list", "--max-parents=0", "HEAD")
    assert project.keys == ("remote:github.com/acme/app", f"commit:{first}")
    assert WORD not in _all_fields(project)


def test_which_remote_counts(tmp_path: Path) -> None:
    work = _repository(tmp_path / "work")
    for name in ("zeta", "beta", "upstream", "origin"):
        _git(work, "remote", "add", name, f"https://host.example/{name}/app")
        expected = {"zeta": "zeta", "beta": "beta"}.get(name, name)
        assert identify(work).key == f"remote:host.example/{expected}/app"


def test_a_remote_without_commits(tmp_path: Path) -> None:
    work = _repository(tmp_path / "work", "git@github.com:acme/app.git", commit=False)
    assert identify(work).key == "remote:github.com/acme/app"
    assert identify(work).keys == ("remote:github.com/acme/app",)
    assert branch(work) == "main"


def test_a_folder_inside_and_a_link(tmp_path: Path) -> None:
    work = _repository(tmp_path / "work")
    (work / "deep" / "inside").mkdir(parents=True)
    (tmp_path / "link").symlink_to(work)
    (tmp_path / "deep-link").symlink_to(work / "deep" / "inside")
    wanted = identify(work)
    for folder in (work / "deep" / "inside", tmp_path / "link", tmp_path / "link" / "deep", tmp_path / "deep-link"):
        assert identify(folder) == wanted


def test_worktrees_clones_and_renamed_folders(tmp_path: Path) -> None:
    work = _repository(tmp_path / "work")
    first = _git(work, "rev-list", "--max-parents=0", "HEAD")
    wanted = identify(work)
    assert (wanted.key, wanted.name, wanted.ref) == (f"commit:{first}", "work", "")
    _git(work, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = identify(tmp_path / "side")
    assert (side.key, side.name, side.root) == (wanted.key, "work", tmp_path / "side")
    assert (branch(tmp_path / "side"), branch(work)) == ("side", "main")
    clone = _clone(work, tmp_path / "clone")
    assert identify(clone).key == wanted.key
    assert identify(_clone(clone, tmp_path / "clone of a clone")).key == wanted.key
    (clone / "new").write_text("later")
    _git(clone, "add", "new")
    _git(clone, "commit", "-q", "-m", "second")
    assert identify(clone).key == wanted.key
    work.rename(tmp_path / "renamed")
    assert identify(tmp_path / "renamed").key == wanted.key
    assert identify(tmp_path / "renamed").name == "renamed"


def test_a_clone_of_a_clone_has_the_remote_of_the_first(tmp_path: Path) -> None:
    first = _repository(tmp_path / "first", f"https://alice:{WORD}@github.com/acme/app.git")
    second = _clone(first, tmp_path / "second")
    third = tmp_path / "third"
    subprocess.run(["git", "clone", "-q", f"file://{second}", str(third)], check=True, capture_output=True)
    for folder in (second, third):
        project = identify(folder)
        assert (project.key, project.ref) == ("remote:github.com/acme/app", "github.com/acme/app")
        assert WORD not in _all_fields(project)


def test_clones_that_name_each_other_come_to_an_end(tmp_path: Path) -> None:
    one = _repository(tmp_path / "one", "../two")
    _repository(tmp_path / "two", "../one")
    assert identify(one).key.startswith("commit:")


def test_no_commit_and_no_remote(tmp_path: Path) -> None:
    work = _repository(tmp_path / "work", commit=False)
    project = identify(work)
    assert project.key.startswith("folder:")
    assert (project.name, branch(project.root), project.root) == ("work", "main", work)
    assert project.keys == (project.key,)
    (work / "inside").mkdir()
    assert identify(work / "inside").key == project.key


def test_a_detached_head_has_no_branch(tmp_path: Path) -> None:
    work = _repository(tmp_path / "work")
    _git(work, "checkout", "-q", "--detach")
    assert branch(work) == ""


def test_a_folder_without_repository(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "one")
    one = identify(tmp_path / "one")
    assert one.key.startswith("folder:")
    assert (one.name, one.ref, one.root) == ("one", "", tmp_path / "one")
    assert branch(tmp_path / "one") == ""
    assert str(tmp_path) not in one.key
    assert identify(tmp_path / "link") == one
    assert identify(tmp_path).key != one.key
    assert identify(Path("/")).name == "root"


def test_a_folder_with_an_odd_name(tmp_path: Path) -> None:
    for name in ("new\nline", "über \u202e", os.fsdecode(b"\xff\xfe"), "trailing "):
        folder = _repository(tmp_path / name, "git@github.com:acme/app.git")
        assert identify(folder).key == "remote:github.com/acme/app", ascii(name)


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = _repository(tmp_path / "work", "git@github.com:acme/app.git")
    monkeypatch.setenv("PATH", str(tmp_path))
    project = identify(work)
    assert project.key.startswith("folder:")
    assert project.source == "the folder (no git repository)"
    (tmp_path / "git").write_text("#!/bin/sh\necho nonsense\nexit 3\n")
    (tmp_path / "git").chmod(0o755)
    assert identify(work) == project
    (tmp_path / "git").write_text("not a program")
    assert identify(work) == project


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES"])
def test_the_folder_decides_not_the_variables_of_a_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    work = _repository(tmp_path / "work", "git@github.com:acme/app.git")
    other = _repository(tmp_path / "other", "git@github.com:acme/other.git")
    wanted = identify(work)
    monkeypatch.setenv(name, str(other / ".git" if name != "GIT_CEILING_DIRECTORIES" else tmp_path))
    assert identify(work) == wanted


def test_segue_toml_overrides(tmp_path: Path) -> None:
    work = _repository(tmp_path / "work", "git@github.com:acme/app.git")
    settings = work / "segue.toml"
    settings.write_text(
        f'[project]\nid = "importer"\nname = "The Importer"\nref = "https://alice:{WORD}@github.com/Acme/importer.git"\n'
    )
    first = _git(work, "rev-list", "--max-parents=0", "HEAD")
    (work / "inside").mkdir()
    for folder in (work, work / "inside"):
        project = identify(folder)
        assert (project.key, project.name, project.ref) == ("set:importer", "The Importer", "github.com/Acme/importer")
        assert (project.root, project.source) == (work, "segue.toml")
        assert branch(folder) == "main"
        assert project.keys == ("set:importer", "remote:github.com/acme/importer", f"commit:{first}")
        assert WORD not in _all_fields(project)
    settings.write_text('[project]\nid = "importer"\n')
    assert (identify(work).name, identify(work).ref) == ("importer", "github.com/acme/app")
    settings.write_text('[project]\nname = "Only a name"\n')
    project = identify(work)
    assert (project.key, project.name, project.source) == (
        "remote:github.com/acme/app",
        "Only a name",
        "the remote repository",
    )
    for empty in ("", "[other]\nx = 1\n", "[project]\n", '[project]\nid = ""\n'):
        settings.write_text(empty)
        assert identify(work).key == "remote:github.com/acme/app"


def test_a_git_that_does_not_answer_is_not_taken_for_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from segue.services import projects

    work = _repository(tmp_path / "work", "git@github.com:acme/app.git")
    project = identify(work)
    (tmp_path / "git").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(projects, "_GIT_SECONDS", 0.2)
    for act in (lambda: identify(work), lambda: branch(work), lambda: project.keys):
        with pytest.raises(Failed) as failed:
            act()
        assert failed.value.code == "project.git_slow"
        assert str(work) in failed.value.message


def test_a_history_that_was_merged_in_does_not_change_the_project(tmp_path: Path) -> None:
    """Of two first commits the one counts from which this line of work comes, whichever hash is the smaller."""
    for names in (("one", "two"), ("two", "one")):
        folder = tmp_path / "-".join(names)
        works = [_repository(folder / name) for name in names]
        wanted = identify(works[0]).key
        _git(works[0], "fetch", "-q", str(works[1]), "main")
        _git(works[0], "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "merged", "FETCH_HEAD")
        assert len(_git(works[0], "rev-list", "--max-parents=0", "HEAD").split()) == 2
        assert identify(works[0]).key == wanted


def test_the_nearest_segue_toml_counts_up_to_the_repository(tmp_path: Path) -> None:
    (tmp_path / "segue.toml").write_text('[project]\nid = "outside"\n')
    work = _repository(tmp_path / "work", "git@github.com:acme/app.git")
    assert identify(work).key == "remote:github.com/acme/app"
    (work / "segue.toml").write_text('[project]\nid = "whole"\n')
    (work / "part").mkdir()
    (work / "part" / "segue.toml").write_text('[project]\nid = "part"\n')
    assert identify(work).key == "set:whole"
    assert identify(work / "part").key == "set:part"


def test_segue_toml_above_a_folder_without_repository(tmp_path: Path) -> None:
    (tmp_path / "plain" / "deep").mkdir(parents=True)
    (tmp_path / "plain" / "segue.toml").write_text('[project]\nid = "plain"\n')
    project = identify(tmp_path / "plain" / "deep")
    assert (project.key, project.root) == ("set:plain", tmp_path / "plain")


@pytest.mark.parametrize(
    "content",
    [
        b"[project",
        b"\xff\xfe",
        b'project = "text"',
        b"[project]\nid = 7",
        b'[project]\nname = ["a"]',
        b'[project]\nid = "a"\nid = "b"',
        b'[project]\nref = "/srv/git/app"',
        b'[project]\nref = "s3://key:' + WORD.encode() + b'@bucket/app"',
    ],
)
def test_a_broken_segue_toml_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "segue.toml").write_bytes(content)
    with pytest.raises(InvalidInput) as refused:
        identify(tmp_path)
    assert refused.value.code == "config.invalid"
    assert str(tmp_path / "segue.toml") in refused.value.message
    assert WORD not in refused.value.message


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = identify(gone)
    shutil.rmtree(gone)
    assert identify(gone) == before
