"""Checking and reading a capsule: rules C1 to C12 of PCSF section 3 (decisions C-1 to C-6).

`check` lists what is wrong; `parse` returns the value of a text that is right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from segue.base.errors import InvalidInput
from segue.capsules import integrity, lines
from segue.capsules.capsule import (
    CAPS,
    HEADERS,
    MAX_CHARS,
    PRIORITIES,
    Capsule,
    Chain,
    Loop,
    Meta,
    Node,
    Rejection,
    Relation,
    State,
    Version,
)
from segue.capsules.layout import Layout, read_layout
from segue.capsules.problems import Problem, Problems, rule_number

if TYPE_CHECKING:
    from collections.abc import Sequence

_BAD = re.compile(r"[^\n\x20-\x7e]| (?=\n|\Z)")
_OPTIONAL_LINE_FEEDS = 6
_NONE: frozenset[str] = frozenset()
_RANK = {priority: rank for rank, priority in enumerate(PRIORITIES)}


@dataclass(frozen=True, slots=True)
class Report:
    """What `check` found. `errors` is empty exactly when the text is a valid capsule."""

    version: str | None
    chars: int
    errors: tuple[Problem, ...]
    warnings: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return not self.errors

    def to_json(self) -> dict[str, Any]:
        """Return `{"valid", "version", "chars", "errors", "warnings"}`."""
        return {
            "valid": self.valid,
            "version": self.version,
            "chars": self.chars,
            "errors": [problem.to_json() for problem in self.errors],
            "warnings": list(self.warnings),
        }


@dataclass(slots=True)
class _Scan:
    """One pass over a text: everything that is known about it."""

    chars: int
    problems: Problems
    layout: Layout
    meta: tuple[str, ...] | None = None
    chain: tuple[int, str] | None = None
    layers: tuple[list[tuple[str, ...]], ...] = ()
    seed: str | None = None


def check(source: str | bytes) -> Report:
    """Return every rule of PCSF section 3 that `source` breaks, with place and mend. Raises nothing."""
    scan = _scan(source)
    errors = scan.problems.in_order()
    warnings = [*scan.problems.unlisted(), *([] if errors else _warnings(scan))]
    return Report(scan.layout.version, scan.chars, errors, tuple(warnings))


def parse(source: str | bytes) -> Capsule:
    """Return the capsule that `source` holds.

    Raises InvalidInput `capsule.C1` to `capsule.C12`, by the lowest rule that is broken; `details` is the whole report.
    """
    return read(source, _NONE)


def read(source: str | bytes, forgiven: frozenset[str]) -> Capsule:
    """Return the capsule that `source` holds, where the rules of `forgiven` (of C2, C11) may be broken.

    Raises InvalidInput as `parse` does.
    """
    scan = _scan(source)
    broken = [problem for problem in scan.problems.in_order() if problem.code not in forgiven]
    if broken:
        first = min(broken, key=lambda problem: rule_number(problem.code))
        others = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        message = f"{first.code}, line {first.line}, column {first.column}: {first.message}{others}"
        raise InvalidInput(f"capsule.{first.code}", message, check(source).to_json())
    return _build(scan)


def validated(source: Capsule | str | bytes, forgiven: frozenset[str] = _NONE) -> Capsule:
    """Return `source` as a capsule that keeps all rules but those of `forgiven`. Raises InvalidInput as `parse` does.

    A value is checked by its text: nothing that was put together by hand gets past the rules.
    """
    if not isinstance(source, Capsule):
        return read(source, forgiven)
    text = source.text
    # A file may leave out the blank lines between sections and the last LF; a value of that file is no less valid.
    slack = frozenset({"C2"}) if len(text) <= MAX_CHARS + _OPTIONAL_LINE_FEEDS else _NONE
    capsule = read(text, forgiven | slack)
    if capsule != source:  # a line feed in a field: the text is a capsule, but another one
        raise InvalidInput("capsule.C7", "a field of the capsule holds a line break or a separator; remove it")
    return capsule


def _scan(source: str | bytes) -> _Scan:
    data, text = _decode(source)
    problems = Problems()
    if len(data) > MAX_CHARS:
        _report_size(data, text, problems)
    # Line ends of Windows and spaces at line ends break C1 once each; the other rules read the lines without them.
    raw = text.split("\n")
    clean = raw
    if _BAD.search(text):
        _report_characters(raw, problems)
        clean = [line.rstrip(" \t\r") for line in raw]
    if clean[-1] == "" and len(clean) > 1:
        clean = clean[:-1]
    scan = _Scan(len(data), problems, read_layout(clean, problems))
    if scan.layout.readable:
        _read_lines(scan, raw)
        _check_integrity(scan, data)
    return scan


def _decode(source: str | bytes) -> tuple[bytes, str]:
    if isinstance(source, str):
        return source.encode("utf-8", "surrogatepass"), source
    try:
        return source, source.decode("utf-8")
    except UnicodeDecodeError:
        return source, source.decode("latin-1")


def _report_size(data: bytes, text: str, problems: Problems) -> None:
    end = min(MAX_CHARS, len(text))
    line = text.count("\n", 0, end) + 1
    column = end - (text.rfind("\n", 0, end) + 1) + 1
    size, over = len(data), len(data) - MAX_CHARS
    problems.add("C2", line, column, f"the file has {size} characters, {over} over {MAX_CHARS}; shorten it or fit it")


def _report_characters(raw: Sequence[str], problems: Problems) -> None:
    windows = [number for number, line in enumerate(raw, 1) if line.endswith("\r")]
    if windows:
        message = f"carriage returns end {len(windows)} lines, this one first; save the file with LF line ends"
        problems.add("C1", windows[0], len(raw[windows[0] - 1]), message)
    for number, line in enumerate(raw, 1):
        if match := _BAD.search(line.removesuffix("\r")):
            problems.add("C1", number, match.start() + 1, _character(match.group()))


def _character(found: str) -> str:
    if found == " ":
        return "the line ends with a space; remove it"
    if found == "\t":
        return "a tab; put a space"
    if found < " " or found == "\x7f":
        return f"the control character {found!a}; remove it"
    return f"the character {found!a} is not ASCII; write it with ASCII letters"


def _read_lines(scan: _Scan, raw: Sequence[str]) -> None:
    layout, problems = scan.layout, scan.problems
    if layout.meta:
        scan.meta = lines.read_meta(layout.meta, problems)
    if layout.chain:
        scan.chain = lines.read_chain(layout.chain, problems)
    if layout.seed:
        scan.seed = lines.read_seed(layout.seed, problems)
    layers: list[list[tuple[str, ...]]] = []
    for layer, placed in enumerate(layout.layers):
        cap = CAPS[layer]
        if len(placed) > cap:
            message = f"{HEADERS[layer]} has {len(placed)} entries, {cap} at most; remove {len(placed) - cap}"
            problems.add("C6", placed[cap][0], 1, message)
        fields = [lines.read_entry(layer, (number, raw[number - 1].rstrip("\t\r")), problems) for number, _ in placed]
        layers.append([entry for entry in fields if entry is not None])
    scan.layers = tuple(layers)


def _check_integrity(scan: _Scan, data: bytes) -> None:
    placed = scan.layout.integrity
    stated = lines.read_integrity(placed, scan.problems) if placed else None
    if placed is None or stated is None:
        return
    number = placed[0]
    parts = data.split(b"\n")
    del parts[number - 1]
    crc = integrity.crc(b"\n".join(parts))
    if stated[1] != str(len(data)):
        message = f"the line counts {stated[1][:12]} characters and the file has {len(data)}: it was cut or added to"
        scan.problems.add("C11", number, len("INTEGRITY: crc32=00000000 c"), message)
    if stated[0] != crc:
        message = f"the checksum of the text is {crc}: it was changed after it was stamped; get it again, or stamp it"
        scan.problems.add("C11", number, len("INTEGRITY: c"), message)


def _build(scan: _Scan) -> Capsule:
    assert scan.meta is not None and scan.seed is not None and scan.layout.version is not None  # noqa: S101
    skeleton, negative, internal, relation, loops = scan.layers
    return Capsule(
        version=cast("Version", scan.layout.version),
        meta=Meta(*scan.meta),
        chain=Chain(*scan.chain) if scan.chain else None,
        stamped=scan.layout.integrity is not None,
        skeleton=tuple(Node(*fields) for fields in skeleton),
        negative=tuple(Rejection(*fields) for fields in negative),
        internal=tuple(State(*fields) for fields in internal),
        relation=tuple(Relation(*fields) for fields in relation),
        loops=tuple(Loop(*fields) for fields in loops),
        seed=scan.seed,
    )


def loops_unordered(loops: Sequence[Loop]) -> bool:
    """Whether a loop stands after one of lower priority (section 2.9 recommends otherwise)."""
    ranks = [_RANK[loop.priority] for loop in loops]
    return ranks != sorted(ranks)


def _warnings(scan: _Scan) -> list[str]:
    """Return what a valid capsule does that a reader should know."""
    layout, found = scan.layout, []
    if (layout.chain and layout.version != "v1.2") or (layout.integrity and layout.version == "v1"):
        found.append(f"CHAIN and INTEGRITY came after {layout.version}; a reader of that version may not know them")
    if layout.compact:
        found.append("blank lines between sections are missing; the canonical form has one before each")
    if scan.chain and scan.meta and scan.chain[1] > scan.meta[3]:
        found.append("the chain's origin is later than the capsule's own timestamp")
    ranks = [_RANK[fields[2]] for fields in scan.layers[4]]
    if ranks != sorted(ranks):
        found.append("loops are not in the order HIGH, MED, LOW; they are resumed as they stand")
    for header, entries in zip(HEADERS, scan.layers, strict=True):
        if len(set(entries)) != len(entries):
            found.append(f"{header} holds the same entry twice; a stitch keeps one")
    return found
