"""Context packs: the memories that suit a task, for one reader, within its budget (specification, sections 1 to 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from segue.base import cursors, jsontext, text, time
from segue.base.errors import Failed, InvalidInput
from segue.context import conflicts, packing
from segue.context.delta import query_tokens
from segue.context.envelope import envelope
from segue.context.layers import INTENTS, Intent, intent_of
from segue.context.legend import INSTRUCTIONS
from segue.context.pack import Pack
from segue.context.profiles import DEFAULT_BUDGET, resolve
from segue.memories.filter import Filter
from segue.services import gathering, neighbours, pins
from segue.services.gathering import Asked, Gathered
from segue.services.scoped import ScopedService
from segue.services.serving import Serving
from segue.storage import events, settings
from segue.storage import memories as rows
from segue.storage import memory_entities as entity_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import sqlalchemy as sa

    from segue.context.candidate import Candidate, Selection
    from segue.context.profiles import Profile
    from segue.memories.memory import Memory
    from segue.services.indexes import Indexes
    from segue.services.projects import Project
    from segue.services.sessions import Delivery, Sessions
    from segue.storage.database import Database

Items = Literal["all", "new"]
ITEMS: tuple[Items, ...] = ("all", "new")
MAX_TASK, MAX_MODEL, MAX_SURFACE, MAX_PROJECT = 500, 80, 40, 1_024
MAX_PAGES = 100
_LEAST_ROOM = 120  # tokens for items, however small the budget


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
        indexes: Indexes,
        sessions: Sessions,
        profiles: Callable[[], tuple[Profile, ...]],
        actor: str = "local",
    ) -> None:
        super().__init__(database, scope_id, project=project, clock=clock, actor=actor)
        self._indexes = indexes
        self._sessions = sessions
        self._profiles = profiles

    def assemble(
        self,
        task: str = "",
        *,
        model: str = "",
        surface: str = "agent",
        budget: int = DEFAULT_BUDGET,
        intent: str | None = None,
        session: str | None = None,
        items: str = "all",
        since: int | str | None = None,
        as_of: datetime | None = None,
        project: str | None = None,
        graph: bool = False,
        pin: bool = False,
        cursor: str | None = None,
        now: datetime | None = None,
    ) -> Serving:
        """Return the pack for `task` (at most 500 characters; without one, what happened lately).

        `model`, else `surface`, names the reader (see `profiles.resolve`); `budget` is in tokens and is clamped to 300
        and the profile's own. `intent` is answer, act, draft, plan or recall, told from the task by default.
        `session` (1 to 80 characters) gives the delta of a conversation; `items="new"` delivers only what it has not
        had, `since` announces again what came after that cursor. `as_of` asks for what held and was known then.
        `project` leaves out other projects' memories, "." being the one that one is in. `graph` adds the entities
        around, `pin` keeps the pack under its hash, `cursor` goes on with what did not fit. `now` fixes the clock.

        Raises InvalidInput `context.…` (`details` name the field), `session.…`, `cursor.invalid`.
        """
        call = self._checked(task, model, surface, budget, intent, as_of, project, graph=graph)
        if items not in ITEMS:
            raise _invalid("items", f"one of {', '.join(ITEMS)}")
        if session is None and (items == "new" or since is not None):
            raise _invalid("session", "items=new and since need a session")
        page, moment = self._page(call, cursor, now)
        with self._database.read() as connection:
            pack = self._pack(connection, call, moment, page)
        serving = Serving(pack, arguments=call.to_json())
        if session is not None:
            serving = self._announced(serving, session, since, new_alone=items == "new", now=moment)
        return self._pinned(serving, call, session, moment, page) if pin else serving

    # -- arguments --------------------------------------------------------------------------------------------------

    def _checked(
        self,
        task: str,
        model: str,
        surface: str,
        budget: int,
        intent: str | None,
        as_of: datetime | None,
        project: str | None,
        *,
        graph: bool,
    ) -> Call:
        for name, value, most in (
            ("task", task, MAX_TASK),
            ("model", model, MAX_MODEL),
            ("surface", surface, MAX_SURFACE),
            ("project", project or "", MAX_PROJECT),
        ):
            if not isinstance(value, str) or len(value) > most or not jsontext.is_unicode(value):
                raise _invalid(name, f"Unicode text of at most {most} characters")
        if isinstance(budget, bool) or not isinstance(budget, int):
            raise _invalid("token_budget", "a whole number")
        if intent is not None and intent not in INTENTS:
            raise _invalid("intent", f"one of {', '.join(INTENTS)}")
        if as_of is not None and as_of.tzinfo is None:
            raise _invalid("as_of", "a time with its offset from UTC")
        named = self._project().name if project == "." else project or ""
        return Call(task, model, surface, budget, intent, as_of, named, graph)

    def _page(self, call: Call, cursor: str | None, now: datetime | None) -> tuple[int, datetime]:
        """Which page is asked for, from 0, and the time that all pages of a pack share."""
        moment = now or self._clock()
        if cursor is None:
            return 0, moment
        with self._database.read() as connection:
            position = cursors.decode(cursor, self._described(call), settings.signing_key(connection))
        return int(position[0]), time.from_microseconds(int(position[1]))

    def _described(self, call: Call) -> list[object]:
        return ["context", self._scope, call.task, call.to_json()]

    # -- packing ----------------------------------------------------------------------------------------------------

    def _pack(self, connection: sa.Connection, call: Call, now: datetime, page: int) -> Pack:
        profile = resolve(call.model, call.surface, self._profiles())
        intent = call.intent or intent_of(call.task)
        projects = (text.fold(call.project),) if call.project else ()
        asked = Asked(call.task, intent, profile, now, call.as_of, projects)
        loaded = self._indexes.current(connection, self._scope)
        found = gathering.gather(connection, self._scope, loaded.index, asked)
        contradicting = conflicts.scan([each.memory for each in found.candidates], now=call.as_of or now)
        tokens = profile.budget(call.budget)
        header = profile.tokens("\n".join(INSTRUCTIONS))
        selection = self._selected(found, asked, contradicting, max(tokens - header, _LEAST_ROOM), page)
        refs = {each.candidate.ref for each in selection.packed}
        shown = tuple(each for each in contradicting if refs & {each.current.id, each.stale.id})
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
            names=self._names(connection, [each.candidate for each in selection.packed]),
            conflicts=shown,
            pending=rows.count(connection, self._scope, _PENDING),
            uncited=found.uncited,
            repeated=found.repeated,
            cursor=self._following(connection, call, selection, now, page),
            notes=self._notes(loaded.foreign),
        )
        if call.graph:
            pack = replace(pack, graph=neighbours.graph(connection, self._scope, asked, found.seeds, pack))
        return pack

    @staticmethod
    def _selected(
        found: Gathered, asked: Asked, contradicting: Sequence[conflicts.Conflict], room: int, page: int
    ) -> Selection:
        """What comes into a page: of all candidates, those that no earlier page had."""
        waiting = found.candidates
        contested = frozenset(each for one in contradicting for each in (one.current.id, one.stale.id))
        for _ in range(page + 1):
            selection = packing.pack(
                waiting, room, profile=asked.profile, intent=asked.intent, now=asked.now, conflicting=contested
            )
            left = {each.ref for each, _ in selection.dropped}
            waiting = tuple(each for each in waiting if each.ref in left)
        return selection

    def _following(
        self, connection: sa.Connection, call: Call, selection: Selection, now: datetime, page: int
    ) -> str | None:
        if not selection.dropped or not selection.packed or page + 1 >= MAX_PAGES:
            return None
        position: list[int | str] = [page + 1, time.microseconds(now)]
        return cursors.encode(position, self._described(call), settings.signing_key(connection))

    def _names(self, connection: sa.Connection, found: Sequence[Candidate]) -> dict[str, tuple[str, ...]]:
        named = entity_rows.of(connection, self._scope, [each.ref for each in found])
        return {ref: tuple(each.name for each in names) for ref, names in named.items()}

    def _notes(self, foreign: int) -> tuple[str, ...]:
        if not foreign:
            return ()
        return ("some memories have no vectors of this embedder and are found by words alone; run `segue reindex`",)

    # -- what a call writes -----------------------------------------------------------------------------------------

    def _announced(
        self, serving: Serving, session: str, since: int | str | None, *, new_alone: bool, now: datetime
    ) -> Serving:
        """Tell a session what changed for it. Where that fails the pack stands, and says so."""
        tokens = query_tokens(serving.pack.task)  # before the lock is held
        try:
            with self._database.write(self._scope) as connection:
                delivery = self._sessions.announce(
                    connection, session, serving.served(), tokens=tokens, since=since, now=now
                )
                again = self._again(connection, delivery, serving) if new_alone else []
                receipt = self._logged(connection, "context.served", session, now)
        except Failed as error:
            note = f"the session was not updated ({error.code}); take nothing for announced"
            return replace(serving, notes=(*serving.notes, note))
        return serving.told(delivery.delta, receipt, again, new_alone=new_alone)

    def _again(self, connection: sa.Connection, delivery: Delivery, serving: Serving) -> list[Memory]:
        """Memories that are announced again and are not in the pack: their content was lost with a reply."""
        packed = set(serving.pack.refs)
        missing = [each.ref for each in delivery.delta.new if each.ref not in packed]
        found = rows.by_ids(connection, self._scope, missing, _ACTIVE) if missing else {}
        return [found[each] for each in missing if each in found]

    def _logged(self, connection: sa.Connection, kind: str, subject: str, now: datetime) -> dict[str, Any]:
        event = events.append(connection, self._scope, kind, subject, actor=self._actor, now=now)
        return {"tool": "get_context", "audited": True, "event_kind": kind, "event_id": event}

    def _pinned(self, serving: Serving, call: Call, session: str | None, now: datetime, page: int) -> Serving:
        wire = envelope(serving.pack, arguments=serving.arguments)
        asked = {**call.to_json(), "task": call.task, "now": time.to_text(now), "page": page}
        held = [ref for each in serving.pack.packed for ref in (each.candidate.ref, *_folded(each.candidate))]
        with self._database.write(self._scope) as connection:
            kept = pins.put(connection, self._scope, wire, asked, held, session=session or "", now=now)
            receipt = serving.receipt or self._logged(connection, "context.pinned", str(kept["pack_sha"]), now)
        return replace(serving, pin=kept, receipt=receipt)

    def replay(self, sha: str) -> dict[str, Any]:
        """Return the envelope that was pinned under `sha`, without what was forgotten since.

        Raises NotFound `pin.not_found`, Refused `pin.tampered`.
        """
        with self._database.read() as connection:
            return pins.replayed(connection, self._scope, sha)

    def verify(self, sha: str) -> pins.Verification:
        """Say whether the pinned pack comes out the same today: match, drift (with the ids) or tampered.

        Raises NotFound `pin.not_found`.
        """
        with self._database.read() as connection:
            pin, intact = pins.found(connection, self._scope, sha)
            if not intact:
                return pins.Verification(sha, "tampered")
            asked = dict(pin.asked)
            moment, page = time.parse(asked.pop("now")), int(asked.pop("page"))
            again = self._pack(connection, _call(asked), moment, page)
        arguments = _call(asked).to_json()
        return pins.compared(pin, envelope(again, arguments=arguments))


def _folded(candidate: Candidate) -> tuple[str, ...]:
    return tuple(each.id for each in candidate.folded)


def _call(asked: dict[str, Any]) -> Call:
    as_of = asked.get("as_of")
    return Call(
        asked["task"],
        asked.get("model", ""),
        asked.get("surface", "agent"),
        asked.get("token_budget", DEFAULT_BUDGET),
        asked.get("intent"),
        time.parse(as_of) if as_of else None,
        asked.get("project", ""),
        asked.get("graph", False),
    )


def _invalid(field: str, wanted: str) -> InvalidInput:
    return InvalidInput(f"context.{field}", f"{field}: {wanted}", {"field": field})


_PENDING, _ACTIVE = Filter(statuses=("pending",)), Filter(statuses=("active",))
