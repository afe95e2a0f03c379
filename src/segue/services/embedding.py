"""Which embedder a store uses: the caller's choice, else the store's own, else the default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from segue.base.errors import Failed, InvalidInput

if TYPE_CHECKING:
    from segue.search.meaning import Encoder
    from segue.search.vectors import WordVectors
    from segue.storage.database import Database

SETTING = "embedder"
DEFAULT = "static"
SEMANTIC = "semantic"
NAMES = ("static", "semantic", "none")


@dataclass(frozen=True)
class Embedding:
    """The embedder of one store, loaded when it is first needed. `chosen` is the caller's choice, "" for none."""

    database: Database
    chosen: str = ""

    @cached_property
    def name(self) -> str:
        """static, semantic or none. Raises InvalidInput `embedder.unknown`."""
        from segue.storage import settings

        name = self.chosen
        if not name:
            with self.database.read() as connection:
                name = settings.get(connection, SETTING) or DEFAULT
        return known(name)

    @cached_property
    def words(self) -> WordVectors:
        """The vectors of words; none where the embedder cannot be loaded (see `fault`)."""
        return self._loaded[0]

    @property
    def fault(self) -> str:
        """Why there are no vectors although they are wanted, "" where there are."""
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[WordVectors, str]:
        from segue.embedding import registry

        try:
            return registry.load("none" if self.name == "none" else "static"), ""
        except Failed as error:
            return registry.load("none"), error.message

    @cached_property
    def encoder(self) -> Encoder | None:
        """The encoder of sentences, where the store's embedder is semantic. Raises Failed `embedder.missing`."""
        if self.name != SEMANTIC:
            return None
        from segue.embedding import registry

        return registry.load_encoder()


def known(name: str) -> str:
    """Return `name` where an embedder is called that. Raises InvalidInput `embedder.unknown`."""
    if name not in NAMES:
        from segue.base.redaction import shown

        raise InvalidInput(
            "embedder.unknown", f"no embedder is called '{shown(name, 40)}'; there are {', '.join(NAMES)}"
        )
    return name


def choose(database: Database, name: str) -> None:
    """Make `name` the embedder of a store from now on; what lies in it is to be reindexed then.

    Raises InvalidInput `embedder.unknown`, Failed `embedder.missing` where it cannot be loaded here.
    """
    from segue.embedding import registry
    from segue.storage import settings

    if known(name) != "none":
        registry.load("static")
    if name == SEMANTIC:
        registry.load_encoder()
    with database.write() as connection:
        settings.put(connection, SETTING, name)
