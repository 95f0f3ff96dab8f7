"""A world whose texts are embedded: a worker that makes vectors, searches that say which routes found what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dreaming.embedding import make_vectors
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import MessageVector, WindowVector
from graph.model.nodes.work import Job
from graph.services.access.session import read
from graph.services.learning.embedding import embed_key
from graph.services.learning.embedding_status import VectorState, vector_states
from graph.services.learning.jobs import find_job
from graph.services.search.search import memory_search
from graph.services.search.values import SearchAnswer, SearchQuestion
from graph.store.query import Find
from tests.support.embedding import Embedders, WordsEmbedder, choose
from tests.support.world import TeamWorld

LOOK = SystemScope(reason="test")


@dataclass
class Desk:
    """Short words for a world with vectors.

    Attributes:
        outcomes: how tries of the job ended, in order.
    """

    world: TeamWorld
    embedders: Embedders = field(default_factory=Embedders)
    outcomes: list[str] = field(default_factory=list)

    @property
    def model(self) -> WordsEmbedder:
        return self.embedders.models["words"]

    async def make(self, **settings: object) -> Desk:
        """Configure the embedder of a new world."""
        self.world.deps = replace(self.world.deps, embedders=self.embedders)
        given = {
            "embedding__provider": "test",
            "embedding__model": "words",
            "search__route_timeout_ms": 60_000,  # a cold server plans each statement first
            **settings,
        }
        await choose(self.world, **given)
        return self

    def worker(self) -> Worker:
        """Return a worker that makes vectors and nothing else."""
        return Worker(
            deps=self.world.deps,
            anchor_minutes=0,
            handlers={"embed": make_vectors},
            on_step=lambda kind, outcome: self.outcomes.append(outcome),
        )

    async def embed(self) -> list[str]:
        """Look what waits, do what is due, and return how it ended."""
        self.outcomes.clear()
        worker = self.worker()
        await worker.look_out()
        while await worker.step():
            pass
        return list(self.outcomes)

    async def job(self) -> Job | None:
        async with self.world.deps.store.reading() as reader:
            return await find_job(reader, embed_key(self.world.workspace))

    async def states(self) -> dict[str, VectorState]:
        """Return the state of each kind by its name."""
        async with self.world.deps.store.reading() as reader:
            return {str(s.kind): s for s in await vector_states(reader, self.world.workspace)}

    async def ask(self, query: str, *, by: NodeId | None = None) -> SearchAnswer:
        """Search over all that a person may read of Atlas."""
        question = SearchQuestion(query=query, owner_id=self.world.atlas)
        answer, _ = await read(
            self.world.deps, self.world.caller(by or self.world.ana), lambda s: memory_search(s, question)
        )
        return answer

    async def found(self, query: str, *, by: NodeId | None = None) -> dict[NodeId, list[str]]:
        """Return what was found, best first, with the names of the routes."""
        return {item.ref: sorted(item.ranks) for item in (await self.ask(query, by=by)).items}

    async def vectors(self) -> Sequence[Node]:
        """Return the nodes that hold vectors of messages of this world."""
        scope = replace(LOOK, workspace=self.world.workspace)
        async with self.world.deps.store.reading() as reader:
            alone = await reader.find(scope, Find(kind=MessageVector))
            window = await reader.find(scope, Find(kind=WindowVector))
        return [*alone.nodes, *window.nodes]
