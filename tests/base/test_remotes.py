"""Addresses of repositories: one identity whatever the spelling, and no credentials in what is shown."""

from __future__ import annotations

import pytest

from segue.base.remotes import remote_key, remote_ref

LOGIN = "someone:pass" + "word@"


@pytest.mark.parametrize(
    "address",
    [
        f"https://{LOGIN}github.com/Acme/App.git",
        "http://github.com:80/Acme/App",
        "ssh://git@github.com:22/Acme/App.git/",
        "git://GitHub.com/Acme//App",
        "git@github.com:Acme/App.git",
        "github.com:/Acme/App",
        "github.com/Acme/App",
        " GITHUB.com/Acme/App ",
        "github.com/Acme/App?tab=readme#top",
    ],
)
def test_one_repository_in_any_spelling(address: str) -> None:
    assert remote_ref(address) == "github.com/Acme/App"
    assert remote_key(address) == "remote:github.com/acme/app"


def test_another_port_is_another_host() -> None:
    assert remote_key("ssh://git@git.example.org:2222/app") == "remote:git.example.org:2222/app"


@pytest.mark.parametrize(
    "address",
    [
        "",
        " ",
        "app",
        "../app",
        "/srv/git/app.git",
        "C:/git/app",
        "C:app",
        "file:///srv/git/app.git",
        "https://",
        "https://github.com",
        "https://github.com:no/app",
        "javascript://github.com/app",
        "two words.org/app",
    ],
)
def test_what_is_local_or_no_address(address: str) -> None:
    assert (remote_ref(address), remote_key(address)) == ("", None)
