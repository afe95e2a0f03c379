"""Whole sessions through the SDK's client, each with server processes of its own."""

from __future__ import annotations

from typing import Any

import anyio
from agent import Place, call, connected, packet

pytest_plugins = ["mcp_fixtures"]

LEARNED = {"tried": "Guess the encoding.", "outcome": "failed", "learned": "It changes within a file."}


def test_one_process_saves_and_another_resumes(where: Place) -> None:
    async def session() -> None:
        async with connected(where) as first:
            empty = await call(first, "resume")
            assert empty.refused
            saved = await call(first, "save", packet=packet(attempts=[LEARNED]))
            assert not saved.refused
        async with connected(where) as second:
            block = await call(second, "resume")
            assert not block.refused
            assert block.text.startswith("# Resume context")
            assert "- [failed] Guess the encoding." in block.text
            assert f"Packet:    {saved.text} (spec v0.2)" in block.text
            again = await call(second, "save", packet=packet(goal="Ship it to all."), continues="newest")
            chain = await call(second, "chain")
            assert chain.data is not None
            assert [each["id"] for each in chain.data["packets"]] == [again.text, saved.text]

    anyio.run(session)
    assert (where.segue_home / "segue.db").is_file()


def test_what_the_server_says_of_itself(where: Place) -> None:
    async def session() -> None:
        async with connected(where) as client:
            assert client.server_info is not None
            assert client.server_info.name == "segue"
            assert client.server_capabilities.tools is not None
            assert client.instructions is not None
            assert len(client.instructions) < 2_000
            for word in ("`resume`", "`save`", "compacted", "continues=newest"):
                assert word in client.instructions
            tools = (await client.list_tools()).tools
            assert {"save", "resume", "get_context", "remember_this"} < {tool.name for tool in tools}

    anyio.run(session)


def test_calls_at_the_same_time(where: Place) -> None:
    ids: list[str] = []

    async def session() -> None:
        async def save(client: Any, number: int) -> None:
            answer = await call(client, "save", packet=packet(goal=f"Take step {number}."))
            assert not answer.refused, answer.text
            ids.append(answer.text)

        async def read(client: Any) -> None:
            assert not (await call(client, "ls")).refused

        async with connected(where) as one, connected(where) as two, anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(save, (one, two)[number % 2], number)
                group.start_soon(read, (one, two)[number % 2])

    anyio.run(session)
    assert len(set(ids)) == 20

    async def count() -> None:
        async with connected(where) as client:
            answer = await call(client, "ls")
            assert answer.data is not None
            assert {each["id"] for each in answer.data["packets"]} == set(ids)

    anyio.run(count)
