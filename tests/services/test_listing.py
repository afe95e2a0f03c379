"""Packets.ls and newest: filters, order, pages."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import segue
from segue.services.packets import Page

if TYPE_CHECKING:
    from pathlib import Path

Draft = Callable[..., dict[str, Any]]
START = datetime(2026, 5, 1, tzinfo=UTC)
FOLLOWED = "followed-packet-1"


def _ids(page: Page) -> list[str]:
    return [line.id for line in page.packets]


def _number(segue_: segue.Segue, draft: Draft, count: int, **members: Any) -> list[str]:
    """Save packets, one a day; return their ids, newest first."""
    made = []
    for index in range(count):
        created = (START + timedelta(days=index)).isoformat().replace("+00:00", "Z")
        document = draft(id=f"packet-{index:04}", created_at=created, goal=f"Goal {index}.")
        made.append(segue_.packets.save(document | members).id)
    return made[::-1]


def test_an_empty_store_has_an_empty_list(segue_: segue.Segue) -> None:
    assert segue_.packets.ls() == Page([], None)
    assert segue_.packets.ls(search="word", tag="tag", project="p", limit=1) == Page([], None)


def test_a_line_says_what_the_packet_is(segue_: segue.Segue, draft: Draft) -> None:
    saved = segue_.packets.save(
        draft(tags=["b", "a", "b"], parent_id=FOLLOWED, project={"name": "Importer", "ref": "github.com/acme/importer"})
    )
    [line] = segue_.packets.ls().packets
    assert (line.id, line.created_at, line.goal) == (saved.id, saved.created_at, saved.goal)
    assert (line.project_name, line.project_ref) == ("Importer", "github.com/acme/importer")
    assert (line.parent_id, line.tags, line.flagged) == (FOLLOWED, ("a", "b"), False)


def test_order_is_by_instant_whatever_the_offset_and_the_fraction(segue_: segue.Segue, draft: Draft) -> None:
    times = [
        "9999-12-31T23:59:59.999999999-23:59",
        "2026-05-04T09:30:00.000002Z",
        "2026-05-04T11:30:00.000001999+02:00",
        "2026-05-04T09:30:00.0000011z",
        "2026-05-04T00:30:00-09:00",
        "2026-05-04T09:29:59.999999999Z",
        "1969-12-31T23:59:59Z",
        "0001-01-01T00:00:00+23:59",
    ]
    for index, created in enumerate(times):
        # Two of one microsecond follow their ids; what a microsecond cannot tell apart is equal.
        segue_.packets.save(draft(id=f"packet-{9 - index}xx", created_at=created, goal=f"Goal {index}."))
    assert [line.created_at for line in segue_.packets.ls().packets] == times
    first = segue_.packets.ls(limit=3)
    assert [line.created_at for line in first.packets] == times[:3]
    rest = segue_.packets.ls(limit=500, cursor=first.cursor)
    assert [line.created_at for line in rest.packets] == times[3:]
    assert segue_.store.doctor() == []


def test_since_is_included_and_until_is_not(segue_: segue.Segue, draft: Draft) -> None:
    newest_first = _number(segue_, draft, 5)
    assert _ids(segue_.packets.ls(since=START + timedelta(days=2))) == newest_first[:3]
    assert _ids(segue_.packets.ls(until=START + timedelta(days=2))) == newest_first[3:]
    between = segue_.packets.ls(since=START + timedelta(days=1), until=START + timedelta(days=3))
    assert _ids(between) == newest_first[2:4]
    assert _ids(segue_.packets.ls(since=START + timedelta(days=2, microseconds=1))) == newest_first[:2]


def test_every_combination_of_filters(segue_: segue.Segue, draft: Draft) -> None:
    """Eight filters, each combination: the store answers what plain Python answers over the same packets."""
    options: dict[str, tuple[Any, Any]] = {
        "project": ({"name": "Importer"}, {"name": "Exporter"}),
        "tags": (["csv", "x"], ["json"]),
        "parent_id": (FOLLOWED, "other-packet-1"),
        "next_step": ("Compare the needles.", "Compare the haystack."),
    }
    saved = {}
    for index, choice in enumerate(itertools.product((0, 1), repeat=len(options))):
        created = (START + timedelta(hours=index)).isoformat()
        members = {name: values[pick] for (name, values), pick in zip(options.items(), choice, strict=True)}
        packet = segue_.packets.save(draft(id=f"packet-{index:04}", created_at=created, **members))
        saved[packet.id] = packet
    half = START + timedelta(hours=8)
    filters: dict[str, tuple[Any, Callable[[segue.Packet], bool]]] = {
        "project": ("Importer", lambda p: p.project is not None and p.project.name == "Importer"),
        "tag": ("csv", lambda p: "csv" in p.tags),
        "parent": (FOLLOWED, lambda p: p.parent_id == FOLLOWED),
        "search": ("NEEDLES compare", lambda p: "needles" in p.next_step),
        "since": (START + timedelta(hours=3), lambda p: p.created >= START + timedelta(hours=3)),
        "until": (half, lambda p: p.created < half),
    }
    for chosen in itertools.product((False, True), repeat=len(filters)):
        used = {name: value for (name, value), use in zip(filters.items(), chosen, strict=True) if use}
        wanted = [p.id for p in saved.values() if all(matches(p) for _, matches in used.values())]
        got = segue_.packets.ls(**{name: value for name, (value, _) in used.items()})
        assert _ids(got) == wanted[::-1], sorted(used)


@pytest.mark.parametrize(
    ("project", "found"),
    [
        ("Importer", True),
        ("importer", True),
        ("IMPORTER", True),
        ("  Importer ", True),
        ("GitHub.com/ACME/importer", True),
        ("Importe", False),
        ("https://user@GitHub.com/Acme/Importer.git", True),
        ("remote:github.com/acme/importer", True),
        ("github.com/acme/importer", True),
        ("git@github.com:acme/importer.git", True),
        ("github.com/acme/exporter", False),
        ("Import%", False),
        ("", False),
    ],
)
def test_a_project_by_name_ref_or_key(segue_: segue.Segue, draft: Draft, project: str, found: bool) -> None:
    address = "https://user@GitHub.com/Acme/Importer.git"
    segue_.packets.submit(draft(project={"name": "Importer", "ref": address}), allow_unredacted=True)
    assert bool(segue_.packets.ls(project=project).packets) is found


def test_this_project(tmp_path: Path, location: str, draft: Draft) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        with segue.open(location, directory=folder) as opened:
            opened.packets.save(draft(goal=folder.name))
            assert opened.packets.newest().goal == folder.name
            assert [line.goal for line in opened.packets.ls(project=".").packets] == [folder.name]
            assert [line.goal for line in opened.packets.ls(project=opened.project.key).packets] == [folder.name]
    with segue.open(location, directory=tmp_path) as opened:
        with pytest.raises(segue.NotFound) as nothing:
            opened.packets.newest()
        assert nothing.value.code == "packet.none"
        assert "2 of other projects" in nothing.value.message
        assert opened.packets.ls(project=".").packets == []
        assert len(opened.packets.ls().packets) == 2


def test_a_packet_that_names_the_remote_belongs_to_its_clone(tmp_path: Path, location: str, draft: Draft) -> None:
    import subprocess

    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    remote = "ssh://git@github.com/acme/importer.git"
    subprocess.run(["git", "-C", str(clone), "remote", "add", "origin", remote], check=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with segue.open(location, directory=elsewhere) as opened:
        saved = opened.packets.save(draft(project={"ref": "https://github.com/Acme/Importer"}))
    with segue.open(location, directory=clone) as opened:
        assert opened.packets.newest() == saved
        assert opened.packets.resume() == opened.packets.resume(saved.id)


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("100%", True),
        ("100_", True),  # what stands between words is not searched
        ("1%0", False),
        ("snake_case", True),
        ("snakeXcase", False),
        ("snake%case", True),
        ("case_snake", False),
        ("sna", True),  # words begin with what is asked for
        ("ase", False),
        ("snak_case", False),  # each part but the last one is whole
        ("t", True),
        ("京", True),
        ("東京で", False),
        ("back\\slash", True),
        ("o'clock", True),
        ('"quoted"', True),
        ("CAFÉ", True),
        (unicodedata.normalize("NFD", "café"), True),
        ("cafe", False),
        ("STRASSE", True),
        ("ﬁle", True),  # the ligature
        ("ΣΊΣΥΦΟΣ", True),
        ("東京", True),
        ("clock   \t 東京", True),
        ("clock absent", False),
        ("  ", True),
        ("reviewed", True),  # a tag
        ("acme/importer", True),  # the project
        ("/", False),
        ("a\0b", False),
        ("NULL", False),
    ],
)
def test_search_words(segue_: segue.Segue, draft: Draft, search: str, found: bool) -> None:
    said = unicodedata.normalize("NFD", "Café")
    segue_.packets.save(
        draft(
            goal=f"At five o'clock 100% of snake_case in {said} is done.",
            constraints=['Keep back\\slash and "quoted" in 東京.', "straße", "file by file", "σίσυφος"],
            tags=["reviewed"],
            project={"ref": "github.com/acme/importer"},
        )
    )
    assert bool(segue_.packets.ls(search=search).packets) is found


@pytest.mark.parametrize("name", ["project", "tag", "parent", "search"])
@pytest.mark.parametrize("text", ["a\0b", "", "'", "%", "\ufffd", "x" * 1_024])
def test_a_filter_of_any_text_is_answered(segue_: segue.Segue, draft: Draft, name: str, text: str) -> None:
    segue_.packets.save(draft())
    found: dict[str, Any] = {name: text}
    assert segue_.packets.ls(**found).packets == (segue_.packets.ls().packets if found == {"search": ""} else [])


@pytest.mark.parametrize("name", ["project", "tag", "parent", "search"])
@pytest.mark.parametrize("text", ["\udc80", "x" * 100_000])
def test_a_filter_that_is_no_text_is_refused(segue_: segue.Segue, name: str, text: str) -> None:
    wrong: dict[str, Any] = {name: text}
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.packets.ls(**wrong)
    assert refused.value.code == "filter.invalid"


@pytest.mark.parametrize("limit", [0, -1, 501, 10**12])
def test_a_limit_outside_its_range_is_refused(segue_: segue.Segue, limit: int) -> None:
    with pytest.raises(segue.InvalidInput) as refused:
        segue_.packets.ls(limit=limit)
    assert refused.value.code == "limit.invalid"


def test_pages(segue_: segue.Segue, draft: Draft) -> None:
    newest_first = _number(segue_, draft, 7)
    for size in (1, 2, 3, 6, 7, 8, 500):
        page = segue_.packets.ls(limit=size)
        seen, rounds = _ids(page), 1
        while page.cursor:
            page = segue_.packets.ls(limit=size, cursor=page.cursor)
            seen += _ids(page)
            rounds += 1
        assert seen == newest_first
        assert rounds == -(-7 // size)  # no empty page at the end


def test_packets_of_one_instant_are_paged_by_id(segue_: segue.Segue, draft: Draft) -> None:
    ids = ["aaaaaaaaaa", "Zzzzzzzzzz", "_underscore", "ääääääääää", "zzzzzzzzzz", "𝔞𝔟𝔠𝔡𝔢𝔣𝔤𝔥𝔦𝔧", "\uffeeaaaaaaaaa"]
    made = [segue_.packets.save(draft(id=each, created_at="2026-05-04T09:30:00Z")).id for each in ids]
    by_bytes = sorted(made, key=lambda each: each.encode(), reverse=True)
    page = segue_.packets.ls(limit=2)
    seen = _ids(page)
    while page.cursor:
        page = segue_.packets.ls(limit=2, cursor=page.cursor)
        seen += _ids(page)
    assert seen == by_bytes


def test_pages_hold_still_while_rows_come_and_go(segue_: segue.Segue, draft: Draft) -> None:
    newest_first = _number(segue_, draft, 6)
    page = segue_.packets.ls(limit=2)
    segue_.packets.save(draft(id="packet-late", created_at="2027-01-01T00:00:00Z", goal="Late."))
    segue_.packets.rm(page.packets[-1].id)  # the very packet that the cursor points at
    rest = segue_.packets.ls(limit=500, cursor=page.cursor)
    assert _ids(rest) == newest_first[2:]


def test_a_cursor_belongs_to_its_list(location: str, segue_: segue.Segue, draft: Draft) -> None:
    _number(segue_, draft, 4, tags=["a"])
    cursor = segue_.packets.ls(tag="a", limit=1).cursor
    assert cursor is not None
    # Times may differ from call to call ("the last week"), the size of a page too.
    assert len(segue_.packets.ls(tag="a", limit=5, since=START, cursor=cursor).packets) == 3
    wrong: list[tuple[str, dict[str, Any]]] = [
        (cursor, {}),
        (cursor, {"tag": "b"}),
        (cursor, {"tag": "a", "search": "goal"}),
        (cursor, {"tag": "a", "project": "p"}),
        (cursor, {"tag": "a", "project": "."}),
        (cursor, {"tag": "a", "parent": FOLLOWED}),
        (cursor[:-1], {"tag": "a"}),
        (cursor[::-1], {"tag": "a"}),
        ("", {"tag": "a"}),
        ("é", {"tag": "a"}),
        ("\udc80", {"tag": "a"}),
        ("AAAA" * 1000, {"tag": "a"}),
    ]
    for given, filters in wrong:
        with pytest.raises(segue.InvalidInput) as refused:
            segue_.packets.ls(cursor=given, **filters)
        assert refused.value.code == "cursor.invalid"


def test_every_changed_character_of_a_cursor_is_noticed(segue_: segue.Segue, draft: Draft) -> None:
    _number(segue_, draft, 2)
    cursor = segue_.packets.ls(limit=1).cursor
    assert cursor is not None
    for index, character in enumerate(cursor[:-1]):  # the last one has bits that mean nothing
        changed = cursor[:index] + ("A" if character != "A" else "B") + cursor[index + 1 :]
        with pytest.raises(segue.InvalidInput):
            segue_.packets.ls(cursor=changed)


def test_a_cursor_of_another_store_is_refused(
    kind: str, locate: Callable[[str], str], segue_: segue.Segue, draft: Draft
) -> None:
    _number(segue_, draft, 2)
    with segue.open(locate(kind)) as other:
        _number(other, draft, 2)
        with pytest.raises(segue.InvalidInput):
            segue_.packets.ls(cursor=other.packets.ls(limit=1).cursor)
