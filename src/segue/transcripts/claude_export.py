"""Reader of Claude.ai's export (section 7 of the host facts): conversations, design chats, projects, memories.

A retry makes a branch; the export does not say which one is current, so the newest leaf decides. An export without
parents is flat and read as it stands. Unverified: the value of a root's parent, and `project_memories`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from segue.transcripts import moments
from segue.transcripts.conversation import Attachment, Conversation, Note, NoteKind, Origin, Problem, Role, Turn
from segue.transcripts.own import without_own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.transcripts.conversation import Read
    from segue.transcripts.lines import Record

ORIGIN: Origin = "claude"

_SENDERS: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_FILLER = re.compile(r"(?:```\n)?This block is not supported on your current device yet\.?(?:\n```)?")
_HEADING = re.compile(r"\*\*([^*\n]{1,200})\*\*:?|#{1,6} ([^\n]{1,200})")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")


def is_ours(value: Record) -> bool:
    """Whether `value` is an object of this export, of any kind that is read."""
    return _is_conversation(value) or _is_memories(value) or _is_project(value)


def _is_conversation(value: Record) -> bool:
    return isinstance(value.get("chat_messages"), list) or (
        isinstance(value.get("messages"), list) and isinstance(value.get("project"), dict) and "uuid" in value
    )


def _is_memories(value: Record) -> bool:
    return "account_uuid" in value and ("conversations_memory" in value or "memory_files" in value)


def _is_project(value: Record) -> bool:
    return isinstance(value.get("docs"), list) and "uuid" in value


def read(value: Record, file: str, index: int) -> Iterator[Read]:
    """Yield what one object of the export holds."""
    place = f"{file}[{index}]"
    if _is_conversation(value):
        yield from _conversation(value, file, index)
    elif _is_memories(value):
        yield from _memories(value, place)
    else:
        yield from _project(value, place)


def _conversation(value: Record, file: str, index: int) -> Iterator[Read]:
    thread = _string(value.get("uuid"))
    if not thread:
        yield Problem("import.value", "the conversation has no uuid", file, index=index)
        return
    messages = value.get("chat_messages") or value.get("messages")
    created = moments.from_iso(value.get("created_at"))
    turns: list[Turn] = []
    at = created
    for message in _branch([item for item in messages or [] if isinstance(item, dict)]):
        at = moments.from_iso(message.get("created_at")) or at
        turn = _turn(message, thread, len(turns), at)
        if turn is not None:
            turns.append(turn)
    if turns:
        yield Conversation(
            origin=ORIGIN,
            id=thread,
            place=f"{file}[{index}]",
            title=(_string(value.get("name")) or _string(value.get("title"))).strip() or None,
            created=created,
            updated=moments.from_iso(value.get("updated_at")),
            project=_name_of(value.get("project")) or None,
            turns=tuple(turns),
        )


def _branch(messages: list[Record]) -> list[Record]:
    """Return the messages from the root to the newest leaf, or all of them where none names a parent."""
    known = {message["uuid"]: message for message in messages if isinstance(message.get("uuid"), str)}
    parents = {parent for message in messages if (parent := _parent(message, known)) is not None}
    if not parents:
        return messages
    leaves = [uuid for uuid in known if uuid not in parents]
    if not leaves:
        return messages
    order = {uuid: number for number, uuid in enumerate(known)}
    uuid: str | None = max(leaves, key=lambda leaf: (_at(known[leaf]), order[leaf]))
    path: list[Record] = []
    seen: set[str] = set()
    while uuid is not None and uuid not in seen:
        seen.add(uuid)
        path.append(known[uuid])
        uuid = _parent(known[uuid], known)
    return path[::-1]


def _parent(message: Record, known: dict[str, Record]) -> str | None:
    parent = message.get("parent_message_uuid")
    return parent if isinstance(parent, str) and parent in known else None


def _at(message: Record) -> int:
    return moments.microseconds(moments.from_iso(message.get("created_at")))


def _turn(message: Record, thread: str, position: int, at: str | None) -> Turn | None:
    role = _SENDERS.get(_string(message.get("sender")) or _string(message.get("role")))
    if role is None:
        return None
    text = without_own(_FILLER.sub("", _text(message)))
    attachments = tuple(_attachments(message))
    if not text and not attachments:
        return None
    return Turn(thread=thread, position=position, role=role, text=text, at=at, attachments=attachments)


def _text(message: Record) -> str:
    """The text blocks of `content`; `text` only repeats them, so it counts where there are none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [_string(block.get("text")) for block in blocks if block.get("type") == "text"]
    spoken = "\n\n".join(text for text in texts if text)
    return spoken or ("" if len(texts) < len(blocks) else _string(message.get("text")))


def _attachments(message: Record) -> Iterator[Attachment]:
    for key in ("attachments", "files"):
        items = message.get(key)
        for item in items if isinstance(items, list) else []:
            if not isinstance(item, dict):
                continue
            name, text = _string(item.get("file_name")), without_own(_string(item.get("extracted_content")))
            if name or text:
                yield Attachment(name, text)


def _project(value: Record, place: str) -> Iterator[Note]:
    ref, name = _string(value.get("uuid")), _string(value.get("name"))
    at = moments.from_iso(value.get("created_at"))
    texts: list[tuple[str, NoteKind, Any, str, str | None]] = [
        ("description", "document", value.get("description"), "", at),
        ("prompt_template", "instruction", value.get("prompt_template"), "", at),
    ]
    for order, doc in enumerate(value["docs"]):
        if isinstance(doc, dict):
            written = moments.from_iso(doc.get("created_at")) or at
            texts.append((f"docs/{order}", "document", doc.get("content"), _string(doc.get("filename")), written))
    for part, kind, text, title, moment in texts:
        kept = without_own(_string(text))
        if kept:
            yield Note(
                origin=ORIGIN,
                id=f"{ref}/{part}",
                place=place,
                kind=kind,
                text=kept,
                title=title,
                project=name or None,
                at=moment,
            )


def _memories(value: Record, place: str) -> Iterator[Note]:
    account = _string(value.get("account_uuid"))
    texts: list[tuple[str, str, str | None, str | None]] = [
        ("conversations", _string(value.get("conversations_memory")), None, None)
    ]
    projects = value.get("project_memories")
    for uuid, text in projects.items() if isinstance(projects, dict) else ():
        texts.append((f"projects/{uuid}", _string(text), uuid, None))
    files = value.get("memory_files")
    for item in files if isinstance(files, list) else []:
        if isinstance(item, dict):
            moment = moments.from_iso(item.get("updated_at"))
            texts.append((f"files/{_string(item.get('path'))}", _string(item.get("content")), None, moment))
    for part, text, project, at in texts:
        for order, (title, paragraph) in enumerate(_sections(text)):
            yield Note(
                origin=ORIGIN,
                id=f"{account}/{part}/{order}",
                place=place,
                kind="memory",
                text=paragraph,
                title=title,
                project=project,
                at=at,
            )


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield each paragraph with the heading that it stands under."""
    title = ""
    for paragraph in _PARAGRAPHS.split(without_own(text)):
        block = paragraph.strip()
        heading = _HEADING.match(block)
        if heading and (heading.end() == len(block) or block[heading.end()] == "\n"):
            title = (heading[1] or heading[2]).strip(" :#")
            block = block[heading.end() :].strip()
        if block:
            yield title, block


def _name_of(value: Any) -> str:
    return _string(value.get("name")) if isinstance(value, dict) else ""


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
