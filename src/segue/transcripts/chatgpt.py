"""Reader of ChatGPT's export (section 6 of the host facts): one conversation object after another.

Of the tree of messages the branch is taken that ends in `current_node`. What was neither said nor heard is left out:
system and tool messages, calls of tools, hidden messages, thoughts. Custom instructions and what the assistant kept
in its memory become notes. Unverified, and so read with care: the notes' exact shape, and the citation marks.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import orjson

from segue.transcripts import moments
from segue.transcripts.conversation import Attachment, Conversation, Note, NoteKind, Origin, Problem, Role, Turn
from segue.transcripts.own import without_own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.transcripts.conversation import Read
    from segue.transcripts.lines import Record

ORIGIN: Origin = "chatgpt"

_SPOKEN = ("text", "multimodal_text", "code")
_EDITABLE: tuple[tuple[str, NoteKind], ...] = (
    ("user_profile", "instruction"),
    ("user_instructions", "instruction"),
    ("model_set_context", "memory"),
)
_ABOUT = ("about_user_message", "about_model_message")
_ENTITY = re.compile("\ue200entity\ue202([^\ue200-\ue206]{1,500})\ue201")
_MARK = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201|[\ue200-\ue206]|【[0-9:]{1,20}†[^】]{0,200}】")


def is_conversation(value: Record) -> bool:
    """Whether `value` is a conversation of this export."""
    return isinstance(value.get("mapping"), dict)


def identity(value: Record) -> str:
    """Return the id of a conversation; one that has none gets one made of its content."""
    for name in ("conversation_id", "id"):
        if isinstance(value.get(name), str) and value[name]:
            return str(value[name])
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def read(value: Record, file: str, index: int) -> Iterator[Read]:
    """Yield the notes of one conversation object, then the conversation, where anything was said in it."""
    if value.get("is_do_not_remember") is True:
        yield Problem("import.kept_out", "the conversation is marked as not to be remembered", file, index=index)
        return
    thread = identity(value)
    place = f"{file}[{index}]"
    created = moments.from_epoch(value.get("create_time"))
    turns: list[Turn] = []
    at = created
    for node, message in _branch(value):
        at = moments.from_epoch(message.get("create_time")) or at
        yield from _notes(message, f"{thread}/{node}", place, at)
        turn = _turn(message, thread, len(turns), at)
        if turn is not None:
            turns.append(turn)
    title = value.get("title")
    template = value.get("conversation_template_id")
    if turns:
        yield Conversation(
            origin=ORIGIN,
            id=thread,
            place=place,
            title=title.strip() or None if isinstance(title, str) else None,
            created=created,
            updated=moments.from_epoch(value.get("update_time")),
            project=template if isinstance(template, str) and template.startswith("g-p-") else None,
            turns=tuple(turns),
        )


def _branch(value: Record) -> Iterator[tuple[str, Record]]:
    """Yield id and message of the nodes from the root to the current leaf."""
    mapping: dict[str, Any] = value["mapping"]
    node = value.get("current_node")
    if not isinstance(node, str) or not isinstance(mapping.get(node), dict):
        node = _newest_leaf(mapping)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(node, str) and node not in seen and isinstance(mapping.get(node), dict):
        seen.add(node)
        path.append(node)
        node = mapping[node].get("parent")
    for name in reversed(path):
        message = mapping[name].get("message")
        if isinstance(message, dict):
            yield name, message


def _newest_leaf(mapping: dict[str, Any]) -> str | None:
    named = [_mapping(node).get("parent") for node in mapping.values()]
    parents = {parent for parent in named if isinstance(parent, str)}
    best: tuple[float, int] | None = None
    found = None
    for order, (name, node) in enumerate(mapping.items()):
        if not isinstance(node, dict) or name in parents:
            continue
        message = node.get("message")
        at = message.get("create_time") if isinstance(message, dict) else None
        rank = (float(at) if isinstance(at, (int, float)) else 0.0, order)
        if best is None or rank > best:
            best, found = rank, name
    return found


def _turn(message: Record, thread: str, position: int, at: str | None) -> Turn | None:
    role = _role(message)
    if role is None:
        return None
    content = message.get("content")
    if not isinstance(content, dict) or content.get("content_type") not in _SPOKEN:
        return None
    text = without_own(_cleaned(_text(content)))
    attachments = _attachments(message, content)
    if not text and not attachments:
        return None
    return Turn(thread=thread, position=position, role=role, text=text, at=at, attachments=attachments)


def _role(message: Record) -> Role | None:
    """The speaker of a message that was really said and heard."""
    role = _author(message)
    metadata = _mapping(message.get("metadata"))
    if metadata.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0:
        return None
    if role == "user":
        return "user"
    recipient, channel = message.get("recipient"), message.get("channel")
    if role != "assistant" or recipient not in (None, "all") or channel not in (None, "final", "commentary"):
        return None
    return "assistant"


def _text(content: Record) -> str:
    if isinstance(content.get("text"), str):
        return str(content["text"])
    parts = content.get("parts")
    texts = [_part(part) for part in parts] if isinstance(parts, list) else []
    return "\n\n".join(text for text in texts if text)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and part.get("content_type") == "audio_transcription":
        return part["text"] if isinstance(part.get("text"), str) else ""
    return ""


def _attachments(message: Record, content: Record) -> tuple[Attachment, ...]:
    named = _mapping(message.get("metadata")).get("attachments")
    names = [item.get("name") for item in named if isinstance(item, dict)] if isinstance(named, list) else []
    if not names and isinstance(content.get("parts"), list):
        images = [part for part in content["parts"] if _mapping(part).get("content_type") == "image_asset_pointer"]
        names = [image.get("asset_pointer") for image in images]
    return tuple(Attachment(name) for name in names if isinstance(name, str) and name)


def _notes(message: Record, ref: str, place: str, at: str | None) -> Iterator[Note]:
    content = _mapping(message.get("content"))
    texts: list[tuple[NoteKind, Any]] = []
    if content.get("content_type") in ("user_editable_context", "model_editable_context"):
        texts = [(kind, content.get(name)) for name, kind in _EDITABLE]
    elif _author(message) == "assistant" and message.get("recipient") == "bio":
        texts = [("memory", _text(content))]
    elif _author(message) == "system" and _mapping(message.get("metadata")).get("is_user_system_message") is True:
        about = _mapping(_mapping(message.get("metadata")).get("user_context_message_data"))
        texts = [("instruction", about.get(name)) for name in _ABOUT]
        if not any(text for _, text in texts):
            texts = [("instruction", _text(content))]
    for order, (kind, text) in enumerate(texts):
        if isinstance(text, str) and (kept := without_own(_cleaned(text))):
            yield Note(origin=ORIGIN, id=f"{ref}/{order}", place=place, kind=kind, text=kept, at=at)


def _author(message: Record) -> Any:
    return _mapping(message.get("author")).get("role")


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _cleaned(text: str) -> str:
    """Return `text` without citation marks; the name that stands in an entity mark stays."""
    if "\ue200" in text:
        text = _ENTITY.sub(_entity, text)
    return _MARK.sub("", text)


def _entity(match: re.Match[str]) -> str:
    try:
        value = orjson.loads(match[1])
    except ValueError:
        return ""
    named = isinstance(value, list) and len(value) > 1 and isinstance(value[1], str)
    return str(value[1]) if named else ""
