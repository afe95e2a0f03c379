"""Which project a packet belongs to, and by which names it is found: on both databases."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

import segue

if TYPE_CHECKING:
    from pathlib import Path

Draft = Callable[..., dict[str, Any]]
CREATED = "2026-05-04T09:30:00Z"


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and no remote."""
    folder = tmp_path / "work"
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.fixture
def other(segue_: segue.Segue, tmp_path: Path) -> segue.Segue:
    """The same store, seen from another folder."""
    (tmp_path / "Other Project").mkdir()
    return segue_.at(tmp_path / "Other Project")


def _ids(opened: segue.Segue, project: str) -> list[str]:
    return [line.id for line in opened.packets.ls(project=project).packets]


def _listed_by(opened: segue.Segue, packet_id: str) -> set[str]:
    with opened._database.read() as connection:
        query = sa.text("SELECT project FROM packet_projects WHERE packet_id = :id")
        return set(connection.execute(query, {"id": packet_id}).scalars())


def test_the_same_draft_in_two_projects_is_two_packets(segue_: segue.Segue, other: segue.Segue, draft: Draft) -> None:
    here, there = segue_.packets.submit(draft()), other.packets.submit(draft())
    assert (here.outcome, there.outcome) == ("created", "created")
    assert here.packet.id != there.packet.id
    assert here.packet.content_hash == there.packet.content_hash
    assert (segue_.packets.newest(), other.packets.newest()) == (here.packet, there.packet)
    for opened, saved in ((segue_, here), (other, there)):
        again = opened.packets.submit(draft())
        assert (again.outcome, again.packet) == ("unchanged", saved.packet)
    assert segue_.packets.count() == 2


def test_the_state_of_another_project_can_be_continued(segue_: segue.Segue, other: segue.Segue, draft: Draft) -> None:
    """Word for word the same: still it is this project's own packet, with the other one's as its parent."""
    first = segue_.packets.save(draft())
    for _ in range(2):
        continued = other.packets.submit(draft(), continues=first.id).packet
        assert continued.parent_id == first.id
        assert other.packets.newest() == continued
    assert segue_.packets.newest() == first
    assert segue_.packets.count() == 2


def test_a_repository_that_gets_a_remote_and_an_id_later_keeps_its_packets(
    location: str, repository: Path, draft: Draft
) -> None:
    first = _git(repository, "rev-list", "--max-parents=0", "HEAD")
    settings = repository / "segue.toml"
    steps: list[tuple[str, Callable[[], Any]]] = [
        (f"commit:{first}", lambda: None),
        ("remote:github.com/acme/app", lambda: _git(repository, "remote", "add", "origin", "git@github.com:acme/app")),
        ("set:importer", lambda: settings.write_text('[project]\nid = "importer"\n')),
    ]
    saved: list[str] = []
    for key, step in steps:
        step()
        with segue.open(location, directory=repository) as opened:
            assert opened.project.key == key
            assert _ids(opened, ".") == saved[::-1]
            assert opened.packets.count(project=".") == len(saved)
            if saved:
                assert opened.packets.newest().id == saved[-1]
                again = opened.packets.submit(draft(goal=f"Goal {len(saved) - 1}."))
                assert (again.outcome, again.packet.id) == ("unchanged", saved[-1])
            created = f"2026-05-04T09:3{len(saved)}:00Z"
            saved.append(opened.packets.save(draft(goal=f"Goal {len(saved)}.", created_at=created)).id)
            capsule_ids = {each.id for each in opened.capsules.ls(project=".").capsules}
            assert len(capsule_ids) == len(saved) - 1
            opened.capsules.save(_capsule(len(saved)))
    with segue.open(location, directory=repository) as opened:
        assert _ids(opened, ".") == saved[::-1]


def _capsule(number: int) -> str:
    return (
        "===PCSF:v1.2===\nMETA: topic | software | WORKING | 2026-05-04T09:30Z\n\n"
        "L1:SKELETON\n\nL2:NEGATIVE\n\nL3:INTERNAL\n\nL4:RELATION\n\nL5:LOOPS\n\n"
        f"SEED: Seed {number}.\n===END===\n"
    )


def test_what_a_packet_is_listed_by(segue_: segue.Segue, draft: Draft) -> None:
    """Its own name and ref, the ref's key, the project that it was saved in and that one's name: folded."""
    key, label = segue_.project.key, "project"
    plain = segue_.packets.save(draft())
    assert _listed_by(segue_, plain.id) == {key, label}
    project = {"name": "The  IMPORTER", "ref": "https://GitHub.com/Acme/Importer.git"}
    named = {"id": "packet-0001", "created_at": CREATED}
    segue_.packets.save(draft(**named, project=project))
    own = {"the importer", "https://github.com/acme/importer.git", "remote:github.com/acme/importer"}
    assert _listed_by(segue_, "packet-0001") == {key, label} | own
    segue_.packets.save(draft(**named, project={"name": "Straße"}), replace_existing=True)
    assert _listed_by(segue_, "packet-0001") == {key, label, "strasse"}
    segue_.packets.save(draft(**named, project={"name": "\t "}), replace_existing=True)
    assert _listed_by(segue_, "packet-0001") == {key, label}
    assert segue_.packets.ls(project=" ").packets == []
    segue_.packets.rm("packet-0001")
    assert _listed_by(segue_, "packet-0001") == set()
    assert segue_.store.doctor() == []


def test_a_packet_is_found_by_where_it_was_saved_in_any_case(
    segue_: segue.Segue, other: segue.Segue, draft: Draft
) -> None:
    plain = other.packets.save(draft())
    own = other.packets.save(draft(goal="Another.", project={"name": "Importer", "ref": "github.com/acme/importer"}))
    refers = other.packets.save(draft(goal="A third.", project={"ref": "github.com/acme/importer"}))
    for name in ("Other Project", "other project", "OTHER  PROJECT", "ｏther Project", other.project.key):
        assert set(_ids(segue_, name)) == {plain.id, own.id, refers.id}
        assert segue_.packets.count(project=name) == 3
    for name in ("importer", "GITHUB.com/acme/Importer", "git@github.com:Acme/importer.git"):
        wanted = {own.id} if name == "importer" else {own.id, refers.id}
        assert set(_ids(segue_, name)) == wanted
        assert segue_.packets.count(project=name) == len(wanted)
    assert (segue_.packets.count(project="."), other.packets.count(project=".")) == (0, 3)
    assert segue_.packets.count(project="") == segue_.packets.count(project="Other") == 0
    shown = {line.id: (line.project_name, line.project_ref) for line in segue_.packets.ls().packets}
    assert shown == {
        plain.id: ("Other Project", ""),
        own.id: ("Importer", "github.com/acme/importer"),
        refers.id: ("", "github.com/acme/importer"),  # not under the name of where it was saved
    }


def test_a_replaced_packet_stays_where_it_was_saved(segue_: segue.Segue, other: segue.Segue, draft: Draft) -> None:
    segue_.packets.save(draft(id="packet-0001", created_at=CREATED))
    other.packets.save(draft(id="packet-0001", created_at=CREATED, goal="Replaced."), replace_existing=True)
    assert _ids(segue_, ".") == ["packet-0001"]
    assert _ids(other, ".") == []
    assert segue_.packets.ls().packets[0].project_name == "project"


def test_a_packet_under_two_names_of_its_project_is_listed_once(location: str, repository: Path, draft: Draft) -> None:
    (repository / "segue.toml").write_text('[project]\nid = "importer"\nref = "github.com/acme/app"\n')
    with segue.open(location, directory=repository) as opened:
        assert {"set:importer", "remote:github.com/acme/app"} <= set(opened.project.keys)
        members = {"project": {"name": "app", "ref": "github.com/acme/app"}}
        saved = [opened.packets.save(draft(goal=f"Goal {number}.", **members)).id for number in range(3)]
        first = opened.packets.ls(project=".", limit=2)
        rest = opened.packets.ls(project=".", limit=2, cursor=first.cursor)
        assert [line.id for line in first.packets + rest.packets] == saved[::-1]
        assert rest.cursor is None
        assert opened.packets.count(project=".") == 3


def test_a_folder_whose_name_is_no_text(location: str, tmp_path: Path, draft: Draft) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes text alone")
    with segue.open(location, directory=folder) as opened:
        saved = opened.packets.save(draft())
        [line] = opened.packets.ls(project=".").packets
        assert (line.id, line.project_name) == (saved.id, "caf\ufffd")
        assert opened.store.doctor() == []


def test_a_git_that_is_slow_stops_a_save(
    segue_: segue.Segue, project_directory: Path, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saved under the folder's own key, the packet would be lost to its project."""
    from segue.services import projects

    programs = project_directory.parent / "programs"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(projects, "_GIT_SECONDS", 0.2)
    acts: list[Callable[[], object]] = [lambda: segue_.packets.save(draft()), segue_.packets.newest]
    for act in acts:
        with pytest.raises(segue.Failed) as failed:
            act()
        assert failed.value.code == "project.git_slow"
        assert str(project_directory) in failed.value.message
    assert segue_.packets.count() == 0
    assert segue_.store.events() == []
