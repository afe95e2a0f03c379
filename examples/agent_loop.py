"""An agent's loop over context packs: each turn it is sent only what it does not hold already.

    python examples/agent_loop.py "change the importer" "and its report?" "which port is next?"

`answer` stands for your model: it is given what the agent holds, and what the user says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import segue

Held = dict[str, str]  # what the model has in its context, by id


def answer(held: Held, said: str) -> str:
    """Stand for a model: say how much it would have had to go by."""
    return f"{said!r}: {len(held)} memories held"


def run(turns: list[str], session: str, answer: Callable[[Held, str], str] = answer) -> list[str]:
    """Answer each turn, keeping the working set of the session as the deltas say."""
    held: Held = {}
    answers = []
    with segue.open() as store:
        for said in turns:
            pack = store.context.assemble(said, model="claude", session=session, items="new").envelope()
            held |= {item["ref"]: item["content"] for item in pack["items"]}
            delta = pack["working_memory"] or {"evicted": [], "superseded": []}  # null: coverage.notes say why
            for ref in (*delta["evicted"], *(each["ref"] for each in delta["superseded"])):
                held.pop(ref, None)
            answers.append(answer(held, said))
    return answers


if __name__ == "__main__":
    print("\n".join(run(sys.argv[1:] or ["what is open?"], session="example")))
