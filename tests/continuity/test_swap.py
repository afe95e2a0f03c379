"""A memory store on the disk: read whole, made whole, changed as one or not at all."""

from __future__ import annotations

import json
import os
import shutil
import stat
from typing import TYPE_CHECKING, Any

import pytest

from continuity import store_samples as samples
from segue.base.errors import Failed, InvalidInput, Refused, Stale
from segue.continuity import swap
from segue.continuity.store import doctor
from segue.continuity.store.layout import STORE
from segue.continuity.store.snapshot import Plan, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / STORE
    found.mkdir()
    for name, text in samples.FILES.items():
        (found / name).write_bytes(text.encode())
    return found


def held(folder: Path) -> dict[str, bytes]:
    """Everything in a folder, hidden files and folders too."""
    return {
        each.relative_to(folder).as_posix(): each.read_bytes() if each.is_file() else b"" for each in folder.rglob("*")
    }


def plan() -> Plan:
    """A change of all sorts: a file that is new, one that is another, one that moves, and the index."""
    return Plan(
        {
            "new.md": b"new\n",
            "no-gpu.md": b"other\n",
            "archive/shape-check.md": b"old\n",
            "MEMORY.md": b"# Memory Index\n",
        },
        ("shape-check.md",),
    )


def test_read_and_in_order(folder: Path) -> None:
    (folder / "archive").mkdir()
    (folder / "archive" / "old.md").write_bytes(b"old\n")
    (folder / "notes.txt").write_bytes(b"no fact\n")
    found = swap.read(folder)
    assert set(found.files) == {*samples.FILES, "archive/old.md"}
    assert doctor.check(found).faults == ()


@pytest.mark.requirement("continuity-store-format")
def test_names_that_the_disk_spells_otherwise(folder: Path) -> None:
    decomposed = "gro\u0308\u00dfe"
    (folder / f"{decomposed}.md").write_bytes(samples.detail("größe", 9).encode())
    index = samples.INDEX + "- [x](größe.md) — y\n"
    (folder / "MEMORY.md").write_bytes(index.encode())
    found = swap.read(folder)
    assert doctor.check(found).faults == ()
    swap.swap(folder, Plan({"größe.md": b"changed\n"}), found)
    assert (folder / f"{decomposed}.md").read_bytes() == b"changed\n"


def test_links_lead_nowhere(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_bytes(b"private\n")
    (folder / "no-gpu.md").unlink()
    (folder / "no-gpu.md").symlink_to(secret)
    (folder / "archive").symlink_to(tmp_path)
    found = swap.read(folder)
    assert b"private\n" not in found.files.values()
    assert {each.code for each in doctor.check(found).faults} == {"store.link", "store.archive"}
    whole = tmp_path / "other"
    whole.symlink_to(folder)
    assert [each.code for each in swap.read(whole).faults] == ["store.folder"]


def test_what_cannot_be_read_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "no-gpu.md").write_bytes(b"x" * (swap.MAX_FILE + 1))
    os.mkfifo(folder / "pipe.md")
    faults = doctor.check(swap.read(folder)).faults
    assert {(each.code, each.file) for each in faults} == {("store.size", "no-gpu.md"), ("store.unreadable", "pipe.md")}
    assert next(each.mend for each in faults if each.file == "pipe.md").startswith("remove it")
    monkeypatch.setattr(swap, "MAX_STORE", 1_000)
    assert "store.size" in {each.code for each in doctor.check(swap.read(folder)).faults if each.file == STORE}


@pytest.mark.requirement("continuity-store-whole")
def test_changed_as_one(folder: Path) -> None:
    (folder / "no-gpu.md").chmod(0o640)
    written = swap.swap(folder, plan(), swap.read(folder))
    assert set(written) == {"new.md", "no-gpu.md", "archive/shape-check.md", "MEMORY.md"}
    after = held(folder)
    assert after["new.md"] == b"new\n"
    assert after["archive/shape-check.md"] == b"old\n"
    assert set(after) == {*samples.FILES, "new.md", "archive", "archive/shape-check.md"} - {"shape-check.md"}
    assert after["line-by-line.md"] == samples.FEEDBACK.encode()
    assert stat.S_IMODE((folder / "no-gpu.md").stat().st_mode) == 0o640
    assert swap.swap(folder, Plan({"new.md": b"new\n"}), swap.read(folder)) == {}


@pytest.mark.requirement("continuity-store-whole")
def test_what_was_changed_meanwhile_stays(folder: Path) -> None:
    base = swap.read(folder)
    (folder / "no-gpu.md").write_bytes(b"by hand\n")
    before = held(folder)
    with pytest.raises(Stale, match=r"no-gpu\.md"):
        swap.swap(folder, plan(), base)
    assert held(folder) == before


def calls(monkeypatch: pytest.MonkeyPatch, fail: Callable[[str, int], bool]) -> list[str]:
    """Let each call that changes files go through `fail`, which says whether the disk refuses it."""
    made: list[str] = []

    def watch(holder: Any, name: str) -> None:
        real = getattr(holder, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            made.append(name)
            if fail(name, len(made)):
                raise OSError(28, "No space left on device")
            return real(*arguments, **options)

        monkeypatch.setattr(holder, name, watched)

    import pathlib

    for name in ("mkdir", "replace", "unlink", "chmod"):
        watch(pathlib.Path, name)
    for name in ("fsync", "open"):
        watch(os, name)
    return made


@pytest.mark.requirement("continuity-store-whole")
def test_a_disk_that_refuses_at_any_moment(folder: Path, tmp_path: Path) -> None:
    """Whichever call fails, once: all is as it was or, where only the tidying failed, as it was to be."""
    before = held(folder)
    shutil.copytree(folder, tmp_path / "done")
    with pytest.MonkeyPatch.context() as patch:
        recorded = calls(patch, lambda name, number: False)
        swap.swap(tmp_path / "done", plan(), swap.read(tmp_path / "done"))
        total = len(recorded)
    after = held(tmp_path / "done")
    assert total > 20
    kinds = set()
    for point in range(1, total + 1):
        copy = tmp_path / f"copy-{point}"
        shutil.copytree(folder, copy)
        base = swap.read(copy)
        with pytest.MonkeyPatch.context() as patch:
            calls(patch, lambda name, number, point=point: number == point)  # type: ignore[misc]
            try:
                swap.swap(copy, plan(), base)
                wanted = after
            except Failed as error:
                assert "No space left" in error.message
                wanted = before
        swap.recover(copy)
        assert held(copy) == wanted, point
        kinds.add(wanted is before)
        shutil.rmtree(copy)
    assert True in kinds


def staged(folder: Path, *steps: dict[str, Any], **files: bytes) -> Path:
    place = folder / swap.SWAP
    place.mkdir()
    (place / "journal.json").write_text(json.dumps({"schema_version": "6.0", "steps": steps}))
    for name, data in files.items():
        (place / name.replace("_", "-")).write_bytes(data)
    return place


def digest(data: bytes | None) -> str | None:
    import hashlib

    return None if data is None else hashlib.sha256(data).hexdigest()


def step(name: str, new: bytes | None, old: bytes | None) -> dict[str, Any]:
    return {"name": name, "new": digest(new), "old": digest(old)}


GPU = samples.PROJECT.encode()


@pytest.mark.requirement("continuity-store-killed")
def test_interrupted_changes_are_finished(folder: Path) -> None:
    place = staged(folder, step("no-gpu.md", b"new\n", GPU), new_0=b"new\n", old_0=GPU)
    assert [each.code for each in doctor.check(swap.read(folder)).faults] == ["store.interrupted"]
    assert swap.recover(folder)
    assert (folder / "no-gpu.md").read_bytes() == b"new\n"
    assert not place.exists()
    assert not swap.recover(folder)


@pytest.mark.requirement("continuity-store-killed")
def test_or_taken_back_where_what_was_staged_is_lost(folder: Path) -> None:
    staged(folder, step("a.md", b"a\n", None), step("no-gpu.md", b"new\n", GPU), new_1=b"torn", old_1=GPU)
    (folder / "a.md").write_bytes(b"a\n")
    assert swap.recover(folder)
    assert held(folder) == {name: text.encode() for name, text in samples.FILES.items()}


def test_what_was_staged_without_a_journal_goes(folder: Path) -> None:
    (folder / swap.SWAP).mkdir()
    (folder / swap.SWAP / "new-0").write_bytes(b"new\n")
    assert not swap.recover(folder)
    assert held(folder) == {name: text.encode() for name, text in samples.FILES.items()}


@pytest.mark.requirement("continuity-store-killed")
def test_never_over_what_somebody_wrote_since(folder: Path) -> None:
    staged(folder, step("no-gpu.md", b"new\n", GPU), new_0=b"new\n", old_0=GPU)
    (folder / "no-gpu.md").write_bytes(b"by hand\n")
    before = held(folder)
    with pytest.raises(InvalidInput, match=r"no-gpu\.md was changed since") as error:
        swap.recover(folder)
    assert error.value.code == "memory.interrupted"
    assert held(folder) == before


@pytest.mark.parametrize(
    "name", ["../x.md", "/tmp/x.md", "archive/../../x.md", "x.txt", ".swap/x.md", "a\\b.md", "a/b.md", 7]
)
def test_a_journal_names_files_of_the_store_alone(folder: Path, tmp_path: Path, name: Any) -> None:
    staged(folder, {"name": name, "new": digest(b"new\n"), "old": None}, new_0=b"new\n")
    with pytest.raises(InvalidInput) as error:
        swap.recover(folder)
    assert error.value.code == "memory.interrupted"
    assert not (tmp_path / "x.md").exists()


def test_a_journal_leads_through_no_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "archive").symlink_to(tmp_path / "elsewhere")
    staged(folder, step("archive/x.md", b"new\n", None), new_0=b"new\n")
    with pytest.raises(InvalidInput):
        swap.recover(folder)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _large(path: Path) -> None:
    path.write_bytes(b"x" * (swap.MAX_FILE + 1))


def _elsewhere(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", [_pipe, _folder, _large, _elsewhere])
@pytest.mark.parametrize("where", ["x.md", ".swap/new-0", ".swap/journal.json", ".swap", "archive"])
def test_what_is_no_file_of_a_store_stops_nobody(folder: Path, where: str, kind: Callable[[Path], None]) -> None:
    if where not in (".swap", "archive"):
        staged(folder, step("x.md", b"new\n", None))
    if where == ".swap/journal.json":
        (folder / where).unlink()
    kind(folder / where)
    if where == "archive" and kind is _folder:
        return  # that is what it is to be
    if where == "archive":
        assert [each.code for each in swap.read(folder).faults] == ["store.archive"]
        with pytest.raises(InvalidInput) as error:
            swap.swap(folder, plan(), swap.read(folder))
        assert error.value.code == "memory.archive"
        return
    if kind is _folder and where == ".swap":
        assert not swap.recover(folder)  # nothing was begun
        return
    assert "store.interrupted" in {each.code for each in swap.read(folder).faults}
    try:
        swap.recover(folder)
    except InvalidInput as error:
        assert error.code == "memory.interrupted"
    else:
        assert where == ".swap/new-0"  # what was staged is not there: it is as if nothing had been begun
        assert {*held(folder)} - {"archive"} == set(samples.FILES)


def test_a_journal_names_each_file_once(folder: Path) -> None:
    staged(folder, step("x.md", b"one", None), step("x.md", b"two", None), new_0=b"one", new_1=b"two")
    before = held(folder)
    with pytest.raises(InvalidInput, match="twice") as error:
        swap.recover(folder)
    assert error.value.code == "memory.interrupted"
    assert held(folder) == before


def test_every_fact_into_the_archive_is_one_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"fact-{number:03}-{'x' * 200}.md" for number in range(500)]
    for name in names:
        (folder / name).write_bytes(b"x")
    base = swap.read(folder)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("segue.base.files.flush_to_disk", lambda _: None)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    with monkeypatch.context() as patch:
        patch.setattr(swap, "_forward", killed)
        with pytest.raises(KeyboardInterrupt):
            swap.swap(folder, Plan({f"archive/{each}": b"y" for each in names}, tuple(names)), base)
    assert (folder / swap.SWAP / swap.JOURNAL).stat().st_size > swap.MAX_FILE
    assert swap.recover(folder)
    assert swap.read(folder).archived == sorted(f"archive/{each}" for each in names)


@pytest.mark.requirement("continuity-store-writers")
def test_who_is_at_it_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr(swap, "_WAIT_SECONDS", 0.1)
    base = swap.read(folder)
    other = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Failed) as error:
            swap.swap(folder, plan(), base)
        assert error.value.code == "continuity.busy"
        (folder / swap.SWAP).mkdir()  # of that other one, who is not to be disturbed
        with pytest.raises(Failed):
            swap.recover(folder)
        assert (folder / swap.SWAP).exists()
    finally:
        os.close(other)
    assert not swap.recover(folder)
    swap.swap(folder, plan(), base)
    assert (folder / "new.md").exists()


def test_nothing_is_written_through_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "archive").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput) as error:
        swap.swap(folder, plan(), swap.read(folder))
    assert error.value.code == "memory.archive"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.requirement("continuity-store-not-remade")
def test_made_whole_and_never_over_anything(tmp_path: Path) -> None:
    made = tmp_path / STORE
    left = tmp_path / f"{STORE}.0123abcd.partial"
    left.mkdir()
    swap.create(made, {"MEMORY.md": b"# Memory Index\n"})
    assert held(made) == {"MEMORY.md": b"# Memory Index\n", "archive": b""}
    assert not left.exists()
    for taken in (made, _file(tmp_path / "file"), _link(tmp_path / "link")):
        with pytest.raises(Refused):
            swap.create(taken, {"MEMORY.md": b"other\n"})
    assert (made / "MEMORY.md").read_bytes() == b"# Memory Index\n"
    (tmp_path / "empty").mkdir()
    swap.create(tmp_path / "empty", {"MEMORY.md": b"# Memory Index\n"})
    assert len(list(tmp_path.iterdir())) == 4


def _file(path: Path) -> Path:
    path.write_bytes(b"x")
    return path


def _link(path: Path) -> Path:
    path.symlink_to("nowhere")
    return path


def test_an_empty_plan_is_none() -> None:
    assert not Plan()
    assert Plan({"x.md": b""}).after(Snapshot({})).files == {"x.md": b""}
