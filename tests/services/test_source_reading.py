"""What reads the places of sources."""

from __future__ import annotations

import pytest

from segue.base.errors import InvalidInput
from segue.services.source_reading import Readers


def test_a_folder_takes_no_token() -> None:
    with pytest.raises(InvalidInput, match="no token") as refused:
        Readers().read("local", "/made-up/notes", bearer="a-token-of-theirs")
    assert refused.value.code == "source.bearer"
