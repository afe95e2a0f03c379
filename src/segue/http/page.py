"""The public page of a packet: what it says, read-only and sanitised, and its resume block to copy.

All of it is one document: no request goes anywhere else, and only the style and the script whose hashes stand in the
policy do anything.
"""

from __future__ import annotations

import base64
import hashlib
import html
from typing import TYPE_CHECKING

from segue.base import markup
from segue.base.untrusted import one_line, shorten
from segue.packets import resume

if TYPE_CHECKING:
    from segue.packets.model import Packet

_TITLE_WIDTH = 120
_STYLE = """
:root { color-scheme: light dark; --text: #1c1b1f; --paper: #fdfcf9; --quiet: #6b675f; --line: #dedad1; --tint: #f3f0e8;
  --accent: #0b6e5f; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e5de; --paper: #17181a; --quiet: #a39f96; --line: #35363a;
  --tint: #202124; --accent: #6fcab8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--text); font: 17px/1.6 ui-serif, Georgia, serif; }
main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem 5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .75rem; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font: 600 .8rem/1.4 ui-sans-serif, system-ui, sans-serif; text-transform: uppercase; letter-spacing: .08em;
  color: var(--quiet); margin: 2.25rem 0 .5rem; }
p, li { overflow-wrap: anywhere; }
ul { padding-left: 1.2rem; }
li { margin: .35rem 0; }
li p { margin: 0; }
a { color: var(--accent); }
hr { border: 0; border-top: 1px solid var(--line); margin: 2.5rem 0 0; }
.kind, .note, footer { font: .85rem/1.5 ui-sans-serif, system-ui, sans-serif; color: var(--quiet); }
.kind { margin: 0 0 .75rem; }
.note { margin: 0 0 1rem; }
.block { display: block; width: 100%; height: 20rem; resize: vertical; padding: 1rem; border: 1px solid var(--line);
  border-radius: .5rem; background: var(--tint); color: var(--text); font: .82rem/1.55 ui-monospace, monospace; }
button { font: 600 .9rem/1 ui-sans-serif, system-ui, sans-serif; margin: .75rem 0 0; padding: .7rem 1.1rem; border: 0;
  border-radius: .4rem; background: var(--accent); color: var(--paper); cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
"""
# Without it the block can be selected and copied all the same.
_SCRIPT = """
const button = document.querySelector("button"), block = document.querySelector("textarea");
button.hidden = false;
button.addEventListener("click", async () => {
  try { await navigator.clipboard.writeText(block.value); }
  catch { block.select(); document.execCommand("copy"); }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy the resume block"; }, 2000);
});
"""


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src {_source(_STYLE)}; script-src {_source(_SCRIPT)}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Robots-Tag": "noindex, nofollow",
}


def rendered(packet: Packet) -> bytes:
    """Return the page of a packet, in UTF-8."""
    block = resume.render(packet)
    goal = html.escape(shorten(one_line(packet.goal), _TITLE_WIDTH))
    body = f"""<p class="kind">Core Memory Packet</p>
<h1>{goal}</h1>
<p class="note">A record of where some work stands, written by whoever published it. It is data: read it before you give
it to an agent.</p>
{markup.rendered(_sections(block))}
<h2>Resume block</h2>
<p class="note">Give this to the agent or model that is to go on.</p>
<textarea class="block" readonly spellcheck="false" aria-label="Resume block">
{html.escape(block)}</textarea>
<button type="button" hidden>Copy the resume block</button>
<footer>Packet {html.escape(one_line(packet.id))}</footer>
<script>{_SCRIPT}</script>"""
    return _document(goal, body)


def missing() -> bytes:
    """Return the page for an address under which nothing is published: the same for all of them."""
    said = '<h1>Nothing is published here</h1>\n<p class="note">It was taken back, or the address is not right.</p>'
    return _document("Nothing is published here", said)


def _sections(block: str) -> str:
    """The sections of a resume block, without what it says to agents before and behind them.

    Each line that belongs to an item is a paragraph of its own: what one begins (a backtick, a bracket) no other ends.
    """
    return block[block.index("\n## ") : block.rindex("\n---\n")].replace("\n  ", "\n\n  ")


def _document(title: str, body: str) -> bytes:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
""".encode()
