"""`segue review`: key by key on a terminal, by id and hash elsewhere; never what was not seen."""

from __future__ import annotations

import os
import pty
import re
import sys
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import segue
from cli.test_drafting import editor
from segue.cli.keys import burst, pressed

if TYPE_CHECKING:
    from cli.shell import InPlace, Shell

PROMPT = b"[q]uit: "
HOSTILE = "Go\x1b[31m on\x1b]0;me\x07 \x9b2J \u202eright\u2066 \u200b [bold]x[/bold]\r\n[a]pprove\nhash: sha256:00"
RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f]")


def proposed(shell: Shell, *texts: str) -> list[str]:
    """Put texts on the list and return their ids; the last one is shown first."""
    with segue.open(shell.segue_home / "segue.db", directory=shell.project) as opened:
        return [opened.memories.propose(text).memory.id for text in texts]


def statuses(shell: Shell) -> dict[str, str]:
    with segue.open(shell.segue_home / "segue.db", directory=shell.project) as opened:
        return {each.content: each.status for each in opened.memories.ls().memories}


def test_key_by_key(shell: Shell) -> None:
    proposed(shell, "Stay.", "Skip me.", "Change me.", "Reject me.", "Approve me.")
    change = "path.write_text('Changed.\\n')"
    keys = (b"a", b"r", b"e", b"s", b"q")
    result = shell.terminal("review", answers=tuple((PROMPT, key) for key in keys), env=editor(shell, change))
    assert result.code == 0, result.out
    assert statuses(shell) == {"Approve me.": "active", "Changed.": "active", "Skip me.": "pending", "Stay.": "pending"}
    assert "1 of 5" in result.out
    assert "1 approved, 1 rejected, 1 edited and approved, 1 skipped, 2 left" in result.out


def test_other_keys_do_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    parent, child = pty.openpty()
    with os.fdopen(child, encoding="utf-8") as stdin, ThreadPoolExecutor(1) as other:
        monkeypatch.setattr(sys, "stdin", stdin)
        os.write(parent, b"a")  # before the question stands there
        assert os.read(parent, 1) == b"a"  # the echo: it has come
        answer = other.submit(pressed, "? ", "as")
        while termios.tcgetattr(child)[3] & termios.ICANON:
            time.sleep(0.01)
        for keys in (b"x", b"\x1b[A", b"aa"):
            os.write(parent, keys)
            time.sleep(0.1)
        while not answer.done():
            os.write(parent, b"S")
            time.sleep(0.3)
    os.close(parent)
    assert answer.result() == "s"


@pytest.mark.parametrize(
    ("pieces", "waited"),
    [
        (["a"], [0.05]),
        (["a", "a"], [0.05, 0.05]),
        (["\x1b", "[", "A"], [0.5, 0.5, 0.05]),
        (["\x1b[1;", "5", "A"], [0.5, 0.5, 0.05]),
        (["\x1b", "O", "A"], [0.5, 0.5, 0.05]),
        (["\x1b"], [0.5]),
        ([], []),
    ],
)
def test_what_comes_in_pieces_is_one_key(pieces: list[str], waited: list[float]) -> None:
    left = iter([*pieces, ""])
    waits = []

    def read(seconds: float | None) -> str:
        waits.append(seconds)
        return next(left)

    assert burst(read) == "".join(pieces)
    assert waits == [None, *waited]


def test_an_edit_that_is_refused_asks_again(shell: Shell) -> None:
    with segue.open(shell.segue_home / "segue.db", directory=shell.project) as opened:
        opened.memories.remember("Ada prefers rye.")
    proposed(shell, "Ada likes rye.")
    same = editor(shell, "path.write_text('Ada prefers rye.')")
    result = shell.terminal("review", answers=((PROMPT, b"e"), (PROMPT, b"r")), env=same)
    assert result.code == 0
    assert "says the same" in result.out
    assert statuses(shell) == {"Ada prefers rye.": "active"}
    assert [each.read_text("utf-8") for each in shell.segue_home.glob("memory-*.txt")] == ["Ada prefers rye."]


def test_what_changed_meanwhile_is_shown_again(shell: Shell) -> None:
    (memory_id,) = proposed(shell, "Ada prefers rye.")
    other = (
        "import segue\n"
        f"with segue.open({str(shell.segue_home / 'segue.db')!r}) as opened:\n"
        f"    opened.memories.edit({memory_id!r}, content='Ada prefers wheat.')\n"
    )
    environment = {"EDITOR": f"{sys.executable} {editor(shell, other)['EDITOR']}"}
    # The editor changes the memory behind the reviewer's back, and leaves his own text as it was.
    result = shell.terminal("review", answers=((PROMPT, b"e"), (PROMPT, b"a")), env=environment)
    assert result.code == 0
    assert "Ada prefers wheat." in result.out
    assert statuses(shell) == {"Ada prefers wheat.": "active"}


def test_nothing_in_a_text_acts_on_the_terminal(shell: Shell) -> None:
    with segue.open(shell.segue_home / "segue.db", directory=shell.project) as opened:
        opened.memories.propose(HOSTILE, author=HOSTILE, tags=[HOSTILE[:60]], project=HOSTILE, summary=HOSTILE)
    result = shell.terminal("review", answers=((PROMPT, b"q"),))
    listed = shell.run("review")
    assert (result.code, listed.code) == (0, 0)
    for text in (result.out, listed.out + listed.err):
        assert RAW.findall(text.replace("\r\n", "\n")) == []
        lines = text.replace("\r\n", "\n").split("\n")
        assert [line for line in lines if line.startswith("hash:")] == []
    assert "\\x1b[31m" in result.out


def test_without_a_terminal(cli: InPlace) -> None:
    (memory_id,) = proposed(cli.shell, "Ada prefers rye.")
    result = cli("review")
    assert result.code == 0
    shown = cli("review", "--json").json
    assert (shown["waiting"], shown["cursor"]) == (1, None)
    (memory,) = shown["memories"]
    assert result.lines[0].startswith(memory_id)
    assert result.lines[1:3] == ["│ Ada prefers rye.", f"  hash: {memory['content_hash']}"]
    assert "segue review --approve ID --hash HASH" in result.err

    malformed = cli("review", "--approve", memory_id, "--hash", "sha256:0000", "--json")
    assert (malformed.code, malformed.error["code"]) == (3, "memory.hash")
    wrong = cli("review", "--approve", memory_id, "--hash", "sha256:" + "0" * 64, "--json")
    assert (wrong.code, wrong.error["code"]) == (4, "memory.changed")
    approved = cli("review", "--approve", memory_id[-8:], "--hash", memory["content_hash"], "--json")
    assert approved.json == {"id": memory_id, "verdict": "approved"}
    again = cli("review", "--approve", memory_id, "--hash", memory["content_hash"], "--json")
    assert (again.code, again.error["code"]) == (4, "memory.not_pending")
    assert cli("review").err == "nothing waits for review\n"


def test_all_that_is_proposed_is_shown(cli: InPlace) -> None:
    options = ["--entity", "Ada, Countess", "--entity", "Ben", "--occurred-at", "2020-01-01", "--confidence", "0.25"]
    cli("propose", "Ada prefers rye.", "--tag", "a,b", *options)
    lines = cli("review").lines
    assert {
        '  entities: "Ada, Countess", Ben',
        '  tags: "a,b"',
        "  occurred: 2020-01-01T00:00:00Z",
        "  confidence: 0.25",
    } <= set(lines)


def test_no_text_passes_for_a_line_of_ours(cli: InPlace) -> None:
    forged = ["url: https://example.org", "  url: https://example.org", "hash: sha256:00", "  (9 blank lines)"]
    proposed(cli.shell, "\n".join(["One.", *forged, "│ bar", *[""] * 300, "two"]))
    lines = cli("review").lines
    assert ", 307 lines" in lines[0]
    assert [line for line in lines[1:] if not line.startswith("│ ")][:2] == ["  (300 blank lines)", lines[9]]
    assert lines[9].startswith("  hash: sha256:")
    assert lines[8] == "│ two"


def test_a_long_proposal_is_read_a_screen_at_a_time(shell: Shell) -> None:
    more = b"[m]ore  [r]eject  [s]kip  [q]uit: "
    proposed(shell, "Short.", "\n".join(["HEAD", *(f"line {number}" for number in range(50)), "x" * 200, "TAIL"]))
    whole = shell.terminal("review", answers=((more, b"m"), (more, b"m"), (PROMPT, b"a"), (PROMPT, b"q")))
    screens = whole.out.replace("\r\n", "\n").split("more lines: ")
    assert whole.code == 0
    assert [len(screen.splitlines()) <= 24 for screen in screens[:2]] == [True, True]
    assert "HEAD" in screens[0]
    assert "TAIL" not in screens[0] + screens[1]
    assert "│ " + "x" * 78 + "\n│ " + "x" * 78 + "\n│ " + "x" * 44 + "\n" in whole.out.replace("\r\n", "\n")
    assert statuses(shell)["Short."] == "pending"
    assert sorted(statuses(shell).values()) == ["active", "pending"]


def test_a_long_proposal_may_be_rejected_unread(shell: Shell) -> None:
    proposed(shell, "\n".join(f"line {number}" for number in range(100)))
    assert shell.terminal("review", answers=((b"[m]ore", b"r"),)).code == 0
    assert statuses(shell) == {}


def test_rejecting_by_id(cli: InPlace) -> None:
    (memory_id,) = proposed(cli.shell, "Ada prefers rye.")
    assert cli("review", "--reject", memory_id, "--reason", "not so").lines == [f"rejected {memory_id}"]
    assert cli("review", "--reject", memory_id, "--json").code == 5
    assert statuses(cli.shell) == {}


def test_what_would_be_replaced_is_shown(cli: InPlace) -> None:
    with segue.open(cli.shell.segue_home / "segue.db", directory=cli.shell.project) as opened:
        old = opened.memories.remember("The shop opens at 8.").memory
        opened.memories.supersede(old.id, "The shop opens at 9.", author_class="agent")
    assert f"  would replace …{old.id[-8:]}: The shop opens at 8." in cli("review").lines


@pytest.mark.parametrize(
    "options", [["--approve", "x"], ["--hash", "x"], ["--approve", "x", "--hash", "y", "--reject", "z"], ["--wrong"]]
)
def test_usage(cli: InPlace, options: list[str]) -> None:
    assert cli("review", *options, "--json").code == 2


def test_lists_go_on(cli: InPlace) -> None:
    proposed(cli.shell, "One.", "Two.", "Three.")
    page = cli("review", "--limit", "2", "--json").json
    assert (page["waiting"], len(page["memories"])) == (3, 2)
    rest = cli("review", "--limit", "2", "--cursor", page["cursor"], "--json").json
    assert [each["content"] for each in rest["memories"]] == ["One."]
