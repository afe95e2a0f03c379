"""auth, whoami, logout, config: at which host, as whom."""

from __future__ import annotations

import getpass
import sys
from typing import Annotated

import typer

from segue.base.errors import InvalidInput, Refused
from segue.base.untrusted import one_line
from segue.cli import connecting, output, settings
from segue.cli.arguments import SHARING, AsJson, opened

_MOST = 4_096

Key = Annotated[str, typer.Argument(metavar="KEY", show_default=False, help="host, credentials or timeout.")]


def register(app: typer.Typer) -> None:
    for command in (auth, whoami, logout):
        app.command(rich_help_panel=SHARING)(command)
    config = typer.Typer(no_args_is_help=True, help="What is set about hosts, in config.toml.")
    config.command("get")(config_get)
    config.command("set")(config_set)
    config.command("list")(config_list)
    config.command("path")(config_path)
    app.add_typer(config, name="config", rich_help_panel=SHARING)


def auth(
    host: Annotated[str, typer.Argument(metavar="HOST", show_default=False, help="https://NAME[:PORT].")],
    token: Annotated[
        str | None,
        typer.Argument(
            metavar="[TOKEN|-]",
            show_default=False,
            help="Without it you are asked; `-` reads standard input. Other programs see what stands here.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Sign in at a host: its token is tried, kept for that host alone, and the host is the configured one from then."""
    from segue.client.addresses import normalised
    from segue.client.contract import PacketServer
    from segue.client.credentials import Credential, checked

    address = normalised(host)
    given = checked(_token(address, token))
    found = settings.read(connecting.home())
    with PacketServer(address, given, timeout=found.timeout) as server:
        server.verify()
        user = server.whoami()
    place = connecting.credentials(found).put(address, given)
    settings.put(connecting.home(), "host", address)
    fingerprint = Credential(address, given, place).fingerprint
    if as_json:
        told = {"host": address, "token_hash8": fingerprint, "place": place}
        output.as_json(told | {"user": user.to_json() if user else None})
    else:
        output.data(f"signed in at {address}{f' as {one_line(user.display)}' if user and user.display else ''}")
        output.note(f"the token {fingerprint}… is kept in the {place}")
    return 0


def _token(address: str, given: str | None) -> str:
    if given not in (None, "-"):
        return str(given)
    if given is None and output.is_terminal():
        # It hides what is typed before it asks, and so all of it.
        return getpass.getpass(f"Token for {address}: ", stream=sys.stderr)
    if sys.stdin is None:
        raise Refused("auth.no_terminal", "there is no terminal to ask on; give the token on standard input")
    return sys.stdin.buffer.read(_MOST).decode("utf-8", "replace")


def whoami(
    check: Annotated[bool, typer.Option("--check", help="Ask the host as well.")] = False, as_json: AsJson = False
) -> int:
    """Show the configured host and the fingerprint of its token; no host is asked unless --check."""
    found = settings.read(connecting.home())
    credential = connecting.credentials(found).get(found.host) if found.host else None
    told: dict[str, object] = {
        "host": found.host,
        "token_hash8": credential.fingerprint if credential else "",
        "place": credential.place if credential else None,
    }
    user = None
    if check:
        with connecting.connected() as server:
            server.verify()
            user = server.whoami()
        told["user"] = user.to_json() if user else None
    if as_json:
        output.as_json(told)
        return 0
    output.data(f"host   {found.host or '(none)'}")
    output.data(f"token  {f'{credential.fingerprint}… ({credential.place})' if credential else '(none)'}")
    if user is not None:
        output.data(f"user   {one_line(user.display)} ({one_line(user.id)})")
        output.data(f"may    {one_line(', '.join(user.permissions))}")
    return 0


def logout(
    host: Annotated[
        str | None, typer.Argument(metavar="HOST", show_default=False, help="The configured one by default.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Forget the token for a host, and drop the copies of its teams. Your own packets stay."""
    from segue.client.addresses import normalised

    found = settings.read(connecting.home())
    address = normalised(host) if host else found.host
    if not address:
        raise InvalidInput("host.missing", "no host is set; name one")
    forgotten = connecting.credentials(found).drop(address)
    with opened() as segue:
        dropped = segue.syncing.drop(address)
    if as_json:
        output.as_json({"host": address, "forgotten": forgotten, "dropped": list(dropped)})
        return 0
    output.data(f"{'signed out of' if forgotten else 'there was no token for'} {address}")
    output.notes(f"dropped the copy of team {one_line(each)}" for each in dropped)
    return 0


def config_get(key: Key, as_json: AsJson = False) -> int:
    """Print what is set: the variable SEGUE_HOST goes before the file."""
    value = settings.read(connecting.home()).shown()[settings.require_key(key)]
    if as_json:
        output.as_json({key: value})
    else:
        output.data(value)
    return 0


def config_set(
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", show_default=False, help='What to set; "" takes it away.')],
    as_json: AsJson = False,
) -> int:
    """Set a key in config.toml. All else in the file stays as it is."""
    settings.put(connecting.home(), key, value)
    return config_get(key, as_json)


def config_list(as_json: AsJson = False) -> int:
    """Print all keys with their values."""
    shown = settings.read(connecting.home()).shown()
    if as_json:
        output.as_json(shown)
    else:
        output.data("\n".join(f"{key} = {value}" for key, value in sorted(shown.items())))
    return 0


def config_path(as_json: AsJson = False) -> int:
    """Print where config.toml lies."""
    path = str(settings.file(connecting.home()))
    if as_json:
        output.as_json({"path": path})
    else:
        output.data(path)
    return 0
