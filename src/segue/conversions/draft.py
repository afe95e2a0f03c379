"""The draft of a packet, from the events of a recorded session (facts, section 000.1).

Deterministic, and rather empty than wrong: a field is filled from what was recorded or said in so many words. The
draft has no `id`; secrets are the redactor's part, afterwards.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from segue.base import jsontext, time
from segue.conversions import draft_request, draft_statements, draft_tags, draft_text
from segue.conversions.draft_attempts import attempts
from segue.conversions.draft_commands import Run
from segue.conversions.draft_paths import Paths
from segue.conversions.draft_session import Edit, Session, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from segue.transcripts.events import Event, Todo

NO_GOAL = "No goal was recorded in this session."
NO_NEXT_STEP = "No next step was recorded; ask what to do first."

_SENTENCE = 400  # characters of an entry
_MAX_DECISIONS = 16
_MAX_ATTEMPTS = 14
_MAX_QUESTIONS = 12
_MAX_CONSTRAINTS = 16
_MAX_BYTES = 28_000  # of the packet's 32,768: a person adds to it
_STALE_TURNS = 3  # after which a list of things to do yields to a next step that was named
_RECENT_TURNS = 40  # in which open questions are looked for
_RECENT_STEPS = 1_500  # in which attempts are
_ERRAND_STEPS = 2  # of a small request that is not the session's goal
_REFUSAL = re.compile(
    r"(?:no(?! (?:problem|worries|rush|need|changes))|nope|stop|wrong|revert|undo|actually,? no|don't|do not|"
    r"that's (?:not|wrong)|not what i|i (?:don't|do not) (?:want|like|agree)|nein)\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:(?:ok|okay|great|perfect|nice|cool|thanks?|thank you|thx|danke|good(?: job)?|well done|bye|see you|that's all|"
    r"that is all|for now|for today|so much|a lot|very much|much)[\s,.!]*)+",
    re.IGNORECASE,
)
_PLAN_HEADING = re.compile(r".{0,40}\b(?:plan|steps?|implementation|changes|approach|to-?dos?)\b.{0,40}", re.IGNORECASE)


def draft(
    events: Iterable[Event],
    *,
    now: datetime,
    project_name: str | None,
    project_ref: str | None,
    branch: str | None,
    project_dir: str | None = None,
) -> dict[str, Any]:
    """Return the draft of a v0.2 packet without `id`, tagged `draft`, its members in canonical order.

    `project_dir`, where known, and the directory that the session began in are what paths are made relative to.
    `branch` is the git branch; None takes the one that the session names. With an id added the draft satisfies the
    packet schema. Raises nothing for what the events hold.
    """
    session = Session.of(events)
    directories = tuple(name for name in (project_dir, *session.directories) if name)
    paths = Paths(directories[:2])

    def sentence(text: str) -> str:
        return draft_text.shorten(paths.shown(draft_text.plain(text)), _SENTENCE)

    turns = session.turns
    packet: dict[str, Any] = {
        "ltm_version": "0.2",
        "created_at": time.to_text(now),
        "project": _project(project_name, project_ref),
        "goal": sentence(_goal(turns, session.meta.title)) or NO_GOAL,
        "constraints": _unique(sentence(text) for turn in turns for text in turn.limits)[-_MAX_CONSTRAINTS:],
        "decisions": _decisions(turns, sentence)[-_MAX_DECISIONS:],
        "attempts": _attempts(turns, paths, sentence)[-_MAX_ATTEMPTS:],
        "open_questions": [sentence(text) for text in _open_questions(turns)][-_MAX_QUESTIONS:],
        "next_step": sentence(_next_step(turns)) or NO_NEXT_STEP,
        "tags": draft_tags.tags(
            session.meta.host,
            branch if branch is not None else session.meta.branch,
            (step.path for turn in turns for step in turn.steps if isinstance(step, Edit)),
        ),
        "provenance": _provenance(session.meta.model),
    }
    return _fitted({name: value for name, value in packet.items() if value})


def _project(name: str | None, ref: str | None) -> dict[str, str]:
    given = {"name": draft_text.plain(name or "")[:128], "ref": draft_text.plain(ref or "")[:256]}
    return {key: value for key, value in given.items() if value}


def _provenance(model: str | None) -> dict[str, str]:
    name = draft_text.plain(model or "")[:128]
    return {"author_model": name} if name else {}


def _goal(turns: list[Turn], title: str | None) -> str:
    """Return what the first request wants, but for small errands before it; else the title."""
    asking = [turn for turn in turns if draft_request.is_request(turn.request)]
    for turn, following in zip(asking, [*asking[1:], Turn()], strict=False):
        wanted = draft_request.main_sentence(turn.request)
        if _is_errand(turn) and draft_request.moves_on(following.request):
            wanted = draft_request.main_sentence(following.request) or wanted
        if wanted or title:
            return wanted or title or ""
    return title or ""


def _is_errand(turn: Turn) -> bool:
    return len(turn.steps) <= _ERRAND_STEPS and not any(isinstance(step, Run) for step in turn.steps)


def _decisions(turns: list[Turn], sentence: Callable[[str], str]) -> list[dict[str, str]]:
    """Return all that was decided, in order; what an agent decided and the human then turned down is left out."""
    found: dict[str, dict[str, str]] = {}
    for turn, following in zip(turns, [*turns[1:], Turn()], strict=True):
        refused = _REFUSAL.match(following.request) is not None
        for decision in turn.decided_by_human + ([] if refused else turn.decided_by_agent):
            what, why = sentence(decision.what), sentence(decision.why)
            key = "".join(char for char in what.lower() if char.isalnum())
            known = found.pop(key, None)
            if key:
                found[key] = {"what": what, "why": why or (known["why"] if known else "")}
    return _without_repeats(list(found.values())[-2 * _MAX_DECISIONS :])


def _without_repeats(decisions: list[dict[str, str]]) -> list[dict[str, str]]:
    """Leave out what another decision says with more words, such as an answer that the agent repeats in full."""
    words = [draft_text.words(decision["what"]) for decision in decisions]
    kept = []
    for place, (decision, mine) in enumerate(zip(decisions, words, strict=True)):
        fuller = (
            theirs
            for other, theirs in enumerate(words)
            if (len(theirs), other) > (len(mine), place) and len(mine & theirs) * 4 >= len(mine) * 3
        )
        if len(mine) < 2 or not any(fuller):
            kept.append(decision)
    return kept


def _attempts(turns: list[Turn], paths: Paths, sentence: Callable[[str], str]) -> list[dict[str, Any]]:
    found = []
    for attempt in attempts([step for turn in turns for step in turn.steps][-_RECENT_STEPS:], paths):
        shown = {name: text if name == "outcome" else sentence(text) for name, text in attempt.items()}
        if shown not in found:
            found.append(shown)
    return found


def _open_questions(turns: list[Turn]) -> list[str]:
    """Return what was called open and what the agent's last message asks, without what was settled afterwards."""
    found: list[str] = []
    settled: list[frozenset[str]] = []
    for turn in reversed(turns[-_RECENT_TURNS:]):
        still_open = [question for question in turn.open[-_MAX_QUESTIONS:] if not _is_settled(question, settled)]
        found = still_open + found
        decided = turn.decided_by_human + turn.decided_by_agent
        settled += [
            draft_text.words(text) for text in (turn.request, *(item.what for item in decided[-_MAX_DECISIONS:]))
        ]
    last = turns[-1]
    found += [question for asked in last.asked.values() for question in asked]
    if last.answered:
        found += draft_statements.questions_to_human(last.said)
    return _unique(found)


def _is_settled(question: str, answers: list[frozenset[str]]) -> bool:
    asked = draft_text.words(question)
    return any(len(asked & answer) * 3 >= len(asked) and asked & answer for answer in answers)


def _next_step(turns: list[Turn]) -> str:
    turns = _without_closing(turns)
    last = turns[-1]
    named = draft_statements.next_step(last.said) if last.answered else None
    age, todo = _first_unfinished(turns)
    if todo and (age == 0 or (age <= _STALE_TURNS and not named)):
        return todo
    if named:
        return named
    if last.plan and not last.worked_on_plan:
        step = _first_of_plan(last.plan)
        if step:
            return step
    if not last.answered and draft_request.is_request(last.request):
        return draft_request.main_sentence(last.request) or ""
    return ""


def _without_closing(turns: list[Turn]) -> list[Turn]:
    """Leave out the last turns in which the human only thanked and nothing was done."""
    count = len(turns)
    while count > 1 and _CLOSING.fullmatch(turns[count - 1].request.strip()[:200]) and not turns[count - 1].steps:
        count -= 1
    return turns[:count]


def _first_unfinished(turns: list[Turn]) -> tuple[int, str]:
    """Return the first unfinished item of the newest list, and how many turns ago the list was written."""
    for age, turn in enumerate(reversed(turns)):
        if turn.todos is not None:
            unfinished: list[Todo] = [todo for todo in turn.todos if todo.status != "completed"]
            unfinished.sort(key=lambda todo: todo.status != "in_progress")
            return age, unfinished[0].text if unfinished else ""
    return 0, ""


def _first_of_plan(plan: str) -> str:
    headed = draft_text.headed(plan)
    has_headings = any(block.is_title for block, _ in headed)
    for block, heading in headed:
        if block.kind == "item" and not block.done and (not has_headings or _PLAN_HEADING.fullmatch(heading)):
            return block.sentences[0]
    return ""


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _fitted(packet: dict[str, Any]) -> dict[str, Any]:
    """Drop the oldest entries of the largest list until the packet is well below its size limit."""
    while len(jsontext.dump(packet, indent=True)) > _MAX_BYTES:
        lists = [name for name in ("decisions", "attempts", "open_questions", "constraints") if packet.get(name)]
        if not lists:
            break
        largest = max(lists, key=lambda name: len(jsontext.dump(packet[name])))
        packet[largest] = packet[largest][1:]
    return {name: value for name, value in packet.items() if value}
