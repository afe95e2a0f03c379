"""Checks in commands, and the attempts that failing ones make."""

from __future__ import annotations

from typing import Any

import pytest

from segue.conversions.draft_attempts import attempts
from segue.conversions.draft_commands import Run, run_of
from segue.conversions.draft_paths import Paths
from segue.conversions.draft_session import Edit, Lesson, Step
from segue.conversions.draft_statements import Trial

PATHS = Paths(("/home/ana/shop",))


@pytest.mark.parametrize(
    ("command", "family", "targets"),
    [
        ("pytest", "pytest", ()),
        ("cd /home/ana/shop && .venv/bin/pytest -q tests/test_a.py 2>&1", "pytest", ("tests/test_a.py",)),
        ("python3 -m pytest tests -k 'a or b'", "pytest", ("-k a or b", "tests")),
        ("CI=1 timeout 60 npx jest src", "jest", ()),
        ("uv run pytest tests/", "pytest", ("tests/",)),
        ("npm test -- cart", "npm test", ("cart",)),
        ("npm --prefix web run build", "npm run build", ("--prefix web",)),
        ("pnpm --filter web test", "pnpm test", ("--filter web",)),
        ("yarn test:unit", "yarn test:unit", ()),
        ("bash -lc 'cargo test -p price'", "cargo test", ("-p price",)),
        ("go test ./...", "go test", ()),
        ("make -j4 check", "make check", ()),
        ("./gradlew build", "gradlew build", ()),
        ("./scripts/run-tests.sh", "run-tests.sh", ()),
        ("bash scripts/build.sh", "build.sh", ()),
        ("python manage.py migrate", "manage.py migrate", ()),
        ("ruff check .", "ruff check", ()),
        ("mypy src", "mypy", ()),
    ],
)
def test_commands_that_are_checks(command: str, family: str, targets: tuple[str, ...]) -> None:
    run = run_of(command, "", False, 1)
    assert run is not None
    assert [check.family for check in run.checks] == [family]
    assert set(run.checks[0].targets) >= set(targets)
    assert run.passed is False


@pytest.mark.parametrize(
    "command",
    [
        "ls -l",
        "grep -rn test src",
        "cat tests/test_a.py",
        "python -c 'import pytest'",
        "python script.py",
        "git commit -m 'pytest passes'",
        "npm run dev",
        "npm view pytest",
        "docker ps",
        "echo pytest",
        "pytest <<EOF\nEOF",
        "pytest 'unfinished",
        "",
        "&& ||",
    ],
)
def test_commands_that_are_no_checks(command: str) -> None:
    run = run_of(command, "1 failed", False, 1)
    assert run is None or not run.known


@pytest.mark.parametrize(
    ("command", "output", "ok", "exit_code", "passed"),
    [
        ("pytest", "", True, 0, True),
        ("pytest", "", False, 1, False),
        ("pytest", "", None, None, None),
        ("pytest", "", False, 130, None),
        ("pytest | tail -3", "1 failed, 2 passed in 1s", True, 0, False),
        ("pytest | tail -3", "3 passed in 1s", True, 0, True),
        ("pytest | tail -3", "no idea", True, 0, None),
        ("set -o pipefail; pytest | tail -3", "no idea", False, 1, False),
        ("make check || true", "all well", True, 0, None),
        ("pytest; echo done", "2 failed", True, 0, False),
        ("pytest && git push", "rejected", False, 1, None),
        ("pytest && git push", "2 passed\nrejected", False, 1, True),
        ("ruff check . && pytest", "", True, 0, True),
        ("npx tsc --noEmit | head", "a.ts(1,2): error TS2304: x", True, 0, False),
        ("npx tsc --noEmit | head", "", True, 0, True),
    ],
)
def test_an_exit_status_counts_only_where_it_is_that_of_the_check(
    command: str, output: str, ok: bool | None, exit_code: int | None, passed: bool | None
) -> None:
    run = run_of(command, output, ok, exit_code)
    assert run is not None
    assert run.passed is passed


@pytest.mark.parametrize(("command", "exit_code"), [("pytest", 127), ("pytest", 126), ("pytest", 5), ("pytest", 4)])
def test_a_check_that_did_not_run_is_none(command: str, exit_code: int) -> None:
    assert run_of(command, "", False, exit_code) is None


def run(command: str, passed: bool | None) -> Step:
    found = run_of(command, "", passed, 1 if passed is False else None)
    assert found is not None
    return found


def told(*steps: Step) -> list[dict[str, Any]]:
    return attempts(steps, PATHS)


def outcomes(*steps: Step) -> list[tuple[str, str]]:
    return [(attempt["tried"], attempt["outcome"]) for attempt in told(*steps)]


def test_failed_and_then_passed() -> None:
    (attempt,) = told(
        run("pytest tests/a.py", False),
        Lesson("The cause was a typo."),
        Edit("/home/ana/shop/src/a.py"),
        run("pytest tests/a.py -v", True),
    )
    assert attempt == {
        "tried": "Run pytest tests/a.py",
        "outcome": "succeeded",
        "learned": "The cause was a typo; it failed at first (exit code 1) and passed after changes to src/a.py.",
    }


def test_failed_and_never_passed() -> None:
    (attempt,) = told(run("pytest", False), Edit("src/a.py"))
    assert attempt["outcome"] == "failed"
    assert attempt["learned"].endswith("src/a.py changed after that run.")


def test_a_broader_run_settles_a_narrower_one_and_not_the_other_way_round() -> None:
    assert outcomes(run("pytest tests/a.py", False), run("pytest", True)) == [("Run pytest tests/a.py", "succeeded")]
    assert outcomes(run("pytest", False), run("pytest tests/a.py", True)) == [("Run pytest", "partial")]
    assert outcomes(run("pytest tests/a.py", False), run("pytest tests/b.py", True)) == [
        ("Run pytest tests/a.py", "failed")
    ]
    assert outcomes(run("pytest tests/a.py::test_x", False), run("pytest tests/a.py", True)) == [
        ("Run pytest tests/a.py::test_x", "succeeded")
    ]


def test_a_later_failure_counts() -> None:
    assert outcomes(run("pytest", False), run("pytest", True), run("pytest", False)) == [("Run pytest", "failed")]


def test_nothing_is_said_where_the_last_run_is_not_known() -> None:
    assert outcomes(run("pytest", False), run("pytest", None)) == []


def test_failures_of_one_kind_that_one_run_settles_are_one() -> None:
    steps = (
        run("pytest tests/a.py", False),
        run("pytest", False),
        run("pytest tests/b.py", False),
        run("pytest", True),
    )
    assert outcomes(*steps) == [("Run pytest", "succeeded")]


def test_of_several_checks_each_must_pass() -> None:
    failed = run("ruff check . && pytest", False)
    assert outcomes(failed, run("pytest", True)) == [("Run ruff check . && pytest", "failed")]
    assert outcomes(failed, run("pytest", True), run("ruff check .", True)) == [
        ("Run ruff check . && pytest", "succeeded")
    ]


def test_a_check_that_only_passed_is_no_attempt() -> None:
    assert outcomes(run("pytest", True)) == []


def test_changed_files_are_told_once() -> None:
    edits = [Edit(f"/home/ana/shop/src/{name}.py") for name in "abcdefgh"]
    (attempt,) = told(*edits, Edit("/etc/x"), Edit("../y"), run("pytest", True))
    assert attempt["tried"] == f"Change {', '.join(f'src/{name}.py' for name in 'abcdefg')} and src/h.py"
    assert (attempt["outcome"], attempt["learned"]) == ("succeeded", "pytest passed after the last of these changes.")
    assert told(Edit("/etc/x")) == []
    assert told(Edit("a.py"))[0]["learned"] == "No check ran after the last of these changes."


def test_many_files_are_named_as_far_as_there_is_room() -> None:
    (attempt,) = told(*(Edit(f"src/{number:04}.py") for number in range(500)))
    assert len(attempt["tried"]) < 400
    assert attempt["tried"].endswith("src/0025.py and 474 more")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("python script.py", "python script.py"),
        ("cd web && node scripts/seed.mjs --all 2>&1", "node scripts/seed.mjs --all"),
        ("terraform fmt -check", "terraform fmt -check"),
        ("DB=postgres://a ./seed.py", "./seed.py"),
    ],
)
def test_another_program_that_failed_and_then_passed_is_an_attempt(command: str, text: str) -> None:
    failed, passed = run(command, False), run(command, True)
    assert outcomes(failed, Edit("a.py"), passed)[0] == (f"Run {text}", "succeeded")
    assert outcomes(failed, passed) == []  # nothing was changed: it just came right
    assert outcomes(failed) == []
    assert outcomes(failed, Edit("a.py"), run("python other.py", True))[0] == ("Change a.py", "partial")


@pytest.mark.parametrize(
    "command",
    [
        "grep -c x a.csv",
        "git diff --quiet",
        "test -f a",
        "node a.js || true",
        "node a.js; node b.js",
        "python - <<EOF\nEOF",
        "python -c 'print(1)'",
        "FOO=1 psql -c 'select 1'",
        "node " + "x" * 200,
        "bash -c 'cd a; node b.js'",
    ],
)
def test_what_only_looks_or_is_not_one_command_says_nothing(command: str) -> None:
    assert run_of(command, "", False, 1) is None


@pytest.mark.parametrize("program", ["node deploy.mjs", "node sync.mjs"])
def test_secret_values_of_a_command_are_not_shown(program: str) -> None:
    for option in ("--token abc", "--token=abc", "--api-key 'abc abc'", "PASSWORD=abc"):
        shown = run(f"{program} {option} --all", False)
        assert isinstance(shown, Run)
        assert "abc" not in shown.text
        assert shown.text.endswith("… --all")


def test_settings_do_not_narrow_a_check() -> None:
    assert outcomes(run("wasm-pack build -- build-std=std", False), run("wasm-pack build", True)) == [
        ("Run wasm-pack build -- build-std=std", "succeeded")
    ]
    assert outcomes(run("pytest a.py::test_x[k=v]", False), run("pytest b.py", True)) == [
        ("Run pytest 'a.py::test_x[k=v]'", "failed")
    ]


def test_a_lesson_is_told_with_one_attempt() -> None:
    found = told(run("pytest", False), run("make lint", False), Lesson("The cause was X."), run("pytest", True))
    assert sum("The cause was X" in attempt["learned"] for attempt in found) == 1


def test_a_trial_is_an_attempt() -> None:
    assert told(Trial("Batch the reads", "It broke.")) == [
        {"tried": "Batch the reads", "outcome": "failed", "learned": "It broke."}
    ]
