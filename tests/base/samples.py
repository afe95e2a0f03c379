"""Pieces to build samples of secrets from, at run time."""

from __future__ import annotations

UPPER, ALNUM, BASE64 = "Q7Z2", "aB3d", "aB3/+"
AWS, GITHUB, GOOGLE, SLACK = "AK" + "IA", "gh" + "p_", "AI" + "za", "xo" + "xb-"
STRIPE, HOOK, JWT = "sk_" + "live_", "wh" + "sec_", "ey" + "J"
BEGIN, KEY = "-----BE" + "GIN ", "PRIVATE " + "KEY-----"


def run(alphabet: str, length: int) -> str:
    """Return `length` characters of `alphabet`, over and over."""
    return (alphabet * length)[:length]
