"""mcp and demo: what agents use, and a first look for people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from segue.base.errors import InvalidInput
from segue.cli import output
from segue.cli.arguments import MORE, AsJson


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=MORE)(mcp)
    app.command(rich_help_panel=MORE)(demo)


def mcp(
    toolset: Annotated[
        str, typer.Option(metavar="NAME", help="The tools that hosts are told of: core, chatgpt or full.")
    ] = "core",
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP on this machine instead.")] = False,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="With --http; 0 takes a free one.")] = 8321,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="With --http: a loopback address.")] = "127.0.0.1",
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse every tool that writes.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Say on stderr which tools run, and how long.")] = False,
    project_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The project's folder, where the host starts this elsewhere.")
    ] = None,
) -> int:
    """Serve agents over stdio (MCP). Hosts start this by themselves; see `segue hosts install`."""
    import gc

    gc.disable()  # importing makes many objects and no garbage; looking for it is a fifth of the start
    from segue.location import current_directory
    from segue.mcp.ending import end_now
    from segue.mcp.serving import serve, serve_http, toolset_named

    gc.freeze()
    gc.enable()
    chosen = project_dir or os.environ.get("CLAUDE_PROJECT_DIR") or current_directory()
    if not Path(chosen).is_dir():
        raise InvalidInput("directory.invalid", f"there is no folder {chosen}; name the project's folder")
    named = toolset_named(toolset)
    debug = debug or bool(os.environ.get("SEGUE_DEBUG"))
    if http:
        serve_http(
            None, Path(chosen), host=host, port=port, say=output.note, toolset=named, read_only=read_only, debug=debug
        )
        end_now()
    if output.is_terminal():
        output.note("serving MCP over stdin and stdout; an agent host starts this by itself. Ctrl-D ends it.")
    serve(None, Path(chosen), toolset=named, read_only=read_only, debug=debug)
    end_now()


def demo(
    part: Annotated[
        str, typer.Argument(metavar="[context]", show_default=False, help="Show context packs instead.")
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Hand a session over, or give a model its context, for real, in a store that is gone afterwards."""
    import tempfile

    from segue.cli import demonstration_context
    from segue.cli.demonstration import run

    if part not in ("", "context"):
        raise InvalidInput("demo.part", f"there is `segue demo` and `segue demo context`, not {part[:40]!a}")
    if part:
        return demonstration_context.run(as_json=as_json)

    with tempfile.TemporaryDirectory(prefix="segue-demo-") as folder:
        return run(Path(folder), as_json=as_json)
