"""The claim guard: which claims of a text a receipt proves, and what would prove the others (K1, facts 001.4).

A receipt that is bound to a text proves that text to the letter, and no other. One that is bound to files alone proves
the sentences that name them, while they are as it says. Anything else is a replay and proves nothing.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segue.base.errors import InvalidInput
from segue.continuity.named_files import Paths, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from segue.continuity.claims import Claim

_OF_TEXT = "a receipt bound to this very text: `segue receipt issue FILE… --response REPLY.txt`"
_OF_FILES = "a receipt for {}: `segue receipt issue {}`, then `--receipt TX`"


@dataclass(frozen=True, slots=True)
class Proof:
    """What one receipt is found to prove now.

    `fault` says why it proves nothing, "" where it holds. `text` is exact where it is bound to the text that is judged,
    other where to another text, none where to files alone; `paths` are its files that are as it says, `changed` those
    that are not.
    """

    tx_id: str
    fault: str = ""
    text: str = "none"
    paths: frozenset[str] = frozenset()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unproven:
    """A claim that nothing proves: `why` on one line, and what would prove it (`needs`)."""

    claim: Claim
    why: str
    needs: str

    def to_json(self) -> dict[str, Any]:
        """Return `{"sentence", "start", "end", "says", "subject", "why", "needs"}`."""
        claim = self.claim
        place = {"sentence": claim.sentence, "start": claim.start, "end": claim.end}
        return {**place, "says": claim.marker, "subject": claim.subject, "why": self.why, "needs": self.needs}


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a text was judged: its claims, those of them that nothing proves, and the receipt that was gone by."""

    claims: tuple[Claim, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    receipt: str = ""

    @property
    def passes(self) -> bool:
        """Whether the text may go out."""
        return not self.unproven

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `segue guard --json`."""
        return {
            "verdict": "passes" if self.passes else "refused",
            "claims": len(self.claims),
            "receipt": self.receipt or None,
            "refused": [each.to_json() for each in self.unproven],
        }


def require_text(data: bytes) -> None:
    """Raise InvalidInput `file.encoding` for bytes that are no UTF-8: in another encoding they may claim anything."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("file.encoding", "the text is no UTF-8, so that nobody can tell what it claims") from None


def judged(found: tuple[Claim, ...], proof: Proof | None, is_here: Callable[[str], bool] = lambda _: False) -> Verdict:
    """Return the verdict on a text that makes these claims.

    `is_here` says whether the project has a file or a folder of exactly that path.
    """
    tx_id = proof.tx_id if proof else ""
    held, changed = (Paths(each, is_here) for each in ((proof.paths, proof.changed) if proof else ((), ())))
    refused = [judgement for each in found if (judgement := _judged(each, proof, held, changed)) is not None]
    return Verdict(found, tuple(refused), tx_id)


def _judged(claim: Claim, proof: Proof | None, held: Paths, changed: Paths) -> Unproven | None:
    names = named(claim.sentence)
    why = _against(names, proof, held, changed)
    if not why:
        return None
    listed = shlex.join(names)  # it is there to be copied, and names come from the text
    return Unproven(claim, why, f"{_OF_FILES.format(', '.join(names), listed)}; or {_OF_TEXT}" if names else _OF_TEXT)


def _against(names: tuple[str, ...], proof: Proof | None, held: Paths, changed: Paths) -> str:
    """Why a claim that names these files is not proven, "" where it is."""
    if proof is None:
        return "no receipt is bound to this text"
    if proof.fault:
        return proof.fault
    if proof.text == "other":
        return f"{proof.tx_id} is bound to another text"
    if proof.text == "exact":
        return f"{proof.changed[0]} was changed after {proof.tx_id}" if proof.changed else ""
    if not names:
        return f"{proof.tx_id} is bound to files alone, and the sentence names none"
    left = held.without(names)
    if not left:
        return ""
    if not changed.without(left[:1]):
        return f"{left[0]} was changed after {proof.tx_id}"
    return f"{proof.tx_id} does not speak of {left[0]}"
