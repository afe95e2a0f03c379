"""What a list or a search of memories is narrowed to."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions that must all hold; of each list any one. An empty list or None asks for nothing.

    `entities` are keys (folded names), `projects` folded names; `since_us` and `until_us` bound when it occurred (else
    was captured), in microseconds since 1970, the end excluded; `sources` are what stands before the `#` of a ref;
    `minimum_trust`, `minimum_confidence` and `minimum_assurance` (confidence, else trust) lie in 0 to 1; `mentions` are
    keys of names that an entity has in it as whole words, or that stand in the text itself. `holds_us` asks for what
    holds at that time, `known_us` for what was captured by then; `unassigned` lets pass what belongs to no project,
    whatever `projects` says.
    """

    statuses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    author_classes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    since_us: int | None = None
    until_us: int | None = None
    minimum_trust: float | None = None
    minimum_confidence: float | None = None
    minimum_assurance: float | None = None
    mentions: tuple[str, ...] = ()
    holds_us: int | None = None
    known_us: int | None = None
    unassigned: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the conditions that are set, as JSON values: what a cursor is bound to."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value}

    @property
    def narrows(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.to_json())
