"""Memory stores as the format's own writers leave them: an index in four parts, a file for each fact."""

from __future__ import annotations

from segue.continuity.store.snapshot import Snapshot

FEEDBACK = """\
---
memory_id: "MEM-001"
name: "line-by-line"
description: "Explain code line by line"
kind: "feedback"
source_transaction: "TX-003"
source_path: "PROJECT_STUDY_LOG.md"
created: "2026-04-01"
updated: "2026-04-02"
status: "active"
---

**Why:** the learner asked for it twice.
**How to apply:**
quote each line, then say what it does.
"""
CORRECTION = """\
---
memory_id: "MEM-002"
name: "conv-stride"
description: "The first layer's stride is 2"
kind: "correction"
source_transaction: "TX-004"
source_path: "PROJECT_STUDY_QA.md"
created: "2026-04-03"
updated: "2026-04-03"
status: "active"
---

Original: the stride is 4
Canonical: the stride is 2
Stale patterns: "stride is 4", "stride=4"
Impact: every size after the first layer
"""
PROJECT = """\
---
memory_id: "MEM-003"
name: "no-gpu"
description: "Examples run without a GPU"
kind: "project"
source_transaction: "TX-005"
source_path: "PROJECT_STUDY_LOG.md"
created: "2026-04-03"
updated: "2026-04-03"
status: "active"
---

Why: the learner's machine has none.
How to apply: choose small inputs.
"""
REFERENCE = """\
---
memory_id: "MEM-004"
name: "shape-check"
description: "The script that prints every shape"
kind: "reference"
source_transaction: "TX-006"
source_path: "tools/shapes.py"
created: "2026-04-04"
updated: "2026-04-04"
status: "active"
---

Run it after each change of a layer.
"""
INDEX = """\
# Memory Index

> What lasts; advice only.

## feedback
- [Explain code line by line](line-by-line.md) — the learner asked for it

## correction
- [The first layer's stride is 2](conv-stride.md) — replaces 4

## project
- [Examples run without a GPU](no-gpu.md) — small inputs

## reference
- [The script that prints every shape](shape-check.md) — tools/shapes.py
"""
FILES = {
    "MEMORY.md": INDEX,
    "line-by-line.md": FEEDBACK,
    "conv-stride.md": CORRECTION,
    "no-gpu.md": PROJECT,
    "shape-check.md": REFERENCE,
}
EMPTY = "# Memory Index\n\n## feedback\n\n## correction\n\n## project\n\n## reference\n"


def snapshot(files: dict[str, str] | None = None, **changed: str | None) -> Snapshot:
    """Return a store: `files`, the sample by default, with other texts for some (`index`, `no_gpu`; None: gone)."""
    whole: dict[str, str] = dict(FILES if files is None else files)
    for key, text in changed.items():
        name = "MEMORY.md" if key == "index" else f"{key.replace('_', '-')}.md"
        if text is None:
            del whole[name]
        else:
            whole[name] = text
    return Snapshot({name: text.encode() for name, text in whole.items()})


def detail(name: str, number: int, *, kind: str = "reference", body: str = "Look there.\n", **fields: str) -> str:
    """Return a detail file; `fields` replace those of its head."""
    head = {
        "memory_id": f"MEM-{number:03}",
        "name": name,
        "description": f"What {name} is about",
        "kind": kind,
        "source_transaction": "TX-0001",
        "source_path": "docs/plan.md",
        "created": "2026-04-01",
        "updated": "2026-04-01",
        "status": "active",
    } | fields
    return "---\n" + "".join(f'{key}: "{value}"\n' for key, value in head.items()) + f"---\n\n{body}"
