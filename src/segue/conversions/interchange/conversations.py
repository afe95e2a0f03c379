"""Conversations and the notes beside them as items: each turn one, in its thread and place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.conversions.interchange.item import headed, pieces
from segue.memories.item import AuthorClass, Item, Kind, Layer, Provenance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from segue.transcripts.conversation import Conversation, Note, NoteKind, Turn

_URLS = {"chatgpt": "https://chatgpt.com/c/", "claude": "https://claude.ai/chat/"}
_NOTES: dict[NoteKind, tuple[Kind, Layer, AuthorClass]] = {
    "instruction": ("preference", "preference", "user"),
    "memory": ("claim", "semantic", "agent"),
    "document": ("observation", "semantic", "external"),
}


def of_conversation(conversation: Conversation) -> Iterator[Item]:
    """Yield the turns of `conversation` as items; a long one in pieces, then the texts that hung at it.

    What the human wrote is of class user, what the assistant said of class agent, an attached text external.
    """
    position = 0
    url = _URLS.get(conversation.origin, "")
    for turn in conversation.turns:
        author: AuthorClass = "user" if turn.role == "user" else "agent"
        texts = [(author, piece) for piece in pieces(turn.text)] + _attached(turn)
        for order, (author_class, text) in enumerate(texts):
            ref = f"{conversation.origin}:{conversation.id}#{turn.position}"
            yield Item(
                content=text,
                kind="observation",
                layer="episodic",
                occurred_at=turn.at,
                updated_at=conversation.updated,
                project=conversation.project or "",
                thread=f"{conversation.origin}:{conversation.id}",
                position=position,
                provenance=Provenance(
                    origin="import",
                    ref=f"{ref}.{order}" if order else ref,
                    url=url + conversation.id if url else "",
                    author_class=author_class,
                    author=conversation.origin if author_class == "agent" else "",
                ),
            )
            position += 1


def _attached(turn: Turn) -> list[tuple[AuthorClass, str]]:
    return [
        ("external", piece)
        for attachment in turn.attachments
        for piece in headed(attachment.name, attachment.text, ": ")
    ]


def of_note(note: Note) -> Iterator[Item]:
    """Yield `note` as items: instructions as preferences, the assistant's memory as claims, documents as found."""
    kind, layer, author_class = _NOTES[note.kind]
    for order, text in enumerate(headed(note.title, note.text, ": ")):
        ref = f"{note.origin}:{note.id}"
        yield Item(
            content=text,
            kind=kind,
            layer=layer,
            occurred_at=note.at,
            updated_at=note.at,
            project=note.project or "",
            tags=(note.kind,),
            provenance=Provenance(
                origin="import",
                ref=f"{ref}#{order}" if order else ref,  # the note is one source
                author_class=author_class,
                author=note.origin if author_class == "agent" else "",
            ),
        )
