"""Whether two memories contradict each other, told by their words alone: rather missed than invented.

What is found is recorded and shown; nobody's memory is changed by it.
"""

from __future__ import annotations

import re

from segue.memories.identity import normal

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*|[\u3040-\u30ff\u3400-\u9fff]")
_AGAINST = frozenset(
    "not no never without avoid don't doesn't didn't isn't aren't wasn't won't can't cannot stop stopped dropped nicht"
    " kein keine nie ohne pas jamais sans 不 没 未 別".split()
)
_SMALL = frozenset(
    "a an and are as at be by do does for from has have i in is it its of on or our so that the their then there they"
    " this to us was we were will with you your now anymore longer any more use uses used".split()
)
_NUMBER = re.compile(r"v?\d[\d.,:%]*[a-z]{0,3}")
ALIKE = 0.7  # of the words in either that stand in both
FEWEST = 3  # words that both must share


def contradiction(first: str, second: str) -> str:
    """Return `polarity` where one text denies the other, `value` where they give other numbers, else ""."""
    one, two = _words(first), _words(second)
    against = bool(one & _AGAINST) != bool(two & _AGAINST)
    one, two = one - _AGAINST - _SMALL, two - _AGAINST - _SMALL
    numbers = ({word for word in words if _NUMBER.fullmatch(word)} for words in (one, two))
    first_numbers, second_numbers = numbers
    one, two = one - first_numbers, two - second_numbers
    shared = one & two
    if len(shared) < FEWEST or len(shared) < ALIKE * len(one | two):
        return ""
    if against and first_numbers == second_numbers:
        return "polarity"
    differ = first_numbers and second_numbers and not first_numbers & second_numbers
    return "value" if differ and not against else ""


def _words(text: str) -> set[str]:
    return set(_WORD.findall(normal(text).replace("’", "'")))
