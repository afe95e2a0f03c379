"""What a conversion changed or could not carry over, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["replaced", "cut", "filled", "dropped", "no place"]


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that is not in the result as it was.

    `kind` is replaced (characters), cut (shortened), filled (an empty text got a stand-in), dropped (caps and
    budget) or no place (the other format has none); `path` names it in the source, `text` says it.
    """

    kind: Kind
    path: str
    text: str

    def to_json(self) -> dict[str, str]:
        """Return `{"kind", "path", "text"}`."""
        return {"kind": self.kind, "path": self.path, "text": self.text}
