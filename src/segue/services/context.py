"""Context packs: the memories that suit a task, for one reader, within its budget (specification, sections 1 to 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from segue.base import cursors, jsontext, redaction, text, time
from segue.base.errors import Failed, InvalidInput
from segue.base.redaction import RedactionRefused
from segue.context import packing, paged
from segue.context.contested import Contested
from segue.context.delta import query_tokens
from segue.context.envelope import envelope
from segue.context.layers import INTENTS, Intent, intent_of
from segue.context.legend import INSTRUCTIONS
from segue.context.pack import Pack
from segue.context.profile_settings import MAX_TOKENS
from segue.context.profiles import DEFAULT_BUDGET, MIN_BUDGET, resolve
from segue.services import gathering, neighbours, pins
from segue.services.gathering import Asked, Gathered
from segue.services.scoped import ScopedService
from segue.services.search import notes
from segue.services.serving import Serving
from segue.services.sessions import require_id
from segue.storage import events, settings
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import sqlalchemy as sa

    from segue.context.candidate import Candidate, Selection
    from segue.context.profiles import Profile
    from segue.memories.memory import Memory
    from segue.services.embedding import Embedding
    from segue.services.indexes import Indexes
    from segue.services.projects import Project
    from segue.services.sessions import Sessions
    from segue.storage.database import Database

Items = Literal["all", "new"]
ITEMS: tuple[Items, ...] = ("all", "new")
MAX_TASK, MAX_MODEL, MAX_SURFACE, MAX_PROJECT = 500, 80, 40, 1_024
_LEAST_ROOM = 120  # tokens for items of the generic pack, however small the budget


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one call, checked. `budget` is in tokens; None stands for what was not given."""

    task: str
    model: str = ""
    surface: str = "agent"
    budget: int = DEFAULT_BUDGET
    intent: Intent | None = None
    as_of: datetime | None = None
    project: str = ""
    graph: bool = False

    def require(self) -> None:
        """Raise InvalidInput `context.…` for a value that no call may have."""
        for name, most in (
            ("task", MAX_TASK),
            ("model", MAX_MODEL),
            ("surface", MAX_SURFACE),
            ("project", MAX_PROJECT),
        ):
            value = getattr(self, name)
            if not isinstance(value, str) or len(value) > most or not jsontext.is_unicode(value):
                raise _invalid(name, f"Unicode text of at most {most} characters")
        if "\0" in self.project:
            raise _invalid("project", "a name without NUL")
        if isinstance(self.budget, bool) or not isinstance(self.budget, int):
            raise _invalid("token_budget", "a whole number")
        if self.intent is not None and self.intent not in INTENTS:
            raise _invalid("intent", f"one of {', '.join(INTENTS)}")

    def to_json(self) -> dict[str, Any]:
        """Return the arguments that were given, as a call of `get_context` has them."""
        at = None if self.as_of is None else time.to_text(self.as_of)
        given = {
            "model": self.model,
            "surface": "" if self.surface == "agent" else self.surface,
            "token_budget": None if self.budget == DEFAULT_BUDGET else self.budget,
            "intent": self.intent,
            "as_of": at,
            "project": self.project,
            "graph": self.graph,
        }
        return {name: value for name, value in given.items() if value}


class Context(ScopedService):
    """Makes context packs from the memories of one scope. Without a session and a pin nothing is written."""

    def __init__(
        self,
        database: Database,
        scope_id: str,
        *,
        project: Callable[[], Project],
        clock: Callable[[], datetime],
        embedding: Embedding,
        indexes: Indexes,
        sessions: Sessions,
        profiles: Callable[[], tuple[Profile, ...]],
        actor: str = "local",
    ) -> None:
        super().__init__(database, scope_id, project=project, clock=clock, actor=actor)
        self._embedding = embedding
        self._indexes = indexes
        self._sessions = sessions
        self._profiles = profiles

    def assemble(
        self,
        task: str = "",
        *,
        session: str | None = None,
        items: str = "all",
        since: int | str | None = None,
        pin: bool = False,
        **asked: Any,
    ) -> Serving:
        """Return the pack for `task` as it is delivered: what `pack` makes, and what `deliver` adds to it.

        `asked` are the further arguments of `pack`. Raises what both raise.
        """
        self._require(session, items, since)
        return self.deliver(self.pack(task, **asked), session=session, items=items, since=since, pin=pin)

    def pack(
        self,
        task: str = "",
        *,
        model: str = "",
        surface: str = "agent",
        budget: int = DEFAULT_BUDGET,
        intent: str | None = None,
        as_of: datetime | None = None,
        project: str | None = None,
        graph: bool = False,
        cursor: str | None = None,
        now: datetime | None = None,
    ) -> Serving:
        """Return the pack for `task` (at most 500 characters; without one, what happened lately). Nothing is written.

        `model`, else `surface`, names the reader (see `profiles.resolve`); `budget` is in tokens and is clamped to 300
        and the profile's own. `intent` is answer, act, draft, plan or recall, told from the task by default. `as_of`
        asks for what held and was known then. `project` leaves out other projects' memories, "." being the one that
        one is in. `graph` adds the entities around; `cursor` goes on with what did not fit, at the budget and the time
        of the page before. `now` fixes the clock.

        Raises InvalidInput `context.…` (`details` name the field), `cursor.invalid`.
        """
        for name, value in (("as_of", as_of), ("now", now)):
            if value is not None and (not isinstance(value, datetime) or value.tzinfo is None):
                raise _invalid(name, "a time with its offset from UTC")
        named = self._project().name if project == "." else project or ""
        call = Call(task, model, surface, budget, cast("Intent | None", intent), as_of, named, graph)
        call.require()
        call = replace(call, budget=min(max(call.budget, MIN_BUDGET), MAX_TOKENS))  # what JSON and a cursor can hold
        moment, known, delivered = now or self._clock(), 0, ""
        with self._database.read() as connection:
            if cursor is not None:
                key = settings.signing_key(connection)
                at, tokens, latest, before = cursors.decode(str(cursor), self._described(call), key)
                call, moment = replace(call, budget=int(tokens)), time.from_microseconds(int(at))
                known, delivered = int(latest), str(before)
            pack = self._pack(connection, call, moment, known, delivered)
            return Serving(pack, known_us=known, delivered=delivered, arguments=call.to_json())

    def deliver(
        self,
        serving: Serving,
        *,
        session: str | None = None,
        items: str = "all",
        since: int | str | None = None,
        pin: bool = False,
    ) -> Serving:
        """Return a pack with what changes for a session, and its pin; both are written in one short transaction.

        `session` (1 to 80 characters) names a conversation; `items="new"` delivers only what it has not had, `since`
        announces again what came after that cursor. `pin` keeps the pack under its hash. What was forgotten since the
        pack was made is not kept. Raises InvalidInput `context.items`, `context.session`, `session.…`, Failed
        `store.…` where a pin cannot be written; a session that cannot be updated is said in the notes.
        """
        self._require(session, items, since)
        if session is None and not pin:
            return serving
        tokens = query_tokens(serving.pack.task) if session else ()  # before the lock is held
        if pin:
            _require_clean(serving)
        wire = envelope(serving.pack, arguments=serving.arguments) if pin else {}
        try:
            with self._database.write(self._scope) as connection:
                if session is not None:
                    serving = self._announced(connection, serving, session, tokens, since, new_alone=items == "new")
                return self._pinned(connection, serving, wire, session) if pin else serving
        except Failed as error:
            if pin:
                raise
            return _unannounced(serving, error)

    @staticmethod
    def _require(session: str | None, items: str, since: int | str | None) -> None:
        if items not in ITEMS:
            raise _invalid("items", f"one of {', '.join(ITEMS)}")
        if session is None and (items == "new" or since is not None):
            raise _invalid("session", "items=new and since need a session")
        if session is not None:
            require_id(session)

    def _described(self, call: Call) -> list[object]:
        """What a page's cursor is bound to: all but the budget, which it carries."""
        return ["context", self._scope, call.task, call.to_json() | {"token_budget": None}]

    # -- packing ----------------------------------------------------------------------------------------------------

    def _pack(self, connection: sa.Connection, call: Call, now: datetime, known_us: int, delivered: str) -> Pack:
        """Make a page of a pack.

        Of later pages `known_us` is the time after which nothing new comes in (0 for none), `delivered` marks what the
        pages before had.
        """
        profile = resolve(call.model, call.surface, self._profiles())
        intent = call.intent or intent_of(call.task)
        projects = (text.fold(call.project),) if call.project else ()
        asked = Asked(call.task, intent, profile, now, call.as_of, projects, known_us)
        at = call.as_of or now
        loaded = self._indexes.current(connection, self._scope)
        found = gathering.gather(connection, self._scope, loaded.index, asked)
        contested = Contested(found.candidates, at)
        tokens = profile.budget(call.budget)
        header = profile.tokens("\n".join(INSTRUCTIONS))
        room = self._room(profile, tokens - header)
        selection = found.explained(self._selected(found, asked, contested, room, delivered))
        pack = Pack(
            task=call.task,
            intent=intent,
            surface=call.surface,
            profile=profile,
            tokens=tokens,
            header=header,
            now=now,
            selection=selection,
            as_of=call.as_of,
            project=call.project,
            names=self._names(connection, [each.candidate.memory for each in selection.packed], call.as_of),
            conflicts=contested.told(frozenset(each.candidate.ref for each in selection.packed)),
            pending=rows.count(connection, self._scope, gathering.pending(asked)),
            uncited=found.uncited,
            repeated=found.repeated,
            cursor=self._following(connection, call, selection, now, known_us, delivered),
            notes=notes(self._embedding, loaded),
        )
        if call.graph:
            pack = neighbours.with_graph(connection, self._scope, asked, found.seeds, pack)
        return pack

    @staticmethod
    def _room(profile: Profile, left: int) -> int:
        return max(left, _LEAST_ROOM if profile.packer == "greedy" else 0)

    @staticmethod
    def _selected(found: Gathered, asked: Asked, contested: Contested, room: int, delivered: str) -> Selection:
        """What comes into a page: of all candidates, those that no earlier page had."""
        before = paged.marks(delivered)
        return packing.pack(
            [each for each in found.candidates if paged.mark(each.ref) not in before],
            room,
            profile=asked.profile,
            intent=asked.intent,
            now=asked.as_of or asked.now,
            conflicting=contested,
        )

    def _following(
        self,
        connection: sa.Connection,
        call: Call,
        selection: Selection,
        now: datetime,
        known_us: int,
        delivered: str,
    ) -> str | None:
        if not selection.dropped or not selection.packed:
            return None
        known = known_us or max(time.microseconds(now), rows.latest(connection, self._scope))
        had = paged.with_marks(delivered, (ref for each in selection.packed for ref in _told(each.candidate)))
        position: list[int | str] = [time.microseconds(now), call.budget, known, had]
        return cursors.encode(position, self._described(call), settings.signing_key(connection))

    def _names(
        self, connection: sa.Connection, found: Sequence[Memory], at: datetime | None
    ) -> dict[str, tuple[str, ...]]:
        """What memories name; of one that had another text at the time asked about, what its writer said then."""
        named = entity_rows.of(connection, self._scope, [each.id for each in found])
        today = rows.by_ids(connection, self._scope, [each.id for each in found]) if at is not None else {}
        edited = {each.id for each in found if each.id in today and today[each.id].revision != each.revision}
        return {
            each.id: each.entities if each.id in edited else tuple(one.name for one in named.get(each.id, ()))
            for each in found
        }

    # -- what a call writes -----------------------------------------------------------------------------------------

    def _announced(
        self,
        connection: sa.Connection,
        serving: Serving,
        session: str,
        tokens: Sequence[str],
        since: int | str | None,
        *,
        new_alone: bool,
    ) -> Serving:
        """Tell a session what changed for it. Where its state cannot be read the pack stands, and says so."""
        pack = serving.pack
        try:
            delivery = self._sessions.announce(
                connection,
                session,
                serving.served(),
                tokens=tokens,
                since=since,
                now=pack.now,
                historic=pack.as_of is not None,
            )
        except Failed as error:
            return _unannounced(serving, error)
        receipt = self._logged(connection, "context.served", session, pack.now)
        if not new_alone:
            return replace(serving, delta=delivery.delta, receipt=receipt)
        again = self._again(connection, pack, [each.ref for each in delivery.delta.new if each.ref not in pack.refs])
        if again:
            names = {**pack.names, **self._names(connection, again, None)}
            serving = replace(serving, pack=replace(pack, names=names))
        narrowed = serving.narrowed(delivery, again)
        self._sessions.untell(connection, session, delivery, narrowed.untold, now=pack.now)
        return replace(narrowed, delta=delivery.delta, receipt=receipt)

    def _again(self, connection: sa.Connection, pack: Pack, missing: Sequence[str]) -> list[Memory]:
        """Of what is announced once more and not in the pack: what might be in it."""
        if not missing:
            return []
        projects = (text.fold(pack.project),) if pack.project else ()
        asked = Asked(pack.task, pack.intent, pack.profile, pack.now, projects=projects)
        found = rows.by_ids(connection, self._scope, missing, gathering.holding(asked))
        return [found[each] for each in missing if each in found]

    def _logged(self, connection: sa.Connection, kind: str, subject: str, now: datetime) -> dict[str, Any]:
        event = events.append(connection, self._scope, kind, subject, actor=self._actor, now=now)
        return {"tool": "get_context", "audited": True, "event_kind": kind, "event_id": event}

    def _pinned(
        self, connection: sa.Connection, serving: Serving, wire: dict[str, Any], session: str | None
    ) -> Serving:
        pack = serving.pack
        asked = {**serving.arguments, "task": pack.task, "now": time.to_text(pack.now)}
        asked |= {"known_us": serving.known_us, "delivered": serving.delivered}
        held = [ref for each in pack.packed for ref in _told(each.candidate)]
        held += pack.graph_refs
        kept = pins.put(connection, self._scope, wire, asked, held, session=session or "", now=pack.now)
        receipt = self._logged(connection, "context.pinned", str(kept["pack_sha"]), pack.now)
        return replace(serving, pin=kept, receipt=serving.receipt or receipt)

    def replay(self, sha: str) -> dict[str, Any]:
        """Return the envelope that was pinned under `sha`, a hash or its ending, without what was forgotten since.

        Raises NotFound `pin.not_found`, Ambiguous `pin.ambiguous`, Refused `pin.tampered`.
        """
        with self._database.read() as connection:
            return pins.replayed(connection, self._scope, pins.whole_sha(connection, self._scope, sha))

    def verify(self, sha: str) -> pins.Verification:
        """Say whether the pinned pack comes out the same today: match, drift (with the ids) or tampered.

        `sha` is its hash or an ending of that. Raises NotFound `pin.not_found`, Ambiguous `pin.ambiguous`.
        """
        with self._database.read() as connection:
            sha = pins.whole_sha(connection, self._scope, sha)
            pin, intact = pins.found(connection, self._scope, sha)
            if not intact:
                return pins.Verification(sha, "tampered")
            asked = pin.asked
            try:
                call = _call(asked)
            except (InvalidInput, TypeError, ValueError):  # the hash is of the answer alone
                return pins.Verification(sha, "tampered")
            again = self._pack(connection, call, time.parse(asked["now"]), asked["known_us"], asked["delivered"])
        return pins.compared(pin, envelope(again, arguments=call.to_json()))


def _told(candidate: Candidate) -> tuple[str, ...]:
    """The memories that an item tells: its own, and those folded into it."""
    return (candidate.ref, *(each.id for each in candidate.folded))


def _call(asked: Mapping[str, Any]) -> Call:
    """The call of a pinned pack. Raises InvalidInput, TypeError or ValueError for one that nobody can have made."""
    as_of = asked.get("as_of")
    paged.marks(asked["delivered"])
    if not 0 <= asked["known_us"] < 2**63:
        raise ValueError("no time")
    call = Call(
        asked["task"],
        asked.get("model", ""),
        asked.get("surface", "agent"),
        asked.get("token_budget", DEFAULT_BUDGET),
        asked.get("intent"),
        time.parse(as_of) if as_of else None,
        asked.get("project", ""),
        asked.get("graph", False),
    )
    call.require()
    return call


def _require_clean(serving: Serving) -> None:
    """Raise RedactionRefused `context.redaction` for a task with a secret in it: a pin keeps its words."""
    found = redaction.credentials("task", serving.pack.task)
    if found:
        raise RedactionRefused(found, "context.redaction", "Say the task without it, or do not pin the pack")


def _unannounced(serving: Serving, error: Failed) -> Serving:
    note = f"the session was not updated ({error.code}); take nothing for announced"
    return replace(serving, notes=(*serving.notes, note))


def _invalid(field: str, wanted: str) -> InvalidInput:
    return InvalidInput(f"context.{field}", f"{field}: {wanted}", {"field": field})
