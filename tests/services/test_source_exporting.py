"""Records of sources in the files of other tools, by the library alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from source_samples import Scripted, record, source

from segue.base.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from pathlib import Path

    import segue

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
