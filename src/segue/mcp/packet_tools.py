"""The tools for packets: save, resume, find and read them, follow their chain, remove one.

Names and texts follow section 000.5 of the facts where both have the tool. Schemas are written by hand: hosts
understand plain objects best (no `anyOf`, no `$ref`), and a refused argument is named without its value.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

from segue.base import time
from segue.base.errors import InvalidInput, SegueError
from segue.base.untrusted import one_line, shorten
from segue.mcp import shapes
from segue.mcp.answers import Answer, Tool, fitting
from segue.mcp.arguments import DIRECTORY, at_directory
from segue.packets import schema, summary
from segue.services import connecting, paging

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.services.packets import Chain
    from segue.storage.packet_lines import Listed

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
    given = {name: arguments.get(name) for name in ("project", "tag", "search", "cursor")}

    def page(most: int) -> Answer:
        found = here.packets.ls(limit=most, **given)
        data = {"packets": [_listed(each) for each in found.packets], "cursor": found.cursor or ""}
        return Answer("\n".join(_table(found.packets, found.cursor or "")), data)

    return fitting(page, limit)


def _table(packets: list[Listed], cursor: str) -> list[str]:
    if not packets:
        return ["No packets on server."]
    lines = [f"{'ID':<26}  {'CREATED':<20}  GOAL"]
    for each in packets:
        created = time.to_text(time.from_microseconds(each.created_us // 1_000_000 * 1_000_000))
        lines.append(f"{one_line(each.id):<26}  {created:<20}  {shorten(one_line(each.goal), _GOAL_WIDTH + 1)}")
    return [*lines, f"more: call ls with cursor {cursor}"] if cursor else lines


def _listed(each: Listed) -> dict[str, Any]:
    goal = shorten(each.goal, _GOAL_WIDTH + 1)
    return {"id": each.id, "created_at": each.created_at, "goal": goal, "tags": list(each.tags)}


def _show(segue: Segue, arguments: dict[str, Any]) -> Answer:
    return Answer(summary.render(segue.packets.get(arguments["id"]), segue.now()))


def _rm(segue: Segue, arguments: dict[str, Any]) -> Answer:
    removed = segue.packets.rm(arguments["id"])
    return Answer(f"deleted {one_line(removed.id)}", {"id": removed.id, "deleted": True})


def _before_rm(segue: Segue, arguments: dict[str, Any]) -> str:
    paging.require_long_enough(arguments["id"], "packet")
    stored = segue.packets.stored(arguments["id"])
    with contextlib.suppress(InvalidInput):  # a damaged one may go, too
        goal = shorten(one_line(schema.parse(stored.body).goal), _GOAL_WIDTH + 1)
        return f"Delete the packet {one_line(stored.id)} for good? Its goal: {goal}"
    return f"Delete the packet {one_line(stored.id)} for good? It does not read any more."


def _chain(segue: Segue, arguments: dict[str, Any]) -> Answer:
    found = at_directory(segue, arguments).packets.chain(arguments.get("id"))
    return fitting(lambda most: _links(found, most), _MAX_CHAIN)


def _links(found: Chain, most: int) -> Answer:
    shown, children = found.packets[:most], found.children[:most]
    omitted = len(found.packets) - len(shown)
    lines = [_chain_line("this", shown[0])]
    lines += [_chain_line("continues", each) for each in shown[1:]]
    lines += [f"… and {omitted} older: call chain with id {one_line(shown[-1].id)}"] if omitted else []
    lines += [f"continues {one_line(found.missing)}, which is not in this store"] if found.missing else []
    lines += [_chain_line("continued by", each) for each in children]
    further = len(found.children) - len(children)
    lines += [f"… and {further} more that continue it"] if further else []
    data = {
        "packets": [_linked(each) for each in shown],
        "children": [_linked(each) for each in children],
        "missing": found.missing,
        "omitted": omitted,
    }
    return Answer("\n".join(lines), data)


def _linked(each: Listed) -> dict[str, Any]:
    return {name: value for name, value in _listed(each).items() if name != "tags"}


def _chain_line(relation: str, each: Listed) -> str:
    return f"{relation} {one_line(each.id)} ({each.created_at}): {shorten(one_line(each.goal), _GOAL_WIDTH + 1)}"


def _example(_: Segue, __: dict[str, Any]) -> Answer:
    from segue import examples

    return Answer(schema.parse(examples.read(examples.SECOND)).canonical.decode())


def _whoami(segue: Segue, arguments: dict[str, Any]) -> Answer:
    here = at_directory(segue, arguments)
    host, fingerprint = _signed_in(segue)
    data = {
        "host": host,
        "token_hash8": fingerprint,
        "store": here.store.name,
        "project": here.project.name,
        "packets": here.packets.count(),
        "project_packets": here.packets.count(project="."),
    }
    return Answer(json.dumps(data, indent=2), data)


def _signed_in(segue: Segue) -> tuple[str, str]:
    """The packet host that is set, and the beginning of its token's hash; "" for what is not, or does not read."""
    host = fingerprint = ""
    with contextlib.suppress(SegueError):
        found = connecting.read(segue.home, os.environ)
        host = found.host
        if host:
            credential = connecting.credentials(segue.home, os.environ, found).get(host)
            fingerprint = credential.fingerprint if credential else ""
    return host, fingerprint


_LINK: dict[str, Any] = {
    "id": shapes.text("The packet's id."),
    "created_at": shapes.text("When it was made (RFC 3339)."),
    "goal": shapes.text("Its goal, shortened."),
}
_LINKED = shapes.record(_LINK)
_LISTED = shapes.record(_LINK | {"tags": shapes.texts("Its tags.")})

PACKET_TOOLS = (
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
        shapes.record(
            {
                "id": shapes.text("The packet's id: what proves that it is saved."),
                "outcome": shapes.text("What was done.", "created", "unchanged", "replaced"),
                "warnings": shapes.texts("What could be written better."),
            }
        ),
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
            "search": {
                "type": "string",
                "maxLength": 1024,
                "description": "Only packets that hold words which begin with each of these.",
            },
            "cursor": {"type": "string", "maxLength": 512, "description": "Go on where an earlier list ended."},
            "directory": DIRECTORY,
        },
        _ls,
        output=shapes.record(
            {
                "packets": shapes.listing("The newest first.", _LISTED),
                "cursor": shapes.text("Give it to ls for the next page; empty at the end."),
            }
        ),
    ),
    Tool("show", "Show a packet with every field it has.", {"id": _ID}, _show, ("id",)),
    Tool(
        "rm",
        "Delete a packet for good, with the memories that nothing else says. Call it only when the user has asked for "
        "it. Where the host can, the user is asked once more; packets that continue it stay.",
        {"id": _ID},
        _rm,
        ("id",),
        shapes.record({"id": shapes.text("The packet's id."), "deleted": shapes.flag("Whether it is gone.")}),
        read_only=False,
        destructive=True,
        idempotent=False,
        question=_before_rm,
    ),
    Tool(
        "chain",
        "Show which packets a packet continues, back to the first, and which continue it.",
        {"id": _ID, "directory": DIRECTORY},
        _chain,
        output=shapes.record(
            {
                "packets": shapes.listing("The packet itself, then what it continues, back to the first.", _LINKED),
                "children": shapes.listing("The packets that continue it.", _LINKED),
                "missing": shapes.text("The id of a packet that is continued and is not here; empty if there is none."),
                "omitted": shapes.whole("How many older ones are not listed: ask for the chain of the last one."),
            }
        ),
    ),
    Tool("example", "Get a valid example packet.", {}, _example),
    Tool(
        "whoami",
        "Say which store, project and packet host this server works with.",
        {"directory": DIRECTORY},
        _whoami,
        output=shapes.record(
            {
                "host": shapes.text("The packet host; empty without one."),
                "token_hash8": shapes.text("The beginning of the hash of its token; empty without one."),
                "store": shapes.text("Where the store is."),
                "project": shapes.text("The project's name."),
                "packets": shapes.whole("Packets in the store."),
                "project_packets": shapes.whole("Packets of this project."),
            }
        ),
    ),
)
