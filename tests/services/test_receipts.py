"""Receipts: what is issued was read back, the chain shows every change, and only what is bound is proven."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forks
import segue
from segue.base.errors import Failed, InvalidInput, NotFound, Refused
from segue.base.redaction import RedactionRefused
from segue.continuity import canonical, files
from segue.continuity import receipt as values
from segue.services import artifacts, receipt_chain
from segue.services.replicas import Replica

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Clock, Locate
    from segue.continuity.receipt import Receipt


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


@pytest.fixture
def opened(locate: Locate, clock: Clock, project_directory: Path) -> Iterator[segue.Segue]:
    """A Segue over an embedded store, for what does not hang on the database."""
    with segue.open(locate("sqlite"), directory=project_directory, clock=clock) as one:
        yield one


def chain_of(opened: segue.Segue, count: int = 3) -> list[Receipt]:
    made = []
    for number in range(1, count + 1):
        name = write(opened.directory, f"note-{number}.md", f"Fact {number}.\n")
        made.append(opened.continuity.receipts.issue([name]))
    return made


def file_of(opened: segue.Segue, tx: str) -> Path:
    return opened.continuity.place.folder / files.RECEIPTS / f"{tx}.json"


def first_problem(opened: segue.Segue) -> tuple[str, str]:
    report = opened.continuity.receipts.verify()
    assert not report.holds
    return report.problems[0].code, report.problems[0].tx_id or report.problems[0].path


@pytest.mark.requirement("continuity-receipt")
def test_a_receipt_is_the_document_of_the_format(segue_: segue.Segue) -> None:
    write(segue_.directory, "docs/log.md", "The importer streams.\n")
    receipt = segue_.continuity.receipts.issue(["docs/log.md"], b"It is saved.")
    document = json.loads(file_of(segue_, "TX-0001").read_bytes())
    data = b"The importer streams.\n"
    assert document == {
        "schema_version": "6.0",
        "tx_id": "TX-0001",
        "persistence_status": "saved",
        "validator": "pass",
        "artifacts": [{"path": "docs/log.md", "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}],
        "response_sha256": hashlib.sha256(b"It is saved.").hexdigest(),
        "previous": None,
        "created_at": document["created_at"],
        "receipt_hash": receipt.receipt_hash,
    }
    rest = {name: value for name, value in document.items() if name != "receipt_hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == receipt.receipt_hash
    second = segue_.continuity.receipts.issue(["docs/log.md"])
    assert (second.tx_id, second.previous) == ("TX-0002", receipt.receipt_hash)
    assert segue_.continuity.receipts.get("TX-2") == second
    report = segue_.continuity.receipts.verify()
    assert (report.holds, report.receipts, report.artifacts) == (True, 2, 1)


def test_what_is_written_is_for_its_owner_alone(opened: segue.Segue) -> None:
    chain_of(opened, 1)
    folder = opened.continuity.place.folder
    assert folder.parent == opened.home / "continuity"
    for each in (folder, folder / files.RECEIPTS):
        assert each.stat().st_mode & 0o077 == 0
    assert file_of(opened, "TX-0001").stat().st_mode & 0o177 == 0
    assert not list(opened.directory.glob(".*"))


@pytest.mark.requirement("continuity-receipt-validator")
def test_only_what_reads_back_gets_a_receipt(opened: segue.Segue) -> None:
    receipts = opened.continuity.receipts
    write(opened.directory, "bytes.md", b"\xff\xfe no text")
    write(opened.directory, "head.md", "---\nname: [unclosed\n---\n\nBody.\n")
    write(opened.directory, "fine.md", "---\nname: fine\n---\n\nBody.\n")
    for name, said in (("bytes.md", "bytes.md is not UTF-8 at byte 0"), ("head.md", "head.md, line 3")):
        with pytest.raises(InvalidInput, match=said) as refused:
            receipts.issue(["fine.md", name])
        assert refused.value.code == "receipt.validator"
    assert receipts.ls() == ()
    assert receipts.issue(["fine.md"]).tx_id == "TX-0001"


@pytest.mark.requirement("continuity-receipt-validator")
def test_the_validator_of_the_project_has_a_say(opened: segue.Segue) -> None:
    check = "import pathlib, sys; sys.exit('no: $HOME' if 'bad' in pathlib.Path('log.md').read_text() else 0)"
    command = json.dumps([sys.executable, "-c", check])
    write(opened.directory, "segue.toml", f"[continuity]\nvalidator = {command}\n")
    write(opened.directory, "log.md", "all bad")
    with pytest.raises(InvalidInput, match=r"exit code 1.*no: \$HOME") as refused:
        opened.continuity.receipts.issue(["log.md"])
    assert refused.value.code == "receipt.validator"
    write(opened.directory, "log.md", "all good")
    assert opened.continuity.receipts.issue(["log.md"]).number == 1


def test_a_name_that_holds_a_secret_gets_none(opened: segue.Segue) -> None:
    key = "ghp_" + "a1" * 20
    write(opened.directory, f"{key}/log.md", "text")
    with pytest.raises(RedactionRefused) as refused:
        opened.continuity.receipts.issue([f"{key}/log.md"])
    assert refused.value.code == "receipt.redaction"
    assert key not in f"{refused.value.message} {refused.value.details}"
    assert opened.continuity.receipts.ls() == ()


def test_a_file_that_changes_after_it_was_read_back_gets_none(
    opened: segue.Segue, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(opened.directory, "log.md", "text")

    def looked(root: Path, paths: Any) -> None:
        read_back(root, paths)
        write(root, "log.md", b"\xff")

    read_back = artifacts.read_back
    monkeypatch.setattr(artifacts, "read_back", looked)
    with pytest.raises(InvalidInput) as refused:
        opened.continuity.receipts.issue(["log.md"])
    assert refused.value.code == "receipt.changed"


def test_a_file_that_its_validator_changes_gets_none(opened: segue.Segue) -> None:
    change = "open('log.md', 'a').write('more')"
    write(opened.directory, "segue.toml", f"[continuity]\nvalidator = {json.dumps([sys.executable, '-c', change])}\n")
    write(opened.directory, "log.md", "text")
    with pytest.raises(InvalidInput) as refused:
        opened.continuity.receipts.issue(["log.md"])
    assert refused.value.code == "receipt.changed"
    assert opened.continuity.receipts.ls() == ()


@pytest.mark.parametrize(
    "command", [["no-such-program-anywhere"], [sys.executable, "-c", "import time; time.sleep(60)"]], ids=["no", "slow"]
)
def test_a_validator_that_does_not_answer(
    opened: segue.Segue, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("segue.services.artifacts.VALIDATOR_SECONDS", 0.2)
    write(opened.directory, "segue.toml", f"[continuity]\nvalidator = {json.dumps(command)}\n")
    write(opened.directory, "log.md", "text")
    with pytest.raises(InvalidInput) as refused:
        opened.continuity.receipts.issue(["log.md"])
    assert refused.value.code == "receipt.validator"


@pytest.mark.parametrize(
    "table",
    [
        'validator = "make check"',
        'ledgers = ["../LOG.md"]',
        'ledgers = "LOG.md"',
        'state = "/etc/state.json"',
        "validator = [1]",
        'unknown = "x"',
    ],
)
def test_settings_of_the_wrong_kind_are_refused(opened: segue.Segue, table: str) -> None:
    write(opened.directory, "segue.toml", f"[continuity]\n{table}\n")
    with pytest.raises(InvalidInput) as refused:
        _ = opened.continuity.place.settings
    assert refused.value.code == "config.invalid"


@pytest.mark.requirement("continuity-receipt-inside")
@pytest.mark.parametrize("given", ["../outside.md", "link.md", ".", "folder-link/inner.md"])
def test_a_receipt_is_about_the_project_alone(opened: segue.Segue, given: str) -> None:
    outside = opened.directory.parent / "elsewhere"
    outside.mkdir()
    for folder, name in ((opened.directory.parent, "outside.md"), (outside, "inner.md")):
        write(folder, name, "text")
    (opened.directory / "link.md").symlink_to(outside / "inner.md")
    (opened.directory / "folder-link").symlink_to(outside)
    with pytest.raises(Refused) as refused:
        opened.continuity.receipts.issue([given])
    assert refused.value.code == "receipt.outside"


@pytest.mark.parametrize("name", ["día 1/notiz ü.md", "C:\\notes\\x.md", "a:b?.md", "結果.md", "CON.md"])
def test_names_of_every_kind(opened: segue.Segue, name: str) -> None:
    write(opened.directory, name, "CRLF\r\nstays\r\n")
    receipt = opened.continuity.receipts.issue([opened.directory / name])
    assert receipt.artifacts[0].path == name
    assert opened.continuity.receipts.verify(receipt.tx_id).holds


def test_what_can_have_no_receipt(opened: segue.Segue) -> None:
    receipts = opened.continuity.receipts
    for paths, code in (([], "receipt.empty"), (["absent.md"], "file.read"), (["a\0b"], "file.read")):
        with pytest.raises(InvalidInput) as refused:
            receipts.issue(paths)
        assert refused.value.code == code
    with pytest.raises(NotFound):
        receipts.get("TX-0001")
    for name in ("TX-0000", "tx-1", "TX-", "TX-１", "TX-9999999999"):
        with pytest.raises(InvalidInput):
            receipts.get(name)
    assert not opened.continuity.place.folder.exists()


# -- what was changed is found, and the first of it named ------------------------------------------------------------


def edit(path: Path, **members: Any) -> None:
    """Change a receipt as somebody would who knows the format: its own hash is made to fit."""
    document = json.loads(path.read_bytes()) | members
    document["receipt_hash"] = canonical.digest(document, "receipt_hash")
    path.write_text(json.dumps(document))


@pytest.mark.requirement("continuity-receipt-chain")
@pytest.mark.requirement("continuity-receipt-stops")
def test_an_edited_receipt_is_found(opened: segue.Segue) -> None:
    chain_of(opened)
    kept = file_of(opened, "TX-0002").read_bytes()
    file_of(opened, "TX-0002").write_bytes(kept.replace(b"note-2", b"note-9"))
    assert first_problem(opened) == ("receipt.hash", "TX-0002")
    with pytest.raises(InvalidInput) as refused:  # and nothing is built on it
        opened.continuity.receipts.issue(["note-1.md"])
    assert refused.value.code == "receipt.hash"
    file_of(opened, "TX-0002").write_bytes(kept)
    edit(file_of(opened, "TX-0002"), created_at="2026-01-01T00:00:00Z")
    assert first_problem(opened) == ("receipt.chain", "TX-0003")
    file_of(opened, "TX-0002").write_bytes(kept)
    edit(file_of(opened, "TX-0003"), created_at="2026-01-01T00:00:00Z")
    assert first_problem(opened) == ("receipt.replaced", "TX-0003")


@pytest.mark.requirement("continuity-receipt-chain")
def test_a_chain_that_was_written_anew_is_found(opened: segue.Segue) -> None:
    """Every hash of it fits; only the head, which lies elsewhere, does not."""
    chain_of(opened)
    previous = None
    for number in range(1, 4):
        path = file_of(opened, f"TX-000{number}")
        edit(path, previous=previous, created_at="2026-01-01T00:00:00Z")
        previous = json.loads(path.read_bytes())["receipt_hash"]
    assert first_problem(opened) == ("receipt.replaced", "TX-0003")


@pytest.mark.requirement("continuity-receipt-chain")
@pytest.mark.parametrize(("gone", "named"), [((1,), 1), ((2,), 2), ((3,), 3), ((1, 2), 2), ((2, 3), 2), ((1, 2, 3), 3)])
def test_a_deleted_receipt_is_found(opened: segue.Segue, gone: tuple[int, ...], named: int) -> None:
    chain_of(opened)
    for number in gone:
        file_of(opened, f"TX-000{number}").unlink()
    assert first_problem(opened) == ("receipt.missing", f"TX-000{named}")


@pytest.mark.requirement("continuity-receipt-chain")
def test_receipts_out_of_order_or_cut_short_are_found(opened: segue.Segue) -> None:
    chain_of(opened)
    one, two = file_of(opened, "TX-0001"), file_of(opened, "TX-0002")
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert first_problem(opened) == ("receipt.order", "TX-0001")
    one.write_bytes(first[: len(first) // 2])
    two.write_bytes(second)
    assert first_problem(opened) == ("receipt.invalid", "TX-0001")
    one.write_bytes(b"x" * (files.MAX_DOCUMENT + 1))
    assert first_problem(opened) == ("receipt.invalid", "TX-0001")


@pytest.mark.requirement("continuity-receipt-chain")
def test_a_receipt_that_nobody_issued_is_found(opened: segue.Segue) -> None:
    made = chain_of(opened, 2)
    forged = values.make(3, made[0].artifacts, previous=made[1].receipt_hash, now=opened.now())
    files.write_json(file_of(opened, "TX-0003"), forged.to_json())
    assert first_problem(opened) == ("receipt.extra", "TX-0003")
    file_of(opened, "TX-0003").unlink()
    (file_of(opened, "TX-0002").with_name("next.json")).write_text(json.dumps(forged.to_json()))
    assert opened.continuity.receipts.verify().holds  # nobody vouches for it, so it goes
    assert [each.tx_id for each in opened.continuity.receipts.ls()] == ["TX-0001", "TX-0002"]


@pytest.mark.requirement("continuity-receipt-newest")
def test_files_are_compared_with_the_newest_receipt_of_each(opened: segue.Segue) -> None:
    receipts = opened.continuity.receipts
    write(opened.directory, "log.md", "one")
    write(opened.directory, "qa.md", "asked")
    first = receipts.issue(["log.md", "qa.md"])
    write(opened.directory, "log.md", "two")
    assert first_problem(opened) == ("receipt.drift", "TX-0001")
    second = receipts.issue(["log.md"])
    assert receipts.verify().holds
    assert receipts.verify(first.tx_id).superseded == {"log.md": second.tx_id}
    (opened.directory / "qa.md").unlink()
    report = receipts.verify()
    assert [(each.code, each.path) for each in report.problems] == [("receipt.absent", "qa.md")]
    assert receipts.verify(second.tx_id).holds
    assert not receipts.verify(first.tx_id).holds


def test_a_folder_is_proven_with_all_that_lies_in_it(opened: segue.Segue) -> None:
    receipts = opened.continuity.receipts
    write(opened.directory, "store/b.md", "b")
    write(opened.directory, "store/sub/a.md", "a")
    receipt = receipts.issue(["store"])
    hashed = hashlib.sha256()
    for part in (b"b.md", b"b", b"sub/a.md", b"a"):
        hashed.update(len(part).to_bytes(8, "big") + part)
    assert [(each.path, each.sha256, each.bytes) for each in receipt.artifacts] == [("store/", hashed.hexdigest(), 2)]
    assert receipts.covers(receipt, "a")
    write(opened.directory, "store/new.md", "c")
    assert not receipts.covers(receipt, "a")
    assert first_problem(opened) == ("receipt.drift", "TX-0001")


@pytest.mark.requirement("continuity-receipt-bound")
def test_a_receipt_proves_what_it_is_bound_to(segue_: segue.Segue) -> None:
    receipts = segue_.continuity.receipts
    write(segue_.directory, "log.md", "The importer\n   streams rows.\n")
    receipt = receipts.issue(["log.md"], b"Saved: the importer streams.\n")
    assert receipts.covers(receipt, "The importer streams rows.")
    assert receipts.covers(receipt, "Saved: the importer streams.\n")
    assert not receipts.covers(receipt, "Saved: the importer streams. And more.")
    assert not receipts.covers(receipt, " \n")
    assert receipts.covers_paths(receipt, ["log.md"])
    assert not receipts.covers_paths(receipt, ["log.md", "other.md"])
    assert not receipts.covers_paths(receipt, [])
    write(segue_.directory, "log.md", "The importer streams rows. Not any more.")
    assert not receipts.covers(receipt, "The importer streams rows.")
    assert not receipts.covers_paths(receipt, ["log.md"])
    assert receipts.covers(receipt, "Saved: the importer streams.\n")


@pytest.mark.requirement("continuity-receipt-bound")
def test_a_receipt_that_is_not_of_the_chain_proves_nothing(opened: segue.Segue, tmp_path: Path) -> None:
    receipts = opened.continuity.receipts
    made = chain_of(opened, 1)[0]
    forged = values.make(1, made.artifacts, previous=None, now=opened.now(), response_sha256=canonical.digest({}, ""))
    assert receipts.holds(made)
    assert not receipts.holds(forged)
    assert not receipts.covers(forged, "Fact 1.")
    copied = tmp_path / "copied.json"
    copied.write_text(json.dumps(made.to_json()))
    assert receipts.verify_file(copied).holds
    copied.write_text(json.dumps(forged.to_json()))
    assert [each.code for each in receipts.verify_file(copied).problems] == ["receipt.replaced"]
    assert receipts.verify_file(opened.directory / "note-1.md").holds
    other = opened.directory / write(opened.directory, "other.md", "x")
    with pytest.raises(NotFound):
        receipts.verify_file(other)
    file_of(opened, "TX-0001").unlink()
    assert not receipts.covers(made, "Fact 1.")


@given(data=st.data())
@settings(max_examples=60)
def test_no_changed_receipt_is_taken(data: st.DataObject) -> None:
    """Whatever member is changed, to whatever value, the document is no receipt any more."""
    artifact = values.Artifact("log.md", "a" * 64, 3)
    at = datetime(2026, 5, 4, tzinfo=UTC)
    whole = values.make(1, [artifact], previous=None, now=at, response_sha256="b" * 64).to_json()
    assert values.parse(whole).to_json() == whole
    simple = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=3), max_size=2)
    name = data.draw(st.sampled_from(sorted(whole)))
    changed = whole | {name: data.draw(simple)}
    if data.draw(st.booleans()):
        changed = {key: value for key, value in whole.items() if key != name}
    if changed != whole:
        with pytest.raises(InvalidInput):
            values.parse(changed)


# -- several at once, and a crash between the writes -----------------------------------------------------------------


@pytest.mark.requirement("continuity-receipt-one-chain")
def test_eight_at_once_make_one_chain(location: str, clock: Clock, project_directory: Path) -> None:
    names = [write(project_directory, f"note-{number}.md", f"{number}") for number in range(8)]

    def issue(name: str) -> str:
        with segue.open(location, directory=project_directory, clock=clock) as opened:
            return opened.continuity.receipts.issue([name]).tx_id

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(issue, names))
    assert sorted(made) == [f"TX-000{number}" for number in range(1, 9)]
    with segue.open(location, directory=project_directory, clock=clock) as opened:
        assert opened.continuity.receipts.verify().holds
        assert len(opened.continuity.receipts.ls()) == 8


_ISSUING = """
import sys
from pathlib import Path
import segue
with segue.open(sys.argv[1], directory=Path(sys.argv[2])) as opened:
    for name in sys.argv[3:]:
        opened.continuity.receipts.issue([name])
"""


@pytest.mark.requirement("continuity-receipt-one-chain")
def test_eight_processes_make_one_chain(opened: segue.Segue) -> None:
    names = [write(opened.directory, f"note-{number}.md", f"{number}") for number in range(16)]
    command = [forks.program("python"), "-c", _ISSUING, opened.store.name, str(opened.directory)]
    running = [subprocess.Popen([*command, *names[2 * number : 2 * number + 2]]) for number in range(8)]
    assert [each.wait(60) for each in running] == [0] * 8
    receipts = opened.continuity.receipts
    assert receipts.verify().holds
    assert sorted(each.artifacts[0].path for each in receipts.ls()) == sorted(names)


@pytest.mark.requirement("continuity-receipt-one-chain")
def test_a_chain_that_went_on_elsewhere_is_not_forked(opened: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine over the same database has other files; its receipt makes this one's head another."""
    chain_of(opened, 1)
    vouch: Any = receipt_chain.ReceiptChain._vouch

    def later(self: Any, made: Any, expected: Any) -> None:
        vouch(self, made, expected)
        vouch(self, made, expected)

    monkeypatch.setattr(receipt_chain.ReceiptChain, "_vouch", later)
    with pytest.raises(Refused) as refused:
        opened.continuity.receipts.issue(["note-1.md"])
    assert refused.value.code == "receipt.moved"


@pytest.mark.requirement("continuity-receipt-mended")
@pytest.mark.parametrize("step", ["_vouch", "_name"])
def test_a_crash_between_file_and_head_is_mended(
    opened: segue.Segue, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    chain_of(opened, 1)

    def crash(*_: object) -> None:
        raise Failed("test.crash", "the machine stopped here")

    with monkeypatch.context() as patch, pytest.raises(Failed):
        patch.setattr(receipt_chain.ReceiptChain, step, crash)
        opened.continuity.receipts.issue(["note-1.md"])
    assert opened.continuity.receipts.verify().holds
    # Without its head it was never issued; with it, it was.
    assert len(opened.continuity.receipts.ls()) == (1 if step == "_vouch" else 2)
    assert opened.continuity.receipts.issue(["note-1.md"]).number == (2 if step == "_vouch" else 3)


@pytest.mark.requirement("continuity-receipt-mended")
def test_what_the_head_does_not_vouch_for_mends_nothing(opened: segue.Segue) -> None:
    chain_of(opened, 2)
    path = file_of(opened, "TX-0002")
    staged = path.with_name("next.json")
    path.rename(staged)
    edit(staged, created_at="2026-01-01T00:00:00Z")
    assert first_problem(opened) == ("receipt.missing", "TX-0002")
    assert not path.exists()


@pytest.mark.requirement("continuity-receipt-mended")
def test_a_forged_receipt_does_not_take_the_name_of_one_that_was_issued(opened: segue.Segue) -> None:
    made = chain_of(opened, 2)
    path = file_of(opened, "TX-0002")
    path.rename(path.with_name("next.json"))
    path.write_text("{}")
    assert opened.continuity.receipts.ls() == tuple(made)


@pytest.mark.requirement("continuity-receipt-mended")
@pytest.mark.parametrize("name", ["next.json", "TX-0002.json", "TX-0003.json", "TX-0001.json"])
@pytest.mark.parametrize("made", [Path.mkdir, lambda path: path.symlink_to("nowhere"), os.mkfifo])
def test_what_is_no_file_among_receipts_is_said(opened: segue.Segue, name: str, made: Callable[[Path], None]) -> None:
    chain_of(opened, 2)
    path = file_of(opened, "TX-0001").with_name(name)
    path.unlink(missing_ok=True)
    made(path)
    try:
        report = opened.continuity.receipts.verify()
        assert report.holds is (name == "next.json")  # what nobody vouches for is removed, if it can be
    except Failed as error:
        assert (error.code, name) == ("file.write", "next.json")


@pytest.mark.parametrize("number", [4, 999_999_999])
def test_a_forged_number_takes_no_numbers_away(opened: segue.Segue, number: int) -> None:
    chain_of(opened, 2)
    file_of(opened, "TX-0001").with_name(f"{values.tx_id(number)}.json").write_text("{}")
    opened.continuity.receipts.set_aside()
    assert opened.continuity.receipts.issue(["note-1.md"]).tx_id == "TX-0003"


def test_a_place_of_receipts_that_is_no_folder_is_set_aside_too(opened: segue.Segue) -> None:
    chain_of(opened, 1)
    folder = file_of(opened, "TX-0001").parent
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("no folder")
    assert opened.continuity.receipts.set_aside() is not None
    assert opened.continuity.receipts.issue(["note-1.md"]).tx_id == "TX-0002"


def test_large_files_are_verified_as_they_are_proven(opened: segue.Segue) -> None:
    write(opened.directory, "large.csv", b"1,2\n" * (files.MAX_DOCUMENT // 4 + 1))
    opened.continuity.receipts.issue(["large.csv"])
    assert opened.continuity.receipts.verify_file(opened.directory / "large.csv").holds


def test_a_chain_that_is_set_aside_proves_nothing(opened: segue.Segue) -> None:
    receipts = opened.continuity.receipts
    made = chain_of(opened, 2)
    file_of(opened, "TX-0001").unlink()
    aside = receipts.set_aside()
    assert aside is not None and [each.name for each in aside.iterdir()] == ["TX-0002.json"]
    assert receipts.ls() == ()
    assert not receipts.holds(made[1])
    again = receipts.issue(["note-1.md"])
    assert (again.tx_id, again.previous) == ("TX-0003", None)
    assert receipts.verify().holds


def test_projects_do_not_share_a_chain(opened: segue.Segue, tmp_path: Path) -> None:
    chain_of(opened, 1)
    other = tmp_path / "other"
    other.mkdir()
    write(other, "log.md", "x")
    assert opened.at(other).continuity.receipts.issue(["log.md"]).tx_id == "TX-0001"
    assert opened.continuity.receipts.verify().receipts == 1


def test_a_restored_backup_leaves_the_chain_whole(segue_: segue.Segue, tmp_path: Path) -> None:
    """The files of receipts are in no backup, so what is known of the newest stays."""
    chain_of(segue_, 1)
    backup = segue_.store.backup(tmp_path / "backup.db").path
    chain_of(segue_, 2)
    segue_.store.restore(backup)
    assert segue_.continuity.receipts.verify().holds
    assert len(segue_.continuity.receipts.ls()) == 3
    file_of(segue_, "TX-0003").unlink()
    segue_.store.restore(backup)
    assert first_problem(segue_) == ("receipt.missing", "TX-0003")


def test_a_repository_that_gets_a_remote_keeps_its_chain(opened: segue.Segue, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)

    folder = tmp_path / "repository"
    folder.mkdir()
    write(folder, "log.md", "x")
    git("init", "-q")
    git("-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "first")
    assert opened.at(folder).continuity.receipts.issue(["log.md"]).number == 1
    git("remote", "add", "origin", "https://github.com/acme/importer.git")
    assert opened.at(folder).project.key.startswith("remote:")
    assert opened.at(folder).continuity.receipts.issue(["log.md"]).number == 2


def test_another_store_does_not_take_over_the_files(opened: segue.Segue, locate: Locate) -> None:
    chain_of(opened, 1)
    with segue.open(locate("sqlite"), directory=opened.directory) as other:
        assert first_problem(other) == ("receipt.extra", "TX-0001")
        with pytest.raises(InvalidInput, match="segue receipt restart"):
            other.continuity.receipts.issue(["note-1.md"])


def _of_a_server(opened: segue.Segue) -> segue.Segue:
    return opened.of("01K6Q2V9D4W7XJ3T5N8RBZC1HA")


def _copied(opened: segue.Segue) -> segue.Segue:
    return opened.copy_of(Replica("01K6Q2V9D4W7XJ3T5N8RBZC1HA", "here", "t", "bakers", "ana", opened.now()))


def _copied_elsewhere(opened: segue.Segue) -> segue.Segue:
    return _copied(opened).at(opened.directory)


@pytest.mark.parametrize("scope", [_of_a_server, _copied, _copied_elsewhere])
def test_a_scope_that_belongs_to_no_project_here_has_no_continuity(
    opened: segue.Segue, scope: Callable[[segue.Segue], segue.Segue]
) -> None:
    chain_of(opened, 1)
    candidate = opened.continuity.candidates.propose("From now on name units.")
    assert candidate is not None
    theirs = scope(opened).continuity
    attempts: list[Callable[[], Any]] = [
        theirs.receipts.ls,
        lambda: theirs.receipts.issue(["note-1.md"]),
        theirs.receipts.set_aside,
        theirs.releases.recover,
        theirs.handoffs.get,
        lambda: theirs.candidates.propose("From now on name colours."),
        lambda: theirs.candidates.reject(candidate.id, "no"),
        lambda: theirs.memory.init(consent=True),
    ]
    for attempt in attempts:
        with pytest.raises(Refused) as refused:
            attempt()
        assert refused.value.code == "continuity.no_project"
    assert theirs.candidates.waiting() == []
    assert not theirs.handoffs.restore().is_ready
