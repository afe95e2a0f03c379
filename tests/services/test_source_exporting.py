"""Records of sources in the files of other tools, by the library alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from source_samples import Scripted, record, source

from segue.base import place
from segue.base.errors import InvalidInput, NotFound, Refused

if TYPE_CHECKING:
    from pathlib import Path

    import segue
    from segue.services.sources import Sources

PLACE = "/notes"


def test_a_file_follows_its_sources(segue_: segue.Segue, tmp_path: Path) -> None:
    readers = Scripted({PLACE: source({"tests": record("Run the tests with make test.")})})
    sources = segue_.sources.reading(readers)
    name = sources.add(sources.look(PLACE)).source.name
    file = tmp_path / "AGENTS.md"
    file.write_bytes(b"# Ours\n")
    with pytest.raises(NotFound, match="no source"):
        sources.exporting.write([name, "nobody"], "agents-md", tmp_path)
    with pytest.raises(InvalidInput, match="nothing is exported to 'vim'"):
        sources.exporting.write([name], "vim", tmp_path)
    assert file.read_bytes() == b"# Ours\n"
    assert sources.exporting.write([name], "agents-md", tmp_path).state == "written"
    assert "> Run the tests with make test." in file.read_text("utf-8")

    readers.places[PLACE] = source({"tests": record("Run the tests with just test.")})
    sources.refresh(name)
    assert [(each.state, each.path) for each in sources.exporting.rewrite([name])] == [("written", str(file))]
    assert "> Run the tests with just test." in file.read_text("utf-8")
    assert [each.state for each in sources.exporting.rewrite([name], without=name)] == ["cleared"]
    assert file.read_bytes() == b"# Ours\n"


@pytest.fixture
def noted(segue_: segue.Segue) -> tuple[Sources, Scripted]:
    """Two sources, which are called notes and more."""
    places = {PLACE: source({"tests": record("Run make test.")}), "/more": source({"style": record("Use nouns.")})}
    readers = Scripted(places)
    sources = segue_.sources.reading(readers)
    for each in places:
        sources.add(sources.look(each))
    return sources, readers


def test_a_file_that_is_reached_in_two_ways_is_one(noted: tuple[Sources, Scripted], tmp_path: Path) -> None:
    sources, _ = noted
    project, other = tmp_path / "repository", tmp_path / "other"
    project.mkdir()
    other.symlink_to(project)
    sources.exporting.write(["notes"], "agents-md", project)
    sources.exporting.write(["more"], "agents-md", other)
    text = (project / "AGENTS.md").read_text("utf-8")
    assert "make test" in text and "nouns" in text
    sources.exporting.rewrite(["more"], without="more")
    assert "make test" in (project / "AGENTS.md").read_text("utf-8")
    sources.rm("more")
    assert [each.state for each in sources.exporting.rewrite(["notes"], without="notes")] == ["removed"]


@pytest.mark.requirement("sources-export-inert")
@pytest.mark.parametrize(("tool", "link"), [("agents-md", "AGENTS.md"), ("claude-code", ".claude")])
def test_no_link_has_records_written_beyond_the_folder(
    noted: tuple[Sources, Scripted], tmp_path: Path, tool: str, link: str
) -> None:
    sources, _ = noted
    project, elsewhere = tmp_path / "repository", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    (elsewhere / "shellrc").write_bytes(b"# mine\n")
    (project / link).symlink_to(elsewhere / "shellrc" if link == "AGENTS.md" else elsewhere)
    with pytest.raises(Refused, match="leads elsewhere"):
        sources.exporting.write(["notes"], tool, project)
    assert [each.read_bytes() for each in elsewhere.rglob("*") if each.is_file()] == [b"# mine\n"]
    assert sources.get("notes").stored.exports == ()
    (project / link).unlink()
    written = sources.exporting.write(["notes"], tool, project)
    (project / link).rename(project / "before")
    (project / link).symlink_to(elsewhere / "shellrc" if link == "AGENTS.md" else elsewhere)
    (again,) = sources.exporting.rewrite(["notes"])
    assert (again.path, again.state) == (written.path, "failed")
    assert [each.read_bytes() for each in elsewhere.rglob("*") if each.is_file()] == [b"# mine\n"]


def test_a_link_within_the_folder_stays(noted: tuple[Sources, Scripted], tmp_path: Path) -> None:
    sources, _ = noted
    (tmp_path / "CLAUDE.md").write_bytes(b"# Ours\n")
    (tmp_path / "AGENTS.md").symlink_to("CLAUDE.md")
    sources.exporting.write(["notes"], "agents-md", tmp_path)
    assert (tmp_path / "AGENTS.md").is_symlink()
    assert "make test" in (tmp_path / "CLAUDE.md").read_text("utf-8")
    sources.exporting.rewrite(["notes"], without="notes")
    assert (tmp_path / "CLAUDE.md").read_bytes() == b"# Ours\n"


def test_what_was_cut_off_while_writing_is_found_again(
    noted: tuple[Sources, Scripted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, _ = noted

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(place, "write", killed)
        sources.exporting.write(["notes"], "agents-md", tmp_path)
    assert [each.path for each in sources.get("notes").stored.exports] == [str(tmp_path / "AGENTS.md")]
    assert [each.state for each in sources.exporting.rewrite(["notes"])] == ["made"]
    assert [each.state for each in sources.exporting.rewrite(["notes"], without="notes")] == ["removed"]
    assert not (tmp_path / "AGENTS.md").exists()


def test_what_fails_is_not_noted(noted: tuple[Sources, Scripted], tmp_path: Path) -> None:
    sources, _ = noted
    (tmp_path / "AGENTS.md").write_bytes(b"\xff")
    with pytest.raises(InvalidInput):
        sources.exporting.write(["notes"], "agents-md", tmp_path)
    assert sources.get("notes").stored.exports == ()


def test_what_is_masked_in_memories_is_masked_in_files(
    noted: tuple[Sources, Scripted], segue_: segue.Segue, tmp_path: Path
) -> None:
    sources, readers = noted
    secret = "sk-" + "proj-" + "abcdEFGH1234567890" * 2
    told = f"The log lies in /home/somebody/importer/run.log; use {secret}."
    readers.places[PLACE] = source({"log": record(told, title="/home/somebody/x", scope=secret, tags=[secret])})
    sources.refresh("notes")
    sources.exporting.write(["notes"], "agents-md", tmp_path)
    text = (tmp_path / "AGENTS.md").read_text("utf-8")
    assert "The log lies in [redacted:abs-path]" in text
    assert "somebody" not in text and secret not in text
    assert secret not in str(segue_.memories.ls().memories)
