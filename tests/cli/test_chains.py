"""`segue chain` and `segue diff`."""

from __future__ import annotations

from cli.shell import FIRST, FIRST_ID, SECOND, SECOND_ID, InPlace, full

NOW = ("--now", "2026-05-10T09:30:00Z")


def chained(cli: InPlace, count: int) -> None:
    for number in range(1, count + 1):
        parent = {"parent_id": f"packet-{number - 1:04d}"} if number > 1 else {}
        cli("save", cli.write(f"{number}.json", full(number, goal=f"Step {number}.", **parent)))


def test_oldest_first_with_the_packet_marked(cli: InPlace) -> None:
    chained(cli, 4)
    result = cli("chain", "packet-0003", *NOW)
    assert (result.code, result.err) == (0, "")
    assert result.lines == [
        "○ …ket-0001  2026-05-01  Step 1.",
        "○ …ket-0002  2026-05-02  Step 2.",
        "● …ket-0003  2026-05-03  Step 3.",
        "└─ ○ …ket-0004  6 d ago     Step 4.",
    ]


def test_what_continues_a_packet_branches_off(cli: InPlace) -> None:
    chained(cli, 2)
    for number in (3, 4, 5):
        cli("save", cli.write(f"{number}.json", full(number, goal=f"Step {number}.", parent_id="packet-0001")))
    assert cli("chain", "packet-0001", *NOW).lines == [
        "● …ket-0001  2026-05-01  Step 1.",
        "├─ ○ …ket-0005  5 d ago     Step 5.",
        "├─ ○ …ket-0004  6 d ago     Step 4.",
        "├─ ○ …ket-0003  2026-05-03  Step 3.",
        "└─ ○ …ket-0002  2026-05-02  Step 2.",
    ]
    assert cli("chain", "packet-0002", *NOW).lines == [
        "○ …ket-0001  2026-05-01  Step 1.",
        "● …ket-0002  2026-05-02  Step 2.",
    ]


def test_json(cli: InPlace) -> None:
    chained(cli, 4)
    found = cli("chain", "packet-0003", "--json").json
    assert list(found) == ["packets", "children", "missing"]
    assert [each["id"] for each in found["packets"]] == ["packet-0003", "packet-0002", "packet-0001"]
    assert [each["id"] for each in found["children"]] == ["packet-0004"]
    assert found["missing"] is None
    assert found["packets"][0] == cli("ls", "--json").json["packets"][1]


def test_without_an_id_it_is_the_newest(cli: InPlace) -> None:
    chained(cli, 2)
    assert cli("chain", *NOW) == cli("chain", "packet-0002", *NOW)


def test_a_parent_that_is_not_there(cli: InPlace) -> None:
    chained(cli, 2)
    cli("rm", "packet-0001")
    result = cli("chain", *NOW)
    assert result.code == 0
    assert result.lines[0] == "? …ket-0001  (not in this store)"
    assert cli("chain", "--json").json["missing"] == "packet-0001"


def test_nothing_to_follow(cli: InPlace) -> None:
    assert cli("chain", "--json").error["code"] == "packet.none"
    assert cli("chain", "nothing").code == 5


def test_diff(cli: InPlace) -> None:
    cli("save", FIRST)
    cli("save", SECOND)
    result = cli("diff", FIRST_ID, "4KFGD7SB")
    assert result.code == 0
    assert result.lines[0] == "…8RBZC1HA → …4KFGD7SB"
    assert "+ decided: Supplier number, invoice number and line position together identify a line." in result.lines
    assert "✓ answered: Which column identifies an invoice line across two deliveries of the same file?" in result.lines
    assert not any(line.startswith("!") for line in result.lines)
    found = cli("diff", FIRST_ID, SECOND_ID, "--json").json
    assert found["older"] == FIRST_ID
    assert found["newer"] == SECOND_ID


def test_diff_names_locked_decisions_that_are_gone(cli: InPlace) -> None:
    locked = {"what": "Stream the files.", "why": "Memory.", "consequences": "No counts.", "locked": True}
    cli("save", cli.write("1.json", full(1, decisions=[locked])))
    cli("save", cli.write("2.json", full(2)))
    assert "! locked decision dropped: Stream the files." in cli("diff", "0001", "0002").lines
    assert cli("diff", "0001", "0002", "--json").json["locked"][0]["decision"] == "Stream the files."


def test_diff_names_attempts_that_are_gone(cli: InPlace) -> None:
    tried = {"tried": "Guess the encoding.", "outcome": "failed", "learned": "It changes within a file."}
    cli("save", cli.write("1.json", full(1, attempts=[tried])))
    cli("save", cli.write("2.json", full(2)))
    (line,) = [line for line in cli("diff", "0001", "0002").lines if line.startswith("- attempt: ")]
    assert "Guess the encoding." in line
    assert cli("diff", "0001", "0002", "--json").json["dropped"]["attempts"] == [line.removeprefix("- attempt: ")]
    assert not any("attempt" in line for line in cli("diff", "0001", "0001").lines)


def test_no_difference(cli: InPlace) -> None:
    cli("save", FIRST)
    assert cli("diff", FIRST_ID, FIRST_ID).lines[1:] == ["no difference"]


def test_diff_of_what_is_not_there(cli: InPlace) -> None:
    cli("save", FIRST)
    assert cli("diff", FIRST_ID, "nothing", "--json").error["code"] == "packet.not_found"
    assert cli("diff", FIRST_ID).code == 2
