"""Markdown of others as HTML."""

from __future__ import annotations

import importlib

import pytest

from segue.base import markup


@pytest.mark.parametrize("part", ["core.ruler", "block.ruler", "inline.ruler", "inline.ruler2"])
def test_no_thread_is_the_first_to_gather_the_rules(part: str) -> None:
    """The parser fills its lists of rules at its first use, and who comes meanwhile goes by half of them."""
    fresh = importlib.reload(markup)
    holder, name = part.split(".")
    rules = getattr(getattr(fresh._MARKDOWN, holder), name)
    assert rules.__cache__ is not None
    assert rules.getRules("") != []
