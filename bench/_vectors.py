"""Made-up vectors for all messages of a world: only their number and size matter for the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph.model.access import Need, SystemScope
from graph.model.fields import Node
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import MessageVector, Source, WindowVector
from graph.model.nodes.people import SettingValue
from graph.ports import Embedder, EmbeddingChoice
from graph.rules.embedding import message_vector_id, window_vector_id
from graph.rules.guarding import own_audience
from graph.store.port import Writer
from graph.store.query import Find
from tests.support.world import TeamWorld

SIZE, BATCH = 384, 2_000
MODEL = EmbeddingChoice(provider="bench", model="random")
_ALL = SystemScope(reason="bench")


@dataclass
class RandomEmbedder:
    """Gives a question some direction at once: what embedding takes is not measured."""

    numbers: np.random.Generator

    async def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        del query
        return [self.numbers.standard_normal(SIZE).tolist() for _ in texts]


async def give_vectors(world: TeamWorld) -> int:
    """Give every message its two vectors and the workspace its embedder; return how many vectors there are."""
    numbers = np.random.default_rng(5)
    async with world.deps.store.reading() as reader:
        ids = [source.id for source in (await reader.find(_ALL, Find(kind=Source))).nodes]
    for start in range(0, len(ids), BATCH):
        part = ids[start : start + BATCH]
        await world.deps.store.transact(lambda writer, part=part: _put(writer, world, part, numbers))  # type: ignore[misc]
    await world.deps.store.transact(lambda writer: writer.put(_settings(world)))
    embedder: Embedder = RandomEmbedder(numbers)
    world.deps = replace(world.deps, embedders=lambda choice: embedder)
    return 2 * len(ids)


async def _put(writer: Writer, world: TeamWorld, sources: Sequence[NodeId], numbers: np.random.Generator) -> None:
    guards = await writer.guards(sources)
    vectors = numbers.standard_normal((2 * len(sources), SIZE), dtype=np.float32)
    made: list[Node] = []
    own = []
    for number, source in enumerate(sources):
        guard = guards[source]
        for place, (kind, id_) in enumerate(
            ((MessageVector, message_vector_id(source)), (WindowVector, window_vector_id(source)))
        ):
            made.append(
                kind(
                    id=id_,
                    workspace=world.workspace,
                    pool=guard.pool,
                    created_at=world.deps.now(),
                    embedding=vectors[2 * number + place].tobytes(),
                    embedding_model=MODEL.name,
                )
            )
            own.append(replace(guard, node=id_, kind=kind.__name__, need=Need.SOURCE, tags=()))
    await writer.put(sorted(made, key=lambda node: node.id))
    await writer.guard(own)
    await writer.admit([own_audience(guard) for guard in own])


def _settings(world: TeamWorld) -> list[SettingValue]:
    values = {"embedding.provider": MODEL.provider, "embedding.model": MODEL.model, "search.min_cosine": -1.0}
    return [
        SettingValue(
            id=node_id(SettingValue.PREFIX, f"bench-{name}"),
            workspace=world.workspace,
            created_at=world.deps.now(),
            scope_id=world.node,
            name=name,
            value=value,
        )
        for name, value in values.items()
    ]
