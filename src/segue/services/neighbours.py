"""Entities around a pack: who and what stands together in the memories that hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from segue.services.gathering import holding
from segue.storage import entity_graph
from segue.storage import memory_entities as entity_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from segue.context.pack import Pack
    from segue.services.gathering import Asked

_SEEDS, _NAMING, _NODES, _EDGES = 6, 200, 24, 48


def with_graph(connection: sa.Connection, scope_id: str, asked: Asked, seeds: Sequence[str], pack: Pack) -> Pack:
    """Return a pack with the entities that the task names, else those of its items, and what stands beside them.

    `{"entities": [{"name", "memories"}], "edges": [{"from", "to", "memories"}]}`, the most frequent first.
    """
    keys = list(seeds[:_SEEDS]) or _of_items(connection, scope_id, pack)
    near = entity_graph.naming(connection, scope_id, keys, holding(asked), _NAMING) if keys else []
    counted: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    names: dict[str, str] = {}
    for named in entity_rows.of(connection, scope_id, near).values():
        found = sorted({each.key for each in named})
        names |= {each.key: each.name for each in named}
        counted.update(found)
        together.update(pair for pair in combinations(found, 2) if pair[0] in keys or pair[1] in keys)
    shown = sorted(counted, key=lambda key: (key not in keys, -counted[key], key))[:_NODES]
    edges = sorted(
        (pair for pair in together if pair[0] in shown and pair[1] in shown), key=lambda p: (-together[p], p)
    )
    made = {
        "entities": [{"name": names[key], "memories": counted[key]} for key in shown],
        "edges": [
            {"from": names[first], "to": names[second], "memories": together[first, second]}
            for first, second in edges[:_EDGES]
        ],
    }
    return replace(pack, graph=made, graph_refs=tuple(near))


def _of_items(connection: sa.Connection, scope_id: str, pack: Pack) -> list[str]:
    named = entity_rows.of(connection, scope_id, pack.refs)
    counted = Counter(each.key for ref in pack.refs for each in named.get(ref, ()))
    return [key for key, _ in sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:_SEEDS]]
