"""What reads the places of sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from segue.base.errors import InvalidInput
from segue.services.source_reading import Readers
from sources import folders

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_takes_no_token() -> None:
    with pytest.raises(InvalidInput, match="no token") as refused:
        Readers().read("local", "/made-up/notes", bearer="a-token-of-theirs")
    assert refused.value.code == "source.bearer"


def test_a_folder_that_says_what_it_said_is_unchanged(tmp_path: Path) -> None:
    folder = str(folders.write(tmp_path / "notes"))
    first = Readers().read("local", folder)
    before = {each.path: each for each in first.resources}
    assert not first.unchanged
    assert Readers().read("local", folder, before=before).unchanged
    (tmp_path / "notes" / "records" / "style.md").write_text("Names are short nouns.\n")
    assert not Readers().read("local", folder, before=before).unchanged
