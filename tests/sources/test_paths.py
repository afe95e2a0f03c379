"""Paths of records: what is refused, by which rule, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import Refused
from segue.sources import paths

REFUSED = [
    ("", "empty"),
    ("../x.md", "parent"),
    ("..", "parent"),
    ("records/../../x.md", "parent"),
    ("records/..", "parent"),
    ("records/../x.md", "parent"),
    (".", "dot"),
    ("./x.md", "dot"),
    ("records/./x.md", "dot"),
    ("/etc/passwd", "absolute"),
    ("/x.md", "absolute"),
    ("//evil.example/x.md", "absolute"),
    ("records//x.md", "empty_part"),
    ("records/", "empty_part"),
    ("~/x.md", "home"),
    ("~root/x.md", "home"),
    ("..\\x.md", "backslash"),
    ("records\\x.md", "backslash"),
    ("\\\\server\\share\\x.md", "backslash"),
    ("C:x.md", "drive"),
    ("C:/x.md", "drive"),
    ("x.md:stream", "drive"),
    ("https://evil.example/x.md", "drive"),
    ("file:x.md", "drive"),
    ("%2e%2e/x.md", "escape"),
    ("records%2fx.md", "escape"),
    ("records/%252e%252e/x.md", "escape"),
    ("x%00.md", "escape"),
    ("100%.md", "escape"),
    ("x.md?raw=1", "address"),
    ("x.md#top", "address"),
    ("x\0.md", "nul"),
    ("x.md\0.txt", "nul"),
    ("x\n.md", "hidden"),
    ("x\r.md", "hidden"),
    ("x\t.md", "hidden"),
    ("x\x7f.md", "hidden"),
    ("x\u200b.md", "hidden"),
    ("\u202edm.x", "hidden"),
    ("\ufeffx.md", "hidden"),
    ("\ud800.md", "hidden"),
    ("\uff0e\uff0e/x.md", "parent"),
    ("\u2025/x.md", "parent"),
    ("\uff0fetc/passwd", "absolute"),
    ("records/\uff0e\uff0e\uff0fx.md", "parent"),
    ("a\uff3cb.md", "backslash"),
    ("\uff052e/x.md", "escape"),
    ("C\uff1ax.md", "drive"),
    ("records/x.md.", "edge"),
    ("records./x.md", "edge"),
    ("records/x.md ", "edge"),
    (" records/x.md", "edge"),
    ("...", "edge"),
    ("con", "device"),
    ("records/NUL.md", "device"),
    ("aux.txt/x.md", "device"),
    ("com1", "device"),
    ("LPT\u00b9.md", "device"),
    ("memories.json", "manifest"),
    ("Memories.JSON", "manifest"),
    ("x" * 513, "length"),
    ("é" * 128, "length"),
    ("/".join("a" * 17), "length"),
]
ALLOWED = [
    "x.md",
    "records/project-test-command.md",
    "records/.hidden.md",
    "a/b/c/d.txt",
    "..x.md",
    "x..md",
    "records/memories.json",
    "With space.md",
    "Überblick/日本語.md",
    "e\u0301.md",
    "a=b&c;d,e+f@g!$'()*.md",
    "console.md",
    "records/~draft.md",
    "é" * 127,
    "/".join("a" * 16),
]


@pytest.mark.requirement("sources-paths")
@pytest.mark.parametrize(("path", "rule"), REFUSED)
def test_a_path_is_refused(path: str, rule: str) -> None:
    with pytest.raises(Refused) as caught:
        paths.checked(path)
    assert (caught.value.code, caught.value.exit_code) == ("source.path", 4)
    assert caught.value.details["rule"] == f"path.{rule}"
    assert "\n" not in caught.value.message


@pytest.mark.requirement("sources-paths")
@pytest.mark.parametrize("path", ALLOWED)
def test_a_path_is_allowed(path: str) -> None:
    assert "/".join(paths.checked(path)) == path


@pytest.mark.requirement("sources-paths")
@pytest.mark.parametrize(
    ("one", "other"), [("A.md", "a.md"), ("straße.md", "STRASSE.md"), ("e\u0301.md", "É.md"), ("ﬁ.md", "FI.md")]
)
def test_two_paths_that_a_file_system_may_take_for_one(one: str, other: str) -> None:
    assert paths.folded(one) == paths.folded(other)


@pytest.mark.requirement("sources-paths")
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([*"a./\\%:~ ?#\0\n", "..", "é", "\uff0e", "\uff0f", "\u2024", "nul"]), max_size=8))
def test_what_is_allowed_stays_inside(pieces: list[str]) -> None:
    path = "".join(pieces)
    if paths.fault(path) is None:
        parts = paths.checked(path)
        assert "/".join(parts) == path
        assert not {"", ".", ".."}.intersection(parts)
        assert not set("\\%:?#\0\n").intersection(path)
