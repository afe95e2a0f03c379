"""The administrator's policy: which addresses beyond the public ones a source may lie at. Without one, none."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TYPE_CHECKING, TypeAlias

from segue.base.errors import InvalidInput
from segue.base.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

Address: TypeAlias = IPv4Address | IPv6Address
MAX_NETWORKS = 256


@dataclass(frozen=True, slots=True)
class Policy:
    """Networks that are permitted although their addresses are not public."""

    allow: tuple[IPv4Network | IPv6Network, ...] = ()

    def permits(self, address: Address) -> bool:
        """Whether one of the networks holds `address`, as it is written: what is embedded in it does not count."""
        return any(address.version == network.version and address in network for network in self.allow)


PUBLIC_ONLY = Policy()


def policy(networks: Iterable[object]) -> Policy:
    """Return the policy that permits `networks`: texts such as `10.0.0.0/8` or `fd12:3456::/48`.

    Raises InvalidInput `source.policy` for what is no network, for bits beyond the prefix, and for more than 256.
    """
    listed = list(networks)
    if len(listed) > MAX_NETWORKS:
        raise InvalidInput("source.policy", f"the network policy lists more than {MAX_NETWORKS} networks")
    return Policy(tuple(_network(each) for each in listed))


def _network(given: object) -> IPv4Network | IPv6Network:
    if isinstance(given, str) and given.isascii():
        try:
            return ip_network(given)
        except ValueError:
            pass
    said = f"'{shown(given, 60)}'" if isinstance(given, str) else f"a value of the type {type(given).__name__}"
    raise InvalidInput("source.policy", f"the network policy lists networks such as 10.0.0.0/8, not {said}")
