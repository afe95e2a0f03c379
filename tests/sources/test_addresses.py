"""The network guard: every spelling of an address that is not public, and what a policy permits."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import InvalidInput, Refused
from segue.sources import addresses, base_url
from segue.sources.network import PUBLIC_ONLY, Policy, policy

# What stands as the host of a base URL; each is refused before anything is looked up.
HOSTS = [
    ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("[::1]", "loopback"),
    ("[0:0:0:0:0:0:0:1]", "loopback"),
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("[::]", "unspecified"),
    ("10.0.0.1", "private"),
    ("10.255.255.255", "private"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.168.0.1", "private"),
    ("192.168.255.255", "private"),
    ("[fc00::1]", "private"),
    ("[fd12:3456:789a::1]", "private"),
    ("100.64.0.1", "shared"),
    ("100.127.255.255", "shared"),
    ("169.254.0.1", "link_local"),
    ("[fe80::1]", "link_local"),
    ("[febf::1]", "link_local"),
    ("[fec0::1]", "site_local"),
    ("[feff::1]", "site_local"),
    ("169.254.169.254", "metadata"),
    ("169.254.170.2", "metadata"),
    ("100.100.100.200", "metadata"),
    ("168.63.129.16", "metadata"),
    ("192.0.0.192", "metadata"),
    ("[fd00:ec2::254]", "metadata"),
    ("[fd20:ce::254]", "metadata"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.255", "multicast"),
    ("[ff02::1]", "multicast"),
    ("[ff0e::1]", "multicast"),
    ("192.0.2.1", "documentation"),
    ("198.51.100.1", "documentation"),
    ("203.0.113.1", "documentation"),
    ("[2001:db8::1]", "documentation"),
    ("[3fff::1]", "documentation"),
    ("192.0.0.1", "reserved"),
    ("198.18.0.1", "reserved"),
    ("240.0.0.1", "reserved"),
    ("255.255.255.255", "reserved"),
    ("[100::1]", "reserved"),
    ("[2001:2::1]", "reserved"),
    ("[2001:10::1]", "reserved"),
    ("[4000::1]", "reserved"),
    ("[5f00::1]", "reserved"),
    ("[::ffff:127.0.0.1]", "mapped"),
    ("[::ffff:7f00:1]", "mapped"),
    ("[::ffff:10.0.0.1]", "mapped"),
    ("[::ffff:169.254.169.254]", "mapped"),
    ("[::ffff:8.8.8.8]", "mapped"),
    ("[::ffff:0:127.0.0.1]", "mapped"),
    ("[::127.0.0.1]", "mapped"),
    ("[64:ff9b::127.0.0.1]", "nat64"),
    ("[64:ff9b::a9fe:a9fe]", "nat64"),
    ("[64:ff9b::8.8.8.8]", "nat64"),
    ("[64:ff9b:1::10.0.0.1]", "nat64"),
    ("[2002:7f00:1::]", "6to4"),
    ("[2002:a9fe:a9fe::1]", "6to4"),
    ("[2002:808:808::1]", "6to4"),
    ("192.88.99.1", "6to4"),
    ("[2001:0:7f00:1::]", "teredo"),
    ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "teredo"),
    ("2130706433", "spelling"),
    ("0", "spelling"),
    ("0x7f000001", "spelling"),
    ("0x7F.0x0.0x0.0x1", "spelling"),
    ("0x", "spelling"),
    ("017700000001", "spelling"),
    ("0177.0.0.1", "spelling"),
    ("0177.0000.0000.0001", "spelling"),
    ("127.1", "spelling"),
    ("127.0.1", "spelling"),
    ("127.0.0.01", "spelling"),
    ("010.0.0.1", "spelling"),
    ("10.0.0.0x1", "spelling"),
    ("127.0.0.1.", "spelling"),
    ("10.0.0.1..", "spelling"),
    ("256.0.0.1", "spelling"),
    ("1.2.3.4.5", "spelling"),
    ("8.8.8", "spelling"),
    ("example.0x7f", "spelling"),
    ("[fe80::1%25eth0]", "spelling"),
    ("[fe80::1%eth0]", "spelling"),
    ("localhost", "name"),
    ("LOCALHOST", "name"),
    ("localhost.localdomain", "name"),
    ("app.localhost", "name"),
    ("ip6-localhost", "name"),
    ("metadata", "name"),
    ("metadata.google.internal", "name"),
    ("Metadata.Google.Internal", "name"),
    ("metadata.goog", "name"),
    ("instance-data", "name"),
    ("instance-data.ec2.internal", "name"),
]
# What is not even a host: trailing dots, digits of other scripts, escapes.
NO_HOSTS = [
    "localhost.",
    "metadata.google.internal.",
    "example.org.",
    "example..org",
    ".example.org",
    "①②⑦.⓪.⓪.①",
    "１２７.0.0.1",
    "127。0。0。1",
    "loc%61lhost",
    "%31%32%37.0.0.1",
    "exa mple.org",
    "example.org\t",
    "-example.org",
    "[127.0.0.1]",
    "[::1",
    "",
]
PUBLIC = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "169.253.1.1", "2606:4700:4700::1111", "2a00:1450::1"]


@pytest.mark.requirement("sources-addresses")
@pytest.mark.parametrize(("host", "rule"), HOSTS)
def test_a_host_is_refused_before_it_is_looked_up(host: str, rule: str) -> None:
    with pytest.raises(Refused) as caught:
        addresses.require_name(base_url.parse(f"https://{host}/memories").host, PUBLIC_ONLY)
    assert (caught.value.code, caught.value.exit_code) == ("source.address", 4)
    assert caught.value.details["rule"] == f"address.{rule}"


@pytest.mark.requirement("sources-addresses")
@pytest.mark.parametrize(("host", "rule"), [each for each in HOSTS if each[1] not in ("spelling", "name")])
def test_an_answer_is_refused_however_good_the_name_is(host: str, rule: str) -> None:
    answers = ["8.8.8.8", host.strip("[]")]
    with pytest.raises(Refused) as caught:
        addresses.checked("memories.example.org", answers, PUBLIC_ONLY)
    assert caught.value.details["rule"] == f"address.{rule}"
    assert caught.value.details["where"] == "memories.example.org"


@pytest.mark.requirement("sources-addresses")
@pytest.mark.parametrize("host", NO_HOSTS)
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(Refused) as caught:
        base_url.parse(f"https://{host}/memories")
    assert caught.value.code in ("source.url", "source.address")


@pytest.mark.requirement("sources-addresses")
@pytest.mark.parametrize("text", ["fe80::1%2", "::1%lo", "127.1", "0x7f.1", "", "example.org", "1.2.3.4.5"])
def test_an_answer_that_is_no_plain_address_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        addresses.checked("memories.example.org", [text], PUBLIC_ONLY)


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_pass(text: str) -> None:
    assert addresses.checked("memories.example.org", [text, text], PUBLIC_ONLY) == (ip_address(text),)
    host = f"[{text}]" if ":" in text else text
    addresses.require_name(base_url.parse(f"https://{host}/").host, PUBLIC_ONLY)


@pytest.mark.parametrize(
    "host", ["example.org", "metadata.example.org", "localhost.example.org", "a_b.xn--p1ai", "0x.org"]
)
def test_names_that_only_resemble_pass(host: str) -> None:
    addresses.require_name(base_url.parse(f"https://{host}/").host, PUBLIC_ONLY)


@pytest.mark.requirement("sources-policy")
def test_a_policy_permits_its_networks_and_nothing_else() -> None:
    permitted = policy(["10.0.0.0/8", "fd12:3456::/48"])
    assert addresses.checked("wiki", ["10.1.2.3", "fd12:3456::7"], permitted)
    for text in ("192.168.0.1", "fd12:3457::7", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "127.0.0.1"):
        with pytest.raises(Refused):
            addresses.checked("wiki", ["10.1.2.3", text], permitted)
    addresses.require_name("10.9.9.9", permitted)
    with pytest.raises(Refused):
        addresses.require_name("localhost", permitted)


@pytest.mark.requirement("sources-policy")
@pytest.mark.parametrize(
    ("network", "name"), [("127.0.0.0/8", "localhost"), ("169.254.169.254/32", "metadata.google.internal")]
)
def test_a_name_is_permitted_with_what_it_means(network: str, name: str) -> None:
    addresses.require_name(name, policy([network]))
    with pytest.raises(Refused):
        addresses.require_name(name, policy(["10.0.0.0/8"]))


@pytest.mark.requirement("sources-policy")
@pytest.mark.parametrize(
    "given", ["10.0.0.1/8", "10/8", "example.org", "", "10.0.0.0/33", "１０.0.0.0/8", 10, None, ["x"]]
)
def test_what_is_no_network_is_no_policy(given: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        policy([given])
    assert caught.value.code == "source.policy"


def test_a_policy_has_a_length() -> None:
    assert len(policy(["10.0.0.0/8"] * 256).allow) == 256
    with pytest.raises(InvalidInput):
        policy(["10.0.0.0/8"] * 257)
    assert policy([]) == PUBLIC_ONLY == Policy()


@pytest.mark.requirement("sources-addresses")
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.ip_addresses())
def test_whatever_python_does_not_call_global_is_refused(address: object) -> None:
    found = ip_address(str(address))
    if not found.is_global or found.is_multicast or (found.version == 6 and found.exploded[0] not in "23"):
        assert addresses.fault(found, PUBLIC_ONLY) is not None


@pytest.mark.requirement("sources-addresses")
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.ip_addresses(v=4))
def test_no_notation_carries_an_address_past_the_guard(address: object) -> None:
    number = int(ip_address(str(address)))
    high, low = number >> 16, number & 0xFFFF
    for text in (f"::ffff:{address}", f"64:ff9b::{address}", f"2002:{high:x}:{low:x}::1", f"::{address}"):
        assert addresses.fault(ip_address(text), PUBLIC_ONLY) is not None
