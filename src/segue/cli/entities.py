"""entities: whom and what memories name, and under which other names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from segue.base.untrusted import one_line
from segue.cli import output
from segue.cli.arguments import MEMORIES, AsJson, Limit, Now, opened
from segue.cli.memories import print_memories
from segue.cli.table import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segue.services.entities import Entity


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, help="Whom and what memories name: listed, shown, names merged and told apart."
    )
    for command in (ls, show, merge, unmerge):
        group.command()(command)
    app.add_typer(group, name="entities", rich_help_panel=MEMORIES)


def ls(limit: Limit = 50, as_json: AsJson = False) -> int:
    """List what active memories name, the most frequent first."""
    with opened() as segue:
        found = segue.entities.ls(limit=limit)
    if as_json:
        output.as_json({"entities": [each.to_json() for each in found]})
    else:
        _print(found, empty="no entities")
    return 0


def _print(found: Sequence[Entity], *, empty: str) -> None:
    rows = [
        {
            "NAME": one_line(each.name),
            "MEMORIES": f"{each.memories:,}",
            "OTHER NAMES": one_line(", ".join(each.aliases)),
        }
        for each in found
    ]
    print_table(rows, {}, empty=empty)


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME|ID", show_default=False, help="An entity's name, or the id of a memory.")
    ],
    limit: Limit = 20,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Show what stands beside an entity, and the memories that name it; of a memory, those of what it names."""
    with opened(now) as segue:
        found = segue.entities.neighbourhood(name, limit=limit)
        moment = segue.now()
    if as_json:
        output.as_json(found.to_json())
        return 0
    output.data("\n".join(_headline(each) for each in found.entities))
    if found.beside:
        output.data(f"beside: {', '.join(f'{one_line(each.name)} ({each.memories:,})' for each in found.beside)}")
    output.data("")
    print_memories(found.memories, moment, empty="no active memory names it")
    return 0


def _headline(entity: Entity) -> str:
    also = f", also {one_line(', '.join(entity.aliases))}" if entity.aliases else ""
    return f"{one_line(entity.name)}{also}: {output.counted(entity.memories, 'memory', 'memories')}"


def merge(
    alias: Annotated[str, typer.Argument(metavar="ALIAS", show_default=False, help="The other name.")],
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The name to go by.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Say that two names mean the same: what ALIAS names is found under NAME from now on."""
    with opened(now) as segue, output.echoed(as_json):
        merged = segue.entities.merge(alias, name)
    if as_json:
        output.as_json(merged.to_json())
    else:
        output.data(_headline(merged))
    return 0


def unmerge(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The other name, as it was merged.")],
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Take a merge back: what NAME names is found under NAME again."""
    with opened(now) as segue, output.echoed(as_json):
        apart = segue.entities.unmerge(name)
    if as_json:
        output.as_json(apart.to_json())
    else:
        output.data(_headline(apart))
    return 0
