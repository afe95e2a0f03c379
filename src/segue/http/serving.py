"""What all requests of one process share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request

if TYPE_CHECKING:
    from segue.app import Segue
    from segue.http.limits import Rates
    from segue.http.metrics import Metrics
    from segue.http.settings import Settings
    from segue.services.callers import Caller


@dataclass(frozen=True, slots=True)
class Served:
    """The store that is served, how it is set up, and what is counted."""

    segue: Segue
    settings: Settings
    rates: Rates
    metrics: Metrics

    def of(self, caller: Caller, team: str | None) -> Segue:
        """Return the services over the caller's own scope, or over a team's. Raises NotFound `team.not_found`."""
        return self.segue.seen_by(caller, team, rescan=self.settings.rescan)


def served(request: Request) -> Served:
    """Return what a request is answered from."""
    found: Served = request.app.state.served
    return found


def base_url(request: Request) -> str:
    """Return what this server's addresses begin with, without a slash at the end.

    That is the external URL of its settings, else what the request, or a proxy that is believed, says.
    """
    return served(request).settings.external_url.rstrip("/") or f"{request.url.scheme}://{request.url.netloc}"
