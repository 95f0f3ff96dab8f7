"""What people see of vectors: how many are made of each kind, how many wait, since when (CO-64, CO-66)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from graph.model.access import Scope, SystemScope, Viewer
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.time import Millis
from graph.rules import embedding as rules
from graph.rules.embedding import VectorKind
from graph.rules.jobs import JobState
from graph.services.learning.embedding import VECTORED, eligible, embed_key
from graph.services.learning.jobs import find_job
from graph.services.settings import load_settings
from graph.store.port import Reader
from graph.store.query import And, By, Find, In

COUNTING = SystemScope(reason="state of vectors")


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorState:
    """The vectors of one kind.

    Attributes:
        total: nodes that are to have a vector; 0 of messages while ``search.message_vectors`` is off.
        embedded: those that have one of the model in force.
        failed: those whose text the model refused; another model, or a change of the text, is another try.
        pending: the others.
        oldest_pending_at: since when the oldest of them is there; None if none waits.
        model: the name that is stored beside the vectors; None without a configured model, and then nothing waits.
    """

    kind: VectorKind
    total: int
    embedded: int
    pending: int
    failed: int
    oldest_pending_at: Millis | None
    model: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingState:
    """The configuration of a workspace and how its job is doing.

    Attributes:
        failures: failed tries in a row; three are the alert ``embedding_failing``.
        last_error: the code of the last failure, None after a success.
        next_try_at: when the job is due; None if nothing is asked for.
    """

    provider: str | None
    model: str | None
    dimensions: int | None
    failures: int
    last_error: str | None
    next_try_at: Millis | None


async def vector_states(
    reader: Reader,
    workspace: WorkspaceId,
    *,
    pools: Collection[NodeId] | None = None,
    viewer: Viewer | None = None,
) -> tuple[VectorState, ...]:
    """Return the state of each kind, of a whole workspace or of some of its knowledge bases.

    It reads counts and times alone: of all that is there, or with a viewer of what he sees (KN-60).
    """
    scope: Scope = viewer or replace(COUNTING, workspace=workspace)
    settings = await load_settings(reader, workspace)
    choice = rules.choice_of(settings)
    model = choice.name if choice else None
    states = []
    for kind in VectorKind:
        off = kind is VectorKind.MESSAGE and not settings["search.message_vectors"]
        states.append(_nothing(kind, model) if off else await _state(reader, scope, kind, model, pools))
    return tuple(states)


async def embedding_state(reader: Reader, workspace: WorkspaceId) -> EmbeddingState:
    """Return the configuration in force and the state of the job."""
    settings = await load_settings(reader, workspace)
    job = await find_job(reader, embed_key(workspace))
    waits = job is not None and job.state == JobState.QUEUED
    return EmbeddingState(
        provider=settings["embedding.provider"],
        model=settings["embedding.model"],
        dimensions=settings["embedding.dimensions"],
        failures=job.attempts if job and job.last_error else 0,
        last_error=job.last_error if job else None,
        next_try_at=job.due_at if job and waits else None,
    )


def _nothing(kind: VectorKind, model: str | None) -> VectorState:
    return VectorState(kind=kind, total=0, embedded=0, pending=0, failed=0, oldest_pending_at=None, model=model)


async def _state(
    reader: Reader, scope: Scope, kind: VectorKind, model: str | None, pools: Collection[NodeId] | None
) -> VectorState:
    node = VECTORED[kind]
    within = [] if pools is None else [In("pool", sorted(pools))]
    everything = eligible(kind, And(tuple(within)))
    counts = dict(await reader.aggregate(scope, node, everything, by="embedding_model"))
    counts.pop(rules.NO_VECTOR, None)
    total = sum(counts.values())
    if model is None:
        return replace(_nothing(kind, model), total=total)
    embedded, failed = counts.get(model, 0), counts.get(rules.refused_by(model), 0)
    pending = total - embedded - failed
    waits = [key for key in rules.to_be_embedded(counts, model) if counts.get(key)]
    return VectorState(
        kind=kind,
        total=total,
        embedded=embedded,
        pending=pending,
        failed=failed,
        oldest_pending_at=await _oldest(reader, scope, node, kind, waits, within) if pending else None,
        model=model,
    )


async def _oldest(
    reader: Reader, scope: Scope, node: type[Node], kind: VectorKind, waits: list[str], within: list[In]
) -> Millis | None:
    where = eligible(kind, And((In("embedding_model", waits), *within)))
    page = await reader.find(scope, Find(kind=node, where=where, order=By("created_at"), first=1))
    return page.nodes[0].created_at if page.nodes else None
