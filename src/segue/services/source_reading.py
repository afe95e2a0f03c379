"""What reads the places of sources: folders, and addresses within what the administrator permits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from segue.base.errors import InvalidInput
from segue.base.jsontext import is_unicode
from segue.base.redaction import shown
from segue.sources import base_url
from segue.sources.limits import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from segue.sources.checking import Also
    from segue.sources.https import Https
    from segue.sources.limits import Limits
    from segue.sources.problems import Problem
    from segue.sources.snapshot import Resource, Snapshot
    from segue.storage.sources import Kind

    OnProgress = Callable[[int, int], None]  # how many records of how many are read


class Readers:
    """Reads places of sources. `https` makes the reader of addresses when one is read first."""

    def __init__(self, *, https: Callable[[], Https] | None = None, limits: Limits = DEFAULT) -> None:
        self._make_https = https or (lambda: _https(limits))
        self._limits = limits

    def place(self, given: str | Path) -> tuple[Kind, str]:
        """Return the kind of a place, and its one spelling.

        Raises InvalidInput `source.place` for a folder that is not absolute, Refused `source.url`.
        """
        text = str(given)
        if isinstance(given, str) and "://" in given:
            return "https", str(base_url.parse(given))
        if not Path(text).is_absolute() or not is_unicode(text) or "\0" in text:
            raise InvalidInput("source.place", f"'{shown(text, 80)}' is neither a folder's whole path nor https://…")
        return "local", str(Path(text))

    def read(
        self,
        kind: Kind,
        place: str,
        *,
        before: Mapping[str, Resource] | None = None,
        bearer: str = "",
        on_progress: OnProgress | None = None,
    ) -> Snapshot:
        """Return what a place holds; `before` are the files of the snapshot that is known, by their paths.

        Raises what the reader of that kind raises, InvalidInput `source.bearer` for a token for a folder.
        """
        if kind == "https":
            reader = self._make_https()
            return reader.read(base_url.parse(place), before=before or {}, bearer=bearer, on_progress=on_progress)
        if bearer:
            raise InvalidInput("source.bearer", "a folder takes no token; only an address does")
        from segue.sources import local

        return local.read(Path(place), self._limits, before=before, on_progress=on_progress)

    def check(
        self,
        given: str | Path,
        *,
        bearer: str = "",
        also: Also | None = None,
        on_progress: OnProgress | None = None,
    ) -> list[Problem]:
        """Return everything that would fail at a place, and remarks; see `segue.sources.checking`."""
        from segue.sources import checking

        if isinstance(given, str) and "://" in given:
            return checking.check_url(self._make_https(), given, bearer=bearer, also=also, on_progress=on_progress)
        return checking.check_folder(Path(given), self._limits, also=also, on_progress=on_progress)


def _https(limits: Limits) -> Https:
    from segue.services import network_policy
    from segue.sources.https import Https

    return Https(policy=network_policy.read(), limits=limits)
