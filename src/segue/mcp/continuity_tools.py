"""The tool that judges what an agent is about to say of memory, records and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.base.untrusted import one_line, shorten
from segue.mcp import shapes
from segue.mcp.answers import Answer, Tool, fitting
from segue.mcp.arguments import DIRECTORY, at_directory

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.continuity.guard import Unproven, Verdict

_MOST = 40_000  # characters of a text
_WIDTH = 200


def _guard(segue: Segue, arguments: dict[str, Any]) -> Answer:
    verdict = at_directory(segue, arguments).continuity.claims.check(arguments["text"], arguments.get("receipt"))
    return fitting(lambda most: _told(verdict, most), max(len(verdict.unproven), 1))


def _told(verdict: Verdict, most: int) -> Answer:
    shown = verdict.unproven[:most]
    data = verdict.to_json() | {"refused": [_refused(each) for each in shown]}
    if verdict.passes:
        by = f": proven by {verdict.receipt}" if verdict.claims else ": it claims nothing"
        return Answer(f"passes{by}", data)
    lines = [f"refused: {len(verdict.unproven)} of what it says has no proof; say it otherwise, or prove it"]
    for each in shown:
        said = shorten(one_line(each.claim.sentence), _WIDTH)
        lines.append(f"“{said}”: {one_line(each.why)}; it needs {one_line(each.needs)}")
    omitted = len(verdict.unproven) - len(shown)
    return Answer("\n".join([*lines, f"… and {omitted} more"] if omitted else lines), data)


def _refused(each: Unproven) -> dict[str, Any]:
    return each.to_json() | {"sentence": shorten(each.claim.sentence, _WIDTH)}


_REFUSED = shapes.record(
    {
        "sentence": shapes.text("The sentence, shortened."),
        "start": shapes.whole("Where it begins in the text."),
        "end": shapes.whole("Where it ends."),
        "says": shapes.text("The word that claims."),
        "subject": shapes.text("What is spoken of.", "memory", "record", "document"),
        "why": shapes.text("Why nothing proves it."),
        "needs": shapes.text("What would prove it."),
    }
)

CONTINUITY_TOOLS = (
    Tool(
        "guard",
        "Check a text before you send it: whether it says that memory, records or documents are saved or ready "
        "without a receipt that proves it. What is denied, asked, to come, quoted or about code needs none.",
        {
            "text": {
                "type": "string",
                "maxLength": _MOST,
                "description": "The text, exactly as it is to go out.",
            },
            "receipt": {
                "type": "string",
                "pattern": "^TX-[0-9]{1,9}$",
                "description": "The receipt that is to prove it; without it one that is bound to this very text.",
            },
            "directory": DIRECTORY,
        },
        _guard,
        ("text",),
        shapes.record(
            {
                "verdict": shapes.text("Whether it may go out.", "passes", "refused"),
                "claims": shapes.whole("How many sentences claim something."),
                "receipt": shapes.anything("The receipt that was gone by; null for none."),
                "refused": shapes.listing("The claims that nothing proves.", _REFUSED),
            }
        ),
    ),
)
