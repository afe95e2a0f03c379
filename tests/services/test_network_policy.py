"""The administrator's policy: followed only where nobody else can have written it."""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest

from segue.base.errors import InvalidInput, Refused
from segue.services import network_policy

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="who may write a file cannot be told here")
MINE = os.getuid() if hasattr(os, "getuid") else 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    site.mkdir(mode=0o755)
    write(site, '[network]\nallow = ["10.0.0.0/8"]\n')
    return site


def write(folder: Path, text: str) -> None:
    (folder / "config.toml").write_text(text)
    (folder / "config.toml").chmod(0o644)


@pytest.mark.requirement("sources-policy-file")
def test_what_the_administrator_permits(folder: Path) -> None:
    permitted = network_policy.read(folder, owner=MINE)
    assert permitted.permits(ip_address("10.1.2.3"))
    assert not permitted.permits(ip_address("192.168.1.1"))


def test_without_a_file_nothing_is(tmp_path: Path) -> None:
    assert network_policy.read(tmp_path, owner=MINE).allow == ()


@pytest.mark.requirement("sources-policy-file")
def test_a_file_of_somebody_else_is_refused(folder: Path) -> None:
    with pytest.raises(Refused, match="belong to the administrator"):
        network_policy.read(folder, owner=MINE + 1)


@pytest.mark.requirement("sources-policy-file")
@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_a_file_that_others_may_write_is_refused(folder: Path, mode: int) -> None:
    (folder / "config.toml").chmod(mode)
    with pytest.raises(Refused, match="may write it") as caught:
        network_policy.read(folder, owner=MINE)
    assert caught.value.code == "source.policy_file"


@pytest.mark.requirement("sources-policy-file")
@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_a_folder_that_others_may_write_is_refused(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    with pytest.raises(Refused, match="may write it"):
        network_policy.read(folder, owner=MINE)


def test_a_link_or_a_folder_is_no_policy(folder: Path) -> None:
    real = folder / "config.toml"
    real.rename(folder / "real.toml")
    real.symlink_to(folder / "real.toml")
    with pytest.raises(Refused):
        network_policy.read(folder, owner=MINE)
    real.unlink()
    real.mkdir()
    with pytest.raises(Refused):
        network_policy.read(folder, owner=MINE)


@pytest.mark.parametrize("text", ["[network\n", "[network]\nallow = 10\n", "network = 1\n"])
def test_a_file_that_does_not_read_permits_nothing(folder: Path, text: str) -> None:
    write(folder, text)
    with pytest.raises(Refused):
        network_policy.read(folder, owner=MINE)


def test_a_network_that_is_none_is_said(folder: Path) -> None:
    write(folder, '[network]\nallow = ["10.0.0.1/8"]\n')
    with pytest.raises(InvalidInput):
        network_policy.read(folder, owner=MINE)


@pytest.mark.requirement("sources-policy-file")
def test_no_variable_moves_the_site_s_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = network_policy.site_folder()
    for name in ("XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "HOME", "SEGUE_HOME", "ALLUSERSPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert network_policy.site_folder() == before
    assert before.is_absolute() and "segue" in before.parts


@pytest.mark.requirement("sources-policy-file")
@pytest.mark.parametrize(
    "text",
    [
        '[network]\nallow = ["10.0.0.0/8"]\n' + "#" * (1 << 20),  # half of it would be a policy, too
        "a = " + "[" * 100_000,
    ],
    ids=["large", "deep"],
)
def test_a_policy_is_read_whole_or_not_at_all(folder: Path, text: str) -> None:
    write(folder, text)
    with pytest.raises(Refused) as caught:
        network_policy.read(folder, owner=MINE)
    assert caught.value.code == "source.policy_file"
