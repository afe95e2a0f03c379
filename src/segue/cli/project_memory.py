"""continuity init to drift: the memory store in a project's own folder, for whoever works on it next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from segue.base.errors import InvalidInput, NotFound, Refused, SegueError
from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import AsJson, Now, opened, read_input
from segue.cli.candidate_lines import portrait
from segue.cli.memory_lines import indented
from segue.cli.table import print_table
from segue.continuity.candidate import ID, Candidate

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.app import Segue
    from segue.continuity.store.fault import Fault
    from segue.services.project_memory import SavedFact, Tidied
    from segue.services.project_memory_reading import Fact

_LEAST = {"KIND": 50, "UPDATED": 70, "SOURCE": 80}
_NAMED = "A fact's name, its id (MEM-001) or its candidate's (M-0001)."
FactName = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help=_NAMED)]
Kind = Annotated[str, typer.Option("--kind", metavar="KIND", help="feedback, correction, project or reference.")]


def register(group: typer.Typer) -> None:
    """Add the commands of the memory store to the group `continuity`."""
    for command in (init, doctor, upsert, archive, rekind, dedupe, compact, sync, ls, show, recall, drift):
        group.command()(command)


def init(
    user_consent: Annotated[
        bool | None,
        typer.Option(
            "--user-consent/--no-user-consent",
            show_default=False,
            help="What the user answered. Without an answer nothing is made, and exit code 4.",
        ),
    ] = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make this project's memory store, .project-study-memory/ in its root, if the user agrees."""
    with opened(now) as segue:
        memory = segue.continuity.memory
        try:
            status = memory.init(consent=user_consent)
        except Refused as error:
            question = error.details.get("question")
            if isinstance(question, dict) and not as_json:
                output.notes(str(question[language]) for language in ("zh", "en"))
            raise
        path = memory.path
    if as_json:
        output.as_json({"memory_status": "initialized" if status == "enabled" else status})
    elif status == "enabled":
        output.data(f"made {one_line(str(path))}")
    else:
        output.data(f"memory_status: {status}")
        output.note("nothing was made")
    return 0


def doctor(
    allow_soft_over: Annotated[
        bool, typer.Option("--allow-soft-over", help="Let an index over its soft limits pass.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Examine the memory store. Exit code 0 in order, 3 findings, 4 where there is none (the user's consent is due)."""
    with opened() as segue:
        report = segue.continuity.memory.doctor()
    counted = [each for each in report.faults if each.blocks or not allow_soft_over]
    if as_json:
        output.as_json(report.to_json())
    else:
        if report.status == "memory-consent-pending":
            output.data(report.status)
        else:
            state = "in order" if report.status == "enabled" else "not in order"
            facts = f"{output.counted(report.facts, 'fact')}, {report.archived:,} archived"
            output.data(f"{state}: {facts}; the index has {report.lines:,} lines, {report.bytes:,} bytes")
        output.notes(map(_fault, report.faults))
    if report.status == "memory-consent-pending":
        return 4
    return 3 if counted else 0


def _fault(fault: Fault) -> str:
    where = f"{one_line(fault.file)}:{fault.line}"
    kind = fault.code if fault.blocks else f"warning {fault.code}"
    return f"{where}: {kind}: {one_line(fault.message)}; {one_line(fault.mend)}"


def upsert(
    name: Annotated[
        str, typer.Argument(metavar="NAME", show_default=False, help="Lower-case words with hyphens: read-by-header.")
    ],
    kind: Kind,
    description: Annotated[str, typer.Option(metavar="TEXT", help="What it is, in a line.")],
    body_file: Annotated[
        str,
        typer.Option(
            metavar="FILE|-",
            help="Its text. Feedback and project say `Why:` and `How to apply:`, a correction `Original:`,"
            " `Canonical:`, `Stale patterns:` and `Impact:`.",
        ),
    ],
    receipt: Annotated[str, typer.Option(metavar="TX", help="A fresh receipt that proves the sources: TX-0001.")],
    source: Annotated[
        list[str], typer.Option(metavar="FILE", help="A file that it comes from; may be given more than once.")
    ],
    source_path: Annotated[
        str | None, typer.Option(metavar="FILE", help="Which of them it names as its source; else the first.")
    ] = None,
    candidate: Annotated[
        str | None, typer.Option(metavar="M-ID", help="The saved candidate that it is made of; archived with it.")
    ] = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Keep a fact in the memory store, or say anew what one of that name says. All of it or nothing.

    Prints a memory receipt. Where it says `unsaved-memory`, every file is as it was.
    """

    def change(segue: Segue) -> SavedFact:
        here = segue.directory
        return segue.continuity.memory.upsert(
            name,
            kind=kind,
            description=description,
            body=_text(body_file),
            receipt=receipt,
            sources=[here / each for each in source],
            source_path=str(here / source_path) if source_path else "",
            candidate=candidate or "",
        )

    return _changed(change, now, as_json=as_json)


def _changed(change: Callable[[Segue], SavedFact], now: Now, *, as_json: bool) -> int:
    """Make a change and print its receipt; with `as_json` that of a change that failed, too."""
    try:
        with opened(now) as segue:
            saved = change(segue)
    except SegueError as error:
        if not as_json:
            raise
        return _unsaved(error)
    return _saved(saved, as_json=as_json)


def _text(name: str) -> str:
    try:
        return read_input(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("file.encoding", "the text of the fact is no UTF-8") from None


def _unsaved(error: SegueError) -> int:
    """Print the memory receipt of what was not kept."""
    from segue.base.redaction import harmless

    said = {"code": error.code, "message": harmless(error.message), "details": error.details}
    output.as_json({"memory_status": error.details.get("memory_status", "unsaved-memory"), "error": said})
    return error.exit_code


def _saved(saved: SavedFact, *, as_json: bool) -> int:
    if as_json:
        output.as_json(saved.to_json())
        return 0
    output.data(f"{saved.action} {saved.memory_id} {saved.name}")
    output.notes(f"{one_line(path)}: sha256 {digest}" for path, digest in sorted(saved.hashes.items()))
    return 0


def archive(
    name: FactName,
    reason: Annotated[str, typer.Option(help="Why it does not hold any more.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Take a fact out of the index, into the archive."""
    return _changed(lambda segue: segue.continuity.memory.archive(name, reason), now, as_json=as_json)


def rekind(
    name: FactName,
    kind: Annotated[
        str, typer.Argument(metavar="KIND", show_default=False, help="feedback, correction, project or reference.")
    ],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make a fact one of another kind, in its file and in the index."""
    return _changed(lambda segue: segue.continuity.memory.rekind(name, kind), now, as_json=as_json)


def dedupe(now: Now = None, as_json: AsJson = False) -> int:
    """Archive facts that say what an older one says already, and drop second pointers to one file."""
    with opened(now) as segue:
        done = segue.continuity.memory.dedupe()
    return _tidied(done, as_json=as_json)


def compact(now: Now = None, as_json: AsJson = False) -> int:
    """Bring the index within its soft limits by shorter lines; the facts stay. Exit code 3 where it stays over them."""
    with opened(now) as segue:
        done = segue.continuity.memory.compact()
    return _tidied(done, as_json=as_json)


def sync(now: Now = None, as_json: AsJson = False) -> int:
    """Get the store ready for a compaction or a handoff: dedupe, update, archive, validate, read afresh."""
    with opened(now) as segue:
        done = segue.continuity.memory.sync()
    return _tidied(done, as_json=as_json)


def _tidied(done: Tidied, *, as_json: bool) -> int:
    pending = done.status == "memory-consent-pending"
    if as_json:
        output.as_json(done.to_json())
    elif pending:
        output.data(done.status)
    else:
        report = done.report
        size = f"the index has {report.lines:,} lines, {report.bytes:,} bytes"
        output.data(f"{'changed' if done.changed else 'nothing to change'}; {size}")
        output.notes(f"archived {one_line(each)}" for each in done.archived)
        output.notes(f"brought up to date: {one_line(each)}" for each in done.refreshed)
        output.notes(map(_fault, report.faults))
    if pending:
        return 4
    return 3 if done.report.faults else 0


def ls(
    archived: Annotated[bool, typer.Option("--archive", help="Those in the archive instead.")] = False,
    as_json: AsJson = False,
) -> int:
    """List the facts of the memory store in the order of its index, and whether their sources have changed since."""
    with opened() as segue:
        found = segue.continuity.memory.ls(archive=archived)
    if as_json:
        output.as_json({"facts": [each.to_json() for each in found]})
        return 0
    rows = [
        {
            "ID": one_line(each.detail["memory_id"]) or "?",
            "KIND": one_line(each.detail["kind"]),
            "UPDATED": one_line(each.detail["updated"]),
            "SOURCE": each.source_state,
            "NAME": f"{one_line(each.detail.name)}: {one_line(each.detail['description'])}",
        }
        for each in found
    ]
    print_table(rows, _LEAST, empty="no facts", last=100)
    return 0


def show(name: FactName, as_json: AsJson = False) -> int:
    """Show a fact, one of the archive too; a candidate, where no fact was made of it."""
    with opened() as segue:
        fact = _fact_or_candidate(segue, name)
    if isinstance(fact, Candidate):
        if as_json:
            output.as_json({"candidate": fact.to_json()})
        else:
            output.data("\n".join(portrait(fact)))
        return 0
    if as_json:
        output.as_json(fact.to_json(body=True))
        return 0
    detail = fact.detail
    output.data(f"{one_line(detail['memory_id'])} {one_line(detail.name)} ({one_line(detail['kind'])})")
    output.data(f"  {one_line(detail['description'])}")
    for key in ("status", "source_transaction", "created", "updated", "stale_reason"):
        if detail[key]:
            output.data(f"  {key}: {one_line(detail[key])}")
    output.data(f"  source: {one_line(detail.source_path)} ({fact.source_state})")
    output.data("\n".join(["", *indented(detail.body.strip())]))
    if fact.said:
        output.note(one_line(fact.said))
    return 0


def _fact_or_candidate(segue: Segue, name: str) -> Fact | Candidate:
    """What a name stands for: the fact, else the candidate of that id in the journal."""
    try:
        return segue.continuity.memory.show(name)
    except (Refused, NotFound):
        if not ID.fullmatch(name):
            raise
        return segue.continuity.candidates.get(name)


def recall(
    task: Annotated[
        str, typer.Option("--for", metavar="TASK", help="Also the facts that this task, or question, calls for.")
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Print the index and the facts that a task calls for: as data, as advice that is to be checked."""
    with opened() as segue:
        found = segue.continuity.memory.recall(task)
    if as_json:
        output.as_json(found.to_json())
    else:
        output.data(found.text.rstrip("\n"))
    return 0


def drift(as_json: AsJson = False) -> int:
    """Find the old wording of corrections in the project's ledgers. Exit code 3 where it still stands."""
    with opened() as segue:
        found = segue.continuity.memory.drift()
    if as_json:
        output.as_json(found.to_json())
    else:
        for each in found.found:
            fact = f"{one_line(each.memory_id)} {one_line(each.name)}"
            holds = f"; what holds: {one_line(each.canonical)}" if each.canonical else ""
            output.data(f"{one_line(each.file)}:{each.line}: {fact}: {one_line(each.pattern)}{holds}")
        if not found.found:
            output.note(f"no old wording in {output.counted(len(found.read), 'ledger')}")
        output.notes(f"{one_line(each)} is not there" for each in found.missing)
    return 3 if found.found else 0
