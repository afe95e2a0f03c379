"""Each requirement has a test, and each marker a requirement."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def test_requirements_and_markers_agree() -> None:
    table = tomllib.loads((HERE.parent / "conformance" / "capsules.toml").read_text(encoding="utf-8"))["requirement"]
    ids = [row["id"] for row in table]
    assert len(set(ids)) == len(ids)
    assert all(row["section"] and row["text"].endswith(".") for row in table)
    sources = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    assert set(re.findall(r'requirement\("(capsules-[^"]+)"\)', sources)) == set(ids)
