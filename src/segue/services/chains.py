"""What replaces and continues what, while lines come from a file that may say anything: no cycles, both ends agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from segue.memories.memory import Memory


class Forest:
    """Nodes that each have one node above them at most. Asking is almost as quick for long chains as for short ones."""

    def __init__(self, above: Mapping[str, str]) -> None:
        self._towards: dict[str, str] = {}
        for node, upper in above.items():
            self.add(node, upper)

    def closes_cycle(self, node: str, upper: str) -> bool:
        """Whether `upper` above `node`, which has nothing above it yet, would put a node above itself."""
        # Each tree has one node with nothing above it. In the tree of `upper` that is `node`, or it is another tree.
        return self._root(node) == self._root(upper)

    def add(self, node: str, upper: str) -> None:
        """Put `upper` above `node`."""
        first, second = self._root(node), self._root(upper)
        if first != second:
            self._towards[first] = second

    def _root(self, node: str) -> str:
        towards = self._towards
        while node in towards:
            following = towards[node]
            towards[node] = towards.get(following, following)  # each walk halves the way of the next one
            node = following
        return node


class Supersessions:
    """Which memories replace which, as both of them say it.

    `above` maps a memory to what replaced it, `below` what replaced others to those; ids that nobody knows may stand
    in both, since what was forgotten is named on.
    """

    def __init__(self, above: Mapping[str, str], below: Mapping[str, Iterable[str]]) -> None:
        self._above: dict[str, str] = {}
        self._named_above: dict[str, set[str]] = {}  # what says to be replaced by a memory
        self._below: dict[str, set[str]] = {}
        self._named_below: dict[str, set[str]] = {}  # what says to have replaced a memory
        self._forest = Forest({})
        for memory_id, upper in above.items():
            self._say_above(memory_id, upper)
        for memory_id, lower in below.items():
            self._say_below(memory_id, lower)

    def add(self, memory: Memory, known: Iterable[str]) -> None:
        """Add a memory that is not there yet; `known` are the ids that are there of those that it names.

        Raises Refused `memory.cycle`, `transfer.supersession` where the other end says something else.
        """
        self._require_agreement(memory, set(known))
        if memory.superseded_by:
            if self._forest.closes_cycle(memory.id, memory.superseded_by):
                raise Refused("memory.cycle", f"{memory.id} would come to replace itself")
            self._say_above(memory.id, memory.superseded_by)
        if memory.status != "pending":
            self._say_below(memory.id, memory.supersedes)

    def _require_agreement(self, memory: Memory, known: set[str]) -> None:
        lower = set() if memory.status == "pending" else set(memory.supersedes)  # a wish, until it is approved
        denied = {each for each in lower & known if self._above.get(each) != memory.id}
        denied |= self._named_above.get(memory.id, set()) - lower
        denied |= self._named_below.get(memory.id, set()) - {memory.superseded_by}
        upper = memory.superseded_by
        if upper in known and memory.id not in self._below.get(upper, set()):
            denied.add(upper)
        if denied:
            other = min(denied)
            message = f"{memory.id} and {other} do not agree on which of them replaces the other"
            raise Refused("transfer.supersession", message)

    def _say_above(self, memory_id: str, upper: str) -> None:
        self._above[memory_id] = upper
        self._named_above.setdefault(upper, set()).add(memory_id)
        self._forest.add(memory_id, upper)

    def _say_below(self, memory_id: str, lower: Iterable[str]) -> None:
        named = set(lower)
        if named:
            self._below[memory_id] = named
        for each in named:
            self._named_below.setdefault(each, set()).add(memory_id)
