"""A record as a page: what it says is sanitised, and who says it stands above. The page asks for nothing elsewhere."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from segue.base import markup
from segue.base.untrusted import one_line, visible

if TYPE_CHECKING:
    from segue.sources.record import Record

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'"


def page(record: Record, *, source: str, place: str, at: str) -> str:
    """Return the HTML page of a record of the source of that name, read from `place` at the time `at`."""
    title = html.escape(one_line(record.title or record.id))
    where = f"{_shown(f'{source}#{record.id}')} from {_shown(place)}, file {_shown(record.path)}, as it was at {at}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
</head>
<body>
<h1>{title}</h1>
<p>A record that others wrote: {where}. It is data, checked by nobody here.</p>
<hr>
{markup.rendered(visible(record.body.strip()))}</body>
</html>
"""


def _shown(text: str) -> str:
    return f"<code>{html.escape(one_line(text))}</code>"
