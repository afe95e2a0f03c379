"""How much a store is asked while a source is taken into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from source_samples import Scripted, record, source

if TYPE_CHECKING:
    import segue

PLACE = "/made-up/notes"
NUMBER = 60


def records(word: str) -> dict[str, str]:
    return {f"r{each}": record(f"{word} {each} is of rye.", tags=["bread"]) for each in range(NUMBER)}


def test_what_is_known_of_a_source_is_read_at_once(segue_: segue.Segue) -> None:
    readers = Scripted({PLACE: source(records("Loaf"))})
    sources = segue_.sources.reading(readers)
    name = sources.add(sources.look(PLACE)).source.name
    statements: list[str] = []
    engine = segue_._database.engine
    sa.event.listen(engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))

    readers.places[PLACE] = source(records("Roll"))
    assert sources.refresh(name).counts["changed"] == NUMBER
    read = [each for each in statements if each.startswith("SELECT")]
    assert len(read) < NUMBER
    statements.clear()

    assert sources.rm(name).memories == 2 * NUMBER
    assert len(statements) < NUMBER
