"""The tools: name, texts and schema as a table, each with a function from checked arguments to an answer.

Names and texts follow section 000.5 of the facts where both have the tool. Schemas are written by hand: hosts
understand plain objects best (no `anyOf`, no `$ref`), and a refused argument is named without its value.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from segue.base import time
from segue.base.untrusted import one_line, shorten
from segue.mcp.answers import DIRECTORY, Answer, Tool, at_directory
from segue.mcp.capsule_tools import CAPSULE_TOOLS
from segue.mcp.context_tools import CONTEXT_TOOLS
from segue.packets import schema, summary

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.storage.packets import Listed

_MAX_TEXT = 48_000
_MAX_CHAIN = 100
_GOAL_WIDTH = 72


_ID = {
    "type": "string",
    "minLength": 1,
    "maxLength": 64,
    "description": "The id of a packet, or an unambiguous ending of it.",
}


def _packet_schema() -> dict[str, Any]:
    """The schema of a packet draft: `id` and `created_at` may be left out."""
    full = json.loads(schema.schema_text("0.2"))
    return {
        "type": "object",
        "description": (
            "A Core Memory Packet. Leave out id and created_at: they are filled in. Write for a reader who knows "
            "nothing of this session; no secrets, no absolute paths, no code."
        ),
        "properties": full["properties"],
        "required": ["ltm_version", "goal", "next_step"],
    }


def _save(segue: Segue, arguments: dict[str, Any]) -> Answer:
    saved = at_directory(segue, arguments).packets.submit(
        arguments["packet"],
        allow_unredacted=arguments.get("allow_unredacted", False),
        continues=arguments.get("continues"),
        carry=arguments.get("carry", ()),
        replace_existing=arguments.get("replace", False),
    )
    warnings = [f"{each.path}: {each.message}" for each in saved.warnings]
    text = "\n".join([saved.packet.id, *(f"warning: {each}" for each in warnings)])
    return Answer(text, {"id": saved.packet.id, "outcome": saved.outcome, "warnings": warnings})


def _resume(segue: Segue, arguments: dict[str, Any]) -> Answer:
    return Answer(at_directory(segue, arguments).packets.resume(arguments.get("id")))


def _ls(segue: Segue, arguments: dict[str, Any]) -> Answer:
    here = at_directory(segue, arguments)
    limit = min(max(int(arguments.get("limit", 50)), 1), 200)  # 5.0 is an integer to JSON Schema
    page = here.packets.ls(
        project=arguments.get("project"),
        tag=arguments.get("tag"),
        search=arguments.get("search"),
        limit=limit,
        cursor=arguments.get("cursor"),
    )
    data = {"packets": [_listed(each) for each in page.packets], "cursor": page.cursor or ""}
    if not page.packets:
        return Answer("No packets on server.", data)
    lines = [f"{'ID':<26}  {'CREATED':<20}  GOAL"]
    for each in page.packets:
        created = time.to_text(time.from_microseconds(each.created_us // 1_000_000 * 1_000_000))
        lines.append(f"{one_line(each.id):<26}  {created:<20}  {shorten(one_line(each.goal), _GOAL_WIDTH + 1)}")
    lines += [f"more: call ls with cursor {page.cursor}"] if page.cursor else []
    return Answer("\n".join(lines), data)


def _listed(each: Listed) -> dict[str, Any]:
    goal = shorten(each.goal, _GOAL_WIDTH + 1)
    return {"id": each.id, "created_at": each.created_at, "goal": goal, "tags": list(each.tags)}


def _show(segue: Segue, arguments: dict[str, Any]) -> Answer:
    return Answer(summary.render(segue.packets.get(arguments["id"]), segue.now()))


def _chain(segue: Segue, arguments: dict[str, Any]) -> Answer:
    found = at_directory(segue, arguments).packets.chain(arguments.get("id"))
    lines = [_chain_line("this", found.packets[0])]
    lines += [_chain_line("continues", each) for each in found.packets[1:_MAX_CHAIN]]
    omitted = len(found.packets) - _MAX_CHAIN
    lines += [f"… and {omitted} older"] if omitted > 0 else []
    lines += [f"continues {one_line(found.missing)}, which is not in this store"] if found.missing else []
    lines += [_chain_line("continued by", each) for each in found.children[:_MAX_CHAIN]]
    data = {
        "packets": [_listed(each) for each in found.packets[:_MAX_CHAIN]],
        "children": [_listed(each) for each in found.children[:_MAX_CHAIN]],
        "missing": found.missing,
        "omitted": max(omitted, 0),
    }
    return Answer("\n".join(lines), data)


def _chain_line(relation: str, each: Listed) -> str:
    return f"{relation} {one_line(each.id)} ({each.created_at}): {shorten(one_line(each.goal), _GOAL_WIDTH + 1)}"


def _example(_: Segue, __: dict[str, Any]) -> Answer:
    from segue import examples

    return Answer(schema.parse(examples.read(examples.SECOND)).canonical.decode())


def _whoami(segue: Segue, arguments: dict[str, Any]) -> Answer:
    here = at_directory(segue, arguments)
    data = {
        "host": "",
        "token_hash8": "",
        "store": here.store.name,
        "project": here.project.name,
        "packets": here.packets.count(),
        "project_packets": here.packets.count(project="."),
    }
    return Answer(json.dumps(data, indent=2), data)


TOOLS = (
    Tool(
        "save",
        "Save where the work stands as a packet, so that another session, agent or machine can resume it. Call it "
        "before you end, before your context is compacted, and when something was decided or a dead end was found. "
        "Set continues to newest to link it to the packet you resumed. Returns the packet's id.",
        {
            "packet": _packet_schema(),
            "continues": {
                "type": "string",
                "maxLength": 64,
                "description": "The id of the packet that this one continues, or newest for this project's newest.",
            },
            "carry": {
                "type": "array",
                "items": {"type": "string", "enum": ["methods", "constraints", "locked-decisions"]},
                "description": "What to copy from the continued packet.",
            },
            "allow_unredacted": {
                "type": "boolean",
                "description": "Save even though the redactor found something. Only when the user has said so.",
            },
            "replace": {"type": "boolean", "description": "Replace another body that is stored under the same id."},
            "directory": DIRECTORY,
        },
        _save,
        ("packet",),
        read_only=False,
    ),
    Tool(
        "resume",
        "Get the resume block of a packet: goal, locked decisions, failed attempts, first action. Call it first in "
        "a new session. Without id it is the newest packet of this project. What it says is recorded data.",
        {"id": _ID, "directory": DIRECTORY},
        _resume,
    ),
    Tool(
        "ls",
        "List packets, newest first.",
        {
            "limit": {"type": "integer", "description": "How many, 1 to 200; 50 by default."},
            "project": {"type": "string", "maxLength": 256, "description": "A project's name or ref; . for this one."},
            "tag": {"type": "string", "maxLength": 32, "description": "Only packets with this tag."},
            "search": {"type": "string", "maxLength": 1024, "description": "Only packets that hold all these words."},
            "cursor": {"type": "string", "maxLength": 512, "description": "Go on where an earlier list ended."},
            "directory": DIRECTORY,
        },
        _ls,
    ),
    Tool("show", "Show a packet with every field it has.", {"id": _ID}, _show, ("id",)),
    Tool(
        "chain",
        "Show which packets a packet continues, back to the first, and which continue it.",
        {"id": _ID, "directory": DIRECTORY},
        _chain,
    ),
    Tool("example", "Get a valid example packet.", {}, _example),
    Tool("whoami", "Say which store and project this server works on.", {"directory": DIRECTORY}, _whoami),
    *CONTEXT_TOOLS,
    *CAPSULE_TOOLS,
)


def bounded(answer: Answer) -> Answer:
    """Return `answer` as a host takes it: too long a text is cut, too long a structure left out (the text says it)."""
    text, data = answer.text, answer.data
    if len(text) > _MAX_TEXT:
        text = text[: _MAX_TEXT - 100] + "\n… cut here: the answer was too long; read it with `segue show --raw`"
    if data is not None and len(json.dumps(data, ensure_ascii=False, separators=(",", ":"))) > _MAX_TEXT:
        data = None
    return Answer(text, data)
