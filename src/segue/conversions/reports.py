"""What a conversion changed or could not carry over, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from segue.base import redaction
from segue.base.redaction import Field

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def masked(losses: Sequence[Loss]) -> list[Loss]:
    """Return `losses` with what the redactor finds masked: a report travels further than what it reports on."""
    fields = [Field(str(place), loss.text, True) for place, loss in enumerate(losses)]
    found = {int(finding.path) for finding in redaction.scan(fields)}
    return [
        replace(loss, text=redaction.mask(fields[place])[0]) if place in found else loss
        for place, loss in enumerate(losses)
    ]
