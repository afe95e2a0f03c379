"""server run: serve packets, memories and context over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from segue.cli import output
from segue.cli.serving import Db


def run(
    db: Db = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8787,
    workers: Annotated[int, typer.Option(metavar="N", help="How many processes; they share the database.")] = 1,
    external_url: Annotated[
        str, typer.Option(metavar="URL", help="What clients call this server; else what they say.")
    ] = "",
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS", help="A proxy, or a network of them, whose X-Forwarded-* headers are believed."
        ),
    ] = None,
    rescan: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY", help="What the server's own redactor refuses: core, extended or off; else as set."
        ),
    ] = None,
    reads: Annotated[
        int, typer.Option(metavar="N", help="Reading requests of one address or token a minute.")
    ] = 12_000,
    writes: Annotated[
        int, typer.Option(metavar="N", help="Writing requests of one address or token a minute.")
    ] = 3_000,
    accepts: Annotated[int, typer.Option(metavar="N", help="Invites that one address may accept a minute.")] = 40,
) -> int:
    """Serve until Ctrl-C or SIGTERM. Logs are JSON lines on stderr; requests that run at the end are answered."""
    from segue.http.processes import Plan, run
    from segue.http.settings import Settings
    from segue.mcp.ending import end_now
    from segue.services.policies import checked_policy

    settings = Settings(
        external_url=external_url,
        proxies=tuple(proxy or ()),
        rescan=None if rescan is None else checked_policy(rescan),
        reads=reads,
        writes=writes,
        accepts=accepts,
    )
    run(Plan(settings, db, host, port, workers), output.note)
    end_now()
