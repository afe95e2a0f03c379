"""The base URL: one form, and nothing asked for outside of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base.errors import Refused
from segue.sources import base_url
from segue.sources.base_url import BaseUrl, parse

BASE = parse("https://example.org/team/memories")


@pytest.mark.requirement("sources-base-url")
@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("https://example.org", "https://example.org/"),
        ("https://example.org/", "https://example.org/"),
        ("https://example.org/a", "https://example.org/a/"),
        ("https://example.org/a/", "https://example.org/a/"),
        ("https://EXAMPLE.org:443/A", "https://example.org/A/"),
        ("HTTPS://example.org:8443/a", "https://example.org:8443/a/"),
        ("https://example.org/%C3%BC/~me", "https://example.org/%C3%BC/~me/"),
        ("https://xn--bcher-kva.example/a", "https://xn--bcher-kva.example/a/"),
        ("https://8.8.8.8/a", "https://8.8.8.8/a/"),
        ("https://[2606:4700:0:0:0:0:0:1111]/a", "https://[2606:4700::1111]/a/"),
    ],
)
def test_a_base_url_has_one_spelling(text: str, normalised: str) -> None:
    assert str(parse(text)) == normalised
    assert parse(normalised) == parse(text)


@pytest.mark.requirement("sources-base-url")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("http://example.org/a", "url.scheme"),
        ("HTTP://example.org/a", "url.scheme"),
        ("ftp://example.org/a", "url.scheme"),
        ("//example.org/a", "url.scheme"),
        ("file:///etc/passwd", "url.scheme"),
        ("https://user@example.org/a", "url.credentials"),
        ("https://user:pass@example.org/a", "url.credentials"),
        ("https://@example.org/a", "url.credentials"),
        ("https://example.org/a?q=1", "url.query"),
        ("https://example.org/a?", "url.query"),
        ("https://example.org/a#f", "url.fragment"),
        ("https://example.org/a#", "url.fragment"),
        ("https://example.org:0/a", "url.port"),
        ("https://example.org:/a", "url.port"),
        ("https://example.org:65536/a", "url.form"),
        ("https://example.org:x/a", "url.form"),
        ("https://exa mple.org/a", "url.form"),
        ("https://example.org/a b", "url.form"),
        ("https://example.org/a\n", "url.form"),
        (" https://example.org/a", "url.form"),
        ("https://example.org\\@evil.example/a", "url.form"),
        ("https://bücher.example/a", "url.form"),
        ("https://[::1/a", "url.form"),
        ("https://example.org/" + "a" * 2_048, "url.form"),
        ("", "url.scheme"),
        ("https://", "url.host"),
        ("https:///a", "url.host"),
        ("https://example.org./a", "url.host"),
        ("https://exa%6Dple.org/a", "url.host"),
        ("https://a" + ".a" * 127 + "/", "url.host"),
        ("https://example.org/../a", "url.path"),
        ("https://example.org/a/./b", "url.path"),
        ("https://example.org//a", "url.path"),
        ("https://example.org/a//b", "url.path"),
        ("https://example.org/%2e%2e/a", "url.path"),
        ("https://example.org/a%2Fb", "url.path"),
        ("https://example.org/a%5cb", "url.path"),
        ("https://example.org/a%00", "url.path"),
        ("https://example.org/a%252e", "url.path"),
        ("https://example.org/a/..;/b", "url.path"),
        ("https://example.org/a%zz", "url.path"),
    ],
)
def test_a_base_url_is_refused(text: str, rule: str) -> None:
    with pytest.raises(Refused) as caught:
        parse(text)
    assert (caught.value.code, caught.value.exit_code) == ("source.url", 4)
    assert rule in [error.details["rule"] for error in base_url.examined(text)[1]]


def test_everything_wrong_is_told_and_no_password_shown() -> None:
    secret = "hunter" + "22"
    _, problems = base_url.examined(f"http://me:{secret}@example.org/../a?token={secret}#x")
    rules = [error.details["rule"] for error in problems]
    assert rules == ["url.scheme", "url.credentials", "url.query", "url.fragment", "url.path"]
    assert all(secret not in error.message + str(error.details) for error in problems)


@pytest.mark.requirement("sources-boundary")
def test_what_is_asked_for() -> None:
    assert BASE.manifest() == "/team/memories/memories.json"
    assert BASE.target("records/With space & é.md") == "/team/memories/records/With%20space%20&%20%C3%A9.md"
    assert (BASE.origin, BASE.authority) == ("https://example.org", "example.org")
    for path in ("../x.md", "/x.md", "a%2fb", "memories.json"):
        with pytest.raises(Refused):
            BASE.target(path)


@pytest.mark.requirement("sources-boundary")
@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("b.md", "/team/memories/records/b.md"),
        ("../b.md", "/team/memories/b.md"),
        ("/team/memories/x/b.md", "/team/memories/x/b.md"),
        ("https://example.org/team/memories/b.md", "/team/memories/b.md"),
        ("https://EXAMPLE.ORG:443/team/memories/b.md#top", "/team/memories/b.md"),
        ("//example.org/team/memories/b.md?v=2", "/team/memories/b.md?v=2"),
        ("?v=2", "/team/memories/records/a.md?v=2"),
    ],
)
def test_a_redirect_within(location: str, target: str) -> None:
    assert BASE.redirected("/team/memories/records/a.md", location) == target


@pytest.mark.requirement("sources-boundary")
@pytest.mark.parametrize(
    ("location", "rule"),
    [
        ("/team/b.md", "outside"),
        ("/team/memoriesX/b.md", "outside"),
        ("/team/memories", "outside"),
        ("../../b.md", "outside"),
        ("../../../../../../b.md", "outside"),
        ("/team/memories/../../b.md", "outside"),
        ("//evil.example/team/memories/b.md", "origin"),
        ("https://evil.example/team/memories/b.md", "origin"),
        ("https://example.org.evil.example/team/memories/b.md", "origin"),
        ("https://example.org./team/memories/b.md", "origin"),
        ("https://example.org:8443/team/memories/b.md", "origin"),
        ("https://sub.example.org/team/memories/b.md", "origin"),
        ("https:///team/memories/b.md", "origin"),
        ("https:/team/memories/b.md", "origin"),
        ("https:b.md", "origin"),
        ("///team/memories/b.md", "origin"),
        ("http://example.org/team/memories/b.md", "scheme"),
        ("http://127.0.0.1/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("data:text/plain,x", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("https://user:pass@example.org/team/memories/b.md", "credentials"),
        ("https://example.org@evil.example/team/memories/b.md", "credentials"),
        ("/team/memories/%2e%2e/b.md", "path"),
        ("/team/memories/%2E%2E%2Fb.md", "path"),
        ("/team/memories/..%2fb.md", "path"),
        ("/team/memories/..%5cb.md", "path"),
        ("/team/memories/%252e%252e/b.md", "path"),
        ("/team/memories/..;/b.md", "path"),
        ("/team/memories//b.md", "path"),
        ("/team/memories/b%00.md", "path"),
        ("/team/memories/\\evil", "url"),
        ("\\\\evil.example\\b.md", "url"),
        ("/\t/evil.example/b.md", "url"),
        ("/team/memories/é.md", "url"),
        ("https://[::1", "url"),
        ("https://example.org:99999/team/memories/b.md", "url"),
        ("/team/memories/" + "b" * 2_048, "url"),
    ],
)
def test_a_redirect_that_is_not_followed(location: str, rule: str) -> None:
    with pytest.raises(Refused) as caught:
        BASE.redirected("/team/memories/records/a.md", location)
    assert (caught.value.code, caught.value.exit_code) == ("source.redirect", 4)
    assert caught.value.details["rule"] == f"redirect.{rule}"


@pytest.mark.requirement("sources-boundary")
@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(
            [*"/.?#:@;\\%", "..", "%2e", "%2f", "team", "memories", "/team/memories/", "https:", "//", "evil.example"]
        ),
        max_size=10,
    )
)
def test_what_is_followed_stays_within(pieces: list[str]) -> None:
    try:
        target = BASE.redirected("/team/memories/a/b.md", "".join(pieces))
    except Refused:
        return
    path = target.partition("?")[0]
    assert path.startswith("/team/memories/")
    assert not {"", ".", ".."}.intersection(path.strip("/").split("/"))
    assert "%2e" not in path
    assert "%2f" not in path
    assert "\\" not in path


def test_an_address_is_a_value() -> None:
    assert parse("https://example.org/a/") == BaseUrl("example.org", 443, "/a/")
