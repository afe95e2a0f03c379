"""The dry run: everything that would fail, each with its rule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from segue.sources import checking, local
from segue.sources.limits import DEFAULT, Limits
from segue.sources.network import PUBLIC_ONLY
from sources.folders import manifest, write
from sources.liar import Liar, reader, reply, served

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def running() -> Iterator[Liar]:
    with Liar() as liar:
        yield liar


@pytest.fixture
def liar(running: Liar) -> Liar:
    running.serves()
    return running


def rules(found: list[Any]) -> list[tuple[str, str]]:
    return [(each.rule, each.place) for each in found]


@pytest.mark.requirement("sources-check")
def test_nothing_is_wrong(tmp_path: Path, liar: Liar) -> None:
    told: list[tuple[int, int]] = []
    folder = write(tmp_path / "memories")
    assert checking.check_folder(folder, DEFAULT, on_progress=lambda *each: told.append(each)) == []
    assert checking.check_url(reader(), str(liar.base), on_progress=lambda *each: told.append(each)) == []
    assert told == [(0, 2), (1, 2), (2, 2)] * 2


@pytest.mark.requirement("sources-check")
def test_everything_wrong_with_a_folder_in_the_order_of_its_manifest(tmp_path: Path) -> None:
    folder = write(tmp_path / "memories", {"a.md": "---\nkind: rumour\ntitle: [x]\ncreated: soon\n---\nA", "b.md": "B"})
    (folder / "link.md").symlink_to("b.md")
    (folder / "bom.md").write_bytes(b"\xef\xbb\xbfText")
    (folder / "large.md").write_bytes(b"x" * 300_000)
    listed = ["a.md", "../out.md", "link.md", "bom.md", {"id": "b", "path": "b.md", "bytes": 9}, "large.md", "none.md"]
    (folder / "memories.json").write_bytes(manifest(*listed, hue=1))
    found = checking.check_folder(folder, DEFAULT)
    assert rules(found) == [
        ("path.parent", "memories.json"),
        ("manifest.unknown_key", "memories.json"),
        ("record.value", "a.md:3"),
        ("record.time", "a.md:4"),
        ("record.unknown_kind", "a.md:2"),
        ("path.link", "link.md"),
        ("record.bom", "bom.md:1"),
        ("record.bytes", "b.md"),
        ("limit.record_bytes", "large.md"),
        ("record.missing", "none.md"),
    ]
    assert [each.rule for each in found if each.refused] == ["path.parent", "path.link"]
    assert [each.rule for each in found if not each.fails] == ["manifest.unknown_key", "record.unknown_kind"]


@pytest.mark.requirement("sources-check")
@pytest.mark.parametrize(
    ("name", "rule"), [("nothing", "folder.missing"), ("empty", "manifest.missing"), ("broken", "manifest.json")]
)
def test_a_folder_that_is_no_source(tmp_path: Path, name: str, rule: str) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "broken")
    (tmp_path / "broken" / "memories.json").write_bytes(b"{")
    assert [each.rule for each in checking.check_folder(tmp_path / name, DEFAULT)] == [rule]
    assert [each.rule for each in checking.check_folder(Path(name), DEFAULT)] == ["path.relative"]


@pytest.mark.requirement("sources-check")
def test_everything_wrong_with_a_site(liar: Liar) -> None:
    liar.answers(
        {
            "memories.json": served("html.md", "good.md", "away.md", "none.md", "shut.md", "bad.md", "fault.md"),
            "html.md": reply(b"x", media="text/html"),
            "good.md": reply(b"---\nsupersedes: none\n---\nGood."),
            "away.md": reply(b"", 302, location="https://evil.example/"),
            "shut.md": reply(b"", 403),
            "bad.md": reply(b"---\na: [\n---\nText."),
            "fault.md": reply(b"", 500),
        }
    )
    found = checking.check_url(reader(), str(liar.base))
    assert rules(found) == [
        ("media.type", "html.md"),
        ("redirect.origin", "away.md"),
        ("response.status", "none.md"),
        ("access.403", "shut.md"),
        ("record.front_matter", "bad.md:3"),
        ("response.server", "fault.md"),
    ]
    assert [each.refused for each in found] == [True, True, False, True, False, False]


@pytest.mark.requirement("sources-check")
def test_everything_wrong_with_a_url_and_nothing_is_asked_for(liar: Liar) -> None:
    found = checking.check_url(reader(), f"http://me:x@localhost.:{liar.port}//a?b#c")
    assert [each.rule for each in found] == [
        "url.scheme",
        "url.credentials",
        "url.query",
        "url.fragment",
        "url.path",
        "url.host",
    ]
    assert all(each.refused and each.fails for each in found)
    assert [each.rule for each in checking.check_url(reader(), "https://0x7f.1/")] == ["address.spelling"]
    assert liar.connections == 0


@pytest.mark.requirement("sources-check")
@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"policy": PUBLIC_ONLY}, "address.loopback"),
        ({"resolver": lambda host, port: []}, "network.failed"),
    ],
)
def test_what_fails_every_request_is_told_once(liar: Liar, given: dict[str, Any], rule: str) -> None:
    assert [each.rule for each in checking.check_url(reader(**given), str(liar.base))] == [rule]


@pytest.mark.requirement("sources-check")
def test_what_fails_every_request_from_some_point_on_ends_the_check(liar: Liar) -> None:
    turns = iter([["127.0.0.1"], ["10.0.0.1"]])
    moved = reply(b"", 302, location="b.md")
    liar.answers({"memories.json": served("a.md", "b.md", "c.md"), "a.md": moved})
    found = checking.check_url(reader(resolver=lambda host, port: next(turns)), str(liar.base))
    assert [each.rule for each in found] == ["address.private"]
    assert liar.targets() == ["memories.json", "a.md"]


@pytest.mark.requirement("sources-check")
def test_a_check_keeps_to_the_limits(tmp_path: Path) -> None:
    folder = write(tmp_path / "memories", {f"{n}.md": "x" * 100 for n in range(9)})
    found = checking.check_folder(folder, Limits(total_bytes=500))
    assert [each.rule for each in found] == ["limit.total_bytes"]


@pytest.mark.requirement("sources-check")
def test_a_check_and_a_refresh_agree(tmp_path: Path) -> None:
    """What a check finds in good order can be read."""
    folder = write(tmp_path / "memories")
    assert checking.check_folder(folder, DEFAULT) == list(local.read(folder, DEFAULT).remarks)
