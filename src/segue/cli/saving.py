"""save and resume: the two verbs of every day, and the hand-over prompt."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segue.base.errors import Refused
from segue.cli import output
from segue.cli.arguments import (
    EVERY_DAY,
    PACKETS,
    AsJson,
    Copy,
    CoreOnly,
    Now,
    OptionalId,
    TeamCopy,
    Usage,
    holding,
    opened,
    read_input,
    user_home,
)
from segue.cli.connecting import Team, connected
from segue.cli.editor import edit

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.client.contract import PacketServer
    from segue.services.packets import Saved


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=EVERY_DAY)(save)
    app.command(rich_help_panel=EVERY_DAY)(resume)


def register_prompt(app: typer.Typer) -> None:
    prompts = typer.Typer(no_args_is_help=True, help="Print a prompt that makes any model write what Segue reads.")
    prompts.command("handoff")(prompt_handoff)
    app.add_typer(prompts, name="prompt", rich_help_panel=PACKETS)


def with_continue_value(arguments: list[str]) -> list[str]:
    """Return the arguments with a value behind a bare `--continue`, which means the newest packet.

    What follows it is its value unless that is an option, `-`, or the name of a file.
    """
    if arguments[:1] != ["save"] or "--continue" not in arguments:
        return arguments
    index = arguments.index("--continue") + 1
    following = arguments[index : index + 1]
    bare = not following or following[0].startswith("-") or Path(following[0]).is_file()
    return [*arguments[:index], "newest", *arguments[index:]] if bare else arguments


def save(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE|-", show_default=False, help="A packet as JSON; `-` reads standard input."),
    ] = None,
    continues: Annotated[
        str | None,
        typer.Option("--continue", metavar="[ID]", help="Continue a packet; without ID this project's newest."),
    ] = None,
    carry: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="Copy methods,constraints,locked-decisions from the continued packet."),
    ] = None,
    replace_existing: Annotated[
        bool, typer.Option("--replace", help="Replace another body that is stored under the same id.")
    ] = False,
    allow_unredacted: Annotated[
        bool, typer.Option("--allow-unredacted", help="Store the packet as it is, whatever the redactor finds.")
    ] = False,
    core_only: CoreOnly = False,
    print_only: Annotated[
        bool, typer.Option("--print", help="Without FILE: print the draft and store nothing.")
    ] = False,
    push: Annotated[bool, typer.Option("--push", help="Then push it to your host, with -t into a team.")] = False,
    team: Team = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Check a packet and store it. Prints its id.

    Without FILE a packet is drafted from the project: its repository, branch, and newest recorded session of Claude
    Code or Codex. The draft opens in your editor before it is stored.
    """
    from segue.base.redaction import RedactionRefused

    if team is not None and not push:
        raise Usage("--team goes with --push")
    with opened(now) as segue, connected() if push else contextlib.nullcontext() as host:
        if print_only and file is None:
            return _print_draft(segue, alone=continues is None and not carry and not push)
        data = _read(file) if file is not None else _edited(segue)
        try:
            saved = segue.packets.submit(
                data,
                allow_unredacted=allow_unredacted,
                core_only=core_only,
                replace_existing=replace_existing,
                continues=continues,
                carry=[each.strip() for each in carry.split(",") if each.strip()] if carry else (),
            )
        except Exception as error:
            if isinstance(error, RedactionRefused) and not as_json:
                output.notes(f"  • {finding.kind}: {finding.found}" for finding in error.findings)
            _keep(segue, file, data)
            raise
        if host is not None:
            options = {"allow_unredacted": allow_unredacted, "core_only": core_only}
            _push(segue, host, saved, team=team, replace_existing=replace_existing, **options)
    _say_saved(saved, as_json=as_json)
    return 0


def _print_draft(segue: Segue, *, alone: bool) -> int:
    if not alone:
        raise Usage("--print shows the draft alone; --continue, --carry and --push go with saving it")
    output.stored_bytes(_draft(segue))
    return 0


def _push(segue: Segue, host: PacketServer, saved: Saved, **options: Any) -> None:
    """Push what was saved; where that fails, say that it is saved all the same."""
    try:
        segue.delivery.push(host, saved.packet.id, **options)
    except Exception:
        output.note(f"saved here as {saved.packet.id}, but not pushed; `segue push {saved.packet.id}` tries again")
        raise
    output.note(f"pushed to {host.address}")


def _say_saved(saved: Saved, *, as_json: bool) -> None:
    if as_json:
        output.as_json(
            saved.to_json()
            | {"redaction": [{"kind": finding.kind, "found": finding.found} for finding in saved.findings]}
        )
        return
    output.notes(f"warning: {each.path}: {each.message}" for each in saved.warnings)
    output.notes(f"stored unredacted: {finding.kind}: {finding.found}" for finding in saved.findings)
    if saved.outcome != "created":
        output.note(f"{saved.outcome}: {saved.packet.goal}")
    output.data(saved.packet.id)


def _read(file: str) -> bytes:
    """Return a packet's text; where a chat has wrapped it in Markdown, what is inside."""
    from segue.packets import drafts

    data = read_input(file)
    inside = drafts.unwrapped(data)
    if inside is not None:
        output.note("took the packet out of the Markdown around it")
    return inside if inside is not None else data


def _draft(segue: Segue) -> bytes:
    """Return the draft of this project's newest session, and say which session that is."""
    from segue.services.drafts import draft

    made = draft(segue.project, os.environ, user_home() or segue.home, segue.now())
    if made.source is None:
        output.note("no recorded session of Claude Code or Codex was found for this project; the draft is empty")
    else:
        output.note(f"drafted from {made.source}")
    return made.data


def _edited(segue: Segue) -> bytes:
    """Let the person edit the draft and return what they left. Raises Refused where nobody can, or nothing is left."""
    if not output.is_terminal():
        raise Refused("save.no_terminal", "name a FILE, or - for standard input; a draft needs a terminal (or --print)")
    draft = _draft(segue) + b"\n"
    text = edit(draft, "packet.json", instead="`segue save --print` and `segue save FILE`")
    if not text.strip():
        raise Refused("save.empty", "the draft was emptied; nothing was saved")
    if text == draft and not typer.confirm("Nothing was changed. Save the draft as it is?", err=True):
        raise Refused("save.unchanged", "the draft was left as it was; nothing was saved")
    return text


def _keep(segue: Segue, file: str | None, data: bytes) -> None:
    """An edited draft that was refused is somebody's work: keep it and say where."""
    if file is None:
        from segue.base import files

        stamp = segue.now().strftime("%Y%m%dT%H%M%S")
        kept = segue.home / f"draft-{stamp}.json"
        files.write_bytes(kept, data)
        output.note(f"your draft is kept in {kept}; mend it and run `segue save {kept}`")


def resume(
    packet_id: OptionalId = None,
    pick: Annotated[bool, typer.Option("--pick", help="Choose from a list.")] = False,
    copy: Copy = False,
    team: TeamCopy = None,
    as_json: AsJson = False,
) -> int:
    """Print the resume block of a packet: what the next session needs to go on."""
    with opened(team=team) as own:
        segue = holding(own, packet_id) if packet_id is not None and team is None else own
        chosen = _picked(segue) if pick and packet_id is None else packet_id
        packet = segue.packets.newest() if chosen is None else segue.packets.get(chosen)
        block = segue.packets.resume(packet.id)
    if as_json:
        output.as_json({"id": packet.id, "resume": block})
    else:
        output.data(block.rstrip("\n"))
    if copy:
        copy_text(block)
    return 0


def _picked(segue: Segue) -> str:
    if not output.is_terminal():
        raise Refused("resume.no_terminal", "there is no terminal to pick on; give an ID, or none for the newest")
    import questionary

    from segue.cli.listing import line

    listed = segue.packets.ls().packets
    if not listed:
        return segue.packets.newest().id  # raises the error that explains it
    choices = [questionary.Choice(line(each, segue.now()), value=each.id) for each in listed]
    answer = questionary.select("Resume which packet?", choices=choices).ask()
    if answer is None:
        raise typer.Exit(0)
    return str(answer)


def copy_text(text: str) -> None:
    """Put text on the clipboard; where there is none, say so: the text was printed anyway."""
    import pyperclip

    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        output.note("warning: no clipboard here; copy the text above")
    else:
        output.note("copied to the clipboard")


def prompt_handoff() -> int:
    """Print a prompt that makes any model write a good packet of its session."""
    from importlib import resources

    output.data(resources.files("segue.packets").joinpath("handoff.md").read_text("utf-8").rstrip("\n"))
    return 0
