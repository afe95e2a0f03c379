"""vacuum and reindex: the store written anew, and what search keeps made again."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Annotated

import typer

from segue.cli import output, progress
from segue.cli.arguments import STORE, AsJson, Now, opened, resumable
from segue.cli.editor import kept_texts

_MEGABYTE = 1_000_000


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=STORE)(vacuum)
    app.command(rich_help_panel=STORE)(reindex)


def vacuum(now: Now = None, as_json: AsJson = False) -> int:
    """Write the store anew, so that nothing of what was forgotten is left in its files.

    Texts of edits that were refused and kept beside it go after a day.
    """
    with opened(now) as segue:
        done = segue.store.vacuum()
        old = kept_texts(segue.home, before=segue.now() - timedelta(days=1))
        for each in old:
            each.unlink(missing_ok=True)
    if as_json:
        output.as_json(done.to_json() | {"removed_texts": len(old)})
        return 0
    output.data(f"{done.before / _MEGABYTE:.1f} MB before, {done.after / _MEGABYTE:.1f} MB now")
    if old:
        output.note(f"removed {output.counted(len(old), 'text')} of edits that were refused more than a day ago")
    if done.backups:
        lie = "lies" if done.backups == 1 else "lie"
        output.note(f"{output.counted(done.backups, 'backup')} {lie} beside it and may hold what was forgotten since")
    return 0


def reindex(
    embedder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="static, semantic or none: what the store is to go by from now on."),
    ] = None,
    now: Now = None,
    as_json: AsJson = False,
) -> int:
    """Make again what search keeps of each memory: after a change of the embedder, or when `doctor` asks for it.

    Stopped and run again, it goes on where it was.
    """
    from segue.services.embedding import choose

    with opened(now, embedder=embedder or "") as segue, resumable("done"):
        if embedder is not None:
            choose(segue.memories.database, embedder)
        reindexing = segue.memories.reindexing
        with progress.shown("memories") as tell:
            number = reindexing.reindex(tell)
        name, fault = reindexing.embedding.name, reindexing.embedding.fault
    if as_json:
        output.as_json({"reindexed": number, "embedder": name, "fault": fault or None})
        return 0
    output.data(f"reindexed {output.counted(number, 'memory', 'memories')}")
    if embedder and os.environ.get("SEGUE_EMBEDDER", embedder) != embedder:
        from segue.base.redaction import shown

        said = shown(os.environ["SEGUE_EMBEDDER"], 40)
        output.note(f"SEGUE_EMBEDDER still says '{said}' and goes before the store's own")
    if fault:
        output.note(f"without vectors: {fault}")
    return 0
