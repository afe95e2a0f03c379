"""What may come into a pack: candidates for each of its layers, from one search and a few short lists.

Limits are those of section 004.3 of the facts for the generic reader; a model's profile takes up to 400 (decision M4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from segue.base import time
from segue.context.candidate import Candidate
from segue.context.layers import KINDS, MOST_GENERIC, MOST_OF_MODEL, PACK_LAYERS, WEIGHTS, balanced, natural
from segue.memories.filter import Filter
from segue.memories.written import from_json
from segue.search import entities
from segue.search.index import Results
from segue.storage import entity_graph, transfer
from segue.storage import memories as rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.context.candidate import Packed, Selection
    from segue.context.layers import Intent, PackLayer
    from segue.context.profiles import Profile
    from segue.memories.memory import Memory
    from segue.search.index import Index

_FALLING_BACK = ("constraints", "procedures", "identity")  # to the newest, where nothing matches
_OF_EACH_KIND = 100  # newest memories that are ranked whatever their words
_WALKED = 2_000  # places of a search that are looked at: what stands behind them counts as not found
_ABOUT, _NAMING = 8, 60  # memories about the entity in the task, and those that are looked at for it
_BESIDE, _SHARED = 6, 6  # entities beside it, and memories for each
_LEAST_STEP = 40  # places
_SHORTEST_NAME, _LONGEST_RUN = 3, 5  # characters; words
_PART = re.compile(r"\S+")
_ROUND = ".,;:!?()[]{}<>\"'`“”‘’«»…。、，！？；：（）「」"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a pack is asked for. `projects` are folded names; none for all. `as_of` is None for what holds now.

    `known_us` leaves out what was captured later, 0 for nothing.
    """

    task: str
    intent: Intent
    profile: Profile
    now: datetime
    as_of: datetime | None = None
    projects: tuple[str, ...] = ()
    known_us: int = 0


@dataclass(frozen=True, slots=True)
class Gathered:
    """Candidates in the order of layers and in each as they arrived; what was left out, counted; names in the task.

    `found` is the search, and `places` where in it each memory stands, from 0.
    """

    candidates: tuple[Candidate, ...]
    uncited: int
    repeated: int
    seeds: tuple[str, ...]
    found: Results
    places: Mapping[str, int]

    def explained(self, selection: Selection) -> Selection:
        """Return a selection whose packed candidates say why they were found: for all candidates it takes too long."""
        packed = [
            each if (place := self.places.get(each.candidate.ref)) is None else self._because(each, place)
            for each in selection.packed
        ]
        return replace(selection, packed=tuple(packed))

    def _because(self, packed: Packed, place: int) -> Packed:
        retrievers, terms = self.found.reasons(place)
        why = {"retrievers": list(retrievers), "matched_terms": sorted(terms), "fused_rank": place + 1}
        return replace(packed, candidate=replace(packed.candidate, why=why))


def holding(asked: Asked) -> Filter:
    """Return what a memory must be to come into the pack: it holds, and was known, at the time that is asked about."""
    at = asked.as_of or asked.now
    return Filter(
        statuses=("active", "retired") if asked.as_of else ("active",),
        projects=asked.projects,
        unassigned=bool(asked.projects),
        holds_us=time.microseconds(at),
        known_us=time.microseconds(asked.as_of) if asked.as_of else asked.known_us or None,
    )


def pending(asked: Asked) -> Filter:
    """Return what counts as waiting for review beside a pack."""
    return replace(holding(asked), statuses=("pending",), holds_us=None)


def gather(connection: sa.Connection, scope_id: str, index: Index, asked: Asked) -> Gathered:
    """Return the candidates of a pack."""
    return _Gathering(connection, scope_id, index, asked).gathered()


class _Gathering:
    def __init__(self, connection: sa.Connection, scope_id: str, index: Index, asked: Asked) -> None:
        self._connection = connection
        self._scope = scope_id
        self._asked = asked
        self._wanted = holding(asked)
        self._weights = WEIGHTS[asked.intent]
        self._most = MOST_GENERIC if asked.profile.packer == "greedy" else MOST_OF_MODEL
        kinds = [kind for layer, of_layer in KINDS.items() if self._weights[layer] for kind in of_layer]
        self._newest = rows.newest_of_kinds(connection, scope_id, self._wanted, kinds, _OF_EACH_KIND)
        self._results = self._searched(index)
        walked = len(self._results) if asked.projects else _WALKED
        self._found = self._results.ids(0, walked)
        self._places = {each: place for place, each in enumerate(self._found)}
        self._relevances = self._results.relevances(0, walked)
        self._memories: dict[str, Memory] = {}
        self._asked_for: set[str] = set()
        self._walked = 0

    def _searched(self, index: Index) -> Results:
        if not self._asked.task.strip():
            return Results()
        return index.search(
            self._asked.task,
            self._asked.now,
            at_us=cast("int", self._wanted.holds_us),
            known_us=self._wanted.known_us,
            include=[*(each for listed in self._newest.values() for _, each in listed), *self._of_project()],
        )

    def _of_project(self) -> list[str]:
        """All that may come in, where a project is asked for and leaves few: the search alone may not reach them."""
        if not self._asked.projects:
            return []
        found = rows.matching(self._connection, self._scope, self._wanted, _WALKED + 1)
        return found if len(found) <= _WALKED else []

    def gathered(self) -> Gathered:
        seeds = self._seeds()
        by_layer: dict[PackLayer, list[str]] = {layer: [] for layer in PACK_LAYERS}
        if self._weights["facts"]:
            by_layer["facts"] = self._facts()  # first: it walks as far as the others need
        for layer in KINDS:
            if self._weights[layer]:
                by_layer[layer] = self._of_kinds(layer)
        if self._weights["entity"]:
            by_layer["entity"] = self._around(seeds)
        if self._weights["recency"]:
            newest = rows.newest(self._connection, self._scope, self._wanted, self._most["recency"])
            by_layer["recency"] = [each for _, each in newest]
        return self._candidates(by_layer, seeds)

    def _fetch(self, ids: Iterable[str]) -> None:
        missing = [each for each in dict.fromkeys(ids) if each not in self._asked_for]
        if not missing:
            return
        self._asked_for.update(missing)
        found = rows.by_ids(self._connection, self._scope, missing, self._wanted)
        at = self._asked.as_of
        self._memories |= found if at is None else known_then(self._connection, self._scope, found, at)

    def _matching(self, layer: PackLayer) -> list[str]:
        """What the search found of a layer, best first, as far as it was walked."""
        walked = self._found[: self._walked]
        return [each for each in walked if each in self._memories and natural(self._memories[each]) == layer]

    def _facts(self) -> list[str]:
        """Facts that match, best first: what the search found is walked until there are enough of them."""
        most = self._most["facts"]
        found: list[str] = []
        while len(found) < most and self._walked < len(self._found):
            step = max(most - len(found), _LEAST_STEP)
            self._fetch(self._found[self._walked : self._walked + step])
            self._walked += step
            found = self._matching("facts")
        return found[:most]

    def _of_kinds(self, layer: PackLayer) -> list[str]:
        """What matches of a layer, best first, and behind it the newest where that is wanted."""
        listed = sorted((each for kind in KINDS[layer] for each in self._newest[kind]), reverse=True)
        by_age = [each for _, each in listed]
        matching = {*self._matching(layer), *(each for each in by_age if each in self._places)}
        ranked = sorted(matching, key=lambda each: self._places[each])
        if layer == "open_loops" or not self._asked.task.strip() or (layer in _FALLING_BACK and not ranked):
            ranked += [each for each in by_age if each not in matching]
        return self._balanced(ranked) if layer == "identity" else ranked[: self._most[layer]]

    def _balanced(self, ranked: Sequence[str]) -> list[str]:
        of_style = {each for _, each in self._newest["style"]}
        return balanced(
            ranked, self._most["identity"], lambda each: each in of_style or self._layer_of(each) == "style"
        )

    def _layer_of(self, memory_id: str) -> str:
        memory = self._memories.get(memory_id)
        return memory.layer if memory else ""

    # -- entities ---------------------------------------------------------------------------------------------------

    def _seeds(self) -> tuple[str, ...]:
        """The keys of entities that the task names, the longest name first; the project's after them."""
        parts = _PART.findall(self._asked.task)[:100]
        runs = [
            " ".join(parts[start:stop])
            for start in range(len(parts))
            for stop in range(start + 1, min(start + _LONGEST_RUN, len(parts)) + 1)
        ]
        forms = [form for run in runs for form in (run, run.strip(_ROUND))]
        keys = dict.fromkeys(key for form in forms if len(key := entities.key(form)) >= _SHORTEST_NAME)
        projects = dict.fromkeys(entities.key(each) for each in self._asked.projects)
        known = entity_graph.known(self._connection, self._scope, [*keys, *projects])
        named = sorted((key for key in keys if key in known), key=lambda key: (-len(key), key))
        return tuple(dict.fromkeys(known[key] for key in [*named, *projects] if key in known))

    def _around(self, seeds: Sequence[str]) -> list[str]:
        """Memories about the entity with the longest name, and about what stands beside it."""
        if not seeds:
            return []
        near = entity_graph.naming(self._connection, self._scope, seeds[:1], self._wanted, _NAMING)
        chosen = self._kept(sorted(near, key=self._place), _ABOUT)
        beside = entity_graph.beside(self._connection, self._scope, seeds[:1], near)[:_BESIDE]
        shared = [
            entity_graph.naming(self._connection, self._scope, [key], self._wanted, _SHARED) for key, _, _ in beside
        ]
        self._fetch(each for ids in shared for each in ids)  # all at once: each question takes its time
        return list(dict.fromkeys([*chosen, *(each for ids in shared for each in self._kept(ids, _SHARED))]))

    def _place(self, memory_id: str) -> int:
        return self._places.get(memory_id, len(self._places))

    def _kept(self, ids: Sequence[str], most: int) -> list[str]:
        self._fetch(ids[: 2 * most])
        return [each for each in ids if self._about(each)][:most]

    def _about(self, memory_id: str) -> bool:
        memory = self._memories.get(memory_id)
        return memory is not None and natural(memory) in ("facts", "decisions") and memory.layer != "negative"

    # -- candidates -------------------------------------------------------------------------------------------------

    def _candidates(self, by_layer: dict[PackLayer, list[str]], seeds: tuple[str, ...]) -> Gathered:
        self._fetch(each for ids in by_layer.values() for each in ids)
        found: dict[str, Candidate] = {}
        uncited: set[str] = set()
        repeated = 0
        for layer in PACK_LAYERS:
            for each in by_layer[layer]:
                memory = self._memories.get(each)
                if memory is None:
                    continue
                if not memory.provenance.ref:
                    uncited.add(each)
                elif each in found:
                    repeated += 1
                else:
                    found[each] = self._candidate(memory, layer)
        return Gathered(tuple(found.values()), len(uncited), repeated, seeds, self._results, self._places)

    def _candidate(self, memory: Memory, layer: PackLayer) -> Candidate:
        place = self._places.get(memory.id)
        if place is None:
            return Candidate(memory, layer)
        return Candidate(memory, layer, self._relevances[place], cast("Literal['rank', 'cosine']", self._results.basis))


def known_then(
    connection: sa.Connection, scope_id: str, memories: dict[str, Memory], at: datetime
) -> dict[str, Memory]:
    """Return memories, by id, as they were at a time: what was edited since says what it said then."""
    edited = [each.id for each in memories.values() if each.revision > 1]
    if not edited:
        return memories
    versions = transfer.versions_of(connection, scope_id, edited)
    found = dict(memories)
    for memory_id, all_said in versions.items():
        later = [each for each in all_said if each.replaced_at > at]
        if later:
            before = from_json(min(later, key=lambda each: each.revision).body)
            now = memories[memory_id]
            found[memory_id] = replace(before, status=now.status, retired_at=now.retired_at)
    return found
