"""What the server's own redactor refuses, whatever clients let pass: per server, and per team."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from segue.base.errors import InvalidInput
from segue.storage import settings, teams

if TYPE_CHECKING:
    import sqlalchemy as sa

Policy = Literal["core", "extended", "off"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
POLICY_SETTING = "rescan"


def checked_policy(given: str) -> Policy:
    """Return what was given as a policy. Raises InvalidInput `team.policy`."""
    for each in POLICIES:
        if each == given:
            return each
    raise InvalidInput("team.policy", f"the policy is {', '.join(POLICIES[:-1])} or {POLICIES[-1]}")


def stored_policy(value: str | None) -> Policy:
    """Return a policy as the store holds it; what does not read counts as core."""
    return next((each for each in POLICIES if each == value), "core")


def server_policy(connection: sa.Connection) -> Policy:
    """Return what is refused where no team says otherwise."""
    return stored_policy(settings.get(connection, POLICY_SETTING))


def policy_of(connection: sa.Connection, scope_id: str) -> Policy:
    """Return what is refused in a scope: a team's own policy, else the server's."""
    team = teams.get(connection, scope_id)
    return server_policy(connection) if team is None else stored_policy(team.redaction)
