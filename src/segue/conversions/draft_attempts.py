"""Attempts for the draft: checks that failed, what became of them, and which files were changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from segue.conversions.draft_commands import Check, Run
from segue.conversions.draft_session import Edit, Lesson, Step
from segue.conversions.draft_statements import Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.conversions.draft_paths import Paths

_NAMED_FILES = 6
_FILES_LENGTH = 340  # of all names together: the sentence of an attempt is cut at 400


@dataclass(frozen=True, slots=True)
class _Failure:
    """A check that failed first and last at these steps, and the step at which a run settled it, if one did."""

    check: Check
    first: int
    last: int
    settled: int | None
    exit_code: int | None
    narrower: str = ""


def attempts(steps: Sequence[Step], paths: Paths) -> list[dict[str, Any]]:
    """Return the attempts that `steps` record, in the order of their end."""
    found: list[tuple[int, dict[str, Any]]] = []
    told: set[int] = set()
    mentioned: set[str] = set()
    for failure in _failures(steps):
        end = len(steps) if failure.settled is None else failure.settled
        begin = 0 if failure.settled is None else failure.first
        changed = _changed(steps[begin : failure.last if failure.settled is None else end], paths)
        changed_after = _changed(steps[failure.last :], paths) if failure.settled is None else []
        told_now = _lesson(steps, failure, told)
        mentioned.update([] if failure.narrower else changed, changed_after)
        found.append((end, _of_failure(failure, changed, told_now, changed_after)))
    for position, step in enumerate(steps):
        if isinstance(step, Trial):
            found.append((position, {"tried": step.tried, "outcome": "failed", "learned": step.learned}))
    found.sort(key=lambda item: item[0])
    changes = _changes(steps, paths, mentioned)
    return [attempt for _, attempt in found] + ([changes] if changes else [])


def _failures(steps: Sequence[Step]) -> list[_Failure]:
    runs = [(position, step) for position, step in enumerate(steps) if isinstance(step, Run)]
    spans: dict[tuple[str, tuple[str, ...]], list[tuple[int, Run, Check]]] = {}
    for position, run in runs:
        if run.passed is False:
            # Of several checks in one command the record does not say which failed: the last stands for all.
            check = run.checks[-1] if len(run.checks) == 1 else Check(run.text, (), run.text)
            spans.setdefault((check.family, check.targets), []).append((position, run, check))
    found = []
    for failed in spans.values():
        (first, _, _), (last, run, check) = failed[0], failed[-1]
        if _is_uncertain(runs, last, run):
            continue
        settled, narrower = _settled(runs, last, run, check)
        if not run.known and (settled is None or not any(isinstance(step, Edit) for step in steps[first:settled])):
            continue
        found.append(_Failure(check, first, last, settled, run.exit_code, narrower))
    return _merged(found)


def _is_uncertain(runs: Sequence[tuple[int, Run]], last: int, failed: Run) -> bool:
    """Whether the check ran again and nobody can say how that ended."""
    later = [run for position, run in runs if position > last and _covers_one(run, failed)]
    return bool(later) and all(run.passed is None for run in later)


def _covers_one(run: Run, failed: Run) -> bool:
    return any(again.covers(check) for again in run.checks for check in failed.checks)


def _settled(runs: Sequence[tuple[int, Run]], last: int, failed: Run, check: Check) -> tuple[int | None, str]:
    """Return the step of the run that passed what had failed, else the narrower run that passed."""
    narrower = ""
    open_checks = list(failed.checks)
    for position, run in runs:
        if position <= last or not run.passed:
            continue
        open_checks = [missing for missing in open_checks if not any(passed.covers(missing) for passed in run.checks)]
        if not open_checks:
            return position, ""
        if any(check.covers(passed) for passed in run.checks):
            narrower = run.text
    return None, narrower


def _merged(failures: list[_Failure]) -> list[_Failure]:
    """Keep one of the failures of a kind that one run settled, and none that a broader open one includes."""
    kept: list[_Failure] = []
    for failure in sorted(failures, key=lambda item: (item.last, item.first)):
        same = [
            other
            for other in kept
            if other.check.family == failure.check.family
            and other.settled == failure.settled
            and (failure.settled is not None or failure.check.covers(other.check) or other.check.covers(failure.check))
        ]
        kept = [other for other in kept if other not in same]
        kept.append(reduce(lambda later, other: _union(other, later), same, failure))
    return kept


def _union(earlier: _Failure, later: _Failure) -> _Failure:
    check = earlier.check if earlier.check.covers(later.check) and earlier.check != later.check else later.check
    first = min(earlier.first, later.first)
    return _Failure(check, first, later.last, later.settled, later.exit_code, later.narrower or earlier.narrower)


def _lesson(steps: Sequence[Step], failure: _Failure, told: set[int]) -> str:
    """Return the last lesson said from the failure until shortly after its end, if none of the others took it."""
    end = len(steps) if failure.settled is None else failure.settled + 1
    while end < len(steps) and isinstance(steps[end], (Lesson, Edit)):
        end += 1
    for position in range(end - 1, failure.first, -1):
        step = steps[position]
        if isinstance(step, Lesson) and position not in told:
            told.add(position)
            return step.text.rstrip(" .")
    return ""


def _of_failure(failure: _Failure, changed: list[str], lesson: str, changed_after: list[str]) -> dict[str, Any]:
    status = f" (exit code {failure.exit_code})" if failure.exit_code else ""
    if failure.settled is not None:
        outcome = "succeeded"
        ending = f"passed after changes to {_listed(changed)}" if changed else "passed on a later run"
        fact = f"failed at first{status} and {ending}"
    elif failure.narrower:
        outcome, fact = "partial", f"failed{status}; only a narrower run passed later: {failure.narrower}"
    else:
        outcome, fact = "failed", f"was still failing when it last ran{status}"
        if changed:
            fact += f", after changes to {_listed(changed)}"
        if changed_after:
            fact += f"; {_listed(changed_after)} changed after that run"
    learned = f"{lesson}; it {fact}." if lesson else f"It {fact}."
    return {"tried": f"Run {failure.check.text}", "outcome": outcome, "learned": learned}


def _changes(steps: Sequence[Step], paths: Paths, mentioned: set[str]) -> dict[str, Any] | None:
    """Return the attempt that names the files that were changed, unless the others name them all."""
    changed = _changed(steps, paths)
    if not changed or set(changed) <= mentioned:
        return None
    last = max(position for position, step in enumerate(steps) if isinstance(step, Edit))
    later = [step for step in steps[last:] if isinstance(step, Run) and step.known and step.passed is not None]
    outcome, learned = "partial", "No check ran after the last of these changes."
    if later:
        run = later[-1]
        passed = all(step.passed for step in later)
        outcome = "succeeded" if passed else "partial"
        learned = f"{run.text} {'passed' if run.passed else 'failed'} after the last of these changes."
    room = sum(total <= _FILES_LENGTH for total in accumulate(len(name) + 2 for name in changed))
    return {"tried": f"Change {_listed(changed, max(1, room))}", "outcome": outcome, "learned": learned}


def _changed(steps: Sequence[Step], paths: Paths) -> list[str]:
    names = (paths.relative(step.path) for step in steps if isinstance(step, Edit))
    return list(dict.fromkeys(name for name in names if name))


def _listed(names: list[str], most: int = _NAMED_FILES) -> str:
    shown, more = names[:most], len(names) - most
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
