"""Vectors: our own, and those shared for acceptance where they are at hand."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from capsule_samples import edited

from segue.base.errors import InvalidInput
from segue.capsules import check, fit, parse, render, stitch

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OWN: list[dict[str, Any]] = json.loads((HERE / "capsule_vectors.json").read_text(encoding="utf-8"))["check"]


@pytest.mark.requirement("capsules-C1")
@pytest.mark.requirement("capsules-C3")
@pytest.mark.requirement("capsules-C4")
@pytest.mark.requirement("capsules-C5")
@pytest.mark.requirement("capsules-C7")
@pytest.mark.requirement("capsules-C8")
@pytest.mark.requirement("capsules-C9")
@pytest.mark.requirement("capsules-C10")
@pytest.mark.requirement("capsules-C11")
@pytest.mark.requirement("capsules-C12")
@pytest.mark.requirement("capsules-1")
@pytest.mark.requirement("capsules-7")
@pytest.mark.requirement("capsules-8")
@pytest.mark.requirement("capsules-9")
@pytest.mark.requirement("capsules-10")
@pytest.mark.requirement("capsules-11")
@pytest.mark.requirement("capsules-12")
@pytest.mark.requirement("capsules-13")
@pytest.mark.requirement("capsules-18")
@pytest.mark.requirement("capsules-19")
@pytest.mark.requirement("capsules-20")
@pytest.mark.parametrize("vector", OWN, ids=lambda vector: vector["name"])
def test_own_vector(vector: dict[str, Any]) -> None:
    text = edited(*(tuple(edit) for edit in vector["edits"]))
    report = check(text)
    assert sorted({problem.code for problem in report.errors}, key=lambda code: int(code[1:])) == vector["codes"]
    assert check(text.encode("utf-8")) == report
    if vector["codes"]:
        with pytest.raises(InvalidInput) as caught:
            parse(text)
        assert caught.value.code == f"capsule.{vector['codes'][0]}"
        assert caught.value.details == report.to_json()
    else:
        assert parse(render(parse(text))) == parse(text)


def _shared() -> dict[str, Any] | None:
    places = [ROOT.parent / "shared" / "vectors"]
    if "SEGUE_VECTORS" in os.environ:
        places.insert(0, Path(os.environ["SEGUE_VECTORS"]))
    found = next((place / "pcsf.json" for place in places if (place / "pcsf.json").is_file()), None)
    return None if found is None else json.loads(found.read_text(encoding="utf-8"))


SHARED = _shared()
needs_shared = pytest.mark.skipif(
    SHARED is None, reason="no shared vectors: set SEGUE_VECTORS to the folder that holds pcsf.json"
)


def _cases(kind: str) -> list[Any]:
    return [pytest.param(vector, id=vector["name"]) for vector in (SHARED or {}).get(kind, [])] or [None]


@needs_shared
@pytest.mark.parametrize("vector", _cases("validate"))
def test_shared_validate(vector: dict[str, Any]) -> None:
    report = check(base64.b64decode(vector["input_b64"]))
    assert report.valid is vector["valid"]
    assert set(vector["must_include"]) <= {problem.code for problem in report.errors}


@needs_shared
@pytest.mark.parametrize("vector", _cases("fit"))
def test_shared_fit(vector: dict[str, Any]) -> None:
    result = fit(vector["input"], integrity=vector["integrity"])
    assert result.to_json() == {"capsule": vector["output"], "dropped": vector["dropped"]}


@needs_shared
@pytest.mark.parametrize("vector", _cases("stitch"))
def test_shared_stitch(vector: dict[str, Any]) -> None:
    result = stitch(vector["old"], vector["new"], integrity=vector["integrity"]).to_json()
    assert result["capsule"] == vector["output"]
    assert result["replaced"] == vector["replaced"]
    assert result["dropped"] == vector["dropped"]
