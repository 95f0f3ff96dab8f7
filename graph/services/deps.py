"""What every service stands on: the ports, bundled once by the bootstrap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from graph.model.ids import IdSource, NodeId, node_id
from graph.model.time import Clock, Millis
from graph.ports import (
    BlobStore,
    DocumentPlaces,
    EmbedderMaker,
    PageFetcher,
    Randomness,
    RecordWire,
    Reranker,
    TextExtractor,
)
from graph.rules.memory_limits import MemoryLimits
from graph.rules.session_memory_text import MemoryRules
from graph.services.turnstile import Turnstile
from graph.services.workspace.records_port import RecordBackend
from graph.store.port import Store
from graph.store.sealing import Vault
from graph.text.tokens import Tokenizer


class Figures(Protocol):
    """Counts what happens, without ids of people or content."""

    def count(self, name: str, value: int = 1, **labels: str) -> None:
        """Add to a counter."""
        ...

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Record one measured value, such as seconds."""
        ...


class NoFigures:
    """Counts nothing."""

    def count(self, name: str, value: int = 1, **labels: str) -> None:
        """Forget it."""

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Forget it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deps:
    """The ports of the core."""

    store: Store
    clock: Clock
    ids: IdSource
    randomness: Randomness
    tokenizer: Tokenizer
    blobs: BlobStore
    fetcher: PageFetcher
    extractor: TextExtractor
    vault: Vault
    embedders: EmbedderMaker | None = None
    reranker: Reranker | None = None
    places: Mapping[str, DocumentPlaces] = field(default_factory=dict)
    """What connectors read, by their kind."""
    session_memory: MemoryRules = MemoryRules()
    memory_limits: MemoryLimits = MemoryLimits()
    records: RecordBackend | None = None
    """The records of record memories; None: every call on them is unavailable."""
    record_wire: RecordWire | None = None
    """What speaks to record backends; None: nothing does."""
    figures: Figures = field(default_factory=NoFigures)
    turnstile: Turnstile = field(default_factory=Turnstile)
    """How many tasks of a Memory Bot run at once in this process (BM-122)."""
    dependents_at_once: int = 10_000
    """Who may see so many dependents of a change is settled in its transaction, more of them by a job (KN-114)."""

    def new_id(self, prefix: str) -> NodeId:
        """Return the id of a new node of the kind that `prefix` names."""
        return node_id(prefix, self.ids.new())

    def now(self) -> Millis:
        """Return the present time."""
        return self.clock.now()
