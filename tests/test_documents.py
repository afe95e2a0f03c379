"""Every example in the documents runs: commands as a person would type them, Python, JSON and TOML as they stand.

A command without shown output only has to do what the block's exit code says (0 unless the text shows another);
output that is shown has to be what is printed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import forks
from segue.conversions.to_capsule import to_capsule
from segue.packets import schema

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("pip install", "make ")  # they install; `make` is what runs these tests


def blocks(document: Path, language: str) -> list[str]:
    return [text for kind, text in FENCE.findall(document.read_text("utf-8")) if kind == language]


def commands(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the output lines shown for it."""
    found: list[tuple[str, list[str]]] = []
    heredoc = False
    for line in block.splitlines():
        if heredoc:
            command, shown = found.pop()
            found.append((f"{command}\n{line}", shown))
            heredoc = line != "JSON"
        elif line.startswith("$ "):
            found.append((line[2:], []))
            heredoc = "<<'JSON'" in line
        else:
            found[-1][1].append(line)
    return found


@pytest.fixture
def scene(tmp_path: Path) -> dict[str, str]:
    """A home and a project as a reader has them: a repository, packets to save, one saved, a draft with a finding."""
    project = tmp_path / "importer"
    project.mkdir()
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    shutil.copy(ROOT / "examples" / "session-2.json", project / "packet.json")
    draft = {"ltm_version": "0.2", "goal": "Ship the importer.", "next_step": "Read the log in /tmp/run-7/out.log."}
    (project / "next.json").write_text(json.dumps(draft | {"next_step": "Write the failing test."}))
    identified = draft | {"id": "01K6T9M3E8Y2QH6P0V4KFGD7SC", "created_at": "2026-09-15T11:05:00Z"}
    (project / "draft.json").write_text(json.dumps(identified))
    for name, packet in (("old", "session-1"), ("new", "session-2"), ("capsule", "session-2")):
        capsule = to_capsule(schema.parse((ROOT / "examples" / f"{packet}.json").read_bytes())).capsule
        (project / f"{name}.txt").write_text(capsule.text)
    quoted = "".join(f"> {line}\n" for line in (project / "new.txt").read_text().splitlines())
    (project / "answer.txt").write_text(quoted)
    program = forks.program("segue")
    path = f"{Path(program).parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    scene = {"HOME": str(tmp_path), "SEGUE_HOME": str(tmp_path / "segue"), "PATH": path, "PWD": str(project)}
    subprocess.run([program, "save", "packet.json"], env=scene, cwd=project, check=True, capture_output=True)
    return scene


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands(document: Path, scene: dict[str, str]) -> None:
    for block in blocks(document, "console"):
        for command, shown in commands(block):
            if command.startswith(NOT_RUN):
                continue
            done = subprocess.run(
                ["bash", "-c", f"exec 2>&1; {command}"], env=scene, cwd=scene["PWD"], capture_output=True, text=True
            )
            if shown:
                assert done.stdout.rstrip("\n").splitlines() == shown, command
            else:
                allowed = {0, 4} if "check draft.json" in command else {0}
                assert done.returncode in allowed, f"{command}\n{done.stdout}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_and_data(document: Path, scene: dict[str, str]) -> None:
    for code in blocks(document, "python"):
        command = [forks.program("python"), "-c", code]
        done = subprocess.run(command, env=scene, cwd=scene["PWD"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for text in blocks(document, "json"):
        json.loads(text)
    for text in blocks(document, "toml"):
        tomllib.loads(text)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text("utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_the_readme_shows_what_resume_prints() -> None:
    """Every line of the shortened block in the README is a line of the real one, in its order."""
    shown = [line for line in blocks(ROOT / "README.md", "text")[0].splitlines() if line.strip()]
    printed = subprocess.run(
        [sys.executable, "-m", "segue", "example", "--resume"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    position = 0
    for line in shown:
        position = printed.index(line, position) + 1
