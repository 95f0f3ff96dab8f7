"""Logs, figures and traces, all without content (AD-37, AD-42).

A log line is one event with the request's id. What may appear in it is listed in `ALLOWED`: anything else is dropped,
so that no call site can leak a text, a token or an id of a person by mistake.
"""

from __future__ import annotations

import io
import logging
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
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
_OWN_LIBRARY = "rootward"


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A figure as it is declared; `measured` ones are seconds in a histogram, the others are counted."""

    help: str
    labels: tuple[str, ...] = ()
    measured: bool = False


FIGURES: Mapping[str, Figure] = {
    "requests": Figure(help="Requests by route and status.", labels=("route", "status")),
    "request_seconds": Figure(help="Time to answer a request.", labels=("route",), measured=True),
    "graphql_operations": Figure(help="GraphQL operations by kind and outcome.", labels=("kind", "outcome")),
    "graphql_errors": Figure(help="Errors in GraphQL answers by code.", labels=("code",)),
    "mcp_calls": Figure(help="Calls of tools over MCP by endpoint and outcome.", labels=("outcome", "place")),
    "unexpected_faults": Figure(help="Faults that were masked, by class.", labels=("error",)),
    "sign_in_failed": Figure(help="Credentials that were refused."),
    "token_use_not_noted": Figure(help="Tokens whose day of use a store that takes no writes did not keep."),
    "visibility_proved": Figure(help="Nodes that the index let through and the law proved before they were shown."),
    "audience_mismatch": Figure(help="Rows that the index let through and the law did not: always a bug."),
    "read_repeated": Figure(help="Reads that ran again because rights moved."),
    "command_repeated": Figure(help="Commands that began again because the caller's rights moved."),
    "searches": Figure(help="Searches by what became of them.", labels=("outcome",)),
    "search_seconds": Figure(help="Time of a search.", measured=True),
    "search_routes_skipped": Figure(help="Routes that a search did without, by route.", labels=("route",)),
    "jobs": Figure(help="Tries of background work by kind and outcome.", labels=("kind", "outcome")),
    "model_calls": Figure(help="Questions to models by purpose and outcome.", labels=("outcome", "purpose")),
    "model_input_tokens": Figure(help="Tokens that models were given, by purpose.", labels=("purpose",)),
    "model_output_tokens": Figure(help="Tokens that models answered, by purpose.", labels=("purpose",)),
    "model_cost_micro_usd": Figure(help="What answers of models cost, by purpose.", labels=("purpose",)),
    "model_answers_unusable": Figure(help="Answers of models of another form.", labels=("problem", "purpose")),
    "consolidation_changes_dropped": Figure(
        help="Changes of a consolidation that no longer fitted.", labels=("purpose", "reason")
    ),
    "bot_calls_not_charged": Figure(help="Calls for a bot that could not be charged to it."),
    "anchor_failed": Figure(help="Anchors that could not be written, by code.", labels=("code",)),
    "scrub_failed": Figure(help="Erasures whose words the store could not clear out of its indexes and log yet."),
    "context_unavailable": Figure(help="Memories that a run was not told of, because they could not be read."),
    "file_tool_retried": Figure(help="Writes of a tool that were decided again on a newer file."),
    "sandbox_bytes_put_again": Figure(help="Bytes of sandboxes that were collected before a file named them."),
    "sandbox_bytes_read_again": Figure(help="Files of sandboxes that were read again because they changed meanwhile."),
    "store_calls": Figure(help="Calls to the store by operation.", labels=("engine", "failed", "operation")),
    "store_seconds": Figure(help="Time of a call to the store.", labels=("engine", "operation"), measured=True),
}
"""Every figure, so that all of them are told of from the start (AD-37)."""

tracer = trace.get_tracer("rootward")


class StandardError(io.TextIOBase):
    """The standard error of the moment, should it be replaced while the process runs."""

    def write(self, text: str, /) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


class PrometheusFigures:
    """Counters and histograms of one process, as `FIGURES` declares them; implements `graph.services.deps.Figures`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._made = {name: (self._of(name, figure), figure.labels) for name, figure in FIGURES.items()}

    def count(self, name: str, value: int = 1, **labels: str) -> None:
        """Add to a counter."""
        counter, names = self._made[name]
        (counter.labels(*(labels[label] for label in names)) if names else counter).inc(value)

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Record one measured value, such as seconds."""
        histogram, names = self._made[name]
        (histogram.labels(*(labels[label] for label in names)) if names else histogram).observe(value)

    def store_call(self, *, engine: str, operation: str, seconds: float, failed: bool) -> None:
        """Note one call to the store (`graph.store.observing.StoreMetrics`)."""
        self.count("store_calls", engine=engine, operation=operation, failed=str(failed).lower())
        self.observe("store_seconds", seconds, engine=engine, operation=operation)

    def render(self) -> bytes:
        """Return all figures in the text form of Prometheus."""
        return generate_latest(self.registry)

    def _of(self, name: str, figure: Figure) -> Any:
        kind = Histogram if figure.measured else Counter
        return kind(f"rootward_{name}", figure.help, figure.labels, registry=self.registry)


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
        if record.name == _OWN_LIBRARY:  # what it tells beside its message is of our own words
            facts |= {name: value for name in ("operation", "code") if (value := getattr(record, name, None))}
        structlog.get_logger().warning("library_warning", **facts)
