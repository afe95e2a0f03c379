"""Capsules: the state of a session in at most 1,200 characters of plain text (PCSF v1, v1.1 and v1.2).

    check(text)                    every broken rule, with place and mend
    parse(text), render(capsule)   text to value and back
    stamp, fit, stitch             integrity, budget, and one capsule out of two
    clean(text)                    what a clipboard did to it, undone
    read(capsule, now)             age, contradictions, gaps, and the prompt to resume from
    prompt("compress")             what to tell a model that shall write a capsule, or continue from one

Pure: no disk, no network, no clock. Errors are InvalidInput with the code `capsule.C1` to `capsule.C12`,
`capsule.cannot_fit` or `capsule.policy`.
"""

from segue.capsules.capsule import (
    CAPS,
    DEPTHS,
    EVENT_TYPES,
    HEADERS,
    LOOP_TYPES,
    MAX_CHARS,
    PRIORITIES,
    STATE_TYPES,
    Capsule,
    Chain,
    Entry,
    Line,
    Loop,
    Meta,
    Node,
    Rejection,
    Relation,
    State,
    render,
)
from segue.capsules.cleaning import Cleaned, clean
from segue.capsules.conflicts import Conflict, Gap
from segue.capsules.fitting import Fitted, fit, stamp
from segue.capsules.problems import Problem
from segue.capsules.prompts import NAMES as PROMPTS
from segue.capsules.prompts import prompt
from segue.capsules.reading import Prior, Reading, read
from segue.capsules.rules import Report, check, parse
from segue.capsules.stitching import POLICIES, Policy, Stitched, stitch

__all__ = [
    "CAPS",
    "DEPTHS",
    "EVENT_TYPES",
    "HEADERS",
    "LOOP_TYPES",
    "MAX_CHARS",
    "POLICIES",
    "PRIORITIES",
    "PROMPTS",
    "STATE_TYPES",
    "Capsule",
    "Chain",
    "Cleaned",
    "Conflict",
    "Entry",
    "Fitted",
    "Gap",
    "Line",
    "Loop",
    "Meta",
    "Node",
    "Policy",
    "Prior",
    "Problem",
    "Reading",
    "Rejection",
    "Relation",
    "Report",
    "State",
    "Stitched",
    "check",
    "clean",
    "fit",
    "parse",
    "prompt",
    "read",
    "render",
    "stamp",
    "stitch",
]
