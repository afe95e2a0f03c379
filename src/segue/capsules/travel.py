"""The redactor before a capsule travels: stored, shown for copying, or made from a packet (decision C-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base import redaction
from segue.base.redaction import Field, RedactionRefused
from segue.capsules.capsule import HEADERS

if TYPE_CHECKING:
    from segue.base.redaction import Finding
    from segue.capsules.capsule import Capsule


_MEND = "The capsule was neither stored nor shown for copying: reword these entries, or let it pass on purpose"
_MEND += redaction.ON_PURPOSE


def findings(capsule: Capsule) -> list[Finding]:
    """Return what a capsule holds that must not travel, named by layer and number of the entry."""
    fields = [Field("META.topic", capsule.meta.topic, True), Field("META.domain", capsule.meta.domain, True)]
    for header, entries in zip(HEADERS, capsule.layers, strict=True):
        fields += [Field(f"{header}[{index}]", entry.line, True) for index, entry in enumerate(entries)]
    return redaction.scan([*fields, Field("SEED", capsule.seed, True)])


def require_clean(capsule: Capsule, *, allow_unredacted: bool = False) -> list[Finding]:
    """Return the findings of a capsule where they are allowed. Raises RedactionRefused where not."""
    found = findings(capsule)
    if found and not allow_unredacted:
        raise RedactionRefused(found, "capsule.redaction", _MEND)
    return found
