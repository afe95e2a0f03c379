"""The to-do list of a session, from the tools that write it: whole lists, step plans, and single tasks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from segue.transcripts.events import Status, Todo, Todos

if TYPE_CHECKING:
    from collections.abc import Mapping

_CREATED = re.compile(r"Task #(\w{1,20})")
_STATUSES: dict[str, Status] = {"pending": "pending", "in_progress": "in_progress", "completed": "completed"}
_MAX_TASKS = 500


class TodoBoard:
    """Follows the calls of one session; each change gives the whole list.

    `TodoWrite` and `update_plan` carry all items. `TaskCreate` and `TaskUpdate` carry one: a task has no number until
    the result of its creation names it, so creations wait for their results.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, Todo] = {}
        self._creating: dict[str, str] = {}

    def called(self, call: str, name: str, arguments: Mapping[str, Any], at: str | None) -> Todos | None:
        """Return the list after that call, or None where the call does not change it."""
        if name == "TodoWrite":
            return _listed(arguments.get("todos"), "content", at)
        if name == "update_plan":
            return _listed(arguments.get("plan"), "step", at)
        if name == "TaskCreate":
            subject = arguments.get("subject")
            if isinstance(subject, str) and subject.strip() and len(self._creating) < _MAX_TASKS:
                self._creating[call] = subject.strip()
        elif name == "TaskUpdate":
            return self._updated(arguments, at)
        return None

    def returned(self, call: str, text: str, structured: Any, ok: bool | None, at: str | None) -> Todos | None:
        """Return the list after the result of that call, or None where it does not change it."""
        subject = self._creating.pop(call, None)
        if subject is None or ok is False or len(self._tasks) >= _MAX_TASKS:
            return None
        self._tasks[_number(text, structured) or str(len(self._tasks) + 1)] = Todo(subject, "pending")
        return self._all(at)

    def _updated(self, arguments: Mapping[str, Any], at: str | None) -> Todos | None:
        number = str(arguments.get("taskId"))
        task = self._tasks.get(number)
        if task is None:
            return None
        status, subject = arguments.get("status"), arguments.get("subject")
        if status == "deleted":
            del self._tasks[number]
        else:
            text = subject.strip() if isinstance(subject, str) and subject.strip() else task.text
            self._tasks[number] = Todo(text, _status(status, task.status))
        return self._all(at)

    def _all(self, at: str | None) -> Todos:
        return Todos(tuple(self._tasks.values()), at)


def _listed(value: Any, key: str, at: str | None) -> Todos | None:
    if not isinstance(value, list):
        return None
    items = []
    for item in value[:_MAX_TASKS]:
        text = item.get(key) if isinstance(item, dict) else None
        if isinstance(text, str) and text.strip():
            items.append(Todo(text.strip(), _status(item.get("status"), "pending")))
    return Todos(tuple(items), at)


def _status(value: Any, otherwise: Status) -> Status:
    return _STATUSES.get(value, otherwise) if isinstance(value, str) else otherwise


def _number(text: str, structured: Any) -> str | None:
    task = structured.get("task") if isinstance(structured, dict) else None
    number = task.get("id") if isinstance(task, dict) else None
    if isinstance(number, (str, int)):
        return str(number)
    found = _CREATED.search(text)
    return found[1] if found else None
