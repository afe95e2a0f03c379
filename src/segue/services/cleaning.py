"""Items as they may be kept: checked, and free of secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from segue.base import redaction
from segue.base.redaction import Field, RedactionRefused
from segue.memories import making

if TYPE_CHECKING:
    from segue.memories.item import Item

Policy = Literal["refuse", "mask"]
_MEND = "Reword it, or let Segue mask what it found (--mask, redaction='mask' in a call)"


def clean(item: Item, policy: Policy, *, extended: bool = False) -> Item:
    """Return an item checked and without secrets; `extended` goes by all patterns and not by the core ones alone.

    Raises InvalidInput `memory.…`, RedactionRefused `memory.redaction` unless the policy is to mask them.
    """
    checked = making.checked(item)
    written = checked.provenance
    # A secret is told by its capitals, which tags that were checked do not keep.
    texts = {
        "content": checked.content,
        "summary": checked.summary,
        "project": checked.project,
        "thread": checked.thread,
        "speaker": checked.speaker,
        "ref": written.ref,
        "url": written.url,
        "author": written.author,
        "receipt": written.receipt,
        **{f"entities[{place}]": text for place, text in enumerate(checked.entities)},
        **{f"tags[{place}]": text for place, text in enumerate(item.tags)},
    }
    fields = [Field(path, text, True) for path, text in texts.items() if text]
    found = redaction.scan(fields, core_only=not extended, credentials=True)
    if not found:
        return checked
    if policy != "mask":
        raise RedactionRefused(found, "memory.redaction", _MEND)
    masked = texts | {
        field.path: redaction.mask(field, core_only=not extended, credentials=True)[0] for field in fields
    }
    without = replace(
        checked,
        content=masked["content"],
        summary=masked["summary"],
        project=masked["project"],
        thread=masked["thread"],
        speaker=masked["speaker"],
        entities=tuple(masked[f"entities[{place}]"] for place in range(len(checked.entities))),
        tags=tuple(masked[f"tags[{place}]"] for place in range(len(item.tags))),
        provenance=replace(
            written,
            ref=masked["ref"],
            author=masked["author"],
            receipt=masked["receipt"],
            # Part of an address masked is no address any more.
            url=written.url if masked["url"] == written.url else "",
        ),
    )
    return making.checked(without)  # a marker may be longer than what it stands for, and two may be the same
