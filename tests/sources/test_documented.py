"""What docs/sources.md says of the format and the limits is what is read."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

from segue.sources import snapshot
from segue.sources.limits import DEFAULT

PAGE = (Path(__file__).parents[2] / "docs" / "sources.md").read_text("utf-8")


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def test_the_format_that_is_shown_is_read() -> None:
    manifest, shown = _block("json"), _block("markdown")
    path, other = [each if isinstance(each, str) else each["path"] for each in json.loads(manifest)["records"]]
    files = {"memories.json": manifest, path: shown, other: "Amounts are integers of cents.\n"}
    resources = [snapshot.resource(name, text.encode()) for name, text in files.items()]
    found = snapshot.assembled(resources[0], resources[1:], DEFAULT)
    assert [each.id for each in found.records] == ["test-command", "amounts"]
    record = found.records[0]
    assert (record.title, record.confidence, record.expires) == ("How the tests run", 0.9, "2027-05-26")
    assert (record.entities, record.source, record.unknown) == (("make",), "the team's wiki", {})
    assert [each.rule for each in found.remarks] == ["record.superseded"]


def test_every_limit_is_told() -> None:
    table = PAGE.split("## Limits")[1].split("##")[0]
    told = re.findall(r"\| ([\d,]+)( MiB| KiB| seconds)? \|$", table, re.MULTILINE)
    units = {" MiB": 1 << 20, " KiB": 1 << 10}
    values = sorted(int(number.replace(",", "")) * units.get(unit, 1) for number, unit in told)
    assert values == sorted(getattr(DEFAULT, each.name) for each in fields(DEFAULT))
