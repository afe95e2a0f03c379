"""What is counted for operators: requests by route and status, and how long they took. Nobody's name is in it."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

SHARED = "PROMETHEUS_MULTIPROC_DIR"  # the folder in which the processes of one server count together
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The counts of one process, or of all processes of one server where these share a folder."""

    def __init__(self, version: str) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter("segue_http_requests", "Requests answered.", labels, registry=self._registry)
        self._seconds = Histogram(
            "segue_http_request_seconds",
            "How long answers took.",
            labels[:2],
            registry=self._registry,
            buckets=_BUCKETS,
        )
        version_of = Gauge(
            "segue_build",
            "The version that runs.",
            ("version",),
            registry=self._registry,
            multiprocess_mode="mostrecent",
        )
        version_of.labels(version).set(1)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer; `route` is the template, never a path."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Return all counts in the text format of Prometheus."""
        registry = self._registry
        if os.environ.get(SHARED):
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
