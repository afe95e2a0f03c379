"""Stop: claims that something was remembered, which nothing proves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hosts.hook_samples import Host

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = "I have saved this to memory."


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path, tmp_path / "none.db")  # no store is read


@pytest.mark.requirement("continuity-claims-hook")
def test_a_claim_is_told_to_the_user(host: Host) -> None:
    said, note = host.calls("stop", last_assistant_message=f"The bug is fixed. {CLAIM}")
    assert not note
    assert said is not None
    assert said.keys() == {"systemMessage"}
    assert f"“{CLAIM}”" in said["systemMessage"]
    assert "The bug is fixed" not in said["systemMessage"]


@pytest.mark.parametrize("message", ["", "Saved config.py and ran the tests.", "Ready for review.", None, 7, ["x"]])
def test_nothing_else_is(host: Host, message: object) -> None:
    assert host.calls("stop", last_assistant_message=message) == (None, "")


@pytest.mark.requirement("continuity-claims-hook")
def test_it_blocks_once(host: Host) -> None:
    said, _ = host.calls("stop", "--block", last_assistant_message=CLAIM)
    assert said is not None
    assert said["decision"] == "block"
    assert CLAIM in said["reason"]
    # It may be true: no receipt of a tool is known here. Nobody is to be told to take a truth back.
    assert "Where a tool of Segue has stored it in this session, nothing is to be changed." in said["reason"]
    again, _ = host.calls("stop", "--block", last_assistant_message=CLAIM, stop_hook_active=True)
    assert again is not None
    assert again.keys() == {"systemMessage"}


def test_a_secret_in_a_claim_is_not_repeated(host: Host) -> None:
    secret = "ghp_" + "a1B2" * 9
    said, _ = host.calls("stop", last_assistant_message=f"I have saved the token {secret} to memory.")
    assert said is not None
    assert secret not in said["systemMessage"]


def test_a_long_answer_is_shown_in_part(host: Host) -> None:
    message = " ".join(f"I have saved point {number} {'x' * 400} to memory." for number in range(2_000))
    said, _ = host.calls("stop", last_assistant_message=message)
    assert said is not None
    assert len(said["systemMessage"]) < 1_000
