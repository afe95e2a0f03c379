"""Which format a file or folder is in, told by its content; and one door to all readers."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from segue.base.errors import InvalidInput
from segue.base.frontmatter import split
from segue.capsules.capsule import TOKENS
from segue.conversions.interchange import basic_memory, letta, markdown, mcp_memory, mem0, pam, source, states
from segue.conversions.interchange.conversations import of_conversation, of_note
from segue.conversions.interchange.faults import fault_of
from segue.transcripts.archives import BROKEN, Part, parts
from segue.transcripts.conversation import Conversation, Problem
from segue.transcripts.elements import Elements
from segue.transcripts.exports import export_of, host_of_part, read_conversations, vendor_of
from segue.transcripts.reader import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from segue.conversions.interchange.item import Found
    from segue.transcripts.exports import OnProgress
    from segue.transcripts.lines import Record

Format: TypeAlias = Literal[
    "chatgpt",
    "claude",
    "claude-code",
    "codex",
    "pam",
    "basic-memory",
    "mcp-memory",
    "mem0",
    "letta",
    "packet",
    "capsule",
    "markdown",
]
FORMATS: tuple[Format, ...] = get_args(Format)

_LOOKED_AT = 20
_HEAD = 1_000


def detect(path: Path) -> Format:
    """Return the format of the file or folder at `path`, told by what is in it.

    Raises InvalidInput `transcript.read` where it cannot be read; where nothing in it is known, `import.read`,
    `import.limit`, `import.element` or `import.empty` for what stands against it, else `import.unknown`.
    """
    found = _of_folder(path) if path.is_dir() else _of_file(path)
    if found is not None:
        return found
    problem = fault_of(path)
    if problem is None:
        known = ", ".join(FORMATS)
        raise InvalidInput("import.unknown", f"nothing that can be imported was found in {path}; known are {known}")
    place = "" if problem.place == path.name else f"{problem.place}: "
    raise InvalidInput(problem.code, f"cannot import {path}: {place}{problem.message}")


def read_items(
    path: Path, form: Format | None = None, *, zone: tzinfo = UTC, on_progress: OnProgress | None = None
) -> Iterator[Found]:
    """Yield the items at `path`, one after another, and a Problem for whatever could not be read.

    `form` is the format where it is known. `zone` is that of times which name none; `on_progress` is told how many
    bytes of how many were read, for conversations. Raises InvalidInput as `detect` does.
    """
    form = form or detect(path)
    if form in ("chatgpt", "claude", "claude-code", "codex"):
        for read in read_conversations(path, on_progress):
            if isinstance(read, Conversation):
                yield from of_conversation(read)
            elif isinstance(read, Problem):
                yield read
            else:
                yield from of_note(read)
    elif form == "basic-memory":
        yield from basic_memory.read(path, zone)
    elif form == "markdown":
        yield from markdown.read(path, zone)
    else:
        readers = {"pam": pam.read, "mcp-memory": mcp_memory.read, "mem0": mem0.read, "letta": letta.read}
        readers |= {"packet": states.read_packet, "capsule": states.read_capsule}
        yield from readers[form](path)


def _of_folder(folder: Path) -> Format | None:
    if (folder / pam.FILE).is_file():
        return "pam"
    for name in mcp_memory.FILES:
        if (folder / name).is_file() and _of_file(folder / name) == "mcp-memory":
            return "mcp-memory"
    for part in parts(folder):
        if isinstance(part, Part) and (vendor := vendor_of(part)):
            return vendor
    return _of_notes(folder)


def _of_file(path: Path) -> Format | None:
    for part in parts(path):
        if isinstance(part, Part):
            found = host_of_part(part) or _of_json(part)
            if found is not None:
                return found
    return _of_notes(path)


def _of_json(part: Part) -> Format | None:
    with suppress(*BROKEN):
        for element in islice(Elements(part.file, source.LISTS), _LOOKED_AT):
            if element.value is None:
                continue
            found = _of_object(element.value)
            if found is None and part.name.lower().endswith(".jsonl"):
                found = host_of(element.value)  # its first line was too long to be looked at before
            if found is not None:
                return found
    return None


def _of_object(value: Record) -> Format | None:
    export = export_of(value)
    if export is not None:
        return export
    signs: tuple[tuple[Format, bool], ...] = (
        ("packet", "ltm_version" in value),
        ("pam", isinstance(value.get("temporal"), dict) and isinstance(value.get("content"), str)),
        ("pam", value.get("schema") == "portable-ai-memory"),
        ("mem0", mem0.is_memory(value)),
        ("letta", letta.is_agent_file(value)),
        ("mcp-memory", mcp_memory.is_graph(value)),
        ("mcp-memory", value.get("type") in ("entity", "relation")),
    )
    return next((form for form, holds in signs if holds), None)


def _of_notes(path: Path) -> Format | None:
    """The format of texts: a capsule, or Markdown of some kind."""
    if not path.is_dir():
        text = source.text_of(path, path.name)
        if isinstance(text, Problem) or "\0" in text:
            return None
        if any(line.strip() in TOKENS for line in text[:_HEAD].split("\n")):
            return "capsule"
        if mem0.is_markdown(text):
            return "mem0"
        if not path.name.lower().endswith(source.TEXTS) and not split(text).values:
            return None
    notes = [note for note in islice(markdown.notes(path), _LOOKED_AT) if not isinstance(note, Problem)]
    if any(basic_memory.is_note(note) for note in notes):
        return "basic-memory"
    return "markdown" if notes else None
