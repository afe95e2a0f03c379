"""The tools for memories: packs, queries, the way on, two ways to write; bounded whatever the store holds."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema_rs
import pytest
from agent import Place, Wire, call, connected, opened, place

from segue.base.tokens import estimate
from segue.context.legend import ENVELOPE_KEYS
from segue.context.schema import schema_text
from segue.memories.making import item

if TYPE_CHECKING:
    from collections.abc import Iterator
pytest_plugins = ["mcp_fixtures"]

LIMIT = 48_000
SECRET = "AK" + "IA" + "Q7Z2" * 4
MARK = "zq7x"  # stands in values that must not come back
UNKNOWN = "mem_01JZZZZZZZZZZZZZZZZZZZZZZZ"
TEXTS = (
    "The importer reads manifests as a stream.",
    "The importer writes five hundred records at once.",
    "Rotterdam sends each manifest twice.",
    "Seal numbers are unique within a line.",
)


@pytest.fixture
def ids(where: Place) -> list[str]:
    """A few memories, and one that waits."""
    with opened(where) as store:
        found = [store.memories.remember(each, entities=["Harbor"]).memory.id for each in TEXTS]
        store.memories.propose(f"{MARK} waits.", entities=[MARK])
    return found


def data(answer: Any) -> dict[str, Any]:
    """The structure of an answer, which is its text too."""
    assert not answer.refused, answer.text
    assert answer.data is not None
    assert json.loads(answer.text) == answer.data
    found: dict[str, Any] = answer.data
    return found


def refs(items: list[dict[str, Any]]) -> list[str]:
    return [each["ref"] for each in items]


# -- get_context ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("context-tools")
def test_a_conversation_through_the_sdk_is_sent_nothing_twice(where: Place, ids: list[str]) -> None:
    async def session() -> None:
        async with connected(where) as client:
            asked: dict[str, Any] = {"session_id": "chat-1", "items": "new", "format": "smp", "model": "claude"}
            first = data(await call(client, "get_context", task="the importer", **asked))
            assert set(refs(first["items"])) == set(ids)
            again = data(await call(client, "get_context", task="the importer", **asked))
            assert (again["items"], again["working_memory"]["new"]) == ([], [])
            told = await call(client, "remember_this", content="The importer of Harbor was released.")
            assert told.data is not None
            third = data(await call(client, "get_context", task="the importer", **asked))
            assert refs(third["items"]) == [told.data["stored_id"]]
            lost = data(await call(client, "get_context", task="the importer", since="1", **asked))
            assert refs(lost["items"]) == [told.data["stored_id"]]

    anyio.run(session)


@pytest.mark.requirement("context-formats")
def test_the_three_forms(wire: Wire, ids: list[str]) -> None:
    markdown = wire.call("get_context", task="the importer")
    assert (markdown.refused, markdown.data) == (False, {"markdown": markdown.text, "cursor": None})
    assert markdown.text.startswith("# Context — memories for this task\n")
    assert f"- [{ids[0]}] {TEXTS[0]}" in markdown.text.splitlines()
    assert MARK not in markdown.text
    envelope = data(wire.call("get_context", task="the importer", format="smp", session_id="s", pin=True, graph=True))
    assert set(envelope) == set(ENVELOPE_KEYS)
    jsonschema_rs.Draft202012Validator(json.loads(schema_text()), validate_formats=True).validate(envelope)
    assert None not in (envelope["pin"], envelope["receipt"], envelope["graph"], envelope["working_memory"])
    layered = data(wire.call("get_context", task="the importer", format="json", session_id="s"))
    assert layered["version"] == 2
    assert [each["kind"] for each in layered["warnings"]] == ["working_memory"]
    assert {each["memory_id"] for each in layered["citations"]} == set(ids)


def test_every_argument_of_get_context_is_heard(wire: Wire, where: Place, ids: list[str]) -> None:
    def context(**arguments: Any) -> dict[str, Any]:
        return data(wire.call("get_context", format="smp", **arguments))

    assert context(model="gpt-4o", token_budget=4_000)["budget"]["tokens"] == 4_000
    assert context(model="gpt-4o", token_budget=4_000.0)["budget"]["tokens"] == 4_000
    assert context(model="claude", token_budget=10**9)["budget"]["tokens"] == 12_000
    assert context(token_budget=-5)["budget"]["tokens"] == 300
    assert context(surface="cursor")["model"] == "cursor"
    assert context(as_of="2020-01-01T00:00:00Z")["items"] == []
    assert context()["coverage"]["pending_excluded"] == 1
    layered = data(wire.call("get_context", format="json", intent="plan", project=".", task="x"))
    assert (layered["intent"], layered["filters"]["project"]) == ("plan", "project")
    elsewhere = where.root / "elsewhere"
    elsewhere.mkdir()
    layered = data(wire.call("get_context", format="json", project=".", directory=str(elsewhere)))
    assert layered["filters"]["project"] == "elsewhere"


@pytest.mark.parametrize("shape", ["smp", "json", "markdown"])
def test_pages_of_a_pack(wire: Wire, where: Place, shape: str) -> None:
    with opened(where) as store:
        items = (item(f"Manifest {number} was read by the importer.", ref=f"m#{number}") for number in range(60))
        store.memories.remember_all(items)
    asked = {"task": "the importer", "model": "claude", "token_budget": 300, "format": shape}
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(20):
        answer = wire.call("get_context", **asked, **({"cursor": cursor} if cursor else {}))
        assert not answer.refused, answer.text
        page = re.findall(r"mem_[0-9A-Z]{26}", answer.text.partition("## ")[2] if shape == "markdown" else answer.text)
        found = list(dict.fromkeys(page))
        assert not set(found) & set(seen)
        seen += found
        if shape == "markdown":
            told = re.search(r"More: call get_context again with cursor (\S+)", answer.text)
            cursor = told and told[1]
        else:
            assert answer.data is not None
            cursor = answer.data["cursor"]
        if cursor is None:
            break
    assert len(seen) == 60


# -- query_memory and expand ------------------------------------------------------------------------------------------


def test_a_query_its_pages_and_the_way_on(wire: Wire, ids: list[str]) -> None:
    first = data(wire.call("query_memory", find="the importer", k=2, expand="more", min_trust=0.5))
    assert (first["mode"], first["count"], first["coverage"]["has_more"]) == ("find", 2, True)
    cursor = first["cursor"]
    second = data(wire.call("query_memory", cursor=cursor))
    found = refs(first["items"] + second["items"])
    assert len(set(found)) == len(found) == first["narrowed_total"] > 2
    assert set(found) <= set(ids)
    (further,) = first["follow_ups"]
    again = data(wire.call(further["tool"], **further["arguments"]))
    assert again["items"] == second["items"]
    document = data(wire.call("expand", ref=ids[0]))
    assert (document["document"]["content"], document["document"]["treat_as_data"]) == (TEXTS[0], True)
    around = data(wire.call("expand", ref="harbor", direction="neighbors", limit=3))
    assert (around["seed_entities"], len(around["items"])) == (["Harbor"], 3)
    asked = data(wire.call("query_memory", ask="the importer", model="claude", budget_tokens=300.0, k=8.0, layers=[]))
    assert asked["mode"] == "ask"
    assert asked["items"]


def test_what_is_not_there_is_said_and_is_no_error(wire: Wire, ids: list[str]) -> None:
    with_ref = [wire.call("expand", ref=ref, direction="neighbors") for ref in (UNKNOWN, MARK, "nobody")]
    assert [data(each)["found"] for each in with_ref] == [False] * 3
    assert data(wire.call("expand", ref=UNKNOWN))["document"] is None
    assert data(wire.call("expand", ref="mqlc:x", direction="more"))["reason"] == "unrecognized_cursor"
    assert data(wire.call("query_memory", find="the importer", as_of="2020-01-01T00:00:00Z"))["items"] == []


# -- writing ----------------------------------------------------------------------------------------------------------

RECEIPT = {"tool", "stored_id", "assigned_layer", "verdict", "dedup_basis", "occurrences", "supersede_handle"}


@pytest.mark.requirement("context-tools")
def test_remembering_makes_an_active_memory_of_an_agent(wire: Wire, where: Place) -> None:
    answer = wire.call(
        "remember_this",
        content="The importer is released on Tuesdays.",
        layer="decision",
        entities=["Harbor"],
        tags=["Release"],
        project=".",
        source_url="https://example.org/plan",
        occurred_at="2026-05-04T12:00:00+02:00",
    )
    assert not answer.refused, answer.text
    receipt = answer.data
    assert receipt is not None
    assert set(receipt) >= RECEIPT
    assert (receipt["tool"], receipt["assigned_layer"], receipt["verdict"]) == ("remember_this", "decision", "new")
    assert (receipt["dedup_basis"], receipt["occurrences"]) == (None, 1)
    assert receipt["supersede_handle"] == receipt["stored_id"]
    assert receipt["stored_id"] in answer.text
    with opened(where) as store:
        memory = store.memories.get(receipt["stored_id"])
    assert (memory.status, memory.provenance.author_class) == ("active", "agent")
    assert (memory.kind, memory.entities, memory.tags, memory.project) == (
        "decision",
        ("Harbor",),
        ("release",),
        "project",
    )
    assert memory.provenance.url == "https://example.org/plan"
    assert memory.to_json()["occurred_at"] == "2026-05-04T10:00:00Z"
    again = wire.call(
        "remember_this", content="the  importer is RELEASED on tuesdays.", layer="decision", project="."
    ).data
    assert again is not None
    assert (again["verdict"], again["occurrences"], again["dedup_basis"]) == ("merged", 2, "normalised_text")
    assert again["stored_id"] == receipt["stored_id"]
    assert receipt["stored_id"] in wire.call("get_context", task="when is the importer released?").text


@pytest.mark.requirement("context-tools")
def test_what_is_proposed_waits(wire: Wire, where: Place) -> None:
    answer = wire.call("propose_memory", content=f"The user likes {MARK}.", kind="preference")
    assert answer.data is not None
    assert set(answer.data) >= RECEIPT
    assert (answer.data["tool"], answer.data["assigned_layer"]) == ("propose_memory", "preference")
    assert "approves" in answer.text
    for tool, arguments in (
        ("get_context", {"task": f"what about {MARK}?", "format": "json"}),
        ("query_memory", {"find": "likes", "valid_only": False}),
    ):
        assert data(wire.call(tool, **arguments)).get("items", []) == []
    assert data(wire.call("expand", ref=answer.data["stored_id"]))["found"] is False
    # What an agent says again approves nothing.
    again = wire.call("remember_this", content=f"The user likes {MARK}.")
    assert again.data is not None
    assert (again.data["stored_id"], again.data["status"]) == (answer.data["stored_id"], "pending")
    assert "approves" in again.text
    with opened(where) as store:
        assert store.memories.get(answer.data["stored_id"]).status == "pending"
        assert store.memories.count(statuses=["active"]) == 0


# -- refusals ---------------------------------------------------------------------------------------------------------

WRONG_NAME = "unknown argument 'wrong'; {} takes: "


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        *((tool, {"wrong": MARK}, WRONG_NAME.format(tool)) for tool in ("get_context", "query_memory", "expand")),
        *((tool, {}, "missing 'content' argument") for tool in ("remember_this", "propose_memory")),
        ("get_context", {SECRET: 1}, "unknown argument '[redacted:aws-key]'"),
        ("get_context", {"task": MARK * 200}, "argument 'task' is not valid"),
        ("get_context", {"task": None}, "argument 'task' is not valid"),
        ("get_context", {"token_budget": MARK}, "argument 'token_budget' is not valid"),
        ("get_context", {"token_budget": 1.5}, "argument 'token_budget' is not valid"),
        ("get_context", {"token_budget": True}, "argument 'token_budget' is not valid"),
        ("get_context", {"intent": MARK}, "argument 'intent' is not valid"),
        ("get_context", {"format": MARK}, "argument 'format' is not valid"),
        ("get_context", {"session_id": ""}, "argument 'session_id' is not valid"),
        ("get_context", {"session_id": "\0"}, "name a session with 1 to 80 characters"),
        ("get_context", {"items": "new"}, "items=new and since need a session"),
        ("get_context", {"since": "1"}, "items=new and since need a session"),
        ("get_context", {"session_id": "s", "since": MARK}, "since is the cursor of an earlier answer"),
        ("get_context", {"as_of": MARK}, "as_of: a time with its offset"),
        ("get_context", {"as_of": "2026-05-04"}, "as_of: a time with its offset"),
        ("get_context", {"cursor": MARK}, "this cursor does not belong to this list"),
        ("get_context", {"directory": MARK}, "'directory' must be the absolute path"),
        ("query_memory", {}, "exactly one of find and ask"),
        ("query_memory", {"find": MARK, "ask": MARK}, "exactly one of find and ask"),
        ("query_memory", {"find": " "}, "find: some text"),
        ("query_memory", {"find": MARK * 200}, "argument 'find' is not valid"),
        ("query_memory", {"find": MARK, "layers": [MARK]}, "argument 'layers"),
        ("query_memory", {"find": MARK, "entities": [MARK * 50]}, "argument 'entities"),
        ("query_memory", {"find": MARK, "entities": ["''"]}, "entities: "),
        ("query_memory", {"find": MARK, "as_of": MARK}, "as_of: a time with its offset"),
        ("query_memory", {"find": MARK, "min_relevance": 2.5}, "min_relevance: a number from 0 to 1"),
        ("query_memory", {"find": MARK, "min_trust": -1}, "min_trust: a number from 0 to 1"),
        ("query_memory", {"find": MARK, "min_trust": True}, "argument 'min_trust' is not valid"),
        ("query_memory", {"find": MARK, "budget_tokens": 299}, "budget_tokens: a whole number from 300 to 6000"),
        ("query_memory", {"find": MARK, "k": 0}, "k: a whole number from 1 to 50"),
        ("query_memory", {"find": MARK, "k": 51}, "k: a whole number from 1 to 50"),
        ("query_memory", {"find": MARK, "k": 1.5}, "argument 'k' is not valid"),
        ("query_memory", {"find": MARK, "expand": MARK}, "argument 'expand' is not valid"),
        ("query_memory", {"find": MARK, "cursor": "mqlc:x"}, "cursor: it holds its query already; give nothing else"),
        ("query_memory", {"cursor": f"mqlc:{MARK}"}, "none of this store's, or older than an hour; ask anew"),
        ("query_memory", {"cursor": MARK * 100}, "argument 'cursor' is not valid"),
        ("expand", {}, "missing 'ref' argument"),
        ("expand", {"ref": ""}, "argument 'ref' is not valid"),
        ("expand", {"ref": MARK * 200}, "argument 'ref' is not valid"),
        ("expand", {"ref": UNKNOWN, "direction": MARK}, "argument 'direction' is not valid"),
        ("expand", {"ref": UNKNOWN, "limit": 0}, "limit: a whole number from 1 to 50"),
        ("expand", {"ref": UNKNOWN, "limit": 51}, "limit: a whole number from 1 to 50"),
        ("expand", {"ref": UNKNOWN, "limit": "8"}, "argument 'limit' is not valid"),
        ("remember_this", {"content": ""}, "argument 'content' is not valid"),
        ("remember_this", {"content": " \n"}, "there is nothing to remember"),
        ("remember_this", {"content": MARK * 3_000}, "argument 'content' is not valid"),
        ("remember_this", {"content": f"Use {SECRET}."}, "aws-key"),
        ("propose_memory", {"content": f"Use {SECRET}."}, "aws-key"),
        ("remember_this", {"content": "x", "layer": MARK}, "argument 'layer' is not valid"),
        ("remember_this", {"content": "x", "kind": MARK}, "argument 'kind' is not valid"),
        ("remember_this", {"content": "x", "occurred_at": "soon"}, "occurred_at: not an RFC 3339 time"),
        ("remember_this", {"content": "x", "source_url": MARK}, "url: give an address"),
        ("remember_this", {"content": "x", "tags": [MARK] * 21}, "argument 'tags' is not valid"),
        ("remember_this", {"content": "x", "entities": [MARK * 50]}, "argument 'entities"),
        ("remember_this", {"content": "x", "author_class": "user"}, "unknown argument 'author_class'"),
        ("propose_memory", {"content": "x", "confidence": 1}, "unknown argument 'confidence'"),
    ],
)
def test_refusals_say_what_to_do_and_echo_nothing(
    server: Wire, tool: str, arguments: dict[str, Any], text: str
) -> None:
    said = server.refusal(tool, **arguments)
    assert text in said
    assert MARK not in said
    assert SECRET[:8] not in said
    assert "\x1b" not in said
    assert len(said) < 2_000
    assert data(server.call("query_memory", ask="x", valid_only=False))["items"] == []  # and nothing was remembered


def test_a_pack_is_not_remembered(wire: Wire, ids: list[str]) -> None:
    for shape in ("markdown", "smp", "json"):
        pack = wire.call("get_context", task="the importer", format=shape).text[:8_000]
        assert "context pack" in wire.refusal("remember_this", content=pack)


def test_a_session_that_cannot_be_read_takes_nothing_from_the_pack(wire: Wire, where: Place, ids: list[str]) -> None:
    import sqlalchemy as sa

    wire.call("get_context", task="the importer", session_id="s")
    with opened(where) as store, store._database.write() as connection:
        connection.execute(sa.text("UPDATE context_sessions SET known = 'not JSON'"))
    envelope = data(wire.call("get_context", task="the importer", session_id="s", format="smp"))
    assert set(refs(envelope["items"])) == set(ids)
    assert envelope["working_memory"] is None


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A server over two thousand short memories and three hundred long ones, which hosts must be spared."""
    where = place(tmp_path_factory.mktemp("crowded"))
    url = "https://example.org/" + "x" * 1_900
    with opened(where) as store:
        short = (item(f"importer {number}", ref=f"s#{number}", entities=["Harbor"]) for number in range(2_000))
        long = (
            item(
                f"The importer {number}: " + ('"\n' if number % 2 else "港口" if number % 20 == 0 else "it ") * 2_600,
                ref=f"l#{number}",
                url=url if number % 3 == 0 else "",
                entities=["Harbor", *(f"Name {place} {'n' * 140}" for place in range(15))],
                summary="The importer. " * 60,
                layer="decision" if number % 2 else "semantic",
            )
            for number in range(300)
        )
        store.memories.remember_all([*short, *long])
    wire = Wire(where)
    wire.start()
    yield wire
    wire.kill()


def whole(answer: Any) -> Any:
    """An answer that was neither refused nor cut."""
    assert not answer.refused, answer.text
    assert len(answer.text) < LIMIT
    assert estimate(answer.text, 4.0) < 12_000
    assert "cut here" not in answer.text
    if answer.text.startswith("{"):
        assert json.loads(answer.text) == answer.data
    return answer


@pytest.mark.requirement("context-tools")
@pytest.mark.parametrize("model", ["claude", ""])
@pytest.mark.parametrize("shape", ["smp", "json", "markdown"])
def test_a_pack_is_an_answer_and_all_that_is_announced_arrives(crowded: Wire, model: str, shape: str) -> None:
    session = f"{model} {shape}"
    asked = {"model": model, "format": shape, "token_budget": 12_000, "session_id": session, "items": "new"}
    arrived: set[str] = set()
    for turn, task in enumerate(["importer", "The importer: 港口", "Harbor decisions"], 1):
        answer = whole(crowded.call("get_context", task=task, **asked))
        if shape == "markdown":
            arrived |= set(re.findall(r"^- \[(mem_\w{26})\]", answer.text, re.MULTILINE))
            continue
        delivered = delivered_by(answer.data)
        delta = answer.data["working_memory" if shape == "smp" else "warnings"]
        delta = delta if shape == "smp" else delta[-1]["working_memory"]
        assert delta["cursor"] == str(turn)
        assert [each["ref"] for each in delta["new"]] == delivered
        arrived |= set(delivered)
    assert len(arrived) > (25 if model else 2)
    alone = whole(
        crowded.call("get_context", task="importer", model=model, format=shape, token_budget=12_000, graph=True)
    )
    assert shape == "markdown" or len(delivered_by(alone.data)) > (1 if model else 0)


def delivered_by(pack: dict[str, Any]) -> list[str]:
    """The ids of the items of a pack, in either form."""
    if "items" in pack:
        return refs(pack["items"])
    return [each["memory_id"] for layer in pack["layers"] for each in layer.get("items", [])]


@pytest.mark.requirement("context-tools")
def test_a_conversation_that_knows_much_is_told_within_the_bound(crowded: Wire) -> None:
    """What is told again after a lost answer, and what is to be forgotten, count too."""
    asked = {"model": "claude", "format": "smp", "session_id": "long", "items": "new"}
    for number in range(6):
        answer = whole(crowded.call("get_context", task=f"importer {number * 150}", token_budget=1_500, **asked))
    assert answer.data["working_memory"]["cursor"] == "6"
    lost = whole(crowded.call("get_context", task="The importer", token_budget=12_000, since="5", **asked))
    assert lost.data["working_memory"]["cursor"] == "7"
    assert len(lost.data["working_memory"]["new"]) > 30
    asked["items"] = "all"
    later = [whole(crowded.call("get_context", task="nothing", token_budget=300, **asked)) for _ in range(5)]
    assert sum(len(each.data["working_memory"]["evicted"]) for each in later) > 100


@pytest.mark.requirement("context-tools")
def test_a_conversation_that_knows_too_much_is_told_nothing_of_what_cannot_arrive(crowded: Wire) -> None:
    asked = {"model": "claude", "format": "smp", "session_id": "longest", "items": "new"}
    for number in range(20):
        whole(crowded.call("get_context", task=f"importer {number * 75}", token_budget=4_000, **asked))
    too_much = crowded.call("get_context", task="The importer", token_budget=12_000, since="0", **asked)
    assert too_much.refused
    assert "No session was told" in too_much.text
    later = whole(crowded.call("get_context", task="The importer", token_budget=300, **asked))
    assert later.data["working_memory"]["cursor"] == "21"


@pytest.mark.requirement("context-tools")
@pytest.mark.parametrize("mode", ["find", "ask"])
def test_the_pages_of_a_query_are_answers(crowded: Wire, mode: str) -> None:
    asked: dict[str, Any] = {mode: "The importer: 港口", "k": 50, "budget_tokens": 6_000, "min_trust": 0.1}
    if mode == "find":
        asked["layers"] = ["decision"]
    answer = whole(crowded.call("query_memory", **asked)).data
    total = answer["narrowed_total"]
    found = refs(answer["items"])
    pages = 1
    while answer["cursor"] and pages < 12:
        tool, arguments = (
            ("query_memory", {"cursor": answer["cursor"]})
            if pages % 2
            else ("expand", {"ref": answer["cursor"], "direction": "more"})
        )
        answer = whole(crowded.call(tool, **arguments)).data
        assert answer["items"]
        assert answer["offset"] == len(found)
        found += refs(answer["items"])
        pages += 1
    assert len(set(found)) == len(found)
    if mode == "ask":
        assert len(found) == total
    else:
        assert (pages, total) == (12, 150)
        assert len(found) >= 12


@pytest.mark.requirement("context-tools")
def test_what_is_expanded_is_an_answer(crowded: Wire) -> None:
    decision = data(crowded.call("query_memory", find="importer", layers=["decision"], k=1))["items"][0]["ref"]
    fact = data(crowded.call("query_memory", find="港口", k=1))["items"][0]["ref"]
    for ref in (decision, fact):
        document = whole(crowded.call("expand", ref=ref)).data
        assert len(document["document"]["content"]) > 5_000
        around = whole(crowded.call("expand", ref=ref, direction="neighbors", limit=50)).data
        found = refs(around["items"])
        while around["cursor"]:
            around = whole(crowded.call("expand", ref=around["cursor"], direction="more")).data
            assert around["items"]
            found += refs(around["items"])
        assert len(set(found)) == len(found) == 50


def test_a_memory_made_of_characters_that_grow_is_shortened_or_refused(wire: Wire, where: Place) -> None:
    with opened(where) as store:
        one = store.memories.remember("The importer: " + "\x01" * 7_980).memory.id
    for arguments in ({"find": "importer"}, {"ask": "importer", "budget_tokens": 6_000}):
        (found,) = whole(wire.call("query_memory", **arguments)).data["items"]
        assert (found["ref"], found["why"]["truncated"]) == (one, True)
        assert found["content"].startswith("The importer: \x01")
    assert "too long" in wire.refusal("expand", ref=one)
    for shape in ("markdown", "smp", "json"):
        answer = wire.call("get_context", task="importer", model="claude", token_budget=12_000, format=shape)
        assert len(answer.text) < LIMIT
        assert "cut here" not in answer.text


def test_what_no_budget_makes_short_is_refused_before_a_session_hears_of_it(wire: Wire, where: Place) -> None:
    """Sixty places say one thing, each with an address of two thousand characters: they are folded into one item."""
    with opened(where) as store:
        store.memories.remember_all(
            item(
                "The importer reads one record at a time" + "!" * number,
                ref=f"s#{number}",
                url="https://example.org/" + f"{number:02}" * 1_000,
            )
            for number in range(60)
        )
    asked = {"task": "the importer", "model": "claude", "session_id": "s", "items": "new", "pin": True}
    for shape in ("smp", "json"):
        said = wire.refusal("get_context", format=shape, **asked)
        assert "ask with format=markdown" in said
    answer = whole(wire.call("get_context", **asked))
    assert "Session, cursor 1: new 1," in answer.text
    assert "too long" in wire.refusal("query_memory", ask="the importer", model="claude")
    assert len(whole(wire.call("query_memory", find="the importer", k=50)).data["items"]) < 50
    with opened(where) as store:
        assert store.sessions.show("s").state.turn == 1


@pytest.mark.parametrize("tool", ["remember_this", "propose_memory"])
def test_what_is_remembered_in_a_repository_stays_there(where: Place, wire: Wire, tool: str) -> None:
    """But for what is the user's own, and for what is said to hold everywhere."""

    def project_of(content: str, **given: str) -> str:
        written = wire.call(tool, content=content, **given).data
        assert written is not None
        with opened(where) as store:
            return store.memories.get(written["stored_id"]).project

    assert project_of("The folder is no project yet.") == ""
    (where.project / "segue.toml").write_text('[project]\nid = "importer"\n', "utf-8")
    assert project_of("The importer reads streams.") == "importer"
    assert project_of("Answers are short.", layer="preference") == ""
    assert project_of("Letters close with regards.", kind="style") == ""
    assert project_of("All services log in UTC.", project="") == ""
    assert project_of("Tabs in Makefiles.", layer="preference", project=".") == "importer"
