"""The application: routes, what stands around them, and the store that they are served from."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import Route

import segue as library
from segue.http import (
    accounts,
    context,
    endpoint,
    errors,
    invites,
    memories,
    operations,
    packets,
    publishing,
    teams,
    tools,
)
from segue.http.headers import Headers
from segue.http.limits import Kind, Rates
from segue.http.logs import Logged, logger
from segue.http.metrics import Metrics
from segue.http.paths import Segments
from segue.http.proxies import Forwarded
from segue.http.serving import Served
from segue.http.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import TextIO

    from segue.app import Segue

_ROUTERS = (
    operations.router,
    accounts.router,
    packets.router,
    teams.router,
    invites.router,
    publishing.router,
    memories.router,
    context.router,
    tools.router,
)
_ABOUT = (
    "Packets, memories and context for people and teams. Every route but the public ones takes a bearer token. What is "
    "not the caller's to see is answered as if it were not there."
)


def create_app(
    settings: Settings,
    store: Segue | str,
    *,
    log: TextIO | None = None,
    at_end: Callable[[], None] | None = None,
) -> FastAPI:
    """Return the application over a store: an open Segue, which stays the caller's to close, or its location.

    Logs go to `log`, else to stderr; `at_end` is called once all requests are answered. Raises Failed `store.…` where
    the store cannot be opened.
    """
    segue = library.open(store, actor="server") if isinstance(store, str) else store
    limits: dict[Kind, int] = {"reads": settings.reads, "writes": settings.writes, "accepts": settings.accepts}
    metrics = Metrics(library.__version__)
    served = Served(segue, settings, Rates(segue.requests, limits, segue.now), metrics)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # No more threads than the store has connections: a thread that waits for one only takes its turn later.
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads
        try:
            yield
        finally:
            if isinstance(store, str):
                segue.close()
            if at_end is not None:
                at_end()

    app = FastAPI(
        title="Segue",
        version=library.__version__,
        description=_ABOUT,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.served = served
    for router in _ROUTERS:
        app.include_router(router)
    app.router.routes.append(Route(endpoint.PATH, endpoint.Endpoint()))
    errors.install(app)
    app.openapi = lambda: _description(app)  # type: ignore[method-assign]
    # The last one that is added is the first that a request meets.
    app.add_middleware(Segments)
    app.add_middleware(Logged, log=logger(log), metrics=metrics)
    app.add_middleware(Headers, secure=settings.external_url.startswith("https:"))
    app.add_middleware(Forwarded, proxies=settings.networks())
    return app


def _description(app: FastAPI) -> dict[str, Any]:
    """The API's description, with all routes; errors have their own shape, which the framework does not know."""
    if app.openapi_schema is None:
        found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        for path in found["paths"].values():
            for operation in path.values():
                said = operation["responses"].get("422", {})
                if "HTTPValidationError" in str(said):
                    del operation["responses"]["422"]
        for name in ("HTTPValidationError", "ValidationError"):
            found["components"]["schemas"].pop(name, None)
        found["paths"][endpoint.PATH] = endpoint.described()
        app.openapi_schema = found
    return app.openapi_schema
