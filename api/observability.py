"""Logs, figures and traces, all without content (AD-37, AD-42).

A log line is one event with the request's id. What may appear in it is listed in `ALLOWED`: anything else is dropped,
so that no call site can leak a text, a token or an id of a person by mistake.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
import traceback
from collections.abc import MutableMapping
from typing import Any, TextIO, cast

import structlog
from opentelemetry import trace
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from graph.services.deps import Figures

ALLOWED = frozenset(
    {
        "event",
        "level",
        "timestamp",
        "request_id",
        "method",
        "route",
        "status",
        "seconds",
        "operation",
        "code",
        "error",
        "frames",
        "engine",
        "reason",
        "address",
        "path",
        "pid",
        "version",
        "count",
        "job_kind",
        "attempt",
        "setting",
        "origin",
        "signal",
    }
)
"""Keys of a log line. `error` is a class name, `frames` are places in code, `reason` is one of our own words."""

MAX_FRAMES = 12

HELP = {
    "requests": "Requests by route and status.",
    "request_seconds": "Time to answer a request.",
    "graphql_operations": "GraphQL operations by kind and outcome.",
    "graphql_errors": "Errors in GraphQL answers by code.",
    "mcp_calls": "Calls of tools over MCP by endpoint and outcome.",
    "unexpected_faults": "Faults that were masked, by class.",
    "audience_mismatch": "Rows that the index let through and the law did not: always a bug.",
    "scrub_failed": "Erasures whose words the store could not clear out of its indexes and log yet.",
    "read_repeated": "Reads that ran again because rights moved.",
    "sandbox_bytes_put_again": "Bytes of sandboxes that were collected before a file named them.",
    "sandbox_bytes_read_again": "Files of sandboxes that were read again because they changed meanwhile.",
    "command_repeated": "Commands that began again because the caller's rights moved.",
    "sign_in_failed": "Credentials that were refused.",
    "store_calls": "Calls to the store by operation.",
    "store_seconds": "Time of a call to the store.",
}

tracer = trace.get_tracer("rootward")


class StandardError(io.TextIOBase):
    """The standard error of the moment, should it be replaced while the process runs."""

    def write(self, text: str, /) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


class PrometheusFigures:
    """Counters and histograms of one process; implements `graph.services.deps.Figures`.

    A figure is made at its first use with the labels of that use, and keeps them.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._lock = threading.Lock()
        self._counters: dict[str, tuple[Counter, tuple[str, ...]]] = {}
        self._histograms: dict[str, tuple[Histogram, tuple[str, ...]]] = {}

    def count(self, name: str, value: int = 1, **labels: str) -> None:
        """Add to a counter."""
        with self._lock:
            if name not in self._counters:
                names = tuple(sorted(labels))
                made = Counter(f"rootward_{name}", HELP.get(name, name), names, registry=self.registry)
                self._counters[name] = (made, names)
            counter, names = self._counters[name]
        (counter.labels(*(labels.get(n, "") for n in names)) if names else counter).inc(value)

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Record one measured value, such as seconds."""
        with self._lock:
            if name not in self._histograms:
                names = tuple(sorted(labels))
                made = Histogram(f"rootward_{name}", HELP.get(name, name), names, registry=self.registry)
                self._histograms[name] = (made, names)
            histogram, names = self._histograms[name]
        (histogram.labels(*(labels.get(n, "") for n in names)) if names else histogram).observe(value)

    def store_call(self, *, engine: str, operation: str, seconds: float, failed: bool) -> None:
        """Note one call to the store (`graph.store.observing.StoreMetrics`)."""
        self.count("store_calls", engine=engine, operation=operation, failed=str(failed).lower())
        self.observe("store_seconds", seconds, engine=engine, operation=operation)

    def render(self) -> bytes:
        """Return all figures in the text form of Prometheus."""
        return generate_latest(self.registry)


def start_logging(level: str, form: str) -> None:
    """Send all logs as one structured line each to standard error, those of libraries without their message."""
    renderer: Any = structlog.processors.JSONRenderer() if form == "json" else structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            only_allowed,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, StandardError())),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [_WithoutMessages()]
    root.setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "strawberry", "strawberry.execution", "neo4j"):
        library = logging.getLogger(name)
        library.handlers = []
        library.propagate = True


def only_allowed(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Drop every key that is not listed: a processor of structlog."""
    return {key: value for key, value in event.items() if key in ALLOWED}


def log_fault(error: BaseException, **facts: Any) -> None:
    """Log an unexpected fault: its class and the places in code, never its message or any value."""
    structlog.get_logger().error("unexpected_fault", error=type(error).__name__, frames=frames_of(error), **facts)


def note_fault(error: BaseException, figures: Figures) -> None:
    """Log and count an unexpected fault of which outside only `api.errors.MASKED` is told."""
    log_fault(error)
    figures.count("unexpected_faults", error=type(error).__name__)


def frames_of(error: BaseException) -> list[str]:
    """Return where a fault arose, innermost last, as ``file:line function``; of causes too, outermost first."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain:
        chain.append(one)
        one = one.__cause__ or one.__context__
    places = []
    for part in reversed(chain):
        places.append(type(part).__name__)
        for frame in traceback.extract_tb(part.__traceback__)[-MAX_FRAMES:]:
            short = "/".join(frame.filename.replace("\\", "/").split("/")[-3:])
            places.append(f"{short}:{frame.lineno} {frame.name}")
    return places


class _WithoutMessages(logging.Handler):
    """Turns a record of a library into an event without its message, which may quote what was sent."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        facts: dict[str, Any] = {"reason": record.name}
        if error is not None:
            facts |= {"error": type(error).__name__, "frames": frames_of(error)}
        structlog.get_logger().warning("library_warning", **facts)
