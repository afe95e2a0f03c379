"""What a session leaves behind for its draft, gathered turn by turn while its events go by.

Little is kept: statements, checks and names of files, the last message of each turn; never what a tool printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from segue.conversions import draft_answers, draft_commands, draft_decisions, draft_limits, draft_statements
from segue.conversions.draft_commands import Run
from segue.conversions.draft_statements import Trial
from segue.transcripts import events, tools

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segue.conversions.draft_decisions import Decision

_MAX_TURNS = 600
_FIRST_TURNS = 3
_MAX_STEPS = 400
_MAX_STATEMENTS = 60
_MAX_PENDING = 500
_MAX_TRIED = 5
_REQUEST_LIMIT = 8_000  # characters

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Edit:
    """A file was changed; the path is as the host recorded it."""

    path: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """A sentence that says what caused a failure, or what mended it."""

    text: str


Step: TypeAlias = Run | Edit | Lesson | Trial


@dataclass(slots=True)
class Turn:
    """What one human request led to. `answered` says that the last thing in it is a message of the agent."""

    request: str = ""
    decided_by_human: list[Decision] = field(default_factory=list)
    decided_by_agent: list[Decision] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    asked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    todos: tuple[events.Todo, ...] | None = None
    plan: str = ""
    worked_on_plan: bool = False
    said: str = ""
    answered: bool = False

    def add(self, step: Step) -> None:
        """Append a step, if there is room and it does not repeat the one before."""
        if len(self.steps) >= _MAX_STEPS:
            del self.steps[_MAX_STEPS // 2]
        if not self.steps or self.steps[-1] != step:
            self.steps.append(step)


class Session:
    """Gathers events. `turns` begins with what came before the first request."""

    def __init__(self) -> None:
        self.meta = events.Meta("")
        self.directories: dict[str, None] = {}
        self.turns: list[Turn] = [Turn()]
        self._commands: dict[str, str] = {}
        self._edits: dict[str, tuple[str, ...]] = {}
        self._plans: dict[str, str] = {}
        self._tried: list[str] = []
        self._failed: set[str] = set()

    @classmethod
    def of(cls, stream: Iterable[events.Event]) -> Session:
        """Return the session that `stream` tells."""
        session = cls()
        for event in stream:
            session.feed(event)
        return session

    def feed(self, event: events.Event) -> None:
        """Take in the next event."""
        match event:
            case events.UserText():
                self._human(event.text)
            case events.AgentText():
                self._agent(event.text)
            case events.ToolCall():
                self._called(event)
            case events.ToolResult():
                self._returned(event)
            case events.Todos():
                self.turns[-1].todos = event.items
                self.turns[-1].answered = False
            case events.Plan():
                self._plans[event.call] = event.text
                self.turns[-1].plan, self.turns[-1].worked_on_plan = event.text, False
            case events.RolledBack():
                del self.turns[max(1, len(self.turns) - event.turns) :]
            case events.Meta():
                self.meta = event
                if event.cwd and len(self.directories) < _MAX_PENDING:
                    self.directories.setdefault(event.cwd)

    def _human(self, text: str) -> None:
        if len(self.turns) >= _MAX_TURNS:
            del self.turns[_FIRST_TURNS]
        before = self.turns[-1]
        turn = Turn(request=text[:_REQUEST_LIMIT])
        _listen(turn, text, before.said if before.answered else "")
        turn.open = draft_statements.open_questions(text)[:_MAX_STATEMENTS]
        for trial in draft_statements.trials(text):
            turn.add(trial)
        self.turns.append(turn)

    def _agent(self, text: str) -> None:
        turn = self.turns[-1]
        turn.decided_by_agent = (turn.decided_by_agent + draft_decisions.decisions(text, by_human=False))[
            -_MAX_STATEMENTS:
        ]
        turn.open = (turn.open + draft_statements.open_questions(text))[-_MAX_STATEMENTS:]
        for trial in draft_statements.trials(text) + draft_statements.in_vain(text, self._tried):
            turn.add(trial)
        self._tried = (self._tried + draft_statements.tries(text))[-_MAX_TRIED:]
        for lesson in draft_statements.lessons(text):
            turn.add(Lesson(lesson))
        turn.said = text if not turn.answered else f"{turn.said}\n\n{text}"[-events.TEXT_LIMIT :]
        turn.answered = True

    def _called(self, call: events.ToolCall) -> None:
        turn = self.turns[-1]
        turn.answered = False
        asked = tools.questions(call)
        if asked:
            turn.asked[call.call] = asked
        command = tools.command(call)
        if command:
            _remember(self._commands, call.call, command)
            turn.worked_on_plan = True
        changed = tools.files(call)
        if changed:
            _remember(self._edits, call.call, changed)
            turn.worked_on_plan = True

    def _returned(self, result: events.ToolResult) -> None:
        turn = self.turns[-1]
        turn.answered = False
        for question in turn.asked.pop(result.call, ()):
            turn.decided_by_human += draft_answers.of_form(question, result.text)
        plan = self._plans.pop(result.call, None)
        if plan is not None and result.ok is not True and turn.plan == plan:
            turn.plan = ""  # the human turned it down
        changed = self._edits.pop(result.call, ())
        command = self._commands.pop(result.call, None)
        if result.refused is not None:
            _listen(turn, result.refused, turn.said or "…")
            return
        for path in changed if result.ok is not False else ():
            turn.add(Edit(path))
        if command is not None:
            run = draft_commands.run_of(command, result.text, result.ok, result.exit_code)
            if run is not None and self._counts(run):
                turn.add(run)

    def _counts(self, run: Run) -> bool:
        """Whether a run says something: of programs that are no checks only what failed, and how that went on."""
        if run.known:
            return True
        if run.passed is False and len(self._failed) < _MAX_PENDING:
            self._failed.add(run.text)
        return run.text in self._failed


def _listen(turn: Turn, text: str, said: str) -> None:
    """Take up what a human decides and demands in `text`, in reply to what the agent last `said`."""
    decided = draft_decisions.decisions(text, by_human=True) + draft_answers.answers(text, said)
    turn.decided_by_human = (turn.decided_by_human + decided)[:_MAX_STATEMENTS]
    turn.limits = (turn.limits + draft_limits.constraints(text))[:_MAX_STATEMENTS]


def _remember(pending: dict[str, _Value], call: str, value: _Value) -> None:
    if len(pending) >= _MAX_PENDING:
        del pending[next(iter(pending))]
    pending[call] = value
