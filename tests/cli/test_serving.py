"""segue server: what an operator does, on both databases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import segue

if TYPE_CHECKING:
    from pathlib import Path

    from cli.shell import InPlace

TOKEN = r"[A-Za-z0-9]{48}\n"
NOW = ("--now", "2026-05-04T09:30:00Z")


@pytest.fixture
def db(location: str) -> tuple[str, str]:
    return "--db", location


def _token(cli: InPlace, *arguments: str) -> str:
    done = cli("server", "issue-token", *arguments)
    assert (done.code, bool(re.fullmatch(TOKEN, done.out))) == (0, True), done.err
    return done.out.strip()


def test_the_root_token_alone_on_stdout_once(cli: InPlace, db: tuple[str, str]) -> None:
    done = cli("server", "init", *db)
    assert done.code == 0
    assert re.fullmatch(TOKEN, done.out)
    assert done.out.strip() not in done.err
    again = cli("server", "init", *db)
    assert (again.code, again.out) == (1, "")
    assert cli("server", "init", *db, "--json").error["code"] == "server.initialised"
    with segue.open(db[1]) as opened:
        assert opened.accounts.authenticate(done.out.strip()).display == "root"
        assert opened.tenancy.policy() == "core"


def test_what_the_redactor_refuses_is_chosen_at_the_start(cli: InPlace, db: tuple[str, str]) -> None:
    assert cli("server", "init", *db, "--rescan", "sometimes").code == 3
    told = cli("server", "init", *db, "--rescan", "extended", "--json").json
    assert told["rescan"] == "extended"
    with segue.open(db[1]) as opened:
        assert opened.tenancy.policy() == "extended"


def test_tokens_from_their_beginning_to_their_end(cli: InPlace, db: tuple[str, str]) -> None:
    cli("server", "init", *db, "--now", "2026-05-04T09:28:00Z")
    first = _token(cli, "Ann", "--email", "ann@example.org", "--expires", "90d", *db, *NOW)
    later = ("--now", "2026-05-04T09:31:00Z")
    second = _token(cli, "laptop", "--email", "ann@example.org", "--permission", "read", *db, *later)
    listed = cli("server", "tokens", *db, *NOW, "--json").json["tokens"]
    assert [(each["name"], each["display"], each["permissions"], each["expires_at"]) for each in listed] == [
        ("root", "root", ["admin"], None),
        ("Ann", "Ann", ["read", "write"], "2026-08-02T09:30:00Z"),
        ("laptop", "Ann", ["read"], None),
    ]
    table = cli("server", "tokens", *db)
    for secret in (first, second):
        assert secret not in table.out + str(listed)
    assert [line.split()[0] for line in table.lines[1:]] == [each["id"] for each in listed]
    done = cli("server", "revoke", listed[1]["id"][:8], *db)
    assert (done.code, done.out) == (0, f"revoked {listed[1]['id']}\n")
    assert cli("server", "revoke", second, *db, "--json").json["state"] == "revoked"
    assert cli("server", "revoke", "ffffffffffff", *db).code == 5
    assert cli("server", "revoke", "ab", *db).code == 3
    swept = cli("server", "retention", *db, "--json").json
    assert swept["tokens"] == 2
    assert len(cli("server", "tokens", *db, "--json").json["tokens"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("issue-token", "A", "--permission", "fly"), 3, "token.permission"),
        (("issue-token", "A", "--email", "nobody"), 3, "user.email"),
        (("issue-token", "A", "--expires", "soon"), 3, "time.invalid"),
        (("issue-token", "A", "--expires", "2020-01-01"), 3, "token.expires"),
        (("issue-token", "A", "--expires", "99999w", "--now", "9999-12-31T00:00:00Z"), 3, "time.invalid"),
        (("issue-token", " "), 3, "user.display"),
        (("offboard", "Nobody"), 5, "user.not_found"),
        (("retention", "--events", "0"), 3, "cli.value"),
        (("tokens", "--db", "mysql://u:{secret}@h/x"), 3, "store.url"),
        (("check", "--db", "postgresql+psycopg://u:{secret}@127.0.0.1:1/x"), 1, "store.unreachable"),
        (("init", "--db", "postgresql+psycopg://u:{secret}@127.0.0.1:1/x"), 1, "store.unreachable"),
    ],
)
def test_what_is_refused(cli: InPlace, arguments: tuple[str, ...], code: int, error: str) -> None:
    secret = "pass" + "word1"
    done = cli("server", *(each.format(secret=secret) for each in arguments), "--json")
    assert (done.code, done.error["code"]) == (code, error)
    assert secret not in done.out + done.err


def test_whoever_leaves(cli: InPlace, db: tuple[str, str]) -> None:
    cli("server", "init", *db)
    token = _token(cli, "Ann", *db)
    with segue.open(db[1]) as opened:
        ann = opened.accounts.authenticate(token)
        opened.teams.create(ann, "bakers")
        root = opened.accounts.tokens()[0].user_id
    done = cli("server", "offboard", "Ann", *db)
    assert (done.code, done.out) == (0, f"offboarded Ann ({ann.user_id})\n")
    assert "1 token revoked" in done.err
    assert f"the team bakers belongs to {root} now" in done.err
    assert "own packets: 0; they stay where they are" in done.err
    told = cli("server", "offboard", ann.user_id, *db, "--json").json
    assert (told["tokens"], told["left"]) == (0, [])
    assert cli("server", "offboard", "root", *db, "--json").error["code"] == "user.root"


def test_a_lost_root_token_is_replaced(cli: InPlace, db: tuple[str, str]) -> None:
    cli("server", "init", *db)
    token = _token(cli, "console", "--user", "root", "--permission", "admin", *db)
    with segue.open(db[1]) as opened:
        again = opened.accounts.authenticate(token)
        assert (again.display, again.may("admin"), again.user_id) == ("root", True, opened._scope)
        assert opened.store.counts()["users"] == 1
    assert cli("server", "issue-token", "x", "--user", "nobody", *db, "--json").error["code"] == "user.not_found"
    assert cli("server", "issue-token", "x", "--user", "root", "--email", "a@b.org", *db).code == 2


def test_what_happened(cli: InPlace, db: tuple[str, str]) -> None:
    token = _token(cli, "Ann", "--email", "ann@example.org", *db)
    with segue.open(db[1]) as opened:
        ann = opened.accounts.authenticate(token)
        team = opened.teams.create(ann, "bakers")
        opened.invites.create(ann, "bakers")
    kinds = [each["kind"] for each in cli("server", "events", "bakers", *db, "--json").json["events"]]
    assert kinds == ["invite.created", "team.created"]
    assert cli("server", "events", "bakers", "--limit", "1", *db).lines[0].split()[1] == "invite.created"
    for name in ("ann@example.org", "Ann", ann.user_id):
        told = cli("server", "events", name, *db, "--json").json["events"]
        assert [each["kind"] for each in told] == ["token.issued", "user.created"]
        assert (told[0]["actor"], told[0]["subject"]) == ("operator", ann.token_id)
    with segue.open(db[1]) as opened:
        opened.teams.rm(ann, "bakers")
    assert cli("server", "events", "bakers", *db, "--json").error["code"] == "user.not_found"
    assert cli("server", "events", team.id, *db, "--json").json["events"][0]["kind"] == "team.deleted"
    assert cli("server", "events", "Ann", "--limit", "0", *db).code == 3


@pytest.mark.usefixtures("own_migrations")
def test_how_a_database_is_and_becomes(cli: InPlace, db: tuple[str, str]) -> None:
    before = cli("server", "check", *db, "--json")
    assert (before.code, before.json["schema"], before.json["ok"]) == (3, "", False)
    made = cli("server", "migrate", *db, "--json").json
    assert (made["before"], bool(made["after"])) == ("", True)
    again = cli("server", "migrate", *db)
    assert again.out.endswith(f"has schema {made['after']} already\n")
    assert cli("server", "check", *db).code == 3
    cli("server", "init", *db)
    done = cli("server", "check", *db)
    assert (done.code, done.err) == (0, "")
    assert f"Schema:    {made['after']}\n" in done.out
    assert "Root user: yes\n" in done.out
    with segue.open(db[1]) as opened, opened._database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9041'")
    newer = cli("server", "check", *db, "--json")
    assert (newer.code, newer.json["schema"]) == (3, "9041")
    assert "upgrade Segue" in newer.json["problems"][0]
    refused = cli("server", "migrate", *db, "--json")
    assert (refused.code, refused.error["code"]) == (1, "store.newer")


def test_without_db_the_users_own_store_is_meant(cli: InPlace, tmp_path: Path) -> None:
    assert cli("server", "check").code == 3
    assert not (cli.shell.segue_home / "segue.db").exists(), "looking makes nothing"
    saved = cli.save()
    cli("server", "init")
    with segue.open(cli.shell.segue_home / "segue.db") as opened:
        root = opened.accounts.tokens()[0].user_id
        assert opened.packets.stored(saved).owner_id == root
