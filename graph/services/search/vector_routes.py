"""The routes that find by meaning: current blocks, episodes, and messages alone and with their neighbours (RE-7 to
RE-11, RE-32). Only vectors of the model in force count; what it did not make yet is found by its words.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from graph.model.access import Viewer
from graph.model.errors import ModelUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode, MessageVector, WindowVector
from graph.model.nodes.knowledge import BlockVersion
from graph.rules.embedding import choice_of, is_usable, source_of
from graph.rules.knowledge_settings import Settings
from graph.rules.ranking import message_similarities, owners_best_first
from graph.rules.strength import by_meaning
from graph.services.access.session import Session
from graph.services.search.values import Ranking, Route
from graph.store.query import Eq, Neighbour

BLOCK_VECTOR = "block_vector"
EPISODE_VECTOR = "episode_vector"
MESSAGE_VECTOR = "message_vector"
NO_EMBEDDER = "no embedding provider is configured"

_DEEPER = 4
"""So many times the depth of a route is asked for where two hits may count for one item."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question on its way to a vector of the model in force."""

    model: str
    vector: asyncio.Task[Sequence[float]]


@asynccontextmanager
async def embedded_question(
    session: Session, query: str, settings: Settings, timeout_s: float
) -> AsyncIterator[Question | None]:
    """Begin to embed a question, and give up when the block ends; None if no embedder is configured."""
    choice, embedders = choice_of(settings), session.deps.embedders
    if choice is None or embedders is None:
        yield None
        return

    async def vector() -> Sequence[float]:
        async with asyncio.timeout(timeout_s):
            made = await embedders(choice).embed([query], query=True)
        if len(made) != 1 or not is_usable(made[0]):
            raise ModelUnavailable("bad_response")
        return made[0]

    task = asyncio.create_task(vector())
    try:
        yield Question(choice.name, task)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def vector_routes(session: Session, viewer: Viewer, question: Question, settings: Settings) -> dict[str, Route]:
    """Return the routes by name; the one over messages only with ``search.message_vectors``."""
    asked = _Asked(session, viewer, question, settings["search.route_depth"], settings["search.min_cosine"])
    routes: dict[str, Route] = {
        BLOCK_VECTOR: partial(_blocks, asked),
        EPISODE_VECTOR: partial(_episodes, asked),
    }
    if settings["search.message_vectors"]:
        routes[MESSAGE_VECTOR] = partial(_messages, asked)
    return routes


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question with its bounds."""

    session: Session
    viewer: Viewer
    question: Question
    depth: int
    least: float

    async def near(
        self, kind: type[BlockVersion | Episode | MessageVector | WindowVector], limit: int, where: Eq | None = None
    ) -> list[Neighbour]:
        """Return the visible neighbours of at least the least similarity."""
        vector = await asyncio.shield(self.question.vector)
        found = await self.session.reader.nearest(
            self.viewer, kind, vector, model=self.question.model, limit=limit, where=where
        )
        return [neighbour for neighbour in found if neighbour.similarity >= self.least]


async def _blocks(asked: _Asked) -> Ranking:
    """Rank entries by the best of their current blocks."""
    near = await asked.near(BlockVersion, asked.depth * _DEEPER, Eq("invalidated_at", None))
    nodes = await asked.session.reader.get(asked.viewer, [neighbour.id for neighbour in near])
    owners: dict[str, str] = {id_: node.entry_id for id_, node in nodes.items() if isinstance(node, BlockVersion)}
    hits = [neighbour for neighbour in near if neighbour.id in owners]
    items = owners_best_first([hit.id for hit in hits], owners)
    matched: dict[NodeId, list[NodeId]] = {}
    nearest: dict[str, float] = {}
    for hit in hits:
        matched.setdefault(NodeId(owners[hit.id]), []).append(hit.id)
        nearest.setdefault(owners[hit.id], hit.similarity)
    return Ranking(items=tuple(map(NodeId, items)), matched=matched, strengths=by_meaning(nearest))


async def _episodes(asked: _Asked) -> Ranking:
    """Rank episodes by their summaries."""
    return _found_as_such({hit.id: hit.similarity for hit in await asked.near(Episode, asked.depth)})


async def _messages(asked: _Asked) -> Ranking:
    """Rank messages by what they say themselves and with their neighbours."""
    limit = asked.depth * _DEEPER
    alone = _by_source(await asked.near(MessageVector, limit))
    return _found_as_such(message_similarities(alone, _by_source(await asked.near(WindowVector, limit))))


def _by_source(near: Sequence[Neighbour]) -> Mapping[str, float]:
    return {source_of(neighbour.id): neighbour.similarity for neighbour in near}


def _found_as_such(similarities: Mapping[str, float]) -> Ranking:
    items = tuple(NodeId(id_) for id_ in sorted(similarities, key=lambda id_: (-similarities[id_], id_)))
    return Ranking(items=items, matched={}, strengths=by_meaning(similarities))
