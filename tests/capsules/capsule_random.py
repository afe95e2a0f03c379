"""Capsules at random: from a seed, quickly, for long chains; and as a hypothesis strategy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from segue.capsules import (
    CAPS,
    DEPTHS,
    EVENT_TYPES,
    LOOP_TYPES,
    MAX_CHARS,
    PRIORITIES,
    STATE_TYPES,
    Capsule,
    Chain,
    Loop,
    Meta,
    Node,
    Rejection,
    Relation,
    State,
    render,
)

if TYPE_CHECKING:
    import random

NAMES = ("skeleton", "negative", "internal", "relation", "loops")
_PRINTABLE = "".join(chr(point) for point in range(0x20, 0x7F) if chr(point) != "|")


def _stamped_down(capsule: Capsule) -> Capsule:
    """Leave out last entries until the capsule is a valid one."""
    while len(render(capsule)) > MAX_CHARS:
        name = max(NAMES, key=lambda layer: sum(len(entry.line) for entry in getattr(capsule, layer)))
        capsule = replace(capsule, **{name: getattr(capsule, name)[:-1]})
    return capsule


def random_capsule(rng: random.Random, *, longest: int = 60) -> Capsule:
    """Return a valid capsule; few different words, so that keys of two capsules meet."""

    def field() -> str:
        text = " ".join(rng.choice(("a", "b", "queue", "index", "CHAIN:", "x: y", "===END===")) for _ in range(3))
        return text if rng.random() < 0.5 else text + "w" * rng.randrange(1, longest)

    def some(layer: int) -> range:
        return range(rng.randrange(CAPS[layer] + 1))

    minute = f"20{rng.randrange(10, 99)}-0{rng.randrange(1, 10)}-1{rng.randrange(10)}T0{rng.randrange(10)}:30Z"
    version = rng.choice(("v1", "v1.1", "v1.2"))
    return _stamped_down(
        Capsule(
            version=version,  # type: ignore[arg-type]
            meta=Meta("topic" + "t" * rng.randrange(40), "domain", rng.choice(DEPTHS), minute),
            chain=Chain(rng.randrange(12), minute) if rng.random() < 0.2 else None,
            stamped=rng.random() < 0.3,
            skeleton=tuple(Node(rng.choice(EVENT_TYPES), field(), field()) for _ in some(0)),
            negative=tuple(Rejection("option " + field(), field(), field()) for _ in some(1)),
            internal=tuple(State(rng.choice(STATE_TYPES), field()) for _ in some(2)),
            relation=tuple(Relation(rng.choice(("STYLE", "TRUST", "MODE", "own_axis")), field()) for _ in some(3)),
            loops=tuple(Loop(rng.choice(LOOP_TYPES), field(), rng.choice(PRIORITIES)) for _ in some(4)),
            seed="The next step is " + "s" * rng.randrange(1, 60) + rng.choice((".", "!", "")),
        )
    )


_fields = st.text(_PRINTABLE, min_size=1, max_size=24).map(lambda text: text.strip(" ")).filter(bool)
_words = st.sampled_from
_times = (
    st.datetimes()
    .map(lambda when: when.strftime("%m-%dT%H:%MZ"))
    .map(lambda rest: f"2024-{rest}")
    .filter(lambda text: text[5:10] != "02-29")
)
# An option may not make its line look like another one; the rules say so, and `test_capsule_vectors` proves it.
_options = _fields.filter(lambda text: not text.startswith(("CHAIN:", "INTEGRITY:", "SEED:")))
_dimensions = st.text("ABCxyz_", min_size=1, max_size=8)
_seeds = st.text(_PRINTABLE.translate(str.maketrans("", "", ".!?")), min_size=1, max_size=40)


def _entries(*parts: st.SearchStrategy[object], kind: type, cap: int) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(st.tuples(*parts).map(lambda fields: kind(*fields)), max_size=cap).map(tuple)


capsules: st.SearchStrategy[Capsule] = st.builds(
    Capsule,
    version=_words(("v1", "v1.1", "v1.2")),
    meta=st.builds(Meta, _fields, _fields, _words(DEPTHS), _times),
    chain=st.none() | st.builds(Chain, st.integers(0, 999_999_999), _times),
    stamped=st.booleans(),
    skeleton=_entries(_words(EVENT_TYPES), _fields, _fields, kind=Node, cap=12),
    negative=_entries(_options, _fields, _fields, kind=Rejection, cap=8),
    internal=_entries(_words(STATE_TYPES), _fields, kind=State, cap=6),
    relation=_entries(_dimensions, _fields, kind=Relation, cap=5),
    loops=_entries(_words(LOOP_TYPES), _fields, _words(PRIORITIES), kind=Loop, cap=8),
    seed=_seeds.map(lambda text: text.strip(" "))
    .filter(bool)
    .flatmap(lambda text: _words((text, text + ".", text + "!?", "v1.2 " + text + "."))),
).map(_stamped_down)
"""Valid capsules with any printable text in their fields."""


def mutated(rng: random.Random, text: str) -> bytes:
    """Return `text` with one to four accidents: lines lost, doubled, swapped, cut; bytes changed or put in."""
    lines = text.split("\n")
    for _ in range(rng.randrange(1, 4)):
        place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        accident = rng.randrange(6)
        if accident == 0 and len(lines) > 1:
            del lines[place]
        elif accident == 1:
            lines.insert(other, lines[place])
        elif accident == 2:
            lines[place], lines[other] = lines[other], lines[place]
        elif accident == 3:
            lines[place] = lines[place][: rng.randrange(len(lines[place]) + 1)]
        else:
            at = rng.randrange(len(lines[place]) + 1)
            extra = rng.choice(
                ("|", " ", " | ", ":", ": ", "\r", "\t", "\x00", "é", ".", ". ", "\n", "x", "CHAIN:", "0")
            )
            lines[place] = lines[place][:at] + extra + lines[place][at + (accident == 5) :]
    return "\n".join(lines).encode()
