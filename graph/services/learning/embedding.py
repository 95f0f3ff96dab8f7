"""Which texts wait for vectors, what is embedded of them, and how vectors are kept. Source: RE-8, RE-32, DR-83.

A node whose `embedding_model` is not the model in force waits. Writers never make vectors: a worker looks what waits
and asks for the job. All reads are a worker's own; nothing read here is shown to anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from graph.model.access import Need, SystemScope
from graph.model.errors import EmbeddingSizeChanged
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.evidence import Episode, MessageVector, Source, SourceKind, SourceState, WindowVector
from graph.model.nodes.knowledge import BlockVersion, Facet, FacetField
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.ports import EmbeddingChoice
from graph.rules import embedding as rules
from graph.rules.embedding import EMBED, VectorKind
from graph.rules.guarding import own_audience
from graph.rules.ingest import in_talk_order, windows
from graph.rules.jobs import JobState
from graph.rules.knowledge_settings import Settings
from graph.services.deps import Deps
from graph.services.knowledge.anchors import workspaces
from graph.services.knowledge.message_texts import line_around
from graph.services.learning.jobs import enqueue, find_job
from graph.services.settings import load_settings
from graph.store.port import Reader, Writer
from graph.store.query import After, And, Eq, Find, In, IsSet, Where

EMBEDDING = SystemScope(reason="vectors to be made")
VECTORED: Mapping[VectorKind, type[Node]] = MappingProxyType(
    {VectorKind.BLOCK: BlockVersion, VectorKind.EPISODE: Episode, VectorKind.MESSAGE: Source}
)
_FAR = 20
"""Messages further apart in the order of arrival are read on their own, not with all that lies between."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A text to embed.

    Attributes:
        node: what waits: a block's version, an episode, a message.
        target: the node that keeps the vector; `node` itself, but for a message.
    """

    node: NodeId
    target: NodeId
    text: str


def embed_key(workspace: WorkspaceId) -> str:
    """Return the unique key of the job of a workspace."""
    return f"{EMBED}:{workspace}"


def kinds_in_force(settings: Settings) -> list[VectorKind]:
    """Return what is embedded: messages only with ``search.message_vectors``."""
    return [kind for kind in VectorKind if kind is not VectorKind.MESSAGE or settings["search.message_vectors"]]


async def arrange_embedding(deps: Deps) -> list[WorkspaceId]:
    """Ask for the job of each workspace in which something waits; return those.

    It is cheap where nothing does. After a change of models the job itself finds what the old one made.
    """
    if deps.embedders is None:
        return []
    asked = []
    for workspace in await workspaces(deps):
        async with deps.store.reading() as reader:
            settings = await load_settings(reader, workspace)
            choice = rules.choice_of(settings)
            due = choice is not None and await _is_due(reader, workspace, choice, kinds_in_force(settings))
        if due:
            await deps.store.transact(lambda writer, at=workspace: ask_for_vectors(writer, at, deps.now()))  # type: ignore[misc]
            asked.append(workspace)
    return asked


async def ask_for_vectors(writer: Writer, workspace: WorkspaceId, now: Millis) -> Job:
    """Ask for the job of a workspace now."""
    return await enqueue(writer, EMBED, workspace=workspace, unique_key=embed_key(workspace), due_at=now, now=now)


async def _is_due(reader: Reader, workspace: WorkspaceId, choice: EmbeddingChoice, kinds: Iterable[VectorKind]) -> bool:
    job = await find_job(reader, embed_key(workspace))
    if job is not None and job.state in (JobState.QUEUED, JobState.RUNNING, JobState.PARKED):
        return False
    if job is None or not isinstance(job.result, dict) or job.result.get("model") != choice.name:
        return True
    for kind in kinds:
        where = eligible(kind, Eq("embedding_model", rules.NOT_EMBEDDED))
        page = await reader.find(_of(workspace), Find(kind=VECTORED[kind], where=where, first=1))
        if page.nodes:
            return True
    return False


def _of(workspace: WorkspaceId) -> SystemScope:
    return replace(EMBEDDING, workspace=workspace)


def eligible(kind: VectorKind, model: Where) -> Where:
    """Return the condition of nodes that may have vectors and whose `embedding_model` fits `model`.

    Of messages the latest live versions; of blocks all versions, so that one that is restored is found at once.
    """
    if kind is not VectorKind.MESSAGE:
        return model
    return And(
        (
            model,
            Eq("kind", str(SourceKind.MESSAGE)),
            Eq("latest", True),
            Eq("state", str(SourceState.LIVE)),
        )
    )


async def stored_models(reader: Reader, workspace: WorkspaceId, kind: VectorKind) -> list[str]:
    """Return what stands in `embedding_model` of the nodes of a kind."""
    return [model for model in await reader.aggregate(_of(workspace), VECTORED[kind], by="embedding_model") if model]


async def waiting(
    reader: Reader, workspace: WorkspaceId, kind: VectorKind, models: Sequence[str], *, first: int, after: After | None
) -> tuple[Sequence[Node], After | None]:
    """Return the next nodes that wait, in id order, and where to go on; None at the end."""
    model: Where = Eq("embedding_model", models[0]) if len(models) == 1 else In("embedding_model", models)
    query = Find(kind=VECTORED[kind], where=eligible(kind, model), first=first, after=after)
    page = await reader.find(_of(workspace), query)
    return page.nodes, page.places[-1] if page.more else None


async def pieces_of(reader: Reader, kind: VectorKind, nodes: Sequence[Node], model: str) -> list[Piece]:
    """Return the texts to embed of nodes as they are now."""
    if kind is VectorKind.BLOCK:
        return await _of_blocks(reader, [n for n in nodes if isinstance(n, BlockVersion)])
    if kind is VectorKind.EPISODE:
        return [Piece(node=n.id, target=n.id, text=rules.episode_text(n)) for n in nodes if isinstance(n, Episode)]
    return await _of_messages(reader, [n for n in nodes if isinstance(n, Source)], model)


async def _of_blocks(reader: Reader, versions: Sequence[BlockVersion]) -> list[Piece]:
    """Return the texts of blocks under the present name of their entry, or its last one."""
    entries = sorted({version.entry_id for version in versions})
    where = And((In("entry_id", entries), Eq("field", str(FacetField.NAME))))
    names: dict[NodeId, Facet] = {}
    for facet in (await reader.find(EMBEDDING, Find(kind=Facet, where=where))).nodes:
        known = names.get(facet.entry_id)
        if known is None or _recency(facet) > _recency(known):
            names[facet.entry_id] = facet
    return [
        Piece(node=version.id, target=version.id, text=rules.block_text(_name(names, version), version.text))
        for version in versions
    ]


def _recency(facet: Facet) -> tuple[bool, Millis, NodeId]:
    return facet.invalidated_at is None, facet.recorded_at, facet.id


def _name(names: Mapping[NodeId, Facet], version: BlockVersion) -> str:
    facet = names.get(version.entry_id)
    return facet.value if facet else ""


async def _of_messages(reader: Reader, messages: Sequence[Source], model: str) -> list[Piece]:
    """Return the texts of messages, alone where that vector is missing, and with their neighbours."""
    alone = await reader.get(EMBEDDING, [rules.message_vector_id(message.id) for message in messages])
    made = {rules.source_of(v.id) for v in alone.values() if getattr(v, "embedding_model", "") == model}
    pieces = [
        Piece(node=m.id, target=rules.message_vector_id(m.id), text=rules.message_text(m))
        for m in messages
        if m.id not in made
    ]
    for together in _stretches(messages):
        line = await line_around(reader, list(together))
        pieces += [
            Piece(
                node=window.center.id, target=rules.window_vector_id(window.center.id), text=rules.window_text(window)
            )
            for window in windows(line, [message.id for message in together])
        ]
    return pieces


def _stretches(messages: Iterable[Source]) -> list[list[Source]]:
    """Return messages by channel, thread and base, and of these what stands close together."""
    lines: dict[tuple[NodeId | None, ...], list[Source]] = {}
    for message in messages:
        lines.setdefault((message.channel_id, message.thread_id, message.pool), []).append(message)
    found: list[list[Source]] = []
    for line in lines.values():
        ordered = in_talk_order(line)
        found.append([ordered[0]])
        for before, message in pairwise(ordered):
            if 0 <= message.seq - before.seq <= _FAR:
                found[-1].append(message)
            else:
                found.append([message])
    return found


async def file_vectors(
    writer: Writer, kind: VectorKind, model: str, made: Mapping[Piece, Sequence[float]], refused: Iterable[Piece] = ()
) -> int:
    """Keep vectors whose texts are still the same; return how many. What changed meanwhile goes on waiting.

    Args:
        writer: the bases of the nodes are locked in it.
        kind: of all the nodes.
        model: the name of the model.
        made: vectors by piece.
        refused: pieces that the model does not take.
    """
    bad = list(refused)
    ids = sorted({piece.node for piece in (*made, *bad)})
    pools = {n.pool for n in (await writer.get(EMBEDDING, ids)).values() if n.pool}
    await writer.lock(sorted({*pools, *ids}))
    nodes = [n for n in (await writer.get(EMBEDDING, ids)).values() if _still_wanted(kind, n)]
    now = set(await pieces_of(writer, kind, nodes, model))
    kept = {piece: rules.to_bytes(vector) for piece, vector in made.items() if piece in now}
    marks: dict[NodeId, dict[str, Any]] = {
        piece.node: {"embedding_model": rules.refused_by(model)} for piece in bad if piece in now
    }
    whole = {n.id for n in nodes} - {piece.node for piece in now - kept.keys()}
    for node in whole:
        marks[node] = {"embedding_model": model}
    if kind is VectorKind.MESSAGE:
        await _file_apart(writer, model, kept)
    else:
        for piece, data in kept.items():
            marks[piece.node] = {"embedding": data, "embedding_model": model}
    await writer.patch_many(marks)
    return len(kept)


def _still_wanted(kind: VectorKind, node: Node) -> bool:
    if isinstance(node, Source):
        return kind is VectorKind.MESSAGE and node.latest and node.state == SourceState.LIVE
    return getattr(node, "embedding_model", rules.NO_VECTOR) != rules.NO_VECTOR


async def _file_apart(writer: Writer, model: str, kept: Mapping[Piece, bytes]) -> None:
    """Keep the vectors of messages, which are nodes of their own that whoever sees the message sees."""
    there = await writer.get(EMBEDDING, [piece.target for piece in kept])
    await writer.patch_many(
        {p.target: {"embedding": data, "embedding_model": model} for p, data in kept.items() if p.target in there}
    )
    fresh = {piece: data for piece, data in kept.items() if piece.target not in there}
    sources = {piece.node for piece in fresh}
    nodes = await writer.get(EMBEDDING, sorted(sources))
    guards = await writer.guards(sorted(sources))
    await writer.put([_vector_node(nodes[piece.node], piece, data, model) for piece, data in fresh.items()])
    own = [
        replace(guards[piece.node], node=piece.target, kind=_vector_class(piece).__name__, need=Need.SOURCE, tags=())
        for piece in fresh
    ]
    await writer.guard(own)
    await writer.admit([own_audience(guard) for guard in own])


def _vector_class(piece: Piece) -> type[MessageVector] | type[WindowVector]:
    return MessageVector if piece.target.startswith(f"{MessageVector.PREFIX}_") else WindowVector


def _vector_node(source: Node, piece: Piece, data: bytes, model: str) -> Node:
    return _vector_class(piece)(
        id=piece.target,
        workspace=source.workspace,
        pool=source.pool,
        created_at=source.created_at,
        embedding=data,
        embedding_model=model,
    )


async def check_size(reader: Reader, workspace: WorkspaceId, model: str, given: int) -> None:
    """Make sure that vectors of one name have one size.

    Raises:
        EmbeddingSizeChanged: those that are kept have another one.
    """
    holders: tuple[type[Node], ...] = (BlockVersion, Episode, *rules.VECTOR_NODES)
    for kind in holders:
        where = And((Eq("embedding_model", model), IsSet("embedding")))
        page = await reader.find(_of(workspace), Find(kind=kind, where=where, first=1))
        for node in page.nodes:
            kept = rules.size_of(getattr(node, "embedding", b"") or b"")
            if kept != given:
                raise EmbeddingSizeChanged(kept=kept, given=given)
