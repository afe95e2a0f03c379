"""Capsules that the tests are made of."""

from __future__ import annotations

BASE = """\
===PCSF:v1.2===
META: report export | software | WORKING | 2026-05-04T09:30Z

L1:SKELETON
CHOICE | stream rows to disk | memory ran out at a million rows
CONSTRAINT | exports stay under a minute | the gateway cuts longer calls

L2:NEGATIVE
one big query | locks the table | read in pages
temp tables | the replica is read-only | never write on a replica

L3:INTERNAL
UNCERTAINTY: I doubt the row order is stable
DIRECTION: I was moving to keyset pages

L4:RELATION
STYLE: short: no preamble
TRUST: high on queries

L5:LOOPS
INCOMPLETE_TASK | measure keyset pages on the replica | HIGH
PROMISE | write the operations page | MED

SEED: Export by pages because the replica cannot hold a snapshot.
===END===
"""

EMPTY = """\
===PCSF:v1.2===
META: t | d | SURFACE | 2026-05-04T09:30Z

L1:SKELETON

L2:NEGATIVE

L3:INTERNAL

L4:RELATION

L5:LOOPS

SEED: s
===END===
"""

META = "META: report export | software | WORKING | 2026-05-04T09:30Z\n"
CHAIN = "CHAIN: hops=4 origin=2026-01-02T03:04Z\n"


def edited(*changes: tuple[str, str], base: str = BASE) -> str:
    """Return `base` with each `(old, new)` applied once; an edit that does nothing is a mistake in the test."""
    text = base
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    return text


def capsule(
    *,
    head: str = META,
    token: str = "v1.2",
    skeleton: tuple[str, ...] = (),
    negative: tuple[str, ...] = (),
    internal: tuple[str, ...] = (),
    relation: tuple[str, ...] = (),
    loops: tuple[str, ...] = (),
    seed: str = "One sentence.",
) -> str:
    """Return the text of a capsule with these lines."""
    layers = zip(
        ("L1:SKELETON", "L2:NEGATIVE", "L3:INTERNAL", "L4:RELATION", "L5:LOOPS"),
        (skeleton, negative, internal, relation, loops),
        strict=True,
    )
    body = "".join(f"\n{header}\n" + "".join(f"{line}\n" for line in lines) for header, lines in layers)
    return f"===PCSF:{token}===\n{head}{body}\nSEED: {seed}\n===END===\n"
