"""Statements in prose: what counts as a decision, a limit, an open question, a lesson, and what does not."""

from __future__ import annotations

import pytest

from segue.conversions import draft_decisions, draft_limits, draft_statements, draft_text
from segue.conversions.draft_decisions import Decision
from segue.conversions.draft_paths import Paths
from segue.conversions.draft_statements import Trial


@pytest.mark.parametrize(
    ("text", "what", "why"),
    [
        ("We decided to use SQLite because it needs no server.", "Use SQLite.", "It needs no server."),
        ("We've decided on weekly invoices.", "Decided on weekly invoices.", ""),
        ("Then we agreed that errors are values, since exceptions hide the flow.", "Errors are values.", "Exceptions"),
        ("Decision: rates live in a table (because they change often).", "Rates live in a table.", "They change often"),
        ("**Decision:** keep the old route.\n\nReason: clients use it.", "Keep the old route.", "Clients use it."),
        (
            "Because clients cache pages, we decided to version the assets.",
            "Version the assets.",
            "Clients cache pages",
        ),
        ("Let's go with Stripe because the fees are lower.", "Go with Stripe.", "The fees are lower."),
        ("We opted for polling over webhooks so that no port is open.", "Opted for polling over webhooks.", "So that"),
        ("I chose a queue over a cron job due to lost jobs.", "Chose a queue over a cron job.", "Lost jobs."),
        ("Use pnpm instead of npm since it is faster.", "Use pnpm instead of npm.", "It is faster."),
        ("I used a set instead of a list because names repeat.", "Used a set instead of a list.", "Names repeat."),
        ("We decided to freeze the schema since 2026 is short.", "Freeze the schema since 2026 is short.", ""),
        ("## Decisions\n\n- Totals are integers because floats drift\n", "Totals are integers.", "Floats drift"),
        ("It was decided that carts expire after a week.", "Carts expire after a week.", ""),
        ("Entscheidung: Beträge sind Ganzzahlen.", "Beträge sind Ganzzahlen.", ""),
        ("We decided to go with tokens because sessions do not scale.", "Go with tokens.", "Sessions do not scale."),
        (
            "The decision was to keep one repository because tools expect it.",
            "Keep one repository.",
            "Tools expect it.",
        ),
        ("We'll use UTC everywhere because local times broke reports.", "Use UTC everywhere.", "Local times broke"),
        ("You've decided to use Postgres, so I'll set up the driver.", "Use Postgres", ""),
        ("We decided against a cache because it hides bugs.", "Decided against a cache.", "It hides bugs."),
        (
            "We decided not to support guests because carts need an owner.",
            "Not to support guests.",
            "Carts need an owner.",
        ),
    ],
)
@pytest.mark.parametrize("by_human", [True, False])
def test_decisions(text: str, what: str, why: str, by_human: bool) -> None:
    (decision,) = draft_decisions.decisions(text, by_human=by_human)
    assert decision.what.rstrip(".") == what.rstrip(".")
    assert decision.why.startswith(why)
    assert bool(decision.why) is bool(why)


@pytest.mark.parametrize(
    "text",
    [
        "Should we use SQLite instead of Postgres because it is simple?",
        "If we decided to use SQLite, backups would be simple.",
        "We haven't decided to use SQLite.",
        "I don't know whether we agreed to keep the numbers.",
        "Maybe we should go with SQLite because it is simple.",
        "You could use a sequence instead of a counter because gaps vanish.",
        'The manual says "we decided to number by hand because of the law".',
        "> We decided to use SQLite because it is quoted.",
        "```\nWe decided to use SQLite because it is code.\n```",
        "    We decided to use SQLite because it is indented code.",
        "| Decision: use SQLite |",
        "We decided that.",
        "Let's go with option B because it is simpler.",
        "I'll go with your suggestion because it is simpler.",
        "I decided to read the tests first because they explain the code.",
        "Decision: TBD.",
        "Decision: pending, because the owner is away.",
        "They decided to close the shop because of rain.",
        "The user uses SQLite instead of Postgres because of cost.",
        "Once we have decided to move, we need a plan.",
        "I can use a set instead of a list.",
        "I'll use the Grep tool instead of find because it's faster.",
        "Let's keep going with the next file because we have time.",
        "Let's use the debugger because the log is empty.",
        "Let's use preflight to double check the versions because they change.",
        "Decision log updated.",
        "Everything we agreed on today is kept.",
        "The plan we decided on is long.",
    ],
)
@pytest.mark.parametrize("by_human", [True, False])
def test_what_is_no_decision(text: str, by_human: bool) -> None:
    assert draft_decisions.decisions(text, by_human=by_human) == []


@pytest.mark.parametrize(
    "text", ["Let's use Redis for the sessions.", "Use pnpm instead of npm.", "We'll go with the blue theme."]
)
def test_what_a_human_says_needs_no_reason(text: str) -> None:
    assert len(draft_decisions.decisions(text, by_human=True)) == 1
    assert draft_decisions.decisions(text, by_human=False) == []


def test_several_decisions_of_one_text() -> None:
    text = "We decided to drop carts. It was long. We agreed to keep wishes because people like them."
    assert draft_decisions.decisions(text, by_human=True) == [
        Decision("Drop carts.", ""),
        Decision("Keep wishes.", "People like them."),
    ]


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("Never store card numbers.", "Never store card numbers."),
        ("Please don't change the public API.", "Don't change the public API."),
        ("The importer must run on Python 3.11.", "The importer must run on Python 3.11."),
        ("Constraint: no new dependencies.", "No new dependencies."),
        ("You must not touch the old folder.", "You must not touch the old folder."),
        ("Only use the standard library.", "Only use the standard library."),
        ("No new dependencies please.", "No new dependencies please."),
        ("Must run on Linux.", "Must run on Linux."),
        ("All prices must be integers.", "All prices must be integers."),
    ],
)
def test_constraints(text: str, limit: str) -> None:
    assert draft_limits.constraints(text) == [limit]


@pytest.mark.parametrize(
    "text",
    [
        "The button never responds.",
        "It must be a race.",
        "There must be something wrong.",
        "Don't commit yet.",
        "Do not change the file for now.",
        "Must I change the public API?",
        "I never use it.",
        "You must be kidding me here.",
    ],
)
def test_what_is_no_constraint(text: str) -> None:
    assert draft_limits.constraints(text) == []


def test_open_questions_in_so_many_words() -> None:
    text = (
        "Open question: who pays?\n\nIt is still unclear whether refunds count.\n\n"
        "**Open questions (2)**\n\n- How long are photos kept?\n- Which tax applies\n\nThe rest is clear."
    )
    assert draft_statements.open_questions(text) == [
        "Who pays?",
        "It is still unclear whether refunds count.",
        "How long are photos kept?",
        "Which tax applies",
    ]
    assert draft_statements.open_questions("Open questions: none.") == []
    assert draft_statements.open_questions("Offene Frage: Wem gehört das Volume?") == ["Wem gehört das Volume?"]
    assert draft_statements.open_questions("还有一个问题没有定：要不要分成多个工作表？") == ["要不要分成多个工作表？"]
    assert draft_statements.open_questions("I need to know which locales we ship.") == [
        "I need to know which locales we ship."
    ]
    assert draft_statements.open_questions("I open the file. The question is simple. The text was unclear.") == []


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Done. Should returns be possible after 30 days?", ["Should returns be possible after 30 days?"]),
        (
            "1. Which tax applies here?\n2. Who signs the invoice?",
            ["Which tax applies here?", "Who signs the invoice?"],
        ),
        ("Why does it fail? The cursor is closed too early.", []),
        ("Would you like me to write the tests?", []),
        ("Do you want me to use tabs or spaces?", ["Do you want me to use tabs or spaces?"]),
        ("Is there anything else you need today?", []),
        ("Does that look good to you now?", []),
        ("Should I proceed with the commit now?", []),
        ("Really?", []),
        ("What do you think about it?", []),
        ("Open question: is it in Wh or in kWh?", ["Is it in Wh or in kWh?"]),
        ("Which ones do you use?", []),
        ("Which do you prefer?", []),
        ("Shall I apply it?", []),
        ("需要我现在提交吗？", []),
    ],
)
def test_questions_to_the_human(text: str, questions: list[str]) -> None:
    assert draft_statements.questions_to_human(text) == questions


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Next up: wire the command line.", "Wire the command line."),
        ("The remaining work is to add tests.", "Add tests."),
        ("We still need to add the migration.", "Add the migration."),
        ("Follow-up tasks:\n\n- Add a retry", "Add a retry"),
        ("## Next steps for you\n\n1. Rotate the key", "Rotate the key"),
        ("To do next:\n\n- [x] Add a form\n- [ ] Add a view", "Add a view"),
        ("Next steps: none for now.", None),
        ("TODO: nothing", None),
        ("You can run it now. After that, you can deploy.", None),
        ("What comes next? I do not know.", None),
        ("The driver is out. The next step is to move it to cache.", "Move it to cache."),
        ("It sits there; the next step is to move it.", "It sits there; the next step is to move it."),
        ("Next up is the manual.", "The manual."),
        ("As a next step I would compare the sums.", "Compare the sums."),
        ("Five are left. I'll add examples for those next.", "Add examples for those"),
        ("Nächster Schritt: das Volume umstellen.", "Das Volume umstellen."),
        ("下一步：加上进度条。", "加上进度条。"),
        ("Rotation is left to the platform.", None),
        ("The next release is planned.", None),
    ],
)
def test_next_steps(text: str, step: str | None) -> None:
    assert draft_statements.next_step(text) == step


def test_lessons_are_certain() -> None:
    assert draft_statements.lessons("The root cause was a closed cursor. Fine.") == [
        "The root cause was a closed cursor."
    ]
    assert draft_statements.lessons("The problem might be the cursor. Maybe it failed because of it.") == []


def test_trials() -> None:
    text = "We tried to batch the reads, but that didn't help with memory."
    assert draft_statements.trials(text) == [Trial("Batch the reads", "That didn't help with memory.")]
    assert draft_statements.trials("I tried to batch the reads and it works, but slowly.") == []


def test_what_was_announced_to_be_tried_and_did_not_help() -> None:
    tried = draft_statements.tries("The clock is real. I'll try freezegun first.")
    assert tried == ["freezegun"]
    told = "freezegun does not help: the loop waits on monotonic time."
    assert draft_statements.in_vain(told, tried) == [Trial("Try freezegun", told)]
    assert draft_statements.in_vain("The button does not work.", tried) == []
    assert draft_statements.in_vain(told, []) == []
    assert draft_statements.tries("Let me try to read the file.") == []


def test_who_writes_in_lower_case_ends_sentences_all_the_same() -> None:
    assert draft_text.sentences("stop. use v1.2 e.g. here! and now?") == ["stop.", "use v1.2 e.g. here!", "and now?"]


def test_sentences() -> None:
    assert draft_text.sentences('Use v1.2, e.g. here. "Is it so?" Yes… maybe. 第一。第二。') == [
        "Use v1.2, e.g. here.",
        '"Is it so?"',
        "Yes… maybe.",
        "第一。",
        "第二。",
    ]


@pytest.mark.parametrize("limit", [20, 40, 60, 200])
def test_shorten_cuts_at_a_sentence_or_a_word(limit: int) -> None:
    text = "This is one sentence of some length. This is another one that goes on and on."
    short = draft_text.shorten(text, limit)
    assert len(short) <= limit
    assert short == text or short.endswith("…")
    assert text.startswith(short.rstrip("…"))
    assert len(draft_text.shorten("x" * 500, limit)) <= limit


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See /home/ana/shop/src/a.py.", "See src/a.py."),
        ("In /home/ana/shop it works.", "In the project directory it works."),
        ("In /home/ana/shop-old it works.", "In [path] it works."),
        ("From /tmp/x.log, then ~/notes.txt", "From [path], then [path]"),
        (r"From C:\Users\ana\x.csv and \\nas\share\y.", "From [path] and [path]."),
        (
            "Call /api/orders or https://example.org/home/x and/or 1/2.",
            "Call /api/orders or https://example.org/home/x and/or 1/2.",
        ),
        ("file:///home/ana/shop/src/a.py", "src/a.py"),
        ("(/Users/ana/x)", "([path])"),
    ],
)
def test_paths_in_text(text: str, shown: str) -> None:
    assert Paths(("/home/ana/shop",)).shown(text) == shown


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("/home/ana/shop/src/a.py", "src/a.py"),
        ("src/a.py", "src/a.py"),
        ("./a.py", "a.py"),
        ("/home/ana/shop2/a.py", None),
        ("/etc/passwd", None),
        ("../x", None),
        ("~/x", None),
        (r"C:\shop\a.py", None),
        ("", None),
    ],
)
def test_relative_paths(path: str, relative: str | None) -> None:
    assert Paths(("/home/ana/shop",)).relative(path) == relative
    assert Paths((r"D:\work\shop",)).relative(r"D:\work\shop\src\a.py") == "src/a.py"


@pytest.mark.parametrize(
    "piece", ["*a", "[", "`", "we ", "- ", "thanks ", "must ", "(", "``` \n", ". ", "/home/", "a b must "]
)
def test_hostile_repetition_is_read_in_linear_time(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    for reader in (draft_statements.open_questions, draft_statements.lessons, draft_statements.trials):
        assert reader(text + " decided open cause tried") == []
    draft_decisions.decisions(text + " decided", by_human=True)
    draft_statements.questions_to_human(text)
    draft_statements.next_step(text)
    Paths(("/home/ana/shop",)).shown(text)
