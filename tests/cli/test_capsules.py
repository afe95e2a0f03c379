"""The capsule commands: their exact JSON, exit codes and streams, what they resolve, refuse, keep and import."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import segue
from cli.shell import FIRST, FIRST_ID, SECOND, InPlace, Result, Shell, full
from cli.test_startup import HEAVY, imported
from segue import capsules

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = "2026-05-06T10:00:00Z"
SECRET = "AK" + "IA" + "Q7Z2" * 4
STORED = {"id", "text", "topic", "seed", "hops", "created", "saved_at", "origin", "project_key", "flagged"}
COMMANDS = (
    "check", "show", "resume", "fit", "stamp", "stitch", "save", "ls", "rm", "from-packet", "to-packet", "prompt",
)  # fmt: skip


def text(
    seed: str = "Export by pages.",
    *,
    minute: str = "2026-05-04T09:30Z",
    topic: str = "report export",
    skeleton: str = "CHOICE | stream rows | memory ran out\n",
    relation: str = "STYLE: short\n",
    loops: str = "INCOMPLETE_TASK | measure the replica | HIGH\n",
) -> str:
    return (
        f"===PCSF:v1.2===\nMETA: {topic} | software | WORKING | {minute}\n\n"
        f"L1:SKELETON\n{skeleton}\nL2:NEGATIVE\n\nL3:INTERNAL\n\nL4:RELATION\n{relation}\n"
        f"L5:LOOPS\n{loops}\nSEED: {seed}\n===END===\n"
    )


def large() -> str:
    return text(loops="".join(f"PROMISE | {str(n) * 250} | LOW\n" for n in range(6)))


def put(cli: InPlace, name: str, content: str | bytes) -> str:
    return cli.write(name, content if isinstance(content, bytes) else content.encode())


def saved(cli: InPlace, content: str, *options: str) -> str:
    result = cli("capsule", "save", put(cli, "saving.txt", content), *options)
    assert result.code == 0, result.err
    return result.out.strip()


def listed(cli: InPlace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("capsule", "ls", "--json").json["capsules"]
    return found


# -- check ----------------------------------------------------------------------------------------------------------


def test_check_a_valid_capsule(cli: InPlace) -> None:
    name = put(cli, "c.txt", text())
    result = cli("capsule", "check", name, "--json")
    assert (result.code, result.stderr) == (0, b"")
    assert result.json == {"valid": True, "version": "v1.2", "chars": len(text()), "errors": [], "warnings": []}
    assert list(result.json) == ["valid", "version", "chars", "errors", "warnings"]
    assert cli("capsule", "check", name).out == f"valid v1.2 capsule, {len(text())} characters\n"
    assert cli("capsule", "check", "-", stdin=text().encode()).code == 0


def test_check_an_invalid_capsule(cli: InPlace) -> None:
    name = put(cli, "c.txt", text().replace("| HIGH", "| BIG").replace("STYLE: ", "STYLE "))
    result = cli("capsule", "check", name, "--json")
    assert (result.code, result.stderr) == (3, b"")
    assert [(e["code"], e["line"]) for e in result.json["errors"]] == [("C7", 12), ("C7", 15)]
    assert all(list(error) == ["code", "line", "column", "message"] for error in result.json["errors"])
    plain = cli("capsule", "check", name)
    assert (plain.code, plain.out) == (3, f"invalid v1.2 capsule, {len(text()) - 2} characters\n")
    assert [line[:9] for line in plain.err.splitlines()] == ["C7 line 1", "C7 line 1"]


@pytest.mark.parametrize("data", [b"", b"\xff\x00", b"\n" * 5000, "漢".encode(), b"===PCSF:v9===\n", b"{}"])
def test_check_takes_anything(cli: InPlace, data: bytes) -> None:
    result = cli("capsule", "check", "-", "--json", stdin=data)
    assert (result.code, result.json["valid"]) == (3, False)
    assert cli("capsule", "check", "-", "--lenient", "--json", stdin=data).code == 3


def test_a_warning_of_check(cli: InPlace) -> None:
    name = put(cli, "c.txt", text(loops="PROMISE | later | LOW\nPROMISE | now | HIGH\n"))
    result = cli("capsule", "check", name, "--json")
    assert (result.code, len(result.json["warnings"])) == (0, 1)
    assert cli("capsule", "check", name).err.startswith("warning: loops are not in the order")


@pytest.mark.parametrize(
    ("pasted", "change"),
    [
        (lambda whole: f"Here it is:\n\n```text\n{whole}```\nDone.\n", "a Markdown fence removed (2 lines)"),
        (lambda whole: "".join(f"> {line}\n" for line in whole.splitlines()), "quotation marks"),
        (lambda whole: whole.replace("\n", "\r\n"), "carriage returns"),
        (lambda whole: "".join(f"    {line}\n" for line in whole.splitlines()), "the indent of"),
        (lambda whole: whole.replace("short", "“short” – it’s…"), "typographic quotes, dashes and dots"),
        (lambda whole: "\ufeff" + whole, "invisible characters removed: 1"),
    ],
)
def test_what_a_clipboard_does_is_undone_and_said(cli: InPlace, pasted: Callable[[str], str], change: str) -> None:
    name = put(cli, "c.txt", pasted(text()))
    assert cli("capsule", "check", name).code == 3
    result = cli("capsule", "check", name, "--lenient", "--json")
    assert result.code == 0
    assert list(result.json) == ["valid", "version", "chars", "errors", "warnings", "changed"]
    assert any(change in each for each in result.json["changed"])
    plain = cli("capsule", "check", name, "--lenient")
    assert plain.out.startswith("valid v1.2 capsule")
    assert f"changed: {result.json['changed'][0]}" in plain.err
    assert cli("capsule", "check", put(cli, "d.txt", text()), "--lenient", "--json").json["changed"] == []


@pytest.mark.parametrize("command", ["show", "resume", "fit", "save"])
def test_a_pasted_capsule_can_be_used(cli: InPlace, command: str) -> None:
    name = put(cli, "c.txt", f"Here:\n```\n{text()}```\n")
    result = cli("capsule", command, name, "--json")
    assert (result.code, result.error["code"]) == (3, "capsule.C3")
    pasted = cli("capsule", command, name, "--lenient")
    assert (pasted.code, pasted.err.splitlines()[0]) == (0, "changed: a Markdown fence removed (2 lines)")
    if command == "fit":
        assert pasted.out == text()
    if command == "save":
        assert listed(cli)[0]["text"] == text()


# -- fit, stamp, stitch ---------------------------------------------------------------------------------------------


def test_fit(cli: InPlace) -> None:
    name = put(cli, "c.txt", large())
    result = cli("capsule", "fit", name, "--json")
    assert (result.code, list(result.json)) == (0, ["capsule", "dropped"])
    assert [(each["layer"], each["entry"][10]) for each in result.json["dropped"]] == [
        ("L5:LOOPS", "5"), ("L5:LOOPS", "4"), ("L5:LOOPS", "3"),
    ]  # fmt: skip
    plain = cli("capsule", "fit", name)
    assert plain.out == result.json["capsule"]
    assert plain.err.splitlines()[0] == f"dropped L5:LOOPS: PROMISE | {'5' * 250} | LOW"
    sealed = cli("capsule", "fit", name, "--integrity").out
    assert "\nINTEGRITY: crc32=" in sealed
    assert len(sealed) <= 1200
    assert cli("capsule", "fit", put(cli, "s.txt", sealed), "--no-integrity").out.count("INTEGRITY") == 0


def test_what_cannot_fit(cli: InPlace) -> None:
    result = cli("capsule", "fit", put(cli, "c.txt", text("s" * 1200)), "--json")
    assert (result.code, result.error["code"]) == (3, "capsule.cannot_fit")
    assert result.error["details"] == {"over": len(text("s" * 1200, loops="")) - 1200}


def test_stamp(cli: InPlace) -> None:
    name = put(cli, "c.txt", text())
    result = cli("capsule", "stamp", name)
    assert (result.code, result.out) == (0, capsules.stamp(text()).text)
    assert cli("capsule", "stamp", name, "--json").json == {"capsule": result.out}
    damaged = put(cli, "d.txt", result.out.replace("short", "shirt"))
    assert cli("capsule", "show", damaged, "--json").error["code"] == "capsule.C11"
    assert cli("capsule", "stamp", damaged).code == 0
    assert (cli.shell.project / name).read_text() == text()  # the file is as it was


def test_stitch(cli: InPlace) -> None:
    old = put(cli, "old.txt", text(minute="2026-05-01T09:30Z"))
    new = put(cli, "new.txt", text("Ship it.", relation="STYLE: long\n"))
    result = cli("capsule", "stitch", old, new, "--json")
    assert (result.code, result.stderr) == (0, b"")
    assert list(result.json) == ["capsule", "replaced", "dropped", "hops", "origin", "warnings"]
    assert result.json["replaced"] == [{"layer": "L4:RELATION", "entry": "STYLE: short"}]
    assert (result.json["dropped"], result.json["warnings"]) == ([], [])
    assert (result.json["hops"], result.json["origin"]) == (1, "2026-05-01T09:30Z")
    plain = cli("capsule", "stitch", old, new)
    assert plain.out == result.json["capsule"]
    assert plain.err == "replaced L4:RELATION: STYLE: short\n"
    sealed = put(cli, "sealed.txt", capsules.stamp(text()).text)
    assert "INTEGRITY" in cli("capsule", "stitch", old, sealed).out
    assert "INTEGRITY" not in cli("capsule", "stitch", old, sealed, "--no-integrity").out
    assert "INTEGRITY" in cli("capsule", "stitch", old, new, "--integrity").out
    assert cli("capsule", "stitch", old, "-", stdin=(cli.shell.project / new).read_bytes()).out == plain.out


def test_a_new_capsule_that_is_older_is_a_warning(cli: InPlace) -> None:
    old, new = put(cli, "old.txt", text()), put(cli, "new.txt", text(minute="2026-05-01T09:30Z"))
    result = cli("capsule", "stitch", old, new, "--json")
    assert (result.code, len(result.json["warnings"])) == (0, 1)
    assert "older than the old one" in result.json["warnings"][0]
    assert "warning: the new capsule is older" in cli("capsule", "stitch", old, new).err


def test_which_of_two_capsules_is_wrong(cli: InPlace) -> None:
    good, bad = put(cli, "good.txt", text()), put(cli, "bad.txt", text().replace("HIGH", "BIG"))
    for pair in ((good, bad), (bad, good)):
        result = cli("capsule", "stitch", *pair, "--json")
        assert (result.code, result.error["code"]) == (3, "capsule.C7")
        assert result.error["message"].startswith("bad.txt: C7, line 15")
    assert cli("capsule", "stitch", good, good, "--policy", "none", "--json").error["code"] == "capsule.policy"
    assert cli("capsule", "stitch", good, good, "--policy", "balanced").code == 0
    assert cli("capsule", "stitch", "-", "-").code == 2


# -- show, resume, prompt -------------------------------------------------------------------------------------------


def test_show(cli: InPlace) -> None:
    name = put(cli, "c.txt", text(relation="STYLE: short\nSTYLE: long\n", loops="PROMISE | fix it | HIGH\n"))
    result = cli("capsule", "show", name, "--now", NOW)
    assert (result.code, result.err) == (0, "")
    assert result.lines == [
        "Topic:   report export (software, WORKING)",
        "Written: 2026-05-04T09:30Z, recent",
        f"Format:  v1.2, {len((cli.shell.project / name).read_bytes())} of 1,200 characters",
        "Seed:    Export by pages.",
        "",
        "L1:SKELETON",
        "  CHOICE | stream rows | memory ran out",
        "",
        "L4:RELATION",
        "  STYLE: short",
        "  STYLE: long",
        "",
        "L5:LOOPS",
        "  PROMISE | fix it | HIGH",
        "",
        "To ask the user",
        "  One dimension of the working relationship has two values. Which one holds now?",
        "    STYLE: short",
        "    STYLE: long",
        "  This loop does not say what to act on. What exactly is to be done?",
        "    PROMISE | fix it | HIGH",
    ]
    shown = cli("capsule", "show", name, "--now", NOW, "--json").json
    assert list(shown) == [
        "capsule", "age_seconds", "freshness", "conflicts", "gaps", "chain", "warnings", "prompt",
    ]  # fmt: skip
    assert (shown["age_seconds"], shown["freshness"]) == (174_600, "recent")
    assert shown["prompt"] == cli("capsule", "resume", name, "--now", NOW, "--json").json["prompt"]


def test_resume(cli: InPlace) -> None:
    name = put(cli, "c.txt", text())
    result = cli("capsule", "resume", name, "--now", NOW)
    assert (result.code, result.err) == (0, "")
    assert result.out == capsules.read(text(), _now()).prompt
    assert cli("capsule", "resume", name, "--now", NOW, "--json").json == {"prompt": result.out}


def _now() -> Any:
    from segue.base import time

    return time.parse(NOW)


def test_resume_copies(cli: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyperclip

    copied: list[str] = []
    monkeypatch.setattr(pyperclip, "copy", copied.append)
    result = cli("capsule", "resume", put(cli, "c.txt", text()), "--now", NOW, "--copy")
    assert copied == [result.out]
    assert result.err == "copied to the clipboard\n"


@pytest.mark.parametrize("name", ["compress", "continue"])
def test_the_prompts(cli: InPlace, name: str) -> None:
    result = cli("capsule", "prompt", name)
    assert (result.code, result.out) == (0, capsules.prompt(name))
    assert cli("capsule", "prompt", name, "--json").json == {"prompt": result.out}
    assert cli("capsule", "prompt", "other", "--json").error["code"] == "capsule.prompt"


@pytest.mark.parametrize("now", ["yesterday", "2026-13-01T00:00:00Z"])
def test_a_bad_time(cli: InPlace, now: str) -> None:
    result = cli("capsule", "show", put(cli, "c.txt", text()), "--now", now, "--json")
    assert (result.code, result.error["code"]) == (3, "time.invalid")


# -- save, ls, rm ---------------------------------------------------------------------------------------------------


def test_save(cli: InPlace) -> None:
    name = put(cli, "c.txt", text())
    result = cli("capsule", "save", name, "--now", NOW, "--json")
    assert (result.code, result.stderr) == (0, b"")
    found = result.json
    assert set(found) == STORED | {"outcome"}
    assert re.fullmatch(r"cap_[0-9A-Z]{26}", found["id"])
    assert (found["outcome"], found["text"], found["origin"], found["flagged"]) == ("created", text(), None, False)
    assert (found["created"], found["saved_at"]) == ("2026-05-04T09:30:00Z", NOW)
    again = cli("capsule", "save", name)
    assert (again.code, again.out, again.err) == (0, found["id"] + "\n", "unchanged: Export by pages.\n")
    assert cli("capsule", "save", "-", "--json", stdin=text().encode()).json["outcome"] == "unchanged"


def test_save_links(cli: InPlace) -> None:
    packet = cli.save()
    old = saved(cli, text())
    assert saved(cli, text("From a packet."), "--from", packet[-8:])
    assert saved(cli, text("From a capsule."), "--from", old)
    assert {each["seed"]: each["origin"] for each in listed(cli)} == {
        "Export by pages.": None, "From a packet.": packet, "From a capsule.": old,
    }  # fmt: skip
    result = cli("capsule", "save", put(cli, "x.txt", text("X.")), "--from", "nobody", "--json")
    assert (result.code, result.error["code"]) == (5, "origin.not_found")
    assert len(listed(cli)) == 3


def test_ls(cli: InPlace) -> None:
    empty = cli("capsule", "ls")
    assert (empty.code, empty.out, empty.err) == (0, "", "no capsules\n")
    assert cli("capsule", "ls", "--json").json == {"capsules": [], "cursor": None}
    ids = [saved(cli, text(f"Seed {day}.", minute=f"2026-05-0{day}T09:30Z")) for day in (1, 2, 3)]
    page = cli("capsule", "ls", "--json", "--limit", "2").json
    assert [set(each) for each in page["capsules"]] == [STORED, STORED]
    assert [each["id"] for each in page["capsules"]] == ids[:0:-1]
    rest = cli("capsule", "ls", "--json", "--limit", "2", "--cursor", page["cursor"]).json
    assert ([each["id"] for each in rest["capsules"]], rest["cursor"]) == (ids[:1], None)
    table = cli("capsule", "ls", "--limit", "2", "--now", NOW)
    assert table.lines[0].split() == ["ID", "CREATED", "HOPS", "TOPIC", "SEED"]
    assert table.lines[1].split()[0] == "…" + ids[2][-8:]
    assert table.err == f"more: --cursor {page['cursor']}\n"
    for options in (("--limit", "0"), ("--limit", "501"), ("--cursor", "x"), ("--project", "nothing")):
        assert cli("capsule", "ls", "--json", *options).code == 3
    assert len(cli("capsule", "ls", "--project", ".", "--json").json["capsules"]) == 3


def test_rm(cli: InPlace) -> None:
    first, second = saved(cli, text()), saved(cli, text("Two."))
    assert cli("capsule", "rm", f"…{first[-8:]}").out == f"deleted {first}\n"
    assert cli("capsule", "rm", second, "--json").json == {"deleted": second}
    result = cli("capsule", "rm", first, "--json")
    assert (result.code, result.error["code"]) == (5, "capsule.not_found")


# -- what a name means ----------------------------------------------------------------------------------------------

READERS = {
    "check": ("check",), "show": ("show",), "resume": ("resume",), "fit": ("fit",), "stamp": ("stamp",),
    "save": ("save",), "to-packet": ("to-packet",),
}  # fmt: skip


@pytest.mark.parametrize("command", READERS)
def test_a_file_standard_input_or_an_id(cli: InPlace, command: str) -> None:
    full_id = saved(cli, text())
    wanted = cli("capsule", command, put(cli, "c.txt", text()), "--json")
    assert wanted.code == 0
    for name in ("-", full_id, full_id[-8:], "…" + full_id[-8:], "..." + full_id[-8:].lower()):
        result = cli("capsule", command, name, "--json", stdin=text().encode() if name == "-" else b"")
        assert (result.code, _timeless(result)) == (0, _timeless(wanted)), name


def _timeless(result: Result) -> dict[str, Any]:
    ignored = ("age_seconds", "saved_at", "outcome")
    return {key: value for key, value in result.json.items() if key not in ignored}


def test_a_stitch_of_stored_capsules(cli: InPlace) -> None:
    old, new = saved(cli, text()), saved(cli, text("New."))
    result = cli("capsule", "stitch", old, new[-8:])
    assert (result.code, "CHAIN: hops=1" in result.out) == (0, True)


def test_a_file_goes_before_an_id_that_it_looks_like(cli: InPlace) -> None:
    full_id = saved(cli, text())
    for name in (full_id, full_id[-8:]):
        put(cli, name, text("Of the file."))
        assert cli("capsule", "show", name, "--json").json["capsule"]["seed"] == "Of the file."
    (cli.shell.project / full_id[-9:]).mkdir()
    result = cli("capsule", "show", full_id[-9:], "--json")
    assert (result.code, result.error["code"]) == (3, "file.read")


@pytest.mark.parametrize(
    ("name", "code", "error"),
    [
        ("nobody", 5, "capsule.not_found"),
        ("missing.txt", 3, "file.read"),
        ("a/b", 3, "file.read"),
        (".", 3, "file.read"),
        ("x" * 300, 5, "capsule.not_found"),
        ("…", 3, "file.read"),
        ("漢字", 3, "file.read"),
    ],
)
def test_a_name_of_nothing(cli: InPlace, name: str, code: int, error: str) -> None:
    for command in READERS:
        result = cli("capsule", command, name, "--json")
        assert (result.code, result.error["code"]) == (code, error)
    if code == 5:
        assert "no such file" in result.error["message"]


def test_an_ambiguous_ending(cli: InPlace) -> None:
    found: dict[str, list[str]] = {}
    with segue.open(cli.shell.segue_home / "segue.db", directory=cli.shell.project) as opened:
        for number in range(40):  # an id ends in one of 32 letters
            full_id = opened.capsules.save(text(f"Seed {number}.")).capsule.id
            found.setdefault(full_id[-1], []).append(full_id)
    ending, ids = next((ending, ids) for ending, ids in found.items() if len(ids) > 1)
    result = cli("capsule", "show", ending, "--json")
    assert (result.code, result.error["code"]) == (5, "capsule.ambiguous")
    assert set(result.error["details"]["matches"]) <= set(ids)
    assert "no such file" not in result.error["message"]


# -- conversions ----------------------------------------------------------------------------------------------------


def test_from_packet(cli: InPlace) -> None:
    name = cli.write("p.json", full(1, decisions=[{"what": "a|b", "why": "y"}], tags=["x", "y"]))
    result = cli("capsule", "from-packet", name, "--json")
    assert (result.code, result.stderr) == (0, b"")
    assert list(result.json) == ["capsule", "losses"]
    assert result.json["losses"] == [
        {"kind": "replaced", "path": "decisions[0].what", "text": "| as /"},
        {"kind": "no place", "path": "tags[1]", "text": "y"},
    ]
    plain = cli("capsule", "from-packet", name)
    assert (plain.code, plain.out) == (0, result.json["capsule"])
    assert plain.err == "replaced: decisions[0].what: | as /\nno place: tags[1]: y\n"
    assert cli("capsule", "from-packet", "-", stdin=(cli.shell.project / name).read_bytes()).out == plain.out
    assert listed(cli) == []


def test_from_a_stored_packet(cli: InPlace) -> None:
    cli.shell.stock(FIRST)
    for name in (FIRST_ID, FIRST_ID[-8:], f"…{FIRST_ID[-8:]}"):
        assert cli("capsule", "from-packet", name).out == cli("capsule", "from-packet", FIRST).out
    result = cli("capsule", "from-packet", "missing.json", "--json")
    assert (result.code, result.error["code"]) == (5, "packet.not_found")
    assert result.error["message"].startswith("missing.json: no such file, and no packet")
    assert cli("capsule", "from-packet", put(cli, "c.txt", text()), "--json").error["code"] == "packet.json"


def test_from_packet_saves_with_the_link(cli: InPlace) -> None:
    cli.shell.stock(FIRST)
    result = cli("capsule", "from-packet", FIRST, "--save")
    [stored] = listed(cli)
    assert result.err.splitlines()[0] == f"saved as {stored['id']}"
    assert (stored["text"], stored["origin"]) == (result.out, FIRST_ID)
    other = cli("capsule", "from-packet", SECOND, "--save", "--json")  # this packet is not stored
    assert list(other.json) == ["capsule", "losses"]
    assert {each["text"]: each["origin"] for each in listed(cli)}[other.json["capsule"]] is None


def test_a_script_that_ascii_cannot_write(cli: InPlace) -> None:
    name = cli.write("p.json", full(1, constraints=["ok", "Nur 漢字"]))
    result = cli("capsule", "from-packet", name, "--save", "--json")
    assert (result.code, result.error["code"]) == (3, "capsule.transliteration")
    assert result.error["details"] == {"path": "constraints[1]", "position": 5, "character": "U+6F22"}
    assert listed(cli) == []


def test_to_packet(cli: InPlace) -> None:
    name = put(cli, "c.txt", text())
    result = cli("capsule", "to-packet", name, "--json")
    assert (result.code, result.stderr, list(result.json)) == (0, b"", ["packet", "losses"])
    assert result.json["losses"] == [{"kind": "no place", "path": "META", "text": "depth WORKING"}]
    plain = cli("capsule", "to-packet", name)
    assert json.loads(plain.out) == result.json["packet"]
    assert plain.err == "no place: META: depth WORKING\n"
    assert cli("check", put(cli, "p.json", plain.stdout)).code == 0
    assert cli.ids() == []
    kept = cli("capsule", "to-packet", name, "--save")
    assert cli.ids() == [result.json["packet"]["id"]]
    assert kept.err.startswith(f"saved as {result.json['packet']['id']}\n")
    assert cli("capsule", "to-packet", name, "--save").code == 0
    assert len(cli.ids()) == 1


def test_stitch_saves_with_the_link(cli: InPlace) -> None:
    old, new = saved(cli, text()), put(cli, "new.txt", text("New."))
    result = cli("capsule", "stitch", old, new, "--save")
    stored = {each["text"]: each["origin"] for each in listed(cli)}
    assert stored[result.out] == old
    assert "saved as cap_" in result.err
    other = cli("capsule", "stitch", put(cli, "f.txt", text("First.")), old, "--save", "--json")
    assert list(other.json) == ["capsule", "replaced", "dropped", "hops", "origin", "warnings"]
    assert {each["text"]: each["origin"] for each in listed(cli)}[other.json["capsule"]] == old


# -- what must not travel (decision C-9) ----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("command", ["save", "resume", "from-packet", "stitch --save", "to-packet --save"])
def test_a_secret_is_refused_everywhere(cli: InPlace, command: str, options: tuple[str, ...]) -> None:
    name, *rest = command.split()
    flagged = text(f"Rotate {SECRET} now.")
    source = (
        cli.write("s.json", full(1, next_step=f"Use {SECRET}."))
        if name == "from-packet"
        else put(cli, "s.txt", flagged)
    )
    sources = [put(cli, "clean.txt", text()), source] if name == "stitch" else [source]
    result = cli("capsule", name, *sources, *rest, *options)
    assert result.code == 4
    assert listed(cli) == []
    assert cli.ids() == []
    if options:
        assert SECRET not in result.out + result.err
        assert result.error["code"] == ("packet.redaction" if name == "to-packet" else "capsule.redaction")
        assert all("aws-key" in kind for kind in result.error["details"]["redaction"])
    else:
        assert result.out == ""
        bullet, message = result.err.splitlines()
        assert re.fullmatch(rf"  • \S+/aws-key: {SECRET}", bullet)
        assert SECRET not in message


def test_a_secret_that_is_allowed(cli: InPlace) -> None:
    name = put(cli, "s.txt", text(f"Rotate {SECRET} now."))
    stored = cli("capsule", "save", name, "--allow-unredacted")
    assert (stored.code, stored.err) == (0, f"stored unredacted: SEED/aws-key: {SECRET}\n")
    [row] = listed(cli)
    assert row["flagged"]
    assert cli("capsule", "resume", row["id"]).code == 4
    assert SECRET in cli("capsule", "resume", row["id"], "--allow-unredacted").out
    assert cli("capsule", "to-packet", name, "--save", "--allow-unredacted").code == 0


def test_the_prompt_of_show_is_held_back_with_a_secret(cli: InPlace) -> None:
    result = cli("capsule", "show", put(cli, "s.txt", text(f"Rotate {SECRET} now.")), "--json")
    assert (result.code, result.json["prompt"]) == (0, None)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_report_shows_no_secret_that_did_not_come_along(cli: InPlace, options: tuple[str, ...]) -> None:
    decision = {"what": "w", "why": "y", "consequences": f"Uses {SECRET}."}
    result = cli("capsule", "from-packet", cli.write("p.json", full(1, decisions=[decision])), *options)
    assert result.code == 0
    assert SECRET not in result.out + result.err
    assert "[redacted:aws-key]" in result.out + result.err


# -- processes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", ["check", "show", "resume", "fit", "stamp", "to-packet", "stitch", "from-packet", "prompt"]
)
def test_without_a_store_nothing_heavy_is_imported_and_no_store_is_made(shell: Shell, command: str) -> None:
    name = shell.write("c.txt", text().encode())
    arguments = {"stitch": (name, name), "from-packet": (str(FIRST),), "prompt": ("compress",)}.get(command, (name,))
    assert imported(shell, "capsule", command, *arguments) & HEAVY == set()
    assert not shell.segue_home.exists()


def test_a_stored_capsule_needs_the_database_alone(shell: Shell) -> None:
    name = shell.write("c.txt", text().encode())
    full_id = shell.run("capsule", "save", name).out.strip()
    assert imported(shell, "capsule", "show", full_id) & HEAVY == {"sqlalchemy"}


def test_every_command_explains_itself(cli: InPlace) -> None:
    assert [word for word in COMMANDS if word not in cli("capsule", "--help").out] == []
    for command in COMMANDS:
        result = cli("capsule", command, "--help")
        assert (result.code, "--json" in result.out) == (0, True), command
        assert cli("capsule", command, "--no-such-option").code == 2


HOSTILE = "Go\x1b[31m on\x1b]0;me\x07 \x9b2J \x08\x7f \u202eright\u2066 \u200b\u2028 \ufeff\U000e0041 [bold]x[/bold]"
# Rich and Typer themselves send these: bold, dim, colours of frames; and the line ends of the terminal.
OURS = re.compile(rb"\x1b\[(?:0|1|2|1;\d\d|\d\d)?m|\r\n")
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("hostile"))
    fields = {"topic": "report export", "choice": "stream rows", "style": "short", "loop": "measure", "seed": "Export"}
    for name, word in fields.items():
        shell.write(f"{name}.txt", text().replace(word, HOSTILE).encode())
    shell.write("token.txt", text().replace("v1.2", HOSTILE).encode())
    shell.write("line.txt", text().replace("SEED:", f"{HOSTILE}:").encode())
    shell.write("type.txt", text().replace("CHOICE", HOSTILE).replace("HIGH", HOSTILE).encode())
    shell.write("packet.json", full(1, goal=f"漢 {HOSTILE}"))
    shell.write(
        "losses.json",
        full(
            2,
            decisions=[{"what": "w", "why": "y", "consequences": HOSTILE}],
            methods=[{"name": "m", "when_applicable": HOSTILE, "how": HOSTILE}],
            project={"name": "p", "ref": HOSTILE},
            provenance={"author_model": HOSTILE},
        ),
    )
    markup = "[bold]x[/bold] [red] \\[ {{}} %s ANSI \\x1b[31m"
    valid = text(f"Seed {markup}.", topic=markup, loops=f"PROMISE | {markup} | LOW\n")
    shell.write("valid.txt", valid.encode())
    shell.run("capsule", "save", "valid.txt")
    return shell


@pytest.mark.parametrize(
    "command",
    [
        *(f"check {name}.txt" for name in ("topic", "choice", "style", "loop", "seed", "token", "line", "type")),
        "check topic.txt --lenient", "show topic.txt", "resume seed.txt", "fit loop.txt", "stamp type.txt",
        "stitch valid.txt style.txt", "save token.txt", "to-packet line.txt", "from-packet packet.json",
        "from-packet losses.json", "ls", "show valid.txt", "resume valid.txt", "to-packet valid.txt", f"show {HOSTILE}",
        f"rm {HOSTILE}", f"prompt {HOSTILE}", f"ls --project {HOSTILE}", f"ls --cursor {HOSTILE}",
        f"stitch valid.txt valid.txt --policy {HOSTILE}", f"save valid.txt --from {HOSTILE}",
        f"show valid.txt --now {HOSTILE}",
    ],
)  # fmt: skip
def test_nothing_raw_reaches_the_terminal(hostile: Shell, command: str) -> None:
    words = [HOSTILE if word == "@" else word for word in command.replace(HOSTILE, "@").split()]
    result = hostile.terminal("capsule", *words, columns=100)
    shown = OURS.sub(b"\n", result.stdout).decode("utf-8")
    assert RAW.findall(shown) == []
    assert "Traceback" not in shown
    assert shown.strip()


def test_markup_is_text(hostile: Shell) -> None:
    assert "[bold]x[/bold]" in hostile.run("capsule", "ls", env={"COLUMNS": "300"}).out


def test_a_reader_that_goes_away(shell: Shell) -> None:
    name = shell.write("c.txt", large().encode())
    result = shell.script(f"segue capsule fit {name} 2>/dev/null | head -n 1")
    assert (result.code, result.out) == (0, "===PCSF:v1.2===\n")


def test_a_pipe_through_all_of_it(shell: Shell) -> None:
    shell.write("new.txt", text(minute="2026-10-01T09:30Z").encode())
    result = shell.script(
        f"segue capsule from-packet {SECOND} 2>/dev/null | segue capsule stamp - | segue capsule stitch - new.txt"
        " | segue capsule fit - --no-integrity | segue capsule to-packet - 2>/dev/null | segue check - --json"
    )
    assert (result.code, result.json["valid"], result.err) == (0, True, "")


def test_a_draft_without_id_becomes_a_capsule(cli: InPlace) -> None:
    """What `save` takes is taken here too: the prompt tells people to leave the id out."""
    (cli.shell.project / "draft.json").write_text('{"ltm_version": "0.2", "goal": "Ship it.", "next_step": "Test it."}')
    result = cli("capsule", "from-packet", "draft.json", "--now", "2026-05-04T09:30:00Z", "--json")
    assert result.code == 0
    assert "| 2026-05-04T09:30Z" in result.json["capsule"]


def test_a_slip_of_a_key_removes_no_capsule(cli: InPlace) -> None:
    assert cli("capsule", "rm", "1", "--json").error["code"] == "capsule.short_id"
