"""The embedders by name."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from segue.search.meaning import Encoder
    from segue.search.vectors import WordVectors

NAMES = ("static", "none")
DEFAULT = "static"


@lru_cache(maxsize=len(NAMES))
def load(name: str = DEFAULT) -> WordVectors:
    """Return the embedder called `name`, loaded once for the process.

    Raises InvalidInput `embedder.unknown`, Failed `embedder.missing`.
    """
    if name == "static":
        from segue.embedding.static import StaticEmbedder

        return StaticEmbedder()
    if name == "none":
        from segue.embedding.none import NoEmbedder

        return NoEmbedder()
    from segue.base.redaction import shown

    raise InvalidInput("embedder.unknown", f"no embedder is called '{shown(name, 40)}'; there are {', '.join(NAMES)}")


@lru_cache(maxsize=4)
def load_encoder(model: Path | None = None, tokenizer: Path | None = None) -> Encoder:
    """Return the encoder of sentences of `segue[semantic]`, beside which the embedder `static` goes on being used.

    Raises Failed `embedder.missing`.
    """
    from segue.embedding.semantic import SemanticEncoder

    return SemanticEncoder(model, tokenizer)
