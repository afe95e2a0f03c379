"""Decisions by an answer: what a reply settles, and the ordinary talk that settles nothing."""

from __future__ import annotations

import pytest

from segue.conversions import draft_answers, draft_limits

CHOICE = "There are two ways. Should I use a mutex or a channel here?"
OFFER = "I could either patch the parser or rewrite it. What do you think?"
PROPOSAL = "I'd use a queue instead of polling. Shall I go ahead?"
REPORT = "Done. The cache was stale, and all tests pass."


@pytest.mark.parametrize(
    ("said", "reply", "decisions"),
    [
        (CHOICE, "a channel, because the lock is held across await", ["A channel."]),
        (CHOICE, "mutex. also rename the struct", ["Mutex (asked: Should I use a mutex or a channel here?)"]),
        (CHOICE, "I'd go with a channel.", ["I'd go with a channel."]),
        (OFFER, "Patch the parser, a rewrite takes too long.", ["Patch the parser, a rewrite takes too long."]),
        (PROPOSAL, "ok do that", ["Use a queue instead of polling."]),
        (PROPOSAL, "Sounds good.", ["Use a queue instead of polling."]),
        (REPORT, "Then we drop the cache for now.", ["Drop the cache for now."]),
        (REPORT, "We'll support only UTF-8.", ["Support only UTF-8."]),
        (REPORT, "use the job queue instead", ["Use the job queue instead"]),
        (REPORT, "Wir nehmen die alte Tabelle.", ["Wir nehmen die alte Tabelle."]),
        ("要用 pandas 还是 openpyxl？", "用 openpyxl，不用 pandas。", ["用 openpyxl，不用 pandas。"]),
        ("Soll es als RRULE oder einzeln gespeichert werden?", "Als RRULE speichern.", None),
    ],
)
def test_what_an_answer_settles(said: str, reply: str, decisions: list[str] | None) -> None:
    found = [decision.what for decision in draft_answers.answers(reply, said)]
    assert found == decisions if decisions is not None else "RRULE" in found[0]


def test_the_reason_of_an_answer_is_kept() -> None:
    (decision,) = draft_answers.answers("a channel, because the lock is held across await", CHOICE)
    assert decision.why == "The lock is held across await"


@pytest.mark.parametrize(
    "reply",
    [
        "the mutex version hangs in CI",
        "hmm the channel never closes",
        "I don't know, what's the difference between a mutex and a channel?",
        "why do we use a mutex instead of a channel here?",
        "both are fine",
        "use whatever you think is best",
        "the second, but keep it simple",
        "we use postgres 15 in prod and 14 in staging",
        "we still use jest for the old package",
        "we keep getting the same error",
        "we go live on monday",
        "we'll do the rest tomorrow",
        "then let's look at the logs first",
        "then we get a 500",
        "he uses vim instead of emacs",
        "use the debugger instead of print statements to find it",
        "no, the parser is fine. the bug is in the lexer",
        "ok, but why not a cron job?",
        "continue",
        "",
    ],
)
@pytest.mark.parametrize("said", [CHOICE, OFFER, PROPOSAL, REPORT, ""])
def test_what_settles_nothing(reply: str, said: str) -> None:
    assert draft_answers.answers(reply, said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Is the bug in the mutex or in the channel?",
        "Should I continue with the mutex or stop here?",
        "The mutex or the channel blocks.",
    ],
)
def test_what_was_no_choice(said: str) -> None:
    assert draft_answers.answers("in the mutex", said) == []


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("I'd use a queue instead of polling. Is the database yours?", "yes"),
        ("I'll use ripgrep instead of grep to find it.", "ok"),
        (PROPOSAL, "right now it crashes at the start"),
        (PROPOSAL, "ok, however that needs a server"),
    ],
)
def test_a_yes_to_something_else_settles_nothing(said: str, reply: str) -> None:
    assert draft_answers.answers(reply, said) == []


def test_the_answer_of_a_form() -> None:
    result = 'User has answered your questions: "Which engine?"="FTS5 (Recommended)", "Ranked?"="No". Go on.'
    assert [item.what for item in draft_answers.of_form("Which engine?", result)] == ["Which engine? FTS5"]
    assert [item.what for item in draft_answers.of_form("Ranked?", result)] == ["Ranked? No"]
    assert draft_answers.of_form("Who pays?", result) == []
    assert draft_answers.of_form("Should I commit now?", '"Should I commit now?"="Yes"') == []


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("and please don't reformat lines you don't change.", "Don't reformat lines you don't change."),
        (
            "openapi.json is generated, so don't edit it by hand.",
            "openapi.json is generated, so don't edit it by hand.",
        ),
        ("Hard rule: one lock at most.", "One lock at most."),
        ("No self-hosted runners.", "No self-hosted runners."),
        ("no more than 3 retries", "No more than 3 retries"),
        ("ASCII only.", "ASCII only."),
        ("Keep the anchors as they are.", "Keep the anchors as they are."),
        ("Every migration has to be reversible.", "Every migration has to be reversible."),
        ("And p99 latency must not rise.", "p99 latency must not rise."),
        ("Die Schriftarten müssen drin bleiben.", "Die Schriftarten müssen drin bleiben."),
        ("Bestehende Termine dürfen sich nicht ändern.", "Bestehende Termine dürfen sich nicht ändern."),
        ("内存不能超过 256 MB。", "内存不能超过 256 MB。"),
        ("stop. never touch the production database", "Never touch the production database"),
    ],
)
def test_limits(text: str, limit: str) -> None:
    assert draft_limits.constraints(text) == [limit]


@pytest.mark.parametrize(
    "text",
    [
        "no luck, still broken",
        "no such file or directory",
        "No error this time, but the page is blank.",
        "don't worry about the warnings",
        "don't forget to update the docs",
        "the tests always fail on the first run",
        "the callback is never called",
        "it has to be the proxy",
        "you have to run it twice to see the bug",
        "users can only see their own orders",
        "the header only",
        "the docs say you must never call it twice",
        "don't do that",
        "keep going",
        "我不能登录",
        "我必须重启才能生效",
        "Ich darf die Datei nicht öffnen.",
        "Das darf doch nicht wahr sein.",
        "Kein Problem, danke dir!",
    ],
)
def test_what_is_no_limit(text: str) -> None:
    assert draft_limits.constraints(text) == []


@pytest.mark.parametrize(
    "piece", ["a or b? ", "yes ", "then ", "no ", "must ", "we keep ", "，", "不要", "x;", "3", ". "]
)
def test_hostile_repetition_is_read_in_linear_time(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    draft_limits.constraints(text + " must never")
    draft_answers.answers(text, f"{CHOICE} {text}")
    draft_answers.of_form(text, f'"{text}"="{text}"')
