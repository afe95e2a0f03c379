"""Markdown that others wrote, as HTML that does nothing: text, its structure, and links to https and mailto."""

from __future__ import annotations

import nh3
from markdown_it import MarkdownIt

TAGS = frozenset("h1 h2 h3 h4 h5 h6 p ul ol li strong em code pre blockquote hr br a".split())
SCHEMES = frozenset({"https", "mailto"})
_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable(["image", "html_block", "html_inline"])
_MARKDOWN.render("x")  # it gathers its rules when it is first used, and a second thread would miss some meanwhile


def rendered(markdown: str) -> str:
    """Return Markdown as HTML: raw HTML shows as text, images are links, links elsewhere lose their address."""
    return nh3.clean(
        _MARKDOWN.render(markdown),
        tags=set(TAGS),
        attributes={"a": {"href"}},
        url_schemes=set(SCHEMES),
        url_relative="deny",
        link_rel="nofollow noopener noreferrer",
    )
