"""The whole way, over stdio and over HTTP, in both protocol eras: saved, resumed, told only what is new, approved."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from agent import ERAS, Endpoint, Place, call, connected, packet

import segue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client.client import Client

pytest_plugins = ["mcp_fixtures"]

KNOWN = ("The importer reads manifests as a stream.", "Rotterdam sends each manifest twice.")
LATER = "The importer was released in May."
PROPOSED = "The user wants the importer to report in Dutch."


@contextlib.asynccontextmanager
async def process(where: Place, transport: str, era: str) -> AsyncIterator[Client]:
    """The SDK's client with a server process of its own."""
    if transport == "stdio":
        async with connected(where, "--toolset", "full", era=era) as client:
            yield client
        return
    endpoint = await anyio.to_thread.run_sync(lambda: Endpoint(where, "--toolset", "full"))
    try:
        async with endpoint.connected(era) as client:
            yield client
    finally:
        endpoint.kill()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_whole_way(where: Place, transport: str, era: str) -> None:
    async def told(client: Client, **more: Any) -> tuple[list[str], list[str]]:
        asked = {"task": "the importer", "session_id": "chat-1", "items": "new", "format": "smp"}
        answer = await call(client, "get_context", **(asked | more))
        assert answer.data is not None, answer.text
        texts = [each["content"] for each in answer.data["items"]]
        return texts, [each["ref"] for each in answer.data["working_memory"]["new"]]

    async def session() -> None:
        async with process(where, transport, era) as first:
            for each in KNOWN:
                assert not (await call(first, "remember_this", content=each)).refused
            saved = (await call(first, "save", packet=packet())).text
        async with process(where, transport, era) as second:
            block = await call(second, "resume")
            assert f"Packet:    {saved} (spec v0.2)" in block.text
            texts, new = await told(second)
            assert set(KNOWN) <= set(texts)
            assert len(new) == len(texts)
            assert await told(second) == ([], [])
            later = await call(second, "remember_this", content=LATER)
            assert later.data is not None
            assert await told(second) == ([LATER], [later.data["stored_id"]])
            proposed = await call(second, "propose_memory", content=PROPOSED)
            assert proposed.data is not None
            memory = proposed.data["stored_id"]
            assert PROPOSED not in (await call(second, "search", query="report in Dutch")).text
            with segue.open(where.segue_home / "segue.db", directory=where.project) as user:
                user.memories.approve(memory, user.memories.get(memory).content_hash)
            found = await call(second, "query_memory", find="report in Dutch", k=1)
            assert found.data is not None
            assert [each["ref"] for each in found.data["items"]] == [memory]
            assert (await told(second, task="How should the importer report?"))[1] == [memory]
            assert PROPOSED in (await call(second, "fetch", id=memory)).text

    anyio.run(session)
