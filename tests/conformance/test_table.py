"""The table of requirements: what it shows, and what its check refuses."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "conformance.py"
REQUIREMENTS = """
[[requirement]]
id = "packets-1"
section = "Fields"
text = "A | stands in it."

[[requirement]]
id = "packets-2"
section = "Scope"
text = "Not yet."
later = true
"""
TESTS = """
import pytest

@pytest.mark.requirement("packets-1")
def test_one(): ...

class TestMore:
    @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("packets-1"))])
    def test_two(self, x): ...

@pytest.mark.requirement("packets-9")
def helper(): ...
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("segue_conformance_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tests" / "conformance").mkdir(parents=True)
    (tmp_path / "tests" / "conformance" / "packets.toml").write_text(REQUIREMENTS, "utf-8")
    (tmp_path / "tests" / "test_a.py").write_text(TESTS, "utf-8")
    return tmp_path


def check(script: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the check complains of, "" where it passes."""
    code = script.main(["--check"], tree)
    said = capsys.readouterr().err
    assert code == (1 if said else 0)
    return said


def test_the_table(script: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "out of date" in check(script, tree, capsys)
    assert script.main([], tree) == 0
    text = (tree / "docs" / "conformance.md").read_text("utf-8")
    assert "2 requirements, 1 proven by tests, 1 for later." in text
    assert (
        "| packets-1 | Fields | A \\| stands in it. | [tests/test_a.py::test_one](../tests/test_a.py)"
        "<br>[tests/test_a.py::TestMore::test_two](../tests/test_a.py) |"
    ) in text
    assert "| packets-2 | Scope | Not yet. | *later* |" in text
    assert check(script, tree, capsys) == ""


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (
            '@pytest.mark.requirement("packets-7")\ndef test_x(): ...',
            "tests/test_a.py::test_x: there is no requirement",
        ),
        ('ID = "packets-1"\n@pytest.mark.requirement(ID)\ndef test_x(): ...', "write the id of the requirement out"),
        ('@pytest.mark.requirement("packets-1")\ndef test_x(): ...', "out of date"),
    ],
)
def test_a_wrong_marker(
    script: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str], added: str, said: str
) -> None:
    script.main([], tree)
    (tree / "tests" / "test_a.py").write_text(TESTS + added, "utf-8")
    assert said in check(script, tree, capsys)


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ('[[requirement]]\nid = "packets-3"\nsection = "s"\ntext = "Untested."', "packets-3 has no test: Untested."),
        ('[[requirement]]\nid = "packets-1"\nsection = "s"\ntext = "t"', "the id packets-1 stands twice"),
        ('[[requirement]]\nid = "other-3"\nsection = "s"\ntext = "t"', "needs an id packets-"),
    ],
)
def test_a_wrong_requirement(
    script: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str], added: str, said: str
) -> None:
    (tree / "tests" / "conformance" / "packets.toml").write_text(REQUIREMENTS + added, "utf-8")
    script.main([], tree)
    assert said in check(script, tree, capsys)
