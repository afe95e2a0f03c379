"""Tokens: each for one host, readable by its owner alone, in no text that is shown."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from segue.base.errors import Failed, InvalidInput
from segue.client.credentials import FILE, Credential, Credentials, checked, system_keyring

if TYPE_CHECKING:
    from pathlib import Path

HOST, OTHER = "https://packets.example.org", "https://elsewhere.example"
TOKEN = "A1b2C3d4" * 6
NEW = "Z9y8X7w6" * 6


class Ring:
    """A keyring in memory; with `broken` it fails, and says the secret."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.broken = False

    def get_password(self, service_name: str, username: str) -> str | None:
        self._fail()
        return self.kept.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self._fail(password)
        self.kept[service_name, username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        self._fail()
        del self.kept[service_name, username]

    def _fail(self, said: str = "") -> None:
        if self.broken:
            raise RuntimeError(f"no {said}")


def kept(home: Path, **options: Any) -> Credentials:
    return Credentials(home, environment=options.pop("environment", {}), **options)


def test_a_token_is_for_its_host_alone(tmp_path: Path) -> None:
    credentials = kept(tmp_path)
    assert credentials.get(HOST) is None
    assert credentials.put(HOST, f" {TOKEN}\n") == "file"
    credentials.put(OTHER, NEW)
    assert credentials.get(HOST) == Credential(HOST, TOKEN, "file")
    assert credentials.get(f"{HOST}:8443") is None
    assert credentials.get("https://org") is None
    assert credentials.hosts() == (OTHER, HOST)
    credentials.put(HOST, NEW)
    assert credentials.get(HOST) == Credential(HOST, NEW, "file")
    assert credentials.drop(HOST)
    assert not credentials.drop(HOST)
    assert credentials.hosts() == (OTHER,)


def test_only_its_owner_reads_the_file(tmp_path: Path) -> None:
    credentials = kept(tmp_path / "new")
    credentials.put(HOST, TOKEN)
    file = tmp_path / "new" / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.chmod(0o640)
    for call in (lambda: credentials.get(HOST), lambda: credentials.put(HOST, NEW), lambda: credentials.drop(HOST)):
        with pytest.raises(Failed) as refused:
            call()
        assert refused.value.code == "credentials.unreadable"
    assert json.loads(file.read_bytes()) == {"hosts": {HOST: TOKEN}}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hosts": []}', '{"hosts": {"a": 3}}', "\ufeff{}"])
def test_a_file_that_is_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / FILE
    file.write_text(text, "utf-8")
    file.chmod(0o600)
    with pytest.raises(Failed) as failed:
        kept(tmp_path).get(HOST)
    assert failed.value.code == "credentials.unreadable"


def test_nothing_shows_a_token(tmp_path: Path) -> None:
    credentials = kept(tmp_path)
    credentials.put(HOST, TOKEN)
    found = credentials.get(HOST)
    assert found is not None
    assert TOKEN not in f"{found!r}{found}{credentials!r}{vars(credentials)}"
    assert len(found.fingerprint) == 8
    assert found.fingerprint not in TOKEN


@pytest.mark.parametrize("token", ["", "short", "with space in it", "line\nbreak in it", "ümlaut-in-it", "x" * 513])
def test_what_is_no_token(tmp_path: Path, token: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        kept(tmp_path).put(HOST, token)
    assert refused.value.code == "token.invalid"
    assert not token or token not in refused.value.message
    assert checked(" 12345678 ") == "12345678"


def test_the_environment_gives_a_token_for_the_host_that_it_names(tmp_path: Path) -> None:
    given = {"SEGUE_TOKEN": NEW, "SEGUE_HOST": "Packets.example.org/"}
    credentials = kept(tmp_path, environment=given)
    credentials.put(HOST, TOKEN)
    credentials.put(OTHER, TOKEN)
    assert credentials.get(HOST) == Credential(HOST, NEW, "environment")
    assert credentials.get(OTHER) == Credential(OTHER, TOKEN, "file")
    with pytest.raises(InvalidInput) as unbound:
        kept(tmp_path, environment={"SEGUE_TOKEN": NEW}).get(HOST)
    assert unbound.value.code == "token.unbound"
    assert NEW not in unbound.value.message


def test_a_keyring_keeps_the_token_where_there_is_one(tmp_path: Path) -> None:
    ring = Ring()
    credentials = kept(tmp_path, keyring=ring)
    assert credentials.put(HOST, TOKEN) == "keyring"
    assert ring.kept == {("segue", HOST): TOKEN}
    assert TOKEN not in (tmp_path / FILE).read_text()
    assert credentials.get(HOST) == Credential(HOST, TOKEN, "keyring")
    assert kept(tmp_path, keyring=ring, wanted="file").put(OTHER, NEW) == "file"
    with pytest.raises(Failed) as away:
        kept(tmp_path).get(HOST)
    assert away.value.code == "keyring.missing"
    ring.broken = True
    for call in (lambda: credentials.get(HOST), lambda: credentials.put(HOST, NEW), lambda: credentials.drop(HOST)):
        with pytest.raises(Failed) as failed:
            call()
        assert failed.value.code == "keyring.failed"
        assert NEW not in failed.value.message
    ring.broken = False
    assert credentials.drop(HOST)
    assert ring.kept == {}


def test_a_keyring_that_is_asked_for_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(Failed) as missing:
        kept(tmp_path, wanted="keyring").put(HOST, TOKEN)
    assert missing.value.code == "keyring.missing"
    assert not (tmp_path / FILE).exists()


def test_the_library_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    monkeypatch.setitem(sys.modules, "keyring", None)
    assert system_keyring() is None
    for priority, usable in ((5, True), (0, False), (-1, False)):
        backend = SimpleNamespace(priority=priority)
        monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_keyring=lambda found=backend: found))
        assert (system_keyring() is backend) is usable
