"""Who asks, and what the token that came with the question may do (decision H7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from segue.base.errors import InvalidInput, Refused

Permission = Literal["read", "propose", "write", "admin"]

PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
USUAL: tuple[Permission, ...] = ("read", "write")
_CONTAINED: dict[str, frozenset[str]] = {
    "read": frozenset({"read"}),
    "propose": frozenset({"propose"}),
    "write": frozenset({"write", "propose", "read"}),
    "admin": frozenset(PERMISSIONS),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """A user who asks by a token. `permissions` are those that the token was given, without what they contain."""

    user_id: str
    display: str
    permissions: frozenset[str]
    token_id: str

    def may(self, permission: Permission) -> bool:
        """Whether the token allows this: admin contains write, write contains propose and read."""
        return any(permission in _CONTAINED.get(each, ()) for each in self.permissions)

    def require(self, permission: Permission) -> None:
        """Raise Refused `auth.permission` unless the token allows this."""
        if not self.may(permission):
            raise Refused("auth.permission", f"this token may not {permission}", {"permission": permission})


def checked_permissions(given: tuple[str, ...]) -> tuple[Permission, ...]:
    """Return permissions in their own order, each once. Raises InvalidInput `token.permission`."""
    unknown = set(given) - set(PERMISSIONS)
    if unknown or not given:
        raise InvalidInput("token.permission", f"a token has one or more of {', '.join(PERMISSIONS)}")
    return tuple(each for each in PERMISSIONS if each in given)
