"""What Segue itself put into a conversation, taken out again: memory must not feed on itself."""

from __future__ import annotations

import re

from segue.base.own import without_packs
from segue.capsules import PROMPTS, prompt
from segue.transcripts import speech

# The lengths are far above what Segue writes: a text that lacks the end is left alone.
_CAPSULE = re.compile(r"(?:```[a-z]{0,10}\n)?===PCSF:v[\d.]{1,8}===\n.{0,6000}?\n===END===(?:\n```)?", re.DOTALL)
_READING = re.compile(
    r"^Resume this work from the capsule below.{0,20000}?^--- capsule data ([0-9a-f]{16}) ends ---$\n*[^\n]{0,400}",
    re.DOTALL | re.MULTILINE,
)
_OWN_PROMPTS = tuple(prompt(name).strip() for name in PROMPTS)


def without_own(text: str) -> str:
    """Return `text` without context packs, resume blocks, capsules, and the prompts for capsules; ends trimmed."""
    text = without_packs(speech.without_own_blocks(text))
    if "PCSF" in text or "capsule" in text:
        for own in _OWN_PROMPTS:
            text = text.replace(own, "")
        text = _CAPSULE.sub("", _READING.sub("", text))
    return text.strip()
