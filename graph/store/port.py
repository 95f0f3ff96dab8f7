"""The store port: a graph, not a set of repositories. About twenty set-oriented primitives.

Two engines and a plain reference implement it (`embedded`, `neo4j`, `memory`); the suite in `tests/contract/store`
holds all three to the same answers: order, ties, unicode and limits included.

Visibility. Every read that can return user data takes a `Scope`. For a `Viewer` a guarded node is returned only if
its audience (`admit`) has a clause that the viewer passes and does not exclude him; nodes of kinds that are not
guarded are never returned to a viewer; `Viewer.pools` narrows further. `SystemScope` sees everything (of its
workspace, if it names one). `guards`, `audiences`, `closure` and `law_edges` return no content and take no scope.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from graph.model.access import Audience, Guard, Scope, SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.store.query import Direction, Find, Match, Matches, Neighbour, Page, Reached, TextRow, Where

N = TypeVar("N", bound=Node)
T = TypeVar("T")

Row = Node | Edge | Guard | Audience | TextRow
"""What an archive consists of."""


class Isolation(StrEnum):
    """What a reader sees while others write."""

    SNAPSHOT = "snapshot"
    READ_COMMITTED = "read_committed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """State of a store: `ready` and, if not, a reason that names no content."""

    ready: bool
    engine: str
    schema_version: int
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """A numbered step and whether this store has taken it."""

    number: int
    name: str
    applied: bool


class Reader(Protocol):
    """Reads of one transaction (one snapshot on the embedded store)."""

    async def get(self, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        """Return the nodes that exist and may be seen; the others are simply not there. One round trip a kind."""
        ...

    async def find(self, scope: Scope, query: Find[N]) -> Page[N]:
        """Return a page in the asked order. Filtering happens inside the store's index."""
        ...

    async def aggregate(
        self, scope: Scope, kind: type[Node], where: Where | None = None, by: str | None = None
    ) -> Mapping[Any, int]:
        """Count nodes by the values of a field; with ``by=None`` the whole count is under the key None."""
        ...

    async def edges(
        self, scope: Scope, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction
    ) -> Sequence[Edge]:
        """Return edges at `ids`, ordered by (type, source, target, key); for a viewer only if he sees both ends."""
        ...

    async def closure(
        self,
        ids: Sequence[NodeId],
        types: Iterable[EdgeType],
        direction: Direction,
        *,
        depth: int | None = None,
        limit: int | None = None,
        guarded: bool = False,
    ) -> Reached:
        """Return everything reached along edges of `types`, breadth first, cycles allowed; one round trip.

        Edge `props` may be left empty (they hold quotes). Never returns content. `limit` cuts after so many nodes,
        nearer ones first, equal distance in id order. `guarded` asks for the `guards` of what is reached as well.
        """
        ...

    async def guards(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Guard]:
        """Return the law's own facts of the nodes that have them."""
        ...

    async def audiences(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Audience]:
        """Return the stored audience of the nodes that have one."""
        ...

    async def match(self, scope: Scope, question: Match) -> Matches:
        """Return the visible texts that hold a word of the question; see `Match` for the choice among many."""
        ...

    async def nearest(
        self,
        scope: Scope,
        kind: type[Node],
        vector: Sequence[float],
        *,
        model: str,
        limit: int,
        where: Where | None = None,
    ) -> Sequence[Neighbour]:
        """Return the visible nodes that fit `where` and whose vector of `model` is nearest, best first, ties by id.

        The kind has the fields `embedding` (float32, little endian) and `embedding_model`. Vectors of another size
        than the asked one, and those without a direction, are left out. What is hidden takes no place.
        """
        ...

    async def together(self, questions: Sequence[Callable[[], Awaitable[T]]]) -> Sequence[T]:
        """Ask this reader several things of which none needs another's answer; an engine at the end of a wire may
        be asked once.

        Each question calls one of the reads above. They are answered in this order, each no earlier than the one
        before it. What the first one raises that fails, is raised.
        """
        ...


class Writer(Reader, Protocol):
    """Reads and writes of one transaction: all or nothing, and it sees its own writes."""

    async def put(self, nodes: Sequence[Node]) -> None:
        """Insert nodes; a placeholder of the same id is replaced and keeps its links.

        Raises:
            AlreadyExists: the id or a unique key is taken; the transaction must be given up. An engine that gathers
                writes may raise it only at a later call, or when the transaction ends.
        """
        ...

    async def patch(self, id: NodeId, changes: Mapping[str, Any], *, expected: Mapping[str, Any] | None = None) -> None:
        """Set fields of one node, if its fields equal `expected`.

        Raises:
            NotFound: no such node.
            VersionConflict: a field differs from what was expected.
            AlreadyExists: a unique key is taken.
        """
        ...

    async def patch_many(self, changes: Mapping[NodeId, Mapping[str, Any]]) -> None:
        """Set fields of several nodes without looking at them; ids that do not exist are left out."""
        ...

    async def patch_where(self, kind: type[Node], where: Where, changes: Mapping[str, Any]) -> int:
        """Set fields of every node that fits; return how many."""
        ...

    async def delete(self, ids: Sequence[NodeId]) -> None:
        """Remove nodes with guard, audience, texts and the edges that start at them; a placeholder stays where
        others still link.
        """
        ...

    async def link(self, edges: Sequence[Edge]) -> None:
        """Add or replace edges; an end that does not exist becomes a placeholder (never live)."""
        ...

    async def unlink(self, edges: Sequence[Edge]) -> None:
        """Remove edges by identity; those that are not there are left out."""
        ...

    async def guard(self, guards: Sequence[Guard]) -> None:
        """Set or replace the law's own facts of nodes. The audience is not touched: call `admit` as well."""
        ...

    async def admit(self, audiences: Sequence[Audience]) -> None:
        """Set or replace audiences (the node's guard must be set before); lists, counts and texts follow at once."""
        ...

    async def index(self, texts: Sequence[TextRow]) -> None:
        """Add or replace keyword texts; a text is seen by the audience of its guard, now and after later `admit`s."""
        ...

    async def unindex(self, text_ids: Sequence[str]) -> None:
        """Remove keyword texts by id."""
        ...

    async def texts_of(self, guards: Sequence[NodeId]) -> Sequence[TextRow]:
        """Return the keyword texts that hang on these guards, in id order."""
        ...

    async def lock(self, ids: Sequence[NodeId]) -> None:
        """Hold these nodes against other writers until the end; call once, the store locks in id order.
        Missing ids are locked as placeholders where the engine needs that.
        """
        ...

    async def hold(self, scope: SystemScope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        """Lock those of these nodes that `get` would return, and return them as they are then.

        Of ids that name nothing nothing is left, and what lies elsewhere may be changed meanwhile.
        """
        ...

    async def increment(self, id: NodeId, field: str, by: int = 1) -> int:
        """Add to an integer field and return the new value (counters, sequence numbers)."""
        ...

    async def claim(self, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
        """Take the due job that waits longest, or one whose lease is over: ``running``, fence + 1, attempt + 1."""
        ...


class Store(Protocol):
    """A place where one or more workspaces live."""

    @property
    def engine(self) -> str:
        """``embedded``, ``neo4j`` or ``memory``."""
        ...

    @property
    def isolation(self) -> Isolation:
        """What a reader sees while others write."""
        ...

    async def open(self) -> None:
        """Connect, take ownership where the engine needs it, check version and migrate.

        Where one process owns the store, leases that an earlier owner left are over: its workers are gone.

        Raises:
            StoreNewer: made by a newer version; untouched.
            StoreLocked: another process owns it.
            StoreUnavailable: it cannot be reached.
        """
        ...

    async def close(self) -> None:
        """Let go of everything; waits for work under way."""
        ...

    def reading(self) -> AbstractAsyncContextManager[Reader]:
        """Open a reader; on the embedded store it is one snapshot from first to last read."""
        ...

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        """Run `work` in one write transaction and return its result after commit.

        `work` may run again (deadlock, lost connection): it must have no effect outside the transaction. With a
        `tx_id` an unknown outcome of a commit is settled: a `Receipt` of that id is written in the same transaction
        and looked up, so that nothing is applied twice.

        Raises:
            StoreUnavailable: after bounded retries; nothing was written.
            StoreReadOnly: a sync to disk failed; nothing was acknowledged.
        """
        ...

    async def scrub(self) -> None:
        """Remove what deleted and overwritten values left in the engine's own structures, as far as it lets us.

        Called after an erasure was committed (KN-81); its cost grows with the keyword indexes.

        Raises:
            StoreUnavailable: it could not be done; the store is as good as before.
        """
        ...

    async def health(self) -> Health:
        """Tell whether the store answers; never raises."""
        ...

    async def migrations(self) -> Sequence[Migration]:
        """List the numbered steps and which are applied; read only (``migrate --dry-run``)."""
        ...

    def export_rows(self) -> AsyncIterator[Row]:
        """Yield everything, nodes first, in one consistent state."""
        ...

    async def import_rows(self, rows: AsyncIterator[Row]) -> int:
        """Load rows into an empty store (or the same rows again: idempotent); return how many.

        Raises:
            BadState: the store holds other data.
        """
        ...
