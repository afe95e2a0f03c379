"""`segue ls`, `show` and `rm`."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len

from cli.shell import FIRST, FIRST_ID, SECOND, SECOND_ID, InPlace, Shell, full

NOW = ("--now", "2026-09-16T08:00:00Z")


WIDE = {"goal": "導入する" * 40, "project": {"name": "導入" * 20}}


@pytest.fixture
def stocked(cli: InPlace) -> InPlace:
    cli.shell.stock(FIRST, SECOND)
    return cli


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell whose store is only read."""
    shell = Shell(tmp_path_factory.mktemp("reader"))
    shell.stock(FIRST, SECOND, full(1, created_at="2026-11-01T00:00:00Z", **WIDE))
    return shell


def test_the_table(stocked: InPlace) -> None:
    result = stocked("ls", *NOW)
    assert (result.code, result.err) == (0, "")
    heading, newest, oldest = result.lines
    assert heading.split() == ["ID", "CREATED", "PROJECT", "GOAL"]
    assert newest.startswith("…4KFGD7SB  20 hr ago  invoice-importer  Import the suppliers' quarterly")
    assert oldest.startswith("…8RBZC1HA  1 d ago    invoice-importer  ")
    goal = json.loads(FIRST.read_bytes())["goal"]
    assert oldest.rstrip().endswith(goal[:72] + "…")


def test_json(stocked: InPlace) -> None:
    listed = stocked("ls", "--json").json
    assert list(listed) == ["packets", "cursor"]
    assert listed["cursor"] is None
    assert listed["packets"][0] == {
        "id": SECOND_ID,
        "created_at": "2026-09-15T11:05:00Z",
        "goal": json.loads(SECOND.read_bytes())["goal"],
        "project": {"name": "invoice-importer", "ref": "github.com/example/invoice-importer"},
        "parent_id": FIRST_ID,
        "tags": ["headers", "importer"],
        "flagged": False,
    }
    assert listed["packets"][1]["parent_id"] is None


def test_nothing(cli: InPlace) -> None:
    result = cli("ls")
    assert (result.code, result.out, result.err) == (0, "", "no packets\n")
    assert cli("ls", "--json").json == {"packets": [], "cursor": None}


@pytest.mark.parametrize("columns", [20, 40, 70, 80, 200])
def test_the_table_fits_and_shows_the_id(reader: Shell, columns: int) -> None:
    for result in (
        reader.run("ls", *NOW, env={"COLUMNS": str(columns)}),
        reader.terminal("ls", *NOW, columns=columns, env={"NO_COLOR": "1", "TERM": "dumb"}),
    ):
        assert result.code == 0
        assert max(cell_len(line) for line in result.lines) <= columns
        assert [line.split()[0] for line in result.lines][1:] == ["…ket-0001", "…4KFGD7SB", "…8RBZC1HA"]
        assert all("Impo" in line for line in result.lines[-2:])


def test_a_terminal_of_no_width_still_lists(reader: Shell) -> None:
    for result in (
        reader.run("ls", env={"COLUMNS": "0"}),
        reader.run("ls", env={"COLUMNS": "x"}),
        reader.terminal("ls", columns=0),
    ):
        assert result.code == 0
        assert "…8RBZC1HA" in result.out


def test_filters(cli: InPlace) -> None:
    cli("save", cli.write("1.json", full(1, tags=["alpha"], project={"name": "shop", "ref": "github.com/acme/shop"})))
    cli("save", cli.write("2.json", full(2, tags=["alpha", "beta"], goal="Move the LEDGER to Köln.")))
    cli("save", cli.write("3.json", full(3, constraints=["Keep the ledger readable."])))
    found = {
        ("--tag", "alpha"): [2, 1],
        ("--tag", "beta"): [2],
        ("--tag", "gamma"): [],
        ("--project", "shop"): [1],
        ("--project", "github.com/acme/shop"): [1],
        ("--project", "."): [3, 2, 1],
        ("--search", "ledger"): [3, 2],
        ("--search", "ledger köln"): [2],
        ("--search", "ledger köln", "--tag", "gamma"): [],
        ("--search", "%"): [],
        ("--search", "_"): [],
        ("--search", '" OR 1=1 --'): [],
        ("--since", "2026-05-02"): [3, 2],
        ("--since", "2026-05-02T09:30:01Z"): [3],
        ("--since", "24h", "--now", "2026-05-04T00:00:00Z"): [3],
        ("--since", "2w", "--now", "2026-05-04T00:00:00Z"): [3, 2, 1],
        ("--limit", "1"): [3],
    }
    for options, numbers in found.items():
        listed = [each["id"] for each in cli("ls", "--json", *options).json["packets"]]
        assert listed == [f"packet-{number:04d}" for number in numbers], options


def test_projects_are_named_in_any_case(cli: InPlace) -> None:
    own = {"name": "Shop", "ref": "github.com/Acme/Shop"}
    cli("save", cli.write("1.json", full(1, project=own)))
    cli("save", cli.write("2.json", full(2)))
    found = {
        "SHOP": ["packet-0001"],
        "https://GitHub.com/acme/shop.git": ["packet-0001"],
        "Project": ["packet-0002", "packet-0001"],  # the folder that both were saved in
        "sho": [],
    }
    for name, expected in found.items():
        listed = cli("ls", "--json", "--project", name).json["packets"]
        assert [each["id"] for each in listed] == expected, name
    # One without a project of its own shows where it was saved.
    shown = [line.split()[-4] for line in cli("ls", "--now", "2026-05-10T00:00:00Z").lines[1:]]
    assert shown == ["project", "Shop"]


def test_cursors_walk_the_whole_list(cli: InPlace) -> None:
    for number in range(1, 8):
        cli("save", cli.write(f"{number}.json", full(number)))
    walked: list[str] = []
    page = cli("ls", "--json", "--limit", "3").json
    while True:
        walked += [each["id"] for each in page["packets"]]
        if page["cursor"] is None:
            break
        page = cli("ls", "--json", "--limit", "3", "--cursor", page["cursor"]).json
    assert walked == [f"packet-{number:04d}" for number in range(7, 0, -1)]


def test_people_are_told_how_to_go_on(cli: InPlace) -> None:
    for number in (1, 2):
        cli("save", cli.write(f"{number}.json", full(number)))
    first = cli("ls", "--limit", "1")
    assert first.err.startswith("more: --cursor ")
    second = cli("ls", "--limit", "1", "--cursor", first.err.split()[-1])
    assert second.err == ""
    assert "packet-0001"[-8:] in second.out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--limit", "0"), "limit.invalid"),
        (("--limit", "501"), "limit.invalid"),
        (("--limit", "-1"), "limit.invalid"),
        (("--limit", "many"), "cli.value"),
        (("--since", "yesterday"), "time.invalid"),
        (("--cursor", "nonsense"), "cursor.invalid"),
    ],
)
def test_bad_values(cli: InPlace, options: tuple[str, str], code: str) -> None:
    result = cli("ls", *options, "--json")
    assert (result.code, result.error["code"]) == (3, code)
    said = cli("ls", *options)
    assert (said.code, said.out) == (3, "")


def test_a_cursor_belongs_to_its_list(cli: InPlace) -> None:
    for number in (1, 2):
        cli("save", cli.write(f"{number}.json", full(number)))
    cursor = cli("ls", "--limit", "1", "--json").json["cursor"]
    assert cli("ls", "--tag", "other", "--cursor", cursor, "--json").error["code"] == "cursor.invalid"


def test_show_has_every_field(cli: InPlace) -> None:
    document = full(
        2,
        parent_id="packet-0001",
        project={"name": "shop", "ref": "github.com/acme/shop"},
        success_criteria=["All samples import."],
        constraints=["Ten minutes at most."],
        decisions=[{"what": "Stream.", "why": "Memory.", "consequences": "No counting.", "locked": True}],
        methods=[{"name": "dry-run", "when_applicable": "Before a release.", "how": "Run it dry."}],
        attempts=[{"tried": "Guess.", "outcome": "failed", "learned": "It varies.", "confidence": "high"}],
        open_questions=["Which encoding?"],
        tags=["alpha"],
        provenance={
            "author_model": "some-model",
            "author_human": "somebody",
            "confidence": "low",
            "source_hash": "sha256:" + "0" * 64,
        },
    )
    cli("save", cli.write("one.json", document))
    result = cli("show", "packet-0002", "--now", "2026-05-02T10:00:00Z")
    assert result.code == 0
    assert "Created:    2026-05-02T09:30:00Z (30 min ago)" in result.lines

    def texts(value: object) -> list[str]:
        if isinstance(value, dict):
            return [text for each in value.values() for text in texts(each)]
        if isinstance(value, list):
            return [text for each in value for text in texts(each)]
        return [value] if isinstance(value, str) else []

    assert [text for text in texts(document) if text not in result.out] == []
    assert "[locked] Stream." in result.out


def test_show_raw_gives_the_stored_bytes(shell: Shell) -> None:
    document = full(1, goal="Grüße an 導入 👩\u200d👧 and \x1b[31mred\x1b[0m <b>&")
    shell.run("save", "-", stdin=json.dumps(document).encode())
    raw = shell.run("show", "--raw", "packet-0001").stdout
    assert raw == shell.run("show", "--json", "packet-0001").stdout
    assert json.loads(raw) == document
    assert raw.endswith(b"}\n")
    assert "Grüße an 導入 👩\u200d👧".encode() in raw  # neither ASCII escapes nor HTML escapes
    assert b"<b>&" in raw
    assert shell.run("save", "-", "--json", stdin=raw).json["outcome"] == "unchanged"


def test_show_on_a_terminal_is_safe_and_still_json(shell: Shell) -> None:
    document = full(1, goal="Grüße \x1b[31mred\x1b[0m \u202ebidi \x9b31m")
    shell.run("save", "-", stdin=json.dumps(document).encode())
    result = shell.terminal("show", "--raw", "packet-0001")
    assert b"\x1b" not in result.stdout
    assert "\u202e" not in result.out
    assert result.json == document


def test_rm(stocked: InPlace) -> None:
    result = stocked("rm", "8RBZC1HA")
    assert (result.code, result.out) == (0, f"deleted {FIRST_ID}\n")
    goal = json.loads(FIRST.read_bytes())["goal"]
    assert result.err == f"it was: {goal[:71]}…\n"
    assert stocked.ids() == [SECOND_ID]
    again = stocked("rm", FIRST_ID, "--json")
    assert (again.code, again.error["code"]) == (5, "packet.not_found")
    last = stocked("rm", SECOND_ID, "--json")
    assert last.json == {"deleted": SECOND_ID, "goal": json.loads(SECOND.read_bytes())["goal"]}
    assert last.err == ""
    assert stocked.ids() == []


@pytest.mark.parametrize("ending", ["", "B", "7SB", "…7SB", "...7SB", " 7SB "])
def test_rm_wants_four_characters(stocked: InPlace, ending: str) -> None:
    result = stocked("rm", ending, "--json")
    assert (result.code, result.error["code"]) == (3, "packet.short_id")
    assert len(stocked.ids()) == 2
    if ending:
        assert stocked("show", ending).code == 0  # looking at it is harmless
        assert stocked("rm", "…D7SB").out == f"deleted {SECOND_ID}\n"


def test_a_removed_packet_can_be_saved_again(stocked: InPlace) -> None:
    stocked("rm", SECOND_ID)
    assert stocked("save", SECOND, "--json").json["outcome"] == "created"


@pytest.mark.parametrize("command", ["show", "rm", "resume", "chain"])
def test_an_ambiguous_ending(cli: InPlace, command: str) -> None:
    for name in ("aaaaaaaa-0001", "bbbbbbbb-0001"):
        cli("save", cli.write(f"{name}.json", full(1, id=name)))
    result = cli(command, "0001", "--json")
    assert (result.code, result.error["code"]) == (5, "packet.ambiguous")
    assert sorted(result.error["details"]["matches"]) == ["aaaaaaaa-0001", "bbbbbbbb-0001"]
    assert len(cli.ids()) == 2


@pytest.mark.parametrize(
    ("command", "ending"),
    [("show", each) for each in ("%", "_", "*", " ", "…")]
    + [("rm", each) for each in ("%%%%", "____", "****", "%7SB", "4KFGD7S_", "\x1b[31m", "………………", "x" * 5000)],
)
def test_endings_are_taken_literally(stocked: InPlace, command: str, ending: str) -> None:
    result = stocked(command, ending, "--json")
    assert (result.code, result.error["code"]) == (5, "packet.not_found")
    assert result.error["message"].startswith("no packet has the id '")
    assert len(stocked.ids()) == 2


def test_an_id_that_begins_with_dots_is_found_by_its_text(cli: InPlace) -> None:
    for number, name in enumerate(("…packet-01", "another-packet-01"), 1):
        cli("save", cli.write(f"{number}.json", full(number, id=name)))
    assert cli("show", "--json", "…packet-01").json["id"] == "…packet-01"
    assert cli("rm", "…packet-01").out == "deleted …packet-01\n"
    assert cli.ids() == ["another-packet-01"]


def test_what_is_not_found_is_named(cli: InPlace) -> None:
    said = cli("show", "no\x1b[31m\nthing")
    assert (said.code, said.out) == (5, "")
    assert said.err == "segue: no packet has the id 'no\\x1b[31m ⏎ thing', or ends in it; see `segue ls`\n"
