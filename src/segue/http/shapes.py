"""The shapes of bodies and answers, for checks of what comes in and for the API's description."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr


class Shape(BaseModel):
    """A body: members that nobody knows are refused, and nothing is taken for what it is not."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Told(BaseModel):
    """An answer."""

    model_config = ConfigDict(extra="allow")


# -- errors and small answers -----------------------------------------------------------------------------------------


class Error(BaseModel):
    """Every error: a message for people, a stable code for programs, values that go with it."""

    error: str
    code: str
    details: dict[str, Any]


class Healthy(Told):
    ok: bool
    version: str


class Ready(Told):
    ok: bool


class Stored(Told):
    """`flagged` is there, and true, where the packet holds what the redactor finds."""

    id: str
    flagged: bool = False


# -- packets ----------------------------------------------------------------------------------------------------------


class PacketLine(Told):
    id: str
    created_at: str
    goal: str
    flagged: bool = False


class PacketList(Told):
    """`cursor` continues the list; it is missing at its end."""

    packets: list[PacketLine]
    cursor: str | None = None


class PacketChain(Told):
    """`packets` from the packet itself to its oldest known ancestor; `missing` is a parent that nobody has."""

    packets: list[PacketLine]
    children: list[PacketLine]
    missing: str | None


class Moved(Told):
    id: str
    team: str | None


class Published(Told):
    id: str
    public_url: str
    published_at: str


# -- teams, invites, accounts -----------------------------------------------------------------------------------------


class NewTeam(Shape):
    name: StrictStr = Field(description="Lower-case letters and digits, then also _ and -; at most 40.")


class TeamChange(Shape):
    redaction: Literal["core", "extended", "off"] = Field(description="What the server's own redactor refuses.")


class NewOwner(Shape):
    user_id: StrictStr = Field(max_length=64)


class Team(Told):
    id: str
    name: str
    owner_id: str


class TeamAnswer(Told):
    team: Team


class TeamLine(Team):
    created_at: str


class TeamList(Told):
    teams: list[TeamLine]


class Member(Told):
    user_id: str
    display: str
    role: Literal["owner", "member"]
    joined_at: str


class MemberList(Told):
    members: list[Member]


class NewInvite(Told):
    """`code` is told this once."""

    code: str
    url: str
    expires_at: str


class InviteLine(Told):
    id: str
    state: Literal["open", "consumed", "expired", "revoked"]
    created_by: str
    expires_at: str | None


class InviteList(Told):
    invites: list[InviteLine]


class Acceptance(Shape):
    display: StrictStr = Field("", description="The name of a user who is made for it.")


class User(Told):
    id: str
    display: str


class TeamName(Told):
    id: str
    name: str


class Joined(Told):
    """`token` is there where a user was made for it, and is told this once."""

    user: User
    team: TeamName
    token: str | None = None


class Whoami(Told):
    user: User
    permissions: list[str]
    token_id: str


class TokenLine(Told):
    id: str
    name: str
    permissions: list[str]
    state: Literal["active", "expired", "revoked"]


class TokenList(Told):
    tokens: list[TokenLine]


# -- memories ---------------------------------------------------------------------------------------------------------


class NewMemory(Shape):
    content: StrictStr = Field(min_length=1, max_length=8_000)
    kind: StrictStr | None = None
    layer: StrictStr | None = None
    summary: StrictStr = ""
    entities: list[StrictStr] = Field(default_factory=list, max_length=64)
    tags: list[StrictStr] = Field(default_factory=list, max_length=64)
    project: StrictStr = ""
    url: StrictStr = ""
    occurred_at: StrictStr | None = None
    valid_from: StrictStr | None = None
    valid_to: StrictStr | None = None
    confidence: float | None = Field(None, ge=0, le=1)
    author_class: Literal["user", "agent"] = Field("agent", description="Whose words these are.")


class NewMemories(Shape):
    """Each is written by itself; the answer says of each what became of it."""

    memories: list[dict[str, Any]] = Field(min_length=1, max_length=500)


class MemoryChange(Shape):
    content: StrictStr | None = Field(None, min_length=1, max_length=8_000)
    kind: StrictStr | None = None
    layer: StrictStr | None = None
    summary: StrictStr | None = None
    entities: list[StrictStr] | None = Field(None, max_length=64)
    tags: list[StrictStr] | None = Field(None, max_length=64)
    project: StrictStr | None = None
    occurred_at: StrictStr | None = None
    valid_from: StrictStr | None = None
    valid_to: StrictStr | None = None
    confidence: float | None = Field(None, ge=0, le=1)
    author_class: Literal["user", "agent"] = "agent"


class Replacement(Shape):
    """The text that takes a memory's place, or the memory that does (`by`)."""

    content: StrictStr = Field("", max_length=8_000)
    by: StrictStr = Field("", max_length=64)
    author_class: Literal["user", "agent"] = "agent"


class Approval(Shape):
    content_hash: StrictStr = Field(description="The hash of the text that was looked at.")


class Rejection(Shape):
    reason: StrictStr = Field("rejected", max_length=200)


class Expansion(Shape):
    ref: StrictStr = Field(min_length=1, max_length=500)
    direction: StrictStr = "document"
    limit: StrictInt = Field(8, ge=1, le=50)


class Memory(Told):
    id: str
    content: str
    kind: str
    layer: str
    status: Literal["pending", "active", "retired"]
    revision: int
    content_hash: str


class MemoryList(Told):
    memories: list[Memory]
    cursor: str | None


class Remembered(Told):
    id: str
    verdict: str
    status: str
    replaced: list[str]
    conflicts: list[str]


class BulkResult(Told):
    """What became of one memory: `memory` where it was kept, else `error`."""

    index: int
    status: int


class BulkResults(Told):
    results: list[BulkResult]


class Hits(Told):
    hits: list[dict[str, Any]]
    cursor: str | None


class Anything(Told):
    """An object; its members are told in the documentation."""


# -- context and tools ------------------------------------------------------------------------------------------------


class _Asked(BaseModel):
    task: str = Field("", max_length=500, description="What is about to be done.")
    format: Literal["smp", "json", "markdown"] = "smp"
    model: str = Field("", max_length=80)
    surface: str = Field("agent", max_length=40)
    token_budget: int = Field(2_000, description="Clamped to 300 and what suits the model.")
    intent: Literal["answer", "act", "draft", "plan", "recall"] | None = None
    as_of: str | None = Field(None, max_length=40)
    project: str | None = Field(None, max_length=1_024)
    session_id: str | None = Field(None, min_length=1, max_length=80)
    items: Literal["all", "new"] = "all"
    since: str | None = Field(None, max_length=20)
    graph: bool = False
    pin: bool = Field(False, description="Keep the pack under its hash; needs the permission to write.")
    cursor: str | None = Field(None, max_length=4_096)


class ContextCall(_Asked, Shape):
    """What a pack is asked for."""


class ContextQuery(_Asked):
    """The same in a query, where all values are texts, and the team besides."""

    team: str | None = Field(None, description="The team whose memories are meant; without it the caller's own.")


class ToolCall(Shape):
    name: StrictStr = Field(max_length=64)
    arguments: dict[str, Any] = Field(default_factory=dict)


class ToolResult(Told):
    result: Any


class ToolSchemas(Told):
    tools: list[dict[str, Any]]
