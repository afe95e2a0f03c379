"""receipt: the proof that files were saved, as a chain that shows every change, and releases of several as one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.base import jsontext
from segue.base.errors import NotFound, Refused
from segue.base.redaction import harmless, shown
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import CONTINUITY, AsJson, Now, Usage, opened, read_input
from segue.cli.table import print_table

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.continuity.chain import Report
    from segue.continuity.receipt import Receipt
    from segue.continuity.release import Record
    from segue.services.receipts import Receipts

_Response = Annotated[
    str | None,
    typer.Option("--response", metavar="FILE|-", help="A text that the receipt is bound to, byte for byte."),
]
_Tx = Annotated[str | None, typer.Argument(metavar="TX", show_default=False, help="Such as TX-0001.")]
_LEAST = {"WHEN": 50, "HASH": 70}


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Receipts: the proof that files of this project were saved.")
    for command in (issue, verify, ls, show, prepare, commit, recover, validate, restart):
        group.command()(command)
    app.add_typer(group, name="receipt", rich_help_panel=CONTINUITY)


def _here(segue: Segue, names: list[str]) -> list[Path]:
    """Paths as a person types them: from the current folder on."""
    return [segue.directory / name for name in names]


def _text(name: str | None) -> bytes | None:
    return None if name is None else read_input(name)


def issue(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE…", show_default=False, help="Files or folders of this project.")
    ] = None,
    response: _Response = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Issue the next receipt for files that read back well, and that the project's own validator lets pass."""
    if not files and response is None:
        raise Usage("name at least one file, or a text by --response")
    with opened(now) as segue:
        _say_validator(segue)
        made = segue.continuity.receipts.issue(_here(segue, files or []), _text(response))
    if as_json:
        output.as_json(made.to_json())
    else:
        output.data(made.tx_id)
        output.note(f"{_proves(made)}; hash {made.receipt_hash}")
    return 0


def _say_validator(segue: Segue) -> None:
    """Say what is about to be started: the command comes from a file of the project."""
    command = segue.continuity.place.settings.validator
    output.notes([f"validator: {one_line(harmless(' '.join(command)))}"] if command else [])


def _proves(receipt: Receipt) -> str:
    bound = [output.counted(len(receipt.artifacts), "file")] if receipt.artifacts else []
    bound += ["a text"] if receipt.response_sha256 else []
    return f"proves {' and '.join(bound)}"


def verify(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="TX|FILE", show_default=False, help="A receipt, a copy of one, or a file that receipts prove."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Verify a receipt, or the whole chain and the files that it proves. Exit code 3 where something does not hold."""
    with opened() as segue:
        receipts = segue.continuity.receipts
        report = receipts.verify() if what is None else _one(segue, receipts, what)
    return _told(report, as_json=as_json)


def _one(segue: Segue, receipts: Receipts, what: str) -> Report:
    from segue.continuity.receipt import TX

    path = segue.directory / what
    if TX.fullmatch(what) and not path.exists():
        return receipts.verify(what)
    if not path.exists():
        raise NotFound("receipt.not_found", f"{shown(what, 80)} is neither a receipt such as TX-0001 nor a file")
    return receipts.verify_file(path)


def _told(report: Report, *, as_json: bool) -> int:
    if as_json:
        output.as_json(report.to_json())
        return 0 if report.holds else 3
    if report.holds:
        output.data(
            f"holds: {output.counted(report.receipts, 'receipt')}, {output.counted(report.artifacts, 'file')} as proven"
        )
    else:
        output.data(f"does not hold: {one_line(report.problems[0].message)}")
        output.notes(f"also: {one_line(each.message)}" for each in report.problems[1:])
    output.notes(f"{one_line(path)}: {newer} counts now" for path, newer in report.superseded.items())
    return 0 if report.holds else 3


def ls(as_json: AsJson = False) -> int:
    """List the receipts of this project, newest first. Exit code 3 where the chain does not hold."""
    with opened() as segue:
        found = segue.continuity.receipts.ls()[::-1]
    if as_json:
        output.as_json({"receipts": [each.to_json() for each in found]})
        return 0
    rows = [
        {
            "TX": each.tx_id,
            "WHEN": each.created_at[:19].replace("T", " "),
            "HASH": each.receipt_hash[:8],
            "FILES": one_line(", ".join(artifact.path for artifact in each.artifacts)) or "(a text)",
        }
        for each in found
    ]
    print_table(rows, _LEAST, empty="no receipts in this project")
    return 0


def show(
    tx: Annotated[str, typer.Argument(metavar="TX", show_default=False, help="Such as TX-0001.")],
    as_json: AsJson = False,
) -> int:
    """Show what a receipt proves."""
    with opened() as segue:
        found = segue.continuity.receipts.get(tx)
    if as_json:
        output.as_json(found.to_json())
        return 0
    output.data(f"{found.tx_id}, {found.created_at}")
    output.data(f"  hash {found.receipt_hash}")
    for each in found.artifacts:
        output.data(f"  {one_line(each.path)}: {each.bytes:,} bytes, sha256 {each.sha256}")
    if found.response_sha256:
        output.data(f"  a text: sha256 {found.response_sha256}")
    return 0


def prepare(
    manifest: Annotated[str, typer.Option("--manifest", metavar="FILE|-", help="What is to be released, as JSON.")],
    response: _Response = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Write down a release before it is made: its manifest, and the hashes of its files as they are now."""
    document = jsontext.parse(read_input(manifest), code="release.manifest")
    with opened(now) as segue:
        _say_validator(segue)
        record = segue.continuity.releases.prepare(document, _text(response))
    code = _record(record, as_json=as_json)
    if not as_json:
        output.note("`segue receipt commit` issues its receipt, if its files are still the same")
    return code


def commit(now: Now = None, as_json: AsJson = False) -> int:
    """Issue the receipt of the prepared release, if no file has changed; else abort it (exit code 3)."""
    with opened(now) as segue:
        made = segue.continuity.releases.commit()
    if as_json:
        output.as_json(made.to_json())
    else:
        output.data(made.tx_id)
        output.note(f"committed; {_proves(made)}; hash {made.receipt_hash}")
    return 0


def recover(now: Now = None, as_json: AsJson = False) -> int:
    """End a release that a crash left behind: COMMITTED, or ABORTED (exit code 3). Run again it says the same."""
    with opened(now) as segue:
        record = segue.continuity.releases.recover()
    return _record(record, as_json=as_json)


def _record(record: Record, *, as_json: bool) -> int:
    if as_json:
        output.as_json(record.to_json())
    else:
        output.data(f"{record.state} {record.prepared.get('tx_id', '')}".rstrip())
        output.notes(one_line(each) for each in record.errors)
    return 3 if record.state == "ABORTED" else 0


def validate(tx: _Tx = None, response: _Response = None, as_json: AsJson = False) -> int:
    """Verify a release receipt, the newest by default, its files, and the exact text that it is bound to."""
    with opened() as segue:
        report = segue.continuity.releases.validate(tx, _text(response))
    return _told(report, as_json=as_json)


def restart(
    yes: Annotated[bool, typer.Option("--yes", help="Do it: what is set aside proves nothing any more.")] = False,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Begin a new chain where the old one does not hold; its files are set aside, and numbers go on."""
    if not yes:
        raise Refused(
            "receipt.consent", "no receipt issued so far would prove anything any more; --yes says that this is meant"
        )
    with opened(now) as segue:
        aside = segue.continuity.receipts.set_aside()
    if as_json:
        output.as_json({"set_aside": str(aside) if aside else None})
    else:
        output.data("a new chain begins with the next receipt")
        output.notes([f"the old one lies in {aside}"] if aside else [])
    return 0
