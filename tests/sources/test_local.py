"""The local reader: everything in the folder, nothing outside of it."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from segue.base.errors import Failed, InvalidInput, NotFound, Refused, SegueError
from segue.sources import local
from segue.sources.limits import DEFAULT, Limits
from sources.folders import RECORDS, manifest, write

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "records/a.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "inside" / "memories")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    file = tmp_path / "outside.md"
    file.write_text("Nobody reads this.")
    return file


def refused(folder: Path) -> SegueError:
    with pytest.raises(SegueError) as caught:
        local.read(folder, DEFAULT)
    return caught.value


@pytest.mark.requirement("sources-local")
def test_a_folder_is_read_in_the_order_of_its_manifest(folder: Path) -> None:
    (folder / "records" / "unlisted.md").write_text("See also https://example.org/other-source/")
    told: list[tuple[int, int]] = []
    found = local.read(folder, DEFAULT, on_progress=lambda done, total: told.append((done, total)))
    assert [each.path for each in found.resources] == ["memories.json", *RECORDS]
    assert [each.data.decode() for each in found.resources[1:]] == list(RECORDS.values())
    assert [(each.id, each.title, each.body) for each in found.records] == [
        ("test-command", "How to test", "Run `make test`.\n"),
        ("style", "", "Names are nouns.\n"),
    ]
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert not found.unchanged


@pytest.mark.requirement("sources-snapshot")
def test_whether_anything_changed(folder: Path) -> None:
    before = {each.path: each for each in local.read(folder, DEFAULT).resources}
    assert local.read(folder, DEFAULT, before=before).unchanged
    (folder / "records" / "style.md").write_text("Names are verbs.\n")
    assert not local.read(folder, DEFAULT, before=before).unchanged
    write(folder, {"records/test-command.md": RECORDS["records/test-command.md"]})
    assert not local.read(folder, DEFAULT, before=before).unchanged


@pytest.mark.requirement("sources-local")
def test_the_folder_itself_may_be_reached_through_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "parent").symlink_to(folder.parent)
    assert len(local.read(tmp_path / "link", DEFAULT).records) == 2
    assert len(local.read(tmp_path / "parent" / "memories", DEFAULT).records) == 2


@pytest.mark.requirement("sources-local")
def test_a_folder_is_given_by_an_absolute_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    with pytest.raises(Refused) as caught:
        local.read(Path("memories"), DEFAULT)
    assert caught.value.code == "source.path"


@pytest.mark.parametrize("name", ["nothing", "memories.json", "memories.json/x", "a\0b"])
def test_a_folder_that_is_none(folder: Path, name: str) -> None:
    error = refused(folder / name)
    assert isinstance(error, NotFound | Failed)
    assert error.code in ("source.folder", "source.unreachable")


def linked(path: Path, outside: Path) -> None:
    path.symlink_to(outside)


def linked_inside(path: Path, outside: Path) -> None:
    path.symlink_to("style.md")


def linked_nowhere(path: Path, outside: Path) -> None:
    path.symlink_to("nowhere.md")


def linked_to_itself(path: Path, outside: Path) -> None:
    path.symlink_to(path.name)


def linked_folder(path: Path, outside: Path) -> None:
    (outside.parent / path.name).write_text("Nobody reads this.")
    (path.parent / "style.md").unlink()
    (path.parent / "test-command.md").unlink()
    path.parent.rmdir()
    path.parent.symlink_to(outside.parent)


def linked_folder_inside(path: Path, outside: Path) -> None:
    path.write_text("Text.")
    path.parent.rename(path.parent.with_name("real"))
    path.parent.symlink_to("real")


def pipe(path: Path, outside: Path) -> None:
    os.mkfifo(path)


def directory(path: Path, outside: Path) -> None:
    path.mkdir()


def unix_socket(path: Path, outside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # the path of a socket has a hundred characters at most
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def file_for_folder(path: Path, outside: Path) -> None:
    path.parent.rename(path.parent.with_name("real"))
    path.parent.write_text("Text.")


TRAPS: list[tuple[Any, str]] = [
    (linked, "path.link"),
    (linked_inside, "path.link"),
    (linked_nowhere, "path.link"),
    (linked_to_itself, "path.link"),
    (linked_folder, "path.link"),
    (linked_folder_inside, "path.link"),
    (pipe, "path.no_file"),
    (directory, "path.no_file"),
    (unix_socket, "path.no_file"),
    (file_for_folder, "path.no_folder"),
]


@pytest.mark.requirement("sources-local")
@pytest.mark.parametrize(("made", "rule"), TRAPS)
def test_what_is_no_ordinary_file_inside_is_refused(
    folder: Path, outside: Path, made: Callable[[Path, Path], None], rule: str
) -> None:
    made(folder / NAME, outside)
    (folder / "memories.json").write_bytes(manifest(NAME))
    error = refused(folder)
    assert (error.code, error.exit_code) == ("source.path", 4)
    assert error.details["problems"][0]["rule"] == rule
    assert error.details["problems"][0]["where"] == NAME


@pytest.mark.requirement("sources-local")
@pytest.mark.parametrize(("made", "rule"), [(linked, "path.link"), (pipe, "path.no_file"), (directory, "path.no_file")])
def test_the_manifest_is_an_ordinary_file_too(
    folder: Path, outside: Path, made: Callable[[Path, Path], None], rule: str
) -> None:
    (folder / "memories.json").unlink()
    made(folder / "memories.json", outside)
    assert refused(folder).details["problems"][0]["rule"] == rule


@pytest.mark.requirement("sources-local")
def test_a_device_is_refused_and_not_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nodes cannot be made, one is shown: what the system says of a null device, under the record's name."""
    (folder / NAME).write_text("Text.")
    (folder / "memories.json").write_bytes(manifest(NAME))
    null, real = Path("/dev/null").stat(), os.stat
    opened: list[tuple[Any, Any]] = []
    monkeypatch.setattr(os, "stat", lambda path, **given: null if path == "a.md" else real(path, **given))
    monkeypatch.setattr(os, "open", recorded(os.open, opened))
    assert refused(folder).details["problems"][0]["rule"] == "path.no_file"
    assert [path for path, _ in opened][1:] == ["memories.json", "records"]


@pytest.mark.requirement("sources-local")
def test_nothing_outside_is_looked_at(folder: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / NAME).symlink_to(outside)
    (folder / "memories.json").write_bytes(manifest("records/style.md", NAME))
    opened: list[tuple[Any, Any]] = []
    looked: list[tuple[Any, Any]] = []
    monkeypatch.setattr(os, "open", recorded(os.open, opened))
    monkeypatch.setattr(os, "stat", recorded(os.stat, looked))
    refused(folder)
    assert opened[0] == (folder, None)
    for name, handle in (*opened[1:], *looked):
        assert isinstance(handle, int)  # relative to a folder that is held
        assert name in ("memories.json", "records", "style.md", "a.md")
    assert "a.md" not in [name for name, _ in opened]


def recorded(real: Callable[..., Any], into: list[Any]) -> Callable[..., Any]:
    def called(path: Any, *arguments: Any, **given: Any) -> Any:
        assert real is not os.stat or given.get("follow_symlinks") is False
        into.append((path, given.get("dir_fd")))
        return real(path, *arguments, **given)

    return called


@pytest.mark.requirement("sources-local")
@pytest.mark.parametrize("made", [linked, pipe, directory, linked_inside, "file", "missing"])
@pytest.mark.parametrize("name", ["a.md", "records"])
def test_what_is_exchanged_between_look_and_open_is_refused(
    folder: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, made: Any, name: str
) -> None:
    (folder / NAME).write_text("Text.")
    (folder / "memories.json").write_bytes(manifest(NAME))
    real = os.open

    def exchanging(path: Any, flags: int, *arguments: Any, **given: Any) -> int:
        if path == name:
            monkeypatch.setattr(os, "open", real)
            target = folder / ("records" if name == "records" else NAME)
            target.rename(target.with_name("moved"))
            if made == "file":
                (target.mkdir() if name == "records" else target.write_text("Other."))
            elif made != "missing":
                made(target, outside)
        return real(path, flags, *arguments, **given)

    monkeypatch.setattr(os, "open", exchanging)
    error = refused(folder)
    if made == "missing":
        assert (error.code, error.details["problems"][0]["rule"]) == ("source.record", "record.missing")
    else:
        assert (error.code, error.details["problems"][0]["rule"]) == ("source.path", "path.exchanged")


def test_what_changes_while_it_is_read_is_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.read

    def growing(handle: int, size: int) -> bytes:
        monkeypatch.setattr(os, "read", real)
        data = real(handle, size)
        with (folder / "memories.json").open("ab") as file:
            file.write(b" ")
        return data

    monkeypatch.setattr(os, "read", growing)
    with pytest.raises(Failed) as caught:
        local.read(folder, DEFAULT)
    assert (caught.value.code, caught.value.details["where"]) == ("source.changed", "memories.json")


@pytest.mark.requirement("sources-limits")
@pytest.mark.parametrize(
    ("limits", "rule"),
    [
        (Limits(manifest_bytes=50), "limit.manifest_bytes"),
        (Limits(record_bytes=20), "limit.record_bytes"),
        (Limits(records=1), "limit.records"),
        (Limits(total_bytes=150), "limit.total_bytes"),
    ],
)
def test_a_folder_keeps_to_the_limits(folder: Path, limits: Limits, rule: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        local.read(folder, limits)
    assert (caught.value.code, caught.value.exit_code) == ("source.limit", 3)
    assert caught.value.details["problems"][0]["rule"] == rule


@pytest.mark.requirement("sources-limits")
def test_a_file_is_read_to_its_limit_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "records" / "style.md").write_bytes(b"x" * 300_000)
    read: list[int] = []
    real = os.read

    def counted(handle: int, size: int) -> bytes:
        data = real(handle, size)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "read", counted)
    error = refused(folder)
    assert error.details["problems"][0]["rule"] == "limit.record_bytes"
    assert sum(read) <= len((folder / "memories.json").read_bytes()) + 100 + (256 << 10) + 1


@pytest.mark.parametrize(
    ("name", "rule"), [("memories.json", "manifest.missing"), ("records/style.md", "record.missing")]
)
def test_what_is_not_there(folder: Path, name: str, rule: str) -> None:
    (folder / name).unlink()
    error = refused(folder)
    assert isinstance(error, InvalidInput)
    assert error.details["problems"][0]["rule"] == rule


def test_no_handle_stays_open(folder: Path, outside: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else None
    local.read(folder, DEFAULT)
    (folder / "records" / "style.md").unlink()
    (folder / "records" / "style.md").symlink_to(outside)
    refused(folder)
    if before is not None:
        assert len(list(Path("/proc/self/fd").iterdir())) == before
