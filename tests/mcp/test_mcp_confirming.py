"""A packet is deleted once a person has agreed, in either protocol era; a client that cannot ask decides itself."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from agent import ERAS, Endpoint, Place, call, connected, packet
from mcp_types import INTERNAL_ERROR, ElicitRequestParams, ElicitResult, ErrorData

pytest_plugins = ["mcp_fixtures"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("said", ["accept", "decline", "cancel", "error"])
def test_the_user_is_asked(where: Place, era: str, said: Any) -> None:
    questions: list[str] = []

    async def ask(_: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        questions.append(params.message)
        return (
            ErrorData(code=INTERNAL_ERROR, message="nobody is here") if said == "error" else ElicitResult(action=said)
        )

    async def session() -> None:
        async with connected(where, era=era, elicitation_callback=ask) as client:
            saved = (await call(client, "save", packet=packet(goal="Ship \x1b[31m\nthe importer."))).text
            await call(client, "save", packet=packet(goal="Go on."), continues=saved)
            if (era, said) == (ERAS[1], "error"):  # there the client ends the call itself
                with pytest.raises(Exception, match="nobody is here"):
                    await call(client, "rm", id=saved)
            else:
                answer = await call(client, "rm", id=saved)
                if said == "accept":
                    assert (answer.text, answer.data) == (f"deleted {saved}", {"id": saved, "deleted": True})
                else:
                    assert answer.refused
                    assert "nothing was done" in answer.text
            assert (await call(client, "show", id=saved)).refused is (said == "accept")
            question = f"Delete the packet {saved} for good? Its goal: Ship \\x1b[31m ⏎ the importer."
            assert questions == [question]

    anyio.run(session)


@pytest.mark.parametrize("era", ERAS)
def test_the_user_is_asked_over_http_too(where: Place, era: str) -> None:
    answers = iter(("decline", "accept"))

    async def ask(_: Any, __: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action=next(answers))  # type: ignore[arg-type]

    endpoint = Endpoint(where)

    async def session() -> None:
        async with endpoint.connected(era, elicitation_callback=ask) as client:
            saved = (await call(client, "save", packet=packet())).text
            assert "did not agree" in (await call(client, "rm", id=saved)).text
            assert (await call(client, "rm", id=saved)).text == f"deleted {saved}"

    try:
        anyio.run(session)
    finally:
        endpoint.kill()


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_cannot_ask_is_done_as_told(where: Place, era: str) -> None:
    async def session() -> None:
        async with connected(where, era=era) as client:
            saved = (await call(client, "save", packet=packet())).text
            assert (await call(client, "rm", id=saved)).text == f"deleted {saved}"
            assert (await call(client, "show", id=saved)).refused

    anyio.run(session)


@pytest.mark.parametrize("era", ERAS)
def test_nobody_is_asked_about_what_is_not_there(where: Place, era: str) -> None:
    async def ask(_: Any, __: ElicitRequestParams) -> ElicitResult:
        raise AssertionError

    async def session() -> None:
        async with connected(where, era=era, elicitation_callback=ask) as client:
            for given, text in (("nothing", "no packet has the id"), ("abc", "give at least 4"), ("", "not valid")):
                answer = await call(client, "rm", id=given)
                assert answer.refused
                assert text in answer.text

    anyio.run(session)
