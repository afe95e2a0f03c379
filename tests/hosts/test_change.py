"""The difference that is shown: one hunk that `patch` would take."""

from __future__ import annotations

import difflib
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from segue.hosts.change import unified_diff

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = Path("/p/x.json")


def test_nothing_changed() -> None:
    assert unified_diff(NAME, b"a\n", b"a\n") == ""
    assert unified_diff(NAME, None, None) == ""


def test_one_hunk_with_three_lines_around() -> None:
    before = "".join(f"{number}\n" for number in range(1, 21)).encode()
    after = before.replace(b"10\n", b"10,\nnew\n")
    assert unified_diff(NAME, before, after) == (
        "--- /p/x.json\n+++ /p/x.json\n@@ -7,7 +7,8 @@\n 7\n 8\n 9\n-10\n+10,\n+new\n 11\n 12\n 13\n"
    )


def test_a_file_that_comes_and_goes() -> None:
    assert unified_diff(NAME, None, b"a\n") == "--- /dev/null\n+++ /p/x.json\n@@ -0,0 +1,1 @@\n+a\n"
    assert unified_diff(NAME, b"a\n", None) == "--- /p/x.json\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"


def test_a_missing_line_end_is_said() -> None:
    diff = unified_diff(NAME, b"{}", b"{}\n")
    assert diff.endswith("@@ -1,1 +1,1 @@\n-{}\n\\ No newline at end of file\n+{}\n")


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\nd\n"),
        (b"a\nb", b"a\nb,\nc"),
        (b"a\n" * 10, b"a\n" * 12),
        (b"a\n" * 12, b"a\n" * 10),
        (b"x\r\ny\r\n", b"x,\r\ny\r\nz\r\n"),
        ("é\u2028ü\n".encode(), "é\u2028ü\nö\n".encode()),
    ],
)
def test_patch_takes_it(before: bytes, after: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(before)
    diff = unified_diff(file, before, after).encode()
    subprocess.run(["patch", "--binary", str(file)], input=diff, check=True, capture_output=True)
    assert file.read_bytes() == after


def test_a_large_file_is_compared_only_where_it_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    real = difflib.unified_diff

    def counting(old: list[str], new: list[str], n: int) -> Iterator[str]:
        compared.append(len(old) + len(new))
        return real(old, new, n=n)

    monkeypatch.setattr(difflib, "unified_diff", counting)
    before = b'  "same": 1,\n' * 50_000
    diff = unified_diff(NAME, before, before + b"}\n" + before)
    assert diff.count("\n") > 50_000 and compared == [50_001 + 2 * 3]
    assert unified_diff(NAME, before, before + b"}\n").count("\n") == 7
    assert compared[1:] == [7]
