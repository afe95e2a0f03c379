"""auth, whoami, logout, config, push, pull, sync, teams, invite, join, publish: with a real server."""

from __future__ import annotations

import io
import itertools
import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from cli.shell import InPlace, Shell, full
from client.scripted import Answer, Scripted
from client.served import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cli.shell import Result

_numbers = itertools.count(1)
_SECRET = "The key is AKIA" + "IOSFODNN7" + "EXAMPLE."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("server") / "server.db") as running:
        yield running


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Scripted]:
    """Another host."""
    with Scripted() as host:
        yield host


@pytest.fixture
def token(server: Served) -> str:
    """The token of a new user, whose name has a number."""
    return server.token(f"user-{next(_numbers)}")


@pytest.fixture
def signed_in(cli: InPlace, server: Served, token: str) -> InPlace:
    """Somebody who is signed in."""
    result = cli("auth", server.address, token)
    assert result.code == 0, result.err
    return cli


@pytest.fixture
def other(server: Served, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Somebody else, who is signed in from another home."""
    (tmp_path / "other").mkdir()
    person = Shell(tmp_path / "other")
    theirs = server.token(f"user-{next(_numbers)}")

    def run(*arguments: str, **options: Any) -> Result:
        with pytest.MonkeyPatch.context() as patch:
            return InPlace(person, patch)(*arguments, **options)

    assert run("auth", server.address, theirs).code == 0
    return run


def ok(result: Result) -> str:
    assert result.code == 0, result.err
    return result.out.strip()


def refused(result: Result, exit_code: int, code: str) -> dict[str, Any]:
    assert result.code == exit_code, result.out
    assert result.error["code"] == code
    return result.error


# -- signing in -------------------------------------------------------------------------------------------------------


def test_a_token_is_tried_and_kept(cli: InPlace, server: Served, token: str) -> None:
    result = cli("auth", f"{server.address}/", token, "--json")
    assert result.code == 0, result.err
    told = result.json
    assert (told["host"], told["place"]) == (server.address, "file")
    assert told["user"]["display"].startswith("user-")
    file = cli.shell.segue_home / "credentials.json"
    assert json.loads(file.read_bytes()) == {"hosts": {server.address: token}}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    shown = cli("whoami", "--json").json
    assert shown == {"host": server.address, "token_hash8": told["token_hash8"], "place": "file"}
    checked = ok(cli("whoami", "--check"))
    assert "user-" in checked
    assert "read, write" in checked
    assert ok(cli("config", "get", "host")) == server.address
    assert ok(cli("logout")) == f"signed out of {server.address}"
    assert json.loads(file.read_bytes()) == {"hosts": {}}
    assert cli("whoami", "--json").json["token_hash8"] == ""
    refused(cli("teams", "ls", "--json"), 4, "auth.missing")


@pytest.mark.parametrize("given", ["x" * 48, "revoked"])
def test_a_token_that_does_not_hold_is_not_kept(cli: InPlace, server: Served, token: str, given: str) -> None:
    if given == "revoked":
        server.store.accounts.revoke(token)
        given = token
    refused(cli("auth", server.address, given, "--json"), 4, "auth.revoked" if given == token else "auth.invalid")
    assert not (cli.shell.segue_home / "credentials.json").exists()
    assert not (cli.shell.segue_home / "config.toml").exists()


def test_what_is_no_packet_server_gets_no_token_kept(cli: InPlace, elsewhere: Scripted, token: str) -> None:
    elsewhere.answers(Answer(200, b"<html>"))
    refused(cli("auth", elsewhere.address, token, "--json"), 1, "host.answer")
    assert not (cli.shell.segue_home / "credentials.json").exists()
    refused(cli("auth", "http://packets.example.org", token, "--json"), 4, "host.insecure")


def test_a_token_from_standard_input(cli: InPlace, server: Served, token: str) -> None:
    assert cli("auth", server.address, "-", stdin=f"{token}\n".encode()).code == 0
    assert cli("auth", server.address, stdin=token.encode()).code == 0
    assert cli("auth", server.address, stdin=b"").code == 3


def test_a_person_is_asked_and_the_answer_is_not_shown(shell: Shell, server: Served, token: str) -> None:
    result = shell.terminal("auth", server.address, answers=((b"Token for", f"{token}\n".encode()),))
    assert result.code == 0, result.out
    assert "signed in at" in result.out
    assert token not in result.out


def test_the_environment_names_host_and_token(
    cli: InPlace, server: Served, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGUE_TOKEN", token)
    assert cli("teams", "ls", "--json").error["code"] == "host.missing"
    monkeypatch.setenv("SEGUE_HOST", server.address)
    assert cli("teams", "ls", "--json").json == {"teams": []}
    assert cli("whoami", "--json").json["place"] == "environment"
    assert not (cli.shell.segue_home / "credentials.json").exists()


def test_settings(cli: InPlace) -> None:
    path = cli.shell.segue_home / "config.toml"
    assert ok(cli("config", "path")) == str(path)
    assert ok(cli("config", "list")).splitlines() == ["credentials = auto", "host = ", "timeout = 30"]
    path.parent.mkdir(exist_ok=True)
    path.write_text("# mine\n[context.profiles.llama-3]\npack_budget = 5000  # small\n")
    assert ok(cli("config", "set", "host", "Packets.example.org/")) == "https://packets.example.org"
    assert ok(cli("config", "set", "timeout", "5")) == "5"
    assert ok(cli("config", "set", "timeout", "75")) == "75"
    assert ok(cli("config", "set", "credentials", "file")) == "file"
    assert cli("config", "list", "--json").json == {
        "credentials": "file",
        "host": "https://packets.example.org",
        "timeout": "75",
    }
    assert path.read_text().endswith("# mine\n[context.profiles.llama-3]\npack_budget = 5000  # small\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ok(cli("config", "set", "host", "")) == ""
    assert "host" not in path.read_text()
    for key, value in (("timeout", "0"), ("timeout", "7.5"), ("credentials", "pocket"), ("host", "http://example.org")):
        before = path.read_bytes()
        assert cli("config", "set", key, value).code in (3, 4)
        assert path.read_bytes() == before
    unknown = refused(cli("config", "get", "colour", "--json"), 3, "config.unknown")
    assert "credentials, host, timeout" in unknown["message"]
    path.write_text("host = [")
    refused(cli("config", "list", "--json"), 3, "config.invalid")


# -- packets ----------------------------------------------------------------------------------------------------------


def test_pushed_and_pulled(signed_in: InPlace, server: Served, token: str) -> None:
    name = signed_in.write("one.json", full(1))
    assert ok(signed_in("push", name)) == "packet-0001"
    assert signed_in("push", "-", stdin=json.dumps(full(2)).encode()).out == "packet-0002\n"
    assert signed_in.ids() == []
    assert ok(signed_in("pull", "packet-0001")) == "packet-0001"
    assert signed_in("pull", "packet-0001", "--json").json["outcome"] == "unchanged"
    assert signed_in.ids() == ["packet-0001"]
    with server.client(token) as host:
        fetched = host.pull("packet-0001")
    assert fetched is not None
    assert signed_in("show", "packet-0001", "--raw").stdout == fetched.body + b"\n"
    refused(signed_in("pull", "packet-0404", "--json"), 5, "packet.not_found")


def test_an_id_of_the_store_is_pushed_by_its_ending(signed_in: InPlace) -> None:
    signed_in.write("one.json", full(1))
    ok(signed_in("save", "one.json"))
    assert ok(signed_in("push", "t-0001")) == "packet-0001"
    refused(signed_in("push", "t-0404", "--json"), 5, "packet.not_found")
    assert "cannot read absent.json" in refused(signed_in("push", "absent.json", "--json"), 3, "file.read")["message"]


def test_another_body_is_refused_until_it_is_meant(signed_in: InPlace) -> None:
    ok(signed_in("push", signed_in.write("one.json", full(1))))
    changed = signed_in.write("changed.json", full(1, goal="Changed."))
    refused(signed_in("push", changed, "--json"), 4, "packet.exists")
    ok(signed_in("push", changed, "--replace"))
    signed_in.write("mine.json", full(1, goal="Mine."))
    ok(signed_in("save", "mine.json"))
    refused(signed_in("pull", "packet-0001", "--json"), 4, "packet.exists")
    ok(signed_in("pull", "packet-0001", "--replace"))
    assert "Changed." in ok(signed_in("show", "packet-0001"))


def test_secrets_are_not_pushed(signed_in: InPlace, server: Served) -> None:
    name = signed_in.write("secret.json", full(1, goal=_SECRET))
    result = signed_in("push", name)
    assert (result.code, result.out) == (4, "")
    assert "goal/aws-key" in result.err
    # Whatever the client allows, the server looks again.
    refused(signed_in("push", name, "--allow-unredacted", "--json"), 4, "packet.redaction")


def test_saved_and_pushed(signed_in: InPlace, server: Served, token: str) -> None:
    result = signed_in("save", signed_in.write("one.json", full(1)), "--push")
    assert (result.code, result.out) == (0, "packet-0001\n")
    assert f"pushed to {server.address}" in result.err
    with server.client(token) as host:
        assert host.pull("packet-0001") is not None
    assert signed_in("save", "one.json", "-t", "crew").code == 2
    # What cannot be pushed is saved all the same, and where nothing can be pushed nothing is saved.
    result = signed_in("save", signed_in.write("two.json", full(2)), "--push", "-t", "no-such-team")
    assert result.code == 5
    assert "saved here as packet-0002, but not pushed" in result.err
    assert signed_in.ids() == ["packet-0002", "packet-0001"]
    ok(signed_in("logout"))
    assert signed_in("save", signed_in.write("three.json", full(3)), "--push").code == 4
    assert signed_in.ids() == ["packet-0002", "packet-0001"]


def test_a_sync(signed_in: InPlace, server: Served, token: str) -> None:
    signed_in.write("one.json", full(1))
    ok(signed_in("save", "one.json"))
    with server.client(token) as host:
        host.push(json.dumps(full(2)).encode())
        assert ok(signed_in("sync")) == "yours: pushed 1, pulled 1, 0 the same"
        assert ok(signed_in("sync")) == "yours: pushed 0, pulled 0, 2 the same"
        host.push(json.dumps(full(1, goal="Theirs.\x1b[2J")).encode(), replace=True)
        signed_in.write("one.json", full(1, goal="Mine."))
        ok(signed_in("save", "one.json", "--replace"))
        result = signed_in("sync")
        assert result.code == 3
        assert "conflict packet-0001 (changed here and on the host): Theirs.\\x1b[2J" in result.out
        assert "segue pull ID --replace" in result.err
        assert signed_in("sync", "--json").json["conflicts"] == [
            {"id": "packet-0001", "goal": "Theirs.\x1b[2J", "reason": "changed_both"}
        ]
        ok(signed_in("push", "packet-0001", "--replace"))
        ok(signed_in("rm", "packet-0002"))
        result = signed_in("sync")
        assert result.code == 0
        assert "removed here, still on the host: …ket-0002" in result.err
        assert "deleted 1" in ok(signed_in("sync", "--delete"))
        assert [each.id for each in host.ls().packets] == ["packet-0001"]


def test_published_and_taken_back(signed_in: InPlace, server: Served) -> None:
    ok(signed_in("save", signed_in.write("one.json", full(1)), "--push"))
    url = ok(signed_in("publish", "t-0001"))
    assert url.startswith(f"{server.address}/p/")
    assert signed_in("publish", "packet-0001", "--json").json == {"id": "packet-0001", "public_url": url}
    assert ok(signed_in("unpublish", "packet-0001")) == "unpublished packet-0001"
    assert ok(signed_in("publish", "packet-0001")) != url
    refused(signed_in("publish", "packet-0404", "--json"), 5, "packet.not_found")


# -- teams ------------------------------------------------------------------------------------------------------------


def test_a_team_from_its_beginning_to_its_end(signed_in: InPlace, other: Callable[..., Result]) -> None:
    team = f"crew-{next(_numbers)}"
    assert ok(signed_in("teams", "create", team)) == f"created {team}"
    refused(other("teams", "create", team, "--json"), 4, "team.exists")
    assert team in ok(signed_in("teams", "ls"))
    result = signed_in("invite", "-t", team)
    assert result.err.startswith("expires: ")
    url = result.out.strip()
    refused(other("teams", "members", team, "--json"), 5, "team.not_found")
    assert ok(other("join", url)).startswith(f"joined {team} at ")
    members = signed_in("teams", "members", team, "--json").json["members"]
    assert [each["role"] for each in members] == ["owner", "member"]
    assert "owner" in ok(signed_in("teams", "members", team))
    state = signed_in("invite", "-t", team, "--list", "--json").json["invites"][0]
    assert state["state"] == "consumed"
    assert url.rpartition("/")[2] not in ok(signed_in("invite", "-t", team, "--list"))
    again = signed_in("invite", "-t", team, "--json").json["url"]
    open_ = [each["id"] for each in signed_in("invite", "-t", team, "--list", "--json").json["invites"]][-1]
    assert ok(signed_in("invite", "-t", team, "--revoke", open_)) == f"revoked {open_}"
    refused(other("join", again.replace(again[-4:], "0000"), "--json"), 5, "invite.gone")
    assert signed_in("invite", "-t", team, "--list", "--revoke", "x").code == 2
    ok(signed_in("push", signed_in.write("one.json", full(1)), "-t", team))
    assert f"team {team}: pulled 1, 0 the same" in ok(other("sync"))
    for arguments in (("ls", "-t", team), ("show", "packet-0001"), ("show", "-t", team, "0001"), ("resume", "0001")):
        assert "Ship the importer." in ok(other(*arguments))
    none = other("resume", "-t", team, "--json")
    assert none.error["message"].endswith(f"; 1 of other projects: `segue ls -t {team}`")
    assert f"see `segue ls -t {team}`" in other("show", "zzzz", "-t", team, "--json").error["message"]
    assert "Ship the importer." in ok(other("search", "importer", "-t", team))
    assert "Ship the importer." in ok(other("context", "importer", "-t", team))
    assert "Ship the importer." in ok(other("query", "--find", "importer", "-t", team))
    memory = other("memories", "ls", "-t", team, "--json").json["memories"][0]["id"]
    assert other("memories", "show", memory, "-t", team, "--json").json["id"] == memory
    assert other("expand", memory, "-t", team, "--json").json["found"]
    refused(other("memories", "show", memory, "--json"), 5, "memory.not_found")
    assert "Ship" not in ok(other("ls"))
    refused(other("ls", "-t", "no-such-team", "--json"), 5, "team.not_replicated")
    ok(other("teams", "leave", team))
    assert f"dropped team {team}" in ok(other("sync"))
    refused(other("show", "packet-0001", "--json"), 5, "packet.not_found")
    assert signed_in("teams", "rm", team).code == 4
    assert ok(signed_in("teams", "rm", team, "--yes")) == f"deleted {team}"


def test_a_member_is_removed(signed_in: InPlace, other: Callable[..., Result]) -> None:
    team = f"crew-{next(_numbers)}"
    ok(signed_in("teams", "create", team))
    ok(other("join", ok(signed_in("invite", "-t", team))))
    user = signed_in("teams", "members", team, "--json").json["members"][1]["user_id"]
    refused(other("teams", "remove", team, user, "--json"), 4, "team.not_owner")
    ok(signed_in("teams", "policy", team, "off"))
    ok(signed_in("push", signed_in.write("one.json", full(1, goal=_SECRET)), "--allow-unredacted", "-t", team))
    ok(signed_in("teams", "hand-over", team, user))
    refused(signed_in("teams", "remove", team, user, "--json"), 4, "team.not_owner")
    first = signed_in("teams", "members", team, "--json").json["members"][0]["user_id"]
    ok(other("teams", "remove", team, first))
    refused(signed_in("teams", "members", team, "--json"), 5, "team.not_found")


def test_signing_out_drops_the_copies(signed_in: InPlace) -> None:
    team = f"crew-{next(_numbers)}"
    ok(signed_in("teams", "create", team))
    ok(signed_in("push", signed_in.write("one.json", full(1)), "-t", team))
    ok(signed_in("save", signed_in.write("two.json", full(2))))
    ok(signed_in("sync"))
    result = signed_in("logout")
    assert f"dropped the copy of team {team}" in result.err
    refused(signed_in("ls", "-t", team, "--json"), 5, "team.not_replicated")
    assert signed_in.ids() == ["packet-0002"]


def test_whoever_is_new_to_a_host_gets_a_token_by_an_invite(
    cli: InPlace, server: Served, other: Callable[..., Result]
) -> None:
    team = f"crew-{next(_numbers)}"
    ok(other("teams", "create", team))
    url = ok(other("invite", "-t", team))
    assert ok(cli("join", url, "--name", "Nadia")) == f"joined {team} at {server.address} as Nadia"
    kept = json.loads((cli.shell.segue_home / "credentials.json").read_bytes())["hosts"]
    assert list(kept) == [server.address]
    assert ok(cli("config", "get", "host")) == server.address
    assert team in ok(cli("teams", "ls"))
    # A code alone is for the host that is set.
    code = ok(other("invite", "-t", team)).rpartition("/")[2]
    assert ok(cli("join", code)) == f"joined {team} at {server.address} as Nadia"
    refused(cli("join", "short", "--json"), 3, "invite.invalid")


def test_an_invite_is_not_used_up_where_no_token_can_be_kept(cli: InPlace, elsewhere: Scripted) -> None:
    elsewhere.answers(Answer(500, {}))
    (cli.shell.segue_home / "credentials.json").mkdir(parents=True, mode=0o700)
    refused(cli("join", f"{elsewhere.address}/v1/invites/{'c' * 48}", "--json"), 1, "credentials.unreadable")
    assert elsewhere.asked == []


def test_a_token_goes_to_its_own_host_alone(
    signed_in: InPlace, elsewhere: Scripted, token: str, server: Served
) -> None:
    joined = {"user": {"id": "u1", "display": "guest"}, "team": {"id": "t1", "name": "traps"}, "token": "N" * 48}
    elsewhere.answers(Answer(201, joined))
    result = signed_in("join", f"{elsewhere.address}/v1/invites/{'c' * 48}")
    assert result.code == 0, result.err
    assert "authorization" not in elsewhere.asked[0].headers
    assert token not in str(elsewhere.asked)
    kept = json.loads((signed_in.shell.segue_home / "credentials.json").read_bytes())["hosts"]
    assert kept == {server.address: token, elsewhere.address: "N" * 48}
    # The host that was set stays set.
    assert ok(signed_in("config", "get", "host")) == server.address
    assert f"segue config set host {elsewhere.address}" in result.err
    # To its own host it goes.
    elsewhere.answers(Answer(201, {name: joined[name] for name in ("user", "team")}))
    ok(signed_in("join", f"{elsewhere.address}/v1/invites/{'c' * 48}"))
    assert elsewhere.asked[0].headers["authorization"] == f"Bearer {'N' * 48}"


def test_no_output_holds_a_token(
    cli: InPlace, server: Served, token: str, elsewhere: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()

    def run(*arguments: str) -> None:
        result = cli(*arguments)
        shown.write(result.out + result.err)

    run("auth", server.address, token)
    for arguments in (
        ("whoami",),
        ("whoami", "--check", "--json"),
        ("config", "list"),
        ("teams", "ls"),
        ("sync",),
        ("sync", "--json"),
        ("push", "nothing"),
        ("pull", token),
        ("auth", server.address, token, "--json"),
        ("logout", "--json"),
    ):
        run(*arguments)
    elsewhere.answers(Answer(400, {"error": f"bad token {token}", "code": "x", "details": {"id": token}}))
    run("auth", elsewhere.address, token)
    run("auth", elsewhere.address, token, "--json")
    assert token not in shown.getvalue()
    monkeypatch.setenv("SEGUE_HOST", "http://127.0.0.1:9")
    monkeypatch.setenv("SEGUE_TOKEN", token)
    run("whoami", "--check")
    assert token not in shown.getvalue()


def test_a_host_that_is_away(signed_in: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    ok(signed_in("save", signed_in.write("one.json", full(1))))
    monkeypatch.setenv("SEGUE_HOST", "http://127.0.0.1:9")
    monkeypatch.setenv("SEGUE_TOKEN", "t" * 48)
    refused(signed_in("sync", "--json"), 1, "host.unreachable")
    # What lies here is read without a host.
    assert "Ship the importer." in ok(signed_in("resume", "packet-0001"))
