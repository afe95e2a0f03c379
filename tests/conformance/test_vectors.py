"""Acceptance tests that are kept outside the repository: in the folder that SEGUE_VECTORS names, else beside it."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from segue.base.errors import InvalidInput
from segue.packets import checking, schema

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(os.environ.get("SEGUE_VECTORS") or ROOT.parent / "shared" / "vectors")
FILE = FOLDER / "packets.json"
MISSING = f"no test vectors at {FILE}; name their folder in SEGUE_VECTORS"


def vectors(*path: str) -> list[Any]:
    """Return the cases of one list in the file, or one that is skipped where there is no file."""
    if not FILE.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason=MISSING))]
    part = json.loads(FILE.read_text("utf-8"))
    for name in path:
        part = part[name]
    return [pytest.param(case, id=case["name"] if isinstance(case, dict) else case[:16]) for case in part]


def document(text_b64: str) -> bytes:
    packet = {
        "ltm_version": "0.2",
        "id": "01JZ7Q4M8N2V6W0X3Y5A9B1C4D",
        "created_at": "2026-05-04T09:30:00Z",
        "goal": "Ship the importer.",
        "next_step": "Write the failing test.",
        "constraints": [base64.b64decode(text_b64).decode()],
    }
    return json.dumps(packet).encode()


@pytest.mark.parametrize("case", vectors("redaction", "core"))
def test_the_core_set_gives_exactly_the_labels(case: dict[str, Any]) -> None:
    report = checking.check(document(case["text_b64"]), core_only=True)
    assert sorted({item.kind for item in report.findings}) == [
        f"constraints[0]/{label}" for label in sorted(case["core"])
    ]


@pytest.mark.parametrize("case", vectors("redaction", "extended"))
def test_the_extended_set_finds(case: dict[str, Any]) -> None:
    report = checking.check(document(case["text_b64"]))
    assert any(item.kind.startswith("constraints[0]/ext/") for item in report.findings)


@pytest.mark.parametrize("text_b64", vectors("redaction", "clean"))
def test_the_default_finds_nothing(text_b64: str) -> None:
    report = checking.check(document(text_b64))
    assert report.valid
    assert report.findings == []


@pytest.mark.parametrize("case", vectors("validate"))
def test_validation(case: dict[str, Any]) -> None:
    raw = case["raw"].encode()
    report = checking.check(raw)
    assert report.valid is case["valid"]
    if case["valid"]:
        assert schema.parse(raw) == report.packet
        return
    with pytest.raises(InvalidInput) as raised:
        schema.parse(raw)
    for error in (raised.value, report.errors[0]):
        assert error.code == case.get("code", error.code)
        assert case.get("message_has", "") in error.message
