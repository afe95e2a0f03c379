"""Problems of a source: what is wrong, by which rule and where, and the error that a reader raises for them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from segue.base.errors import InvalidInput, Refused, SegueError
from segue.sources.paths import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")

# What a reader's error is called, by the first part of a problem's rule.
_CODES = {"path": "source.path", "credential": "source.credential", "limit": "source.limit"}
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a source.

    `rule` is stable (`path.parent`, `manifest.duplicate_id`, `address.private`), `where` is a path in the source or an
    address, `line` counts from 1 (None where none is known). `refused` says that it is not permitted, rather than
    malformed. What does not fail is a remark: the reader goes on.
    """

    rule: str
    message: str
    where: str = ""
    line: int | None = None
    refused: bool = False
    fails: bool = True

    @property
    def place(self) -> str:
        """`records/x.md:3`, `records/x.md`, or "" where no place is known."""
        return self.where if self.line is None else f"{self.where}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.where else self.message

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue source check --json`."""
        return asdict(self)


def whole(found: T | None, problems: Iterable[Problem]) -> T:
    """Return what was found where nothing fails; remarks do not matter. Raises what `error_of` makes of the rest."""
    failing = [each for each in problems if each.fails]
    if found is None or failing:
        raise error_of(failing)
    return found


def error_of(problems: Sequence[Problem]) -> SegueError:
    """Return the error for one problem or more: Refused where one is refused, else InvalidInput.

    The first that is refused, else the first, gives it code and text; `details["problems"]` lists the first twenty, and
    `details["count"]` says how many there are.
    """
    first = next((each for each in problems if each.refused), problems[0])
    part = first.rule.partition(".")[0]
    code = _CODES.get(part, f"source.{part}")
    more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
    details = {"problems": [each.to_json() for each in problems[:_SHOWN]], "count": len(problems)}
    kind = Refused if first.refused else InvalidInput
    return kind(code, f"{first}{more}", details)


def too_long(path: str, limit: int) -> SegueError:
    """Return the error for a manifest, or a record, of more than `limit` bytes."""
    rule = "limit.manifest_bytes" if path == MANIFEST else "limit.record_bytes"
    return error_of([Problem(rule=rule, message=f"it has more than {limit:,} bytes", where=path)])


def too_much(limit: int, where: str = "") -> Problem:
    """Return what is wrong with a source of more than `limit` bytes in all."""
    return Problem(rule="limit.total_bytes", message=f"the source has more than {limit:,} bytes in all", where=where)


def problems_of(error: SegueError, where: str) -> list[Problem]:
    """Return what an error of a reader says, as problems; `where` is the place of one that names none."""
    listed = error.details.get("problems")
    if isinstance(listed, list):
        return [Problem(**each) for each in listed]
    rule = str(error.details.get("rule") or error.code.removeprefix("source."))
    refused = isinstance(error, Refused)
    return [Problem(rule=rule, message=error.message, where=str(error.details.get("where", where)), refused=refused)]
