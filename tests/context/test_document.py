"""The pack as Markdown: whatever a text says, nothing in it becomes markup where a client renders the pack."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from packing_samples import candidate

from segue.context.candidate import Packed
from segue.context.document import line

PIECES = ["\\", "<b>", "</b>", "<!--", "![", "](", "]", "(", "`", "<?", "<![CDATA[", " ", "a", "<http://x.y>"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join))
@example("<img src=http://x.y/z.png>")
@example(r"see \<img src=http://x.y/z.png>")
@example(r"see \\\<script>x</script>")
def test_no_text_becomes_markup(text: str) -> None:
    """Also one that has backslashes before the markup, or begins with it: a second escape would undo the first."""
    html = MarkdownIt("commonmark").render(line(Packed(candidate(text), text, 1)))
    assert not re.search(r"<(?!/?(?:ul|li|code)>)", html)
