"""The whole draft: shape, limits, determinism, and the choice of goal and next step."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import jsontext
from segue.conversions.draft import NO_GOAL, NO_NEXT_STEP, draft
from segue.transcripts.events import (
    AgentText,
    Event,
    Meta,
    Plan,
    RolledBack,
    Todo,
    Todos,
    ToolCall,
    ToolResult,
    UserText,
)
from segue.transcripts.reader import read_file

FIXTURES = Path(__file__).parent / "fixtures"
NOW = datetime(2026, 9, 2, 10, 30, tzinfo=UTC)
START = Meta("claude-code", cwd="/home/ana/shop", branch="main", model="claude-x")


def drafted(*events: Event, **options: Any) -> dict[str, Any]:
    given_options: dict[str, Any] = {"project_name": "shop", "project_ref": None, "branch": None} | options
    return draft(events, now=NOW, **given_options)


def ran(command: str, ok: bool | None, output: str = "", call: str = "c", exit_code: int | None = None) -> list[Event]:
    code = exit_code if exit_code is not None else (1 if ok is False else None)
    return [ToolCall(call, "Bash", {"command": command}), ToolResult(call, output, ok, code)]


def edited(path: str) -> list[Event]:
    return [ToolCall("e", "Edit", {"file_path": path}), ToolResult("e", "done", True)]


def check_limits(packet: dict[str, Any]) -> None:
    """Check a draft against the limits of section 000.1 of the facts."""
    required = {"ltm_version", "created_at", "goal", "next_step"}
    optional = {"project", "constraints", "decisions", "attempts", "open_questions", "tags", "provenance"}
    assert required <= set(packet) <= required | optional
    assert packet["ltm_version"] == "0.2"
    for text in (packet["goal"], packet["next_step"]):
        assert 1 <= len(text) <= 1024
    for name, most in (("constraints", 32), ("open_questions", 32)):
        assert len(packet.get(name, [])) <= most
        assert all(0 < len(text) <= 1024 for text in packet.get(name, []))
    assert len(packet.get("decisions", [])) <= 64
    for decision in packet.get("decisions", []):
        assert set(decision) == {"what", "why"}
        assert all(len(text) <= 1024 for text in decision.values())
    assert len(packet.get("attempts", [])) <= 64
    for attempt in packet.get("attempts", []):
        assert set(attempt) == {"tried", "outcome", "learned"}
        assert attempt["outcome"] in ("succeeded", "failed", "partial")
        assert all(len(text) <= 1024 for text in attempt.values())
    assert "draft" in packet["tags"]
    assert all(0 < len(tag) <= 32 and tag.replace("-", "").isalnum() for tag in packet["tags"])
    assert len(jsontext.dump(packet, indent=True)) < 32_000


def test_an_empty_session_gives_a_draft_that_says_so() -> None:
    assert drafted(project_name=None) == {
        "ltm_version": "0.2",
        "created_at": "2026-09-02T10:30:00Z",
        "goal": NO_GOAL,
        "next_step": NO_NEXT_STEP,
        "tags": ["draft"],
    }


def test_members_stand_in_canonical_order() -> None:
    packet = drafted(*read_file(FIXTURES / "claude-notes.jsonl"))
    canonical = ["ltm_version", "created_at", "project", "goal", "constraints", "decisions", "attempts"]
    assert list(packet) == [*canonical, "next_step", "tags", "provenance"]


def test_project_branch_and_model() -> None:
    packet = drafted(
        START, UserText("Add a shop window."), project_ref="example.org/ana/shop", branch="feature/Über_Window"
    )
    assert packet["project"] == {"name": "shop", "ref": "example.org/ana/shop"}
    assert packet["tags"] == ["draft", "claude-code", "feature-ber-window"]
    assert packet["provenance"] == {"author_model": "claude-x"}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_drafts_of_recorded_sessions_hold_the_limits(path: Path) -> None:
    check_limits(drafted(*read_file(path)))


@pytest.mark.parametrize("alphabet", ["x", "語", "\U0001f600", '"', "\x07"])
def test_a_flood_of_statements_holds_the_limits(alphabet: str) -> None:
    filler = " ".join([alphabet * 9] * 60)
    events: list[Event] = [START]
    for number in range(200):
        events.append(
            UserText(f"We decided to build {number} {filler} because {filler}. Never break {number} {filler}.")
        )
        events += ran(f"pytest tests/test_{number}_{alphabet * 50}.py", False, call=f"c{number}")
        events += edited(f"/home/ana/shop/{number}/{alphabet * 60}.py")
        events.append(AgentText(f"Open question: what about {number} {filler}"))
    check_limits(drafted(*events))


def test_the_same_events_give_the_same_draft_whatever_the_hash_seed() -> None:
    code = (
        "import json,sys,datetime,pathlib\n"
        "from segue.transcripts.reader import read_file\n"
        "from segue.conversions.draft import draft\n"
        "now = datetime.datetime(2026, 9, 2, tzinfo=datetime.UTC)\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.jsonl')):\n"
        "    packet = draft(read_file(path), now=now, project_name='p', project_ref=None, branch=None)\n"
        "    print(json.dumps(packet))\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, str(FIXTURES)], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].splitlines()) == len(list(FIXTURES.glob("*.jsonl")))


@pytest.mark.parametrize(
    ("requests", "goal"),
    [
        (["Add coupon codes."], "Add coupon codes."),
        (["Hi there, could you please add coupon codes to the cart?"], "Add coupon codes to the cart."),
        (["hello", "Ok, I want you to speed up the export job. It takes an hour."], "Speed up the export job."),
        (["I have a Django shop with many orders. Please add coupon codes to it."], "Add coupon codes to it."),
        (["The export fails every night."], "The export fails every night."),
        (["continue", "Please continue where we left off.", "Rename the cart module."], "Rename the cart module."),
        (["# Add a dark mode\n\nUsers ask for it."], "Add a dark mode"),
        (["/home/ana/shop/src/cart.py is too slow, fix it please"], "src/cart.py is too slow, fix it please"),
        (["<task>Add a wish list</task>"], "Add a wish list"),
        (["npm run build gives error TS2304."], "npm run build gives error TS2304."),
        (["Füge Gutscheine hinzu."], "Füge Gutscheine hinzu."),
        (["クーポンを追加してください。"], "クーポンを追加してください。"),
        (["Ajoute des codes promo au panier."], "Ajoute des codes promo au panier."),
        (["```\nTraceback\n```"], "The title"),
        (["I get this error:\n```\nboom\n```\nHow do I fix it?"], "The title"),
        (["hi", "thanks!"], "The title"),
        (["{}[]()*&^%$ #@! 0x00 0x01 0x02"], "The title"),
        (["CI takes 27 minutes. Get it below ten."], "CI takes 27 minutes; get it below ten."),
        (["Webhooks are lost. Retry them with backoff. Never twice."], "Webhooks are lost; retry them with backoff."),
        (["The app crashes at the start. It must be related to the logger."], "The app crashes at the start."),
        (["No new runners. Get the CI run below ten minutes."], "Get the CI run below ten minutes."),
        (["Das Image ist groß. Mach es kleiner und schneller."], "Das Image ist groß; mach es kleiner und schneller."),
        (["Take the config and move it to lib. It is old."], "Take the config and move it to lib."),
        (["Fix the typo in the manual.", "Thanks. Now add a dark mode to it all."], "Add a dark mode to it all."),
        (["Fix the typo in the manual.", "Thanks. Now also fix the one below."], "Fix the typo in the manual."),
    ],
)
def test_the_goal_is_the_first_real_request(requests: list[str], goal: str) -> None:
    packet = drafted(START, Meta("x", title="The title", cwd="/home/ana/shop"), *map(UserText, requests))
    assert packet["goal"] == goal


def _todos(*items: tuple[str, str]) -> Todos:
    return Todos(tuple(Todo(text, status) for text, status in items))  # type: ignore[arg-type]


NAMED = AgentText("The model is done.\n\n## Next steps (optional)\n\n1. Write the manual page.\n2. Tell Bo.")
LIST = _todos(("A", "completed"), ("Add the form", "pending"), ("Add the view", "in_progress"))


@pytest.mark.parametrize(
    ("events", "step"),
    [
        ([UserText("Build it all."), LIST, AgentText("On it.")], "Add the view"),
        ([UserText("Build it all."), LIST, NAMED], "Add the view"),
        ([UserText("Build it all."), LIST, UserText("Now what?"), NAMED], "Write the manual page."),
        ([UserText("Build it all."), _todos(("A", "completed")), NAMED], "Write the manual page."),
        ([UserText("Build it all."), NAMED, UserText("Thanks!"), AgentText("Bye.")], "Write the manual page."),
        ([UserText("Build it all."), AgentText("Next step: none.")], NO_NEXT_STEP),
        (
            [UserText("Build it all."), AgentText("Done."), UserText("Now translate the mails.")],
            "Translate the mails.",
        ),
        ([UserText("Build the cart page."), *ran("ls", True)], "Build the cart page."),
        ([UserText("Build the cart page."), AgentText("I start."), *ran("ls", True)], "Build the cart page."),
        ([UserText("Build the cart page."), AgentText("Finished.")], NO_NEXT_STEP),
        ([UserText("Build it all."), AgentText("Done."), UserText("continue")], NO_NEXT_STEP),
        ([UserText("Plan it."), Plan("p", "1. Add the model\n2. Add the form")], "Add the model"),
        ([UserText("Plan it."), Plan("p", "1. Add the model"), ToolResult("p", "rejected", None)], NO_NEXT_STEP),
        ([UserText("Plan it."), Plan("p", "1. Add it"), ToolResult("p", "ok", True), AgentText("Go.")], "Add it"),
        ([UserText("Build it all."), AgentText("Step one is in. The next step is to add the view.")], "Add the view."),
        ([UserText("Build it all."), AgentText("Remaining: the footer.")], "The footer."),
        ([UserText("Build it all."), AgentText("The footer still needs to be translated.")], "The footer still needs"),
    ],
)
def test_the_next_step(events: list[Event], step: str) -> None:
    assert drafted(START, *events)["next_step"].startswith(step)


def test_what_was_rolled_back_leaves_nothing() -> None:
    packet = drafted(
        START,
        UserText("Add a wish list."),
        AgentText("Fine."),
        UserText("We decided to drop the cart because nobody uses it."),
        *ran("pytest", False),
        RolledBack(1),
        UserText("Show the wish list in the menu."),
        AgentText("Shown."),
    )
    assert "decisions" not in packet
    assert "attempts" not in packet
    assert packet["goal"] == "Add a wish list."


def test_more_turns_may_be_rolled_back_than_there_are() -> None:
    assert drafted(START, UserText("One."), RolledBack(99), UserText("Paint the door."))["goal"] == "Paint the door."


def test_an_agents_decision_that_the_human_turns_down_is_none() -> None:
    stated = AgentText("I decided to cache the totals because they are slow.")
    assert drafted(START, UserText("Make it fast."), stated, UserText("No, that hides the problem."))
    for answer, kept in (("No, that hides the problem.", False), ("No problem, go on.", True), ("Good.", True)):
        packet = drafted(START, UserText("Make it fast."), stated, UserText(answer))
        assert ("decisions" in packet) is kept


def test_a_decision_is_told_once_and_keeps_its_reason() -> None:
    packet = drafted(
        START,
        UserText("We decided to use trigrams because typos matter."),
        AgentText("Understood: we decided to use trigrams."),
    )
    assert packet["decisions"] == [{"what": "Use trigrams.", "why": "Typos matter."}]


def test_a_pending_question_of_a_tool_is_open_and_an_answered_one_is_not() -> None:
    ask = ToolCall("q", "AskUserQuestion", {"questions": [{"question": "Which carrier prints the labels?"}]})
    assert drafted(START, UserText("Add labels."), ask)["open_questions"] == ["Which carrier prints the labels?"]
    assert "open_questions" not in drafted(START, UserText("Add labels."), ask, ToolResult("q", "Post", True))


def test_an_answer_is_a_decision_and_a_refused_edit_touches_nothing() -> None:
    ask = ToolCall("q", "AskUserQuestion", {"questions": [{"question": "Which engine?"}]})
    refused = ToolResult("e", "The user doesn't want to", None, refused="use the job queue instead")
    packet = drafted(
        START,
        UserText("Add a search to the shop."),
        ask,
        ToolResult("q", 'User has answered your questions: "Which engine?"="FTS5".', True),
        *edited("/home/ana/shop/a.rs")[:1],
        refused,
        *edited("/home/ana/shop/b.py"),
        AgentText("Should totals be stored or computed?"),
        UserText("computed, never stored"),
    )
    assert [item["what"] for item in packet["decisions"]] == [
        "Which engine? FTS5",
        "Use the job queue instead",
        "computed, never stored (asked: Should totals be stored or computed?)",
    ]
    assert packet["attempts"][0]["tried"] == "Change b.py"
    assert packet["tags"] == ["draft", "claude-code", "python"]


def test_a_decision_that_another_one_says_in_full_is_left_out() -> None:
    packet = drafted(
        START,
        UserText("Read the dates."),
        AgentText("Would you rather have a format per profile, or a guess?"),
        UserText("A format per bank profile."),
        AgentText("Decision: each bank profile names the format of its dates."),
    )
    assert [item["what"] for item in packet["decisions"]] == ["Each bank profile names the format of its dates."]


def test_questions_that_were_answered_are_not_open() -> None:
    asked = AgentText("Should the invoice number restart each year?")
    assert "open_questions" in drafted(START, UserText("Number the invoices."), asked)
    answered = drafted(START, UserText("Number the invoices."), asked, UserText("Yes."), AgentText("Done."))
    assert "open_questions" not in answered


def test_nothing_a_tool_printed_is_quoted() -> None:
    output = "1 failed\nWe decided to print this because of noise. Next step: leak."
    packet = drafted(START, UserText("Test the cart."), *ran("pytest", False, output), AgentText("It fails."))
    assert "noise" not in json.dumps(packet)
    assert "leak" not in json.dumps(packet)


_TEXT = st.text(max_size=60) | st.sampled_from(
    [
        "Should it be A or B?",
        "A, not B",
        "Yes.",
        "Then we drop A.",
        "I'll try A first.",
        "A does not help.",
        "必须 A",
        "Never use A.",
        "We decided to use X because Y.",
        "Open question: z",
        "Next step: a",
        "`",
        "- [ ] x",
        "/home/ana/shop/a",
        "# H\n",
    ]
)
_EVENTS = st.one_of(
    st.builds(UserText, st.lists(_TEXT, max_size=3).map("\n".join)),
    st.builds(AgentText, st.lists(_TEXT, max_size=3).map("\n".join)),
    st.builds(ToolCall, st.just("c"), st.sampled_from(["Bash", "Edit"]), st.dictionaries(
        st.sampled_from(["command", "file_path"]), _TEXT | st.none() | st.sampled_from(["pytest", "npm test | tail"]))),
    st.builds(ToolResult, st.just("c"), _TEXT, st.sampled_from([True, False, None]), refused=st.none() | _TEXT),
    st.builds(Plan, st.just("c"), _TEXT),
    st.builds(RolledBack, st.integers(-2, 5)),
    st.builds(Meta, st.just("codex"), title=_TEXT, cwd=_TEXT, branch=_TEXT, model=_TEXT),
    st.builds(Todos, st.lists(st.builds(Todo, _TEXT, st.just("pending")), max_size=2).map(tuple)),
)  # fmt: skip


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(_EVENTS, max_size=12))
def test_any_events_give_a_draft_within_the_limits(events: list[Event]) -> None:
    check_limits(drafted(*events))
