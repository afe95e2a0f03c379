"""guard: whether a text may say what it says of memory, records and documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segue.base.untrusted import one_line, shorten
from segue.cli import output
from segue.cli.arguments import CONTINUITY, AsJson, opened, read_input

if TYPE_CHECKING:
    from segue.continuity.guard import Verdict

_REFUSED = 4
_WIDTH = 160


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=CONTINUITY)(guard)


def guard(
    file: Annotated[str, typer.Argument(metavar="FILE|-", show_default=False, help="The text, as it is to go out.")],
    receipt: Annotated[
        str | None,
        typer.Option(metavar="TX|FILE", help="The receipt that proves it; else one that is bound to this very text."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Refuse a text that says that memory, records or documents are saved or ready, which no receipt proves.

    What is denied, asked, to come, quoted or about code needs no proof. Exit code 0 where it passes, 4 where not.
    """
    verdict = _verdict(read_input(file), receipt)
    if as_json:
        output.as_json(verdict.to_json())
    else:
        _say(verdict)
    return 0 if verdict.passes else _REFUSED


def _verdict(text: bytes, receipt: str | None) -> Verdict:
    from segue.continuity import claims
    from segue.continuity.guard import Verdict, require_text
    from segue.continuity.receipt import TX
    from segue.location import current_directory
    from segue.services import continuity_settings

    ledgers = continuity_settings.read(current_directory()).ledgers
    if not claims.find(text.decode("utf-8", "replace"), ledgers):
        require_text(text)
        return Verdict()  # and no store is opened
    with opened() as segue:
        named = receipt if receipt is None or TX.fullmatch(receipt) else Path(receipt)
        return segue.continuity.claims.check(text, named)


def _say(verdict: Verdict) -> None:
    if verdict.passes:
        proven = f": {output.counted(len(verdict.claims), 'claim')}, proven by {verdict.receipt}"
        output.data(f"passes{proven if verdict.claims else ''}")
        return
    output.data(f"refused: {output.counted(len(verdict.unproven), 'claim')} without proof")
    for each in verdict.unproven:
        output.note(f"“{shorten(one_line(each.claim.sentence), _WIDTH)}”")
        output.note(f"  {one_line(each.why)}; it needs {one_line(each.needs)}")
