"""UserPromptSubmit: what a prompt calls for, and the floor below which nothing is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import segue
from hosts.hook_samples import NOW, SESSION, Host
from segue.base.own import HOOK_BEGIN, HOOK_END, without_packs
from segue.hosts import briefing, embedded, recall, relevance, term_index
from segue.memories.making import item

LABELS = json.loads(Path(__file__).with_name("recall_labels.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Host, dict[str, str]]:
    """A store with the labelled memories, and their ids by label."""
    folder = tmp_path_factory.mktemp("labelled") / LABELS["project"]
    folder.mkdir()
    host = Host(folder, folder.parent / "segue.db")
    with segue.open(host.store, directory=folder, clock=lambda: NOW) as opened:
        ids = {
            label: opened.memories.remember(content, kind=kind).memory.id
            for label, (kind, content) in LABELS["memories"].items()
        }
    return host, ids


def test_prompts_that_call_for_a_memory(labelled: tuple[Host, dict[str, str]]) -> None:
    host, ids = labelled
    missed = [
        prompt
        for number, (prompt, label) in enumerate(LABELS["something"])
        if ids[label] not in host.told("user-prompt-submit", prompt=prompt, session_id=f"something-{number}")
    ]
    assert len(missed) * 10 <= len(LABELS["something"]), missed


def test_prompts_that_call_for_none(labelled: tuple[Host, dict[str, str]]) -> None:
    host, _ = labelled
    told = [
        prompt
        for number, prompt in enumerate(LABELS["nothing"])
        if host.told("user-prompt-submit", prompt=prompt, session_id=f"nothing-{number}")
    ]
    assert told == []


def test_once_for_a_conversation(host: Host, store: segue.Segue) -> None:
    memory = store.memories.remember("We use PostgreSQL as the database for orders.", kind="decision").memory
    told = host.told("user-prompt-submit")
    assert told.startswith(HOOK_BEGIN)
    assert told.endswith(HOOK_END + "\n")
    assert f"[{memory.id}] We use PostgreSQL" in told
    assert without_packs(told) == ""
    assert host.told("user-prompt-submit") == ""
    assert memory.id in host.told("user-prompt-submit", session_id="another")
    shown = store.sessions.show(SESSION)
    assert list(shown.state.known) == [memory.id]
    assert shown.state.trajectory[0].tokens == ("database", "holds", "orders", "the", "which")


def test_what_the_session_start_told_is_not_new(host: Host, store: segue.Segue) -> None:
    store.memories.remember("We use PostgreSQL as the database for orders.", kind="decision")
    assert host.told("session-start")
    assert host.told("user-prompt-submit") == ""


def test_what_the_library_told_is_not_new(host: Host, store: segue.Segue) -> None:
    store.memories.remember("We use PostgreSQL as the database for orders.", kind="decision")
    store.context.assemble("orders database", model="claude", session=SESSION)
    assert host.told("user-prompt-submit") == ""


def test_an_edited_memory_comes_again_and_a_replaced_one_falls(host: Host, store: segue.Segue) -> None:
    memory = store.memories.remember("We use PostgreSQL 15 as the database for orders.", kind="decision").memory
    assert host.told("user-prompt-submit")
    newer = store.memories.edit(memory.id, content="We use PostgreSQL 18 as the database for orders.")
    assert "PostgreSQL 18" in host.told("user-prompt-submit")
    last = store.memories.remember("The database for orders is CockroachDB.", kind="decision").memory
    store.memories.supersede(newer.id, by=last.id)
    told = host.told("user-prompt-submit")
    assert f"[{last.id}]" in told
    assert f"{newer.id} does not hold any more; {last.id} holds instead." in told


def test_rules_come_along_and_alone_they_do_not(host: Host, store: segue.Segue) -> None:
    rule = store.memories.remember("Amounts of money are integers in cents.", kind="constraint").memory
    assert host.told("user-prompt-submit") == ""
    store.memories.remember("We use PostgreSQL as the database for orders.", kind="decision")
    assert rule.id in host.told("user-prompt-submit")


def test_only_what_is_active_valid_and_in_scope(host: Host, store: segue.Segue) -> None:
    store.memories.propose("The orders database is MySQL.")
    store.memories.remember("The orders database is MongoDB.", project="other")
    store.memories.remember("The orders database is Oracle.", valid_to="2026-01-01T00:00:00Z")
    gone = store.memories.remember("The orders database is SQLite.").memory
    store.memories.forget(gone.id)
    assert host.told("user-prompt-submit") == ""


@pytest.mark.parametrize("members", [{"prompt": None}, {"prompt": 3}, {"prompt": " "}, {"session_id": None}])
def test_without_prompt_or_session_nothing(host: Host, store: segue.Segue, members: dict[str, object]) -> None:
    store.memories.remember("We use PostgreSQL as the database for orders.", kind="decision")
    assert host.calls("user-prompt-submit", **members) == (None, "")


ASKED = "Which database holds the orders?"


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        (f"/review {ASKED}", False),
        (f"/plugin:db.check-2 {ASKED}", False),
        (f"/srv/shop/orders.py fails. {ASKED}", True),
        (f"<task-notification>{ASKED}</task-notification>", False),
        (f"<system-reminder>{ASKED}</system-reminder>", False),
        (f"<ide_selection>x = 1</ide_selection>\n{ASKED}", True),
        (f"{HOOK_BEGIN}\n\n{ASKED}\n\n{HOOK_END}", False),
    ],
)
def test_only_what_a_person_wrote_calls_for_anything(
    host: Host, store: segue.Segue, prompt: str, is_told: bool
) -> None:
    store.memories.remember("We use PostgreSQL as the database for orders.", kind="decision")
    assert bool(host.told("user-prompt-submit", prompt=prompt)) == is_told


def test_it_stays_short(host: Host, store: segue.Segue) -> None:
    store.memories.remember_all(item(f"Filler {number}") for number in range(200))
    for number in range(12):
        store.memories.remember(f"The orders database, note {number}: {'it keeps rows of orders. ' * 20}")
    told = host.told("user-prompt-submit")
    assert briefing.tokens(told) <= recall.MOST_TOKENS + 60
    assert 0 < told.count("[mem_") <= recall.MOST_FOUND


def test_terms_are_found_as_they_stand_in_the_texts(host: Host, store: segue.Segue) -> None:
    texts = ["alpha beta gamma", "beta beta delta", "gamma epsilon", "数据库 alpha", "e::f_g zeta"]
    ids = [store.memories.remember(text).memory.id for text in texts]
    with embedded.opened(host.store) as opened:
        matches = term_index.find(opened, ["beta", "gamma", "unknown", "e::f_g"])
    held = {each.memory_id: each.terms for each in matches.found}
    assert held == {
        ids[0]: {"beta", "gamma"},
        ids[1]: {"beta"},
        ids[2]: {"gamma"},
        ids[4]: {"e::f_g"},
    }
    assert matches.found[0].memory_id == ids[0]
    assert matches.rarity["unknown"] == matches.rarity["e::f_g"] == 1.0
    assert matches.rarity["beta"] < 1.0


def test_a_frequent_term_only_tells_apart(host: Host, store: segue.Segue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_index, "FREQUENT", 2)
    ids = [store.memories.remember(f"common {word}").memory.id for word in ("one", "two", "three", "rare")]
    with embedded.opened(host.store) as opened:
        assert [each.memory_id for each in term_index.find(opened, ["common", "rare"]).found] == [ids[3]]
        assert term_index.find(opened, ["common"]).found == ()


def test_a_pasted_page_is_read_in_part() -> None:
    asked = relevance.asked("The Keycloak realm. " + " ".join(f"word{number}" for number in range(9_000)))
    assert "keycloak" in asked.names
    assert len(asked.tokens) == relevance.MOST_TERMS
