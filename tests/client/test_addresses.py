"""Addresses of hosts and invites: one spelling, https but for this machine, nothing that could lead elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.base.errors import InvalidInput, Refused, SegueError
from segue.client.addresses import invite, normalised

CODE = "0123456789abcdef" * 3


@pytest.mark.parametrize(
    ("given_", "address"),
    [
        ("packets.example.org", "https://packets.example.org"),
        ("https://Packets.Example.org/", "https://packets.example.org"),
        ("https://packets.example.org:443", "https://packets.example.org"),
        ("packets.example.org:8443", "https://packets.example.org:8443"),
        ("HTTPS://packets.example.org/team/", "https://packets.example.org/team"),
        ("localhost:8787", "http://localhost:8787"),
        ("127.0.0.1:8787", "http://127.0.0.1:8787"),
        ("http://127.9.9.9", "http://127.9.9.9"),
        ("http://[::1]:8787", "http://[::1]:8787"),
        ("https://10.0.0.7", "https://10.0.0.7"),
        (" https://packets.example.org \n", "https://packets.example.org"),
    ],
)
def test_one_spelling(given_: str, address: str) -> None:
    assert normalised(given_) == address
    assert normalised(address) == address


@pytest.mark.parametrize(
    "given_", ["http://packets.example.org", "http://10.0.0.7", "http://localhost.example.org", "http://127.0.0.1.org"]
)
def test_http_is_for_this_machine_alone(given_: str) -> None:
    with pytest.raises(Refused) as refused:
        normalised(given_)
    assert refused.value.code == "host.insecure"


@pytest.mark.parametrize(
    "given_",
    [
        "",
        "https://",
        "ftp://packets.example.org",
        "https://user@packets.example.org",
        "https://user:secret@packets.example.org",
        "http://localhost@packets.example.org",
        "https://packets.example.org?x=1",
        "https://packets.example.org/#x",
        "https://packets.example.org/../x",
        "https://packets.example.org\\@elsewhere.example",
        "https://packets.example.org:99999",
        "https://packets.example.org:x",
        "https://pack ets.example.org",
        "https://packets.example.org\tx",
        "https://packets.example.org\r\nX: y",
        "https://1.2.3",
        "https://0177.0.0.1",
        "https://[::1",
        "https://[zz]",
        "https://päckets.example.org",
        f"https://{'a' * 64}.example.org",
        f"https://packets.example.org/{'a' * 300}",
    ],
)
def test_what_is_no_host(given_: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        normalised(given_)
    assert refused.value.code == "host.invalid"
    assert "secret" not in refused.value.message


@given(st.text(max_size=60))
def test_whatever_is_given_is_an_address_or_refused(text: str) -> None:
    try:
        address = normalised(text)
    except SegueError:
        return
    assert normalised(address) == address
    assert address.startswith(("https://", "http://localhost", "http://127.", "http://[::1]"))
    assert "@" not in address


def test_an_invite_names_its_host() -> None:
    found = invite(f"https://Packets.example.org/v1/invites/{CODE}/", None)
    assert (found.host, found.code) == ("https://packets.example.org", CODE)
    assert invite(CODE, "https://packets.example.org").host == "https://packets.example.org"


def test_an_invite_that_is_none() -> None:
    for text in ("", "short", f"https://packets.example.org/{CODE}", "https://packets.example.org/v1/invites/a/b/c"):
        with pytest.raises(InvalidInput) as refused:
            invite(text, "https://packets.example.org")
        assert refused.value.code == "invite.invalid"
    with pytest.raises(InvalidInput) as missing:
        invite(CODE, None)
    assert missing.value.code == "host.missing"
    with pytest.raises(Refused) as insecure:
        invite(f"http://packets.example.org/v1/invites/{CODE}", None)
    assert insecure.value.code == "host.insecure"
