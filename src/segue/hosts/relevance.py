"""Whether a memory is worth saying for a prompt: the floor below which nothing is said.

What is said unasked costs attention each time it is beside the point, so the floor is high: the words that every
prompt to a coding agent is made of ("fix the test") speak for no memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segue.search.stopwords import STOP_WORDS
from segue.search.tokens import terms
from segue.search.workaday import WORKADAY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from segue.hosts.term_index import Found

MOST_TERMS = 48  # of a prompt that count; a pasted page is no question
READ = 4_000  # characters of a prompt that are read, from its begin and from its end together
TELLING = 0.42  # rarity from which a term tells a subject
ENOUGH = 1.15  # rarity, added up, of two terms or more that stand in a memory
LONGER, MOST = 0.04, 2.4  # more for each term of a prompt, and never more than that
COVERED = 0.5  # of all that a prompt asks for, where one term alone speaks for a memory
NAMED = 0.2  # the same where that term is a name or code
_NAME = re.compile(r"(?<![.!?:\n] )(?<!^)\b[A-Z]\w+")  # within a sentence
_CODE = re.compile(r"\w[._/:-]\w")


@dataclass(frozen=True, slots=True)
class Asked:
    """What may tell a prompt's subject: its tokens, each once, in its order; and which of them are names or code."""

    tokens: tuple[str, ...]
    names: frozenset[str]


def asked(prompt: str) -> Asked:
    """Return what a prompt asks for; of "fix the typo" nothing."""
    text = prompt if len(prompt) <= READ else f"{prompt[: READ // 2]} {prompt[-READ // 2 :]}"
    found = dict.fromkeys(
        token for token, word in terms(text) if word not in STOP_WORDS and len(token) > 1 and not token.isdigit()
    )
    telling = [token for token in found if token not in WORKADAY][:MOST_TERMS]
    named = {token for name in _NAME.findall(text) for token, _ in terms(name)}
    return Asked(tuple(telling), frozenset(each for each in telling if each in named or _CODE.search(each)))


def speaks(found: Found, rarity: Mapping[str, float], names: Collection[str]) -> bool:
    """Whether what a memory shares with a prompt is enough; `rarity` is that of all terms that were asked for."""
    telling = [rarity[token] for token in found.terms if rarity[token] >= TELLING]
    if len(telling) > 1 and sum(telling) >= min(ENOUGH + LONGER * len(rarity), MOST):
        return True
    covered = NAMED if any(token in names for token in found.terms) else COVERED
    return bool(telling) and sum(telling) >= covered * sum(rarity.values())
