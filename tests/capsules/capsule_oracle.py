"""A second opinion on what a valid capsule is: the grammar as one expression, and the constraints on top of it.

It shares no code with segue.capsules, and says only yes or no.
"""

from __future__ import annotations

import re
import zlib
from datetime import datetime

_FIELD = r"[!-{}~](?:[ -{}~]*[!-{}~])?"
_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z"
_FREE = r"\n(?!CHAIN:|INTEGRITY:|SEED:)"
_L1 = rf"{_FREE}(?:CHOICE|CONSTRAINT|DISCOVERY|PIVOT|OUTCOME) \| {_FIELD} \| {_FIELD}"
_L2 = rf"{_FREE}{_FIELD} \| {_FIELD} \| {_FIELD}"
_L3 = rf"{_FREE}(?:UNCERTAINTY|DIRECTION|INTUITION|UNRESOLVED): {_FIELD}"
_L4 = rf"{_FREE}[A-Za-z_]+: {_FIELD}"
_L5 = rf"{_FREE}(?:PROMISE|DEFERRED_QUESTION|INCOMPLETE_TASK|HYPOTHESIS_UNTESTED) \| {_FIELD} \| (?:HIGH|MED|LOW)"
_CAPSULE = re.compile(
    r"===PCSF:v1(?:\.[12])?===\n"
    rf"META: {_FIELD} \| {_FIELD} \| (?:SURFACE|WORKING|DEEP) \| (?P<time>{_TIME})\n"
    rf"(?:CHAIN: hops=\d{{1,9}} origin=(?P<origin>{_TIME})\n)?"
    r"(?P<line>INTEGRITY: crc32=(?P<crc>[0-9a-f]{8}) chars=0*(?P<chars>\d+)\n)?"
    r"\n"
    rf"L1:SKELETON(?:{_L1}){{0,12}}\n\n?"
    rf"L2:NEGATIVE(?:{_L2}){{0,8}}\n\n?"
    rf"L3:INTERNAL(?:{_L3}){{0,6}}\n\n?"
    rf"L4:RELATION(?:{_L4}){{0,5}}\n\n?"
    rf"L5:LOOPS(?:{_L5}){{0,8}}\n\n?"
    rf"SEED: (?P<seed>{_FIELD})\n"
    r"===END===\n?",
    re.ASCII,
)


def _is_date(text: str | None) -> bool:
    if text is None:
        return True
    if text[11:13] == "24":
        return False
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M%z")
    except ValueError:
        return False
    return True


def is_valid(data: bytes) -> bool:
    """Whether `data` is a capsule."""
    if len(data) > 1200 or not data.isascii():
        return False
    text = data.decode("ascii")
    match = _CAPSULE.fullmatch(text)
    if match is None or not _is_date(match["time"]) or not _is_date(match["origin"]):
        return False
    if len(re.findall(r"[.!?]+(?:\s|$)", match["seed"])) > 1:
        return False
    if match["line"] is None:
        return True
    rest = text.replace(match["line"], "", 1)
    return match["crc"] == format(zlib.crc32(rest.encode()), "08x") and match["chars"] == str(len(data))
