"""The network guard: which addresses and names a source may have.

Only public unicast addresses pass; whatever reaches something else by another notation is refused as well. What
`ipaddress` calls global is not enough: it passes addresses that embed others, multicast, and what clouds answer at.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from segue.base.errors import Refused
from segue.base.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segue.sources.network import Address, Policy

# The first network that holds an address names its rule.
_NETWORKS: tuple[tuple[str, str, str], ...] = (
    ("metadata", "a cloud's metadata service", "169.254.169.254/32 169.254.170.2/32 169.254.170.23/32"),
    ("metadata", "a cloud's metadata service", "100.100.100.200/32 168.63.129.16/32 192.0.0.192/32"),
    (
        "metadata",
        "a cloud's metadata service",
        "fd00:ec2::254/128 fd00:ec2::23/128 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128",
    ),
    ("unspecified", "no address of a machine", "0.0.0.0/8 ::/128"),
    ("loopback", "this machine itself", "127.0.0.0/8 ::1/128"),
    ("private", "of a private network", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"),
    ("shared", "of a provider's shared network", "100.64.0.0/10"),
    ("link_local", "of the local link", "169.254.0.0/16 fe80::/10"),
    ("site_local", "of a site's own network", "fec0::/10"),
    ("multicast", "of a group", "224.0.0.0/4 ff00::/8"),
    ("mapped", "an IPv4 address in IPv6", "::ffff:0:0/96 ::ffff:0:0:0/96 ::/96"),
    ("nat64", "an IPv4 address behind a translator", "64:ff9b::/96 64:ff9b:1::/48"),
    ("6to4", "an IPv4 address in a 6to4 one", "2002::/16 192.88.99.0/24"),
    ("teredo", "an IPv4 address in a Teredo one", "2001::/32"),
    ("documentation", "for documentation only", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"),
    ("reserved", "reserved", "192.0.0.0/24 198.18.0.0/15 240.0.0.0/4 2001::/23 100::/64 5f00::/16"),
)
_UNICAST = IPv6Network("2000::/3")  # all that is given out of IPv6 so far
_KNOWN: tuple[tuple[str, str, IPv4Network | IPv6Network], ...] = tuple(
    (rule, why, ip_network(each)) for rule, why, listed in _NETWORKS for each in listed.split()
)
# Names that mean such an address wherever one asks, and an address that a policy must permit for them.
_LOOPBACK = IPv4Address("127.0.0.1")
_METADATA = IPv4Address("169.254.169.254")
_METADATA_NAMES = frozenset(
    "metadata metadata.google.internal metadata.goog instance-data instance-data.ec2.internal "
    "metadata.azure.internal metadata.platformequinix.com metadata.packet.net".split()
)
_LOCAL_NAMES = frozenset("localhost localhost.localdomain localhost6 localhost6.localdomain6 ip6-localhost".split())
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII | re.IGNORECASE)


def fault(address: Address, policy: Policy) -> tuple[str, str] | None:
    """Return the rule by which `address` is refused (`address.private`) and what it is, None where it is permitted."""
    if policy.permits(address):
        return None
    for rule, why, network in _KNOWN:
        if address.version == network.version and address in network:
            return f"address.{rule}", why
    if (address.version == 6 and address not in _UNICAST) or not address.is_global:
        return "address.reserved", "reserved"
    return None


def require_name(host: str, policy: Policy) -> None:
    """Check a host before it is looked up: `host` is a lower-case name, an IPv4 address, or an IPv6 one in brackets.

    Raises Refused `source.address` for a name of this machine or of a cloud's metadata service, for an address written
    in another than the usual way, and for one that is not permitted.
    """
    address = literal(host)
    if address is not None:
        _require(address, host, policy)
        return
    local = host in _LOCAL_NAMES or host.endswith(".localhost")
    if local and not policy.permits(_LOOPBACK):
        raise _refused("address.name", f"{shown(host, 80)} names this machine", host)
    if host in _METADATA_NAMES and not policy.permits(_METADATA):
        raise _refused("address.name", f"{shown(host, 80)} names a cloud's metadata service", host)


def literal(host: str) -> Address | None:
    """Return the address that `host` is, None for a name. Raises Refused `source.address` for any other spelling."""
    bracketed = host.startswith("[")
    try:
        address = ip_address(host[1:-1] if bracketed else host)
    except ValueError:
        if bracketed or _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
            raise _spelling(host) from None
        return None
    if bracketed != (address.version == 6) or "%" in host:
        raise _spelling(host)
    return address


def checked(host: str, answers: Iterable[str], policy: Policy) -> tuple[Address, ...]:
    """Return the addresses that the name `host` has, after checking every one of them.

    Raises Refused `source.address` as soon as one is not permitted, or is no address at all.
    """
    found: list[Address] = []
    for text in answers:
        try:
            address = ip_address(text.partition("%")[0])
        except ValueError:
            raise _refused("address.spelling", f"{shown(host, 80)} was answered with no address", host) from None
        _require(address, host, policy)
        if address not in found:
            found.append(address)
    return tuple(found)


def _require(address: Address, host: str, policy: Policy) -> None:
    found = fault(address, policy)
    if found is not None:
        rule, why = found
        looked_up = str(address) != host.strip("[]")
        what = f"{shown(host, 80)} is at {address}, which is {why}" if looked_up else f"{address} is {why}"
        raise _refused(rule, what, host)


def _spelling(host: str) -> Refused:
    return _refused("address.spelling", f"{shown(host, 80)} is an address in an unusual spelling", host)


def _refused(rule: str, message: str, host: str) -> Refused:
    return Refused(
        "source.address",
        f"{message}; only public addresses are used, unless this machine's administrator permits others",
        {"rule": rule, "where": shown(host, 80)},
    )
