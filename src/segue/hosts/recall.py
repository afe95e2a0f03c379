"""UserPromptSubmit: the memories that a prompt calls for and its conversation has not had."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from segue.base import text, time
from segue.context.candidate import Candidate
from segue.context.delta import query_tokens
from segue.context.layers import intent_of, natural
from segue.context.serving import served
from segue.hosts import briefing, embedded, memory_rows, relevance, session_row, term_index
from segue.hosts.calling import context
from segue.transcripts import speech

if TYPE_CHECKING:
    from segue.context.candidate import Packed
    from segue.context.delta import Delta
    from segue.hosts.calling import Call
    from segue.hosts.embedded import Embedded
    from segue.hosts.relevance import Asked

EVENT = "UserPromptSubmit"
MOST_TOKENS, MOST_CHARACTERS = 900, 4_500
MOST_FOUND, MOST_RULES = 8, 8
_COMMAND = re.compile(r"/[\w:.-]*(?:\s|$)")  # of the host's; a path goes on with a slash
_TASK = 500  # characters of a prompt whose words a session keeps


def answer(call: Call) -> dict[str, Any] | None:
    """Return what the host is told; None where nothing is new or relevant. Raises SegueError."""
    prompt = speech.from_claude(call.text("prompt"))
    if not prompt or _COMMAND.match(prompt) or not call.session:
        return None
    asked = relevance.asked(prompt)
    if not asked.tokens:
        return None
    project = text.fold(call.project().name)
    with embedded.opened(call.location) as store:
        with store.reading():
            found = candidates(store, project, asked, call)
            state = session_row.state(store, call.session, call.now) if found else None
        if not found:
            return None
        known = state.known if state else {}
        packed, _ = briefing.pack(found, MOST_TOKENS, MOST_CHARACTERS, intent=intent_of(prompt), now=call.now)
        if all(each.candidate.ref in known for each in packed) and not _renewed(packed, known):
            return None
        with store.writing():
            delta = session_row.announce(
                store, call.session, served(packed), tokens=query_tokens(prompt[:_TASK]), now=call.now
            )
    return context(EVENT, _told(packed, delta))


def candidates(store: Embedded, project: str, asked: Asked, call: Call) -> list[Candidate]:
    """Return the memories that share enough with a prompt, best first, after the project's rules.

    Rules come along only where something matches; `project` is a folded name.
    """
    at_us = time.microseconds(call.now)
    matches = term_index.find(store, asked.tokens)
    speaking = [each for each in matches.found if relevance.speaks(each, matches.rarity, asked.names)]
    memories = memory_rows.by_ids(store, project, at_us, [each.memory_id for each in speaking])
    found = [each for each in speaking if each.memory_id in memories][:MOST_FOUND]
    if not found:
        return []
    best = found[0].score
    matched = []
    for place, each in enumerate(found, 1):
        memory = memories[each.memory_id]
        why = {"retrievers": ["lexical"], "matched_terms": sorted(each.terms), "fused_rank": place}
        matched.append(Candidate(memory, natural(memory), round(each.score / best, 6), "rank", why))
    if any(each.layer == "constraints" for each in matched):
        return matched
    return [*_rules(store, project, at_us), *matched]


def _rules(store: Embedded, project: str, at_us: int) -> list[Candidate]:
    """The newest rules, where none matches."""
    listed = [each for _, each in memory_rows.newest(store, project, at_us, MOST_RULES, "constraint")]
    memories = memory_rows.by_ids(store, project, at_us, listed)
    return [Candidate(memories[each], "constraints") for each in listed if each in memories]


def _renewed(packed: tuple[Packed, ...], known: Any) -> bool:
    """Whether a known memory says more now than the session was told."""
    return any(each.version > known[each.ref].version for each in served(packed) if each.ref in known)


def _told(packed: tuple[Packed, ...], delta: Delta) -> str:
    """What is put before the model: the items that are new or renewed, and what of the earlier ones fell."""
    wanted = {*(each.ref for each in delta.new), *delta.renewed}
    items = [each for each in packed if each.candidate.ref in wanted]
    parts = [briefing.shown(items) if items else "", briefing.news(delta)]
    return briefing.framed(*parts) if any(parts) else ""
