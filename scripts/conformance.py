"""The table of requirements and the tests that prove them: docs/conformance.md.

    python scripts/conformance.py [--check]

The requirements stand in tests/conformance/*.toml, one file for each specification. A test names what it proves by the
marker `requirement("packets-17")`, with the ids written out, on the test, its class or its parameters. `--check` writes
nothing and fails where the table is out of date, a requirement has no test (unless it is marked `later`), or a marker
names an id that does not exist.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TABLE = Path("docs") / "conformance.md"
TITLES = {
    "packets": "Core Memory Packet",
    "capsules": "PCSF",
    "memories": "Memories and search",
    "continuity": "Continuity Memory Protocol",
    "sources": "Local and remote sources",
    "context": "Contextual Memory Protocol",
}
HEAD = """\
# Conformance

Each sentence of a specification that asks for something has an id here, and the tests that prove it. This page is
written by `python scripts/conformance.py`; the sentences come from `tests/conformance/`, in our own words.
"""
LATER = "*later*"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One sentence that a specification asks for; `later` ones need no test yet."""

    id: str
    section: str
    text: str
    later: bool


@dataclass(frozen=True, slots=True)
class Test:
    """A test function: its file from the root of the repository, and its name there."""

    path: str
    name: str


def read_requirements(root: Path) -> tuple[dict[str, list[Requirement]], list[str]]:
    """Return the requirements of each specification in the order of their file, and what is wrong with them."""
    found: dict[str, list[Requirement]] = {}
    problems: list[str] = []
    seen: set[str] = set()
    files = sorted((root / "tests" / "conformance").glob("*.toml"), key=lambda file: (_rank(file.stem), file.stem))
    for file in files:
        entries = tomllib.loads(file.read_text("utf-8")).get("requirement", [])
        found[file.stem] = [_requirement(entry) for entry in entries]
        for item in found[file.stem]:
            if item.id in seen:
                problems.append(f"{file.name}: the id {item.id} stands twice")
            if not item.id.startswith(f"{file.stem}-") or not item.section or not item.text:
                problems.append(f"{file.name}: {item.id or 'an entry'} needs an id {file.stem}-…, a section and a text")
            seen.add(item.id)
    return found, problems


def _rank(name: str) -> int:
    return list(TITLES).index(name) if name in TITLES else len(TITLES)


def _requirement(entry: dict[str, Any]) -> Requirement:
    name, section, text = (str(entry.get(member, "")) for member in ("id", "section", "text"))
    return Requirement(name, section, text, bool(entry.get("later", False)))


def read_markers(root: Path) -> tuple[dict[str, list[Test]], list[str]]:
    """Return the tests of each id that a marker names, in the order of their files, and what is wrong with markers."""
    found: dict[str, list[Test]] = {}
    problems: list[str] = []
    for file in sorted((root / "tests").rglob("*.py")):
        path = file.relative_to(root).as_posix()
        tree = ast.parse(file.read_text("utf-8"), path)
        for name, decorators in _tests(tree):
            for call in _markers(decorators):
                for argument in call.args:
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        tests = found.setdefault(argument.value, [])
                        tests += [Test(path, name)] if Test(path, name) not in tests else []
                    else:
                        problems.append(f"{path}:{call.lineno}: write the id of the requirement out")
    return found, problems


def _tests(tree: ast.Module) -> list[tuple[str, list[ast.expr]]]:
    """Return the tests of a module, each with the decorators that apply to it."""
    found: list[tuple[str, list[ast.expr]]] = []
    pending: list[tuple[ast.stmt, str, list[ast.expr]]] = [(node, "", []) for node in tree.body]
    for node, prefix, outer in pending:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found.append((prefix + node.name, [*outer, *node.decorator_list]))
        elif isinstance(node, ast.ClassDef):
            inherited = [*outer, *node.decorator_list]
            pending += [(inner, f"{prefix}{node.name}::", inherited) for inner in node.body]
    return found


def _markers(decorators: list[ast.expr]) -> list[ast.Call]:
    nodes = [node for decorator in decorators for node in ast.walk(decorator)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "requirement"]


def compare(requirements: dict[str, list[Requirement]], markers: dict[str, list[Test]]) -> list[str]:
    """Return which requirements lack a test and which markers name no requirement."""
    listed = {item.id: item for items in requirements.values() for item in items}
    problems = [
        f"{item.id} has no test: {item.text}" for item in listed.values() if not item.later and item.id not in markers
    ]
    for name in sorted(markers.keys() - listed.keys()):
        test = markers[name][0]
        problems.append(f"{test.path}::{test.name}: there is no requirement {name}")
    return problems


def render(requirements: dict[str, list[Requirement]], markers: dict[str, list[Test]]) -> str:
    """Return the text of the table."""
    parts = [HEAD]
    for name, items in requirements.items():
        proven = sum(1 for item in items if item.id in markers)
        later = sum(1 for item in items if item.later and item.id not in markers)
        summary = f"{len(items)} requirements, {proven} proven by tests" + (f", {later} for later" if later else "")
        lines = [
            f"## {TITLES.get(name, name)}",
            "",
            f"{summary}.",
            "",
            "| id | section | requirement | tests |",
            "|---|---|---|---|",
        ]
        lines += [_row(item, markers.get(item.id, [])) for item in items]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _row(item: Requirement, tests: list[Test]) -> str:
    links = "<br>".join(f"[{test.path}::{test.name}](../{test.path})" for test in tests)
    cells = [item.id, item.section, item.text, links or (LATER if item.later else "")]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Write the table, or check it; return the exit code."""
    parser = argparse.ArgumentParser(description="Write docs/conformance.md, or check it.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something is missing")
    options = parser.parse_args(arguments)
    requirements, problems = read_requirements(root)
    markers, wrong = read_markers(root)
    text = render(requirements, markers)
    table = root / TABLE
    if not options.check:
        table.parent.mkdir(exist_ok=True)
        table.write_text(text, "utf-8", newline="\n")
        return 0
    problems += wrong + compare(requirements, markers)
    if not table.is_file() or table.read_text("utf-8") != text:
        problems.append(f"{TABLE.as_posix()} is out of date; run python scripts/conformance.py")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
