"""The survival rate of what Dreaming wrote for an agent, by the versions and audit records that the caller sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph.model.access import Viewer
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import Block, BlockVersion, Entry, ModifierKind
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.rules.audit_operations import AuditOperation
from graph.rules.guarding import operation_tag
from graph.rules.images import BLOCKS
from graph.rules.survival import Survival, Window, Written, survival
from graph.services.access.session import Session
from graph.services.knowledge.owners import watched_bases
from graph.services.settings import load_settings
from graph.store.query import And, Find, In, Range, Tagged

_TOUCHING = (
    AuditOperation.BLOCK_EDIT,
    AuditOperation.BLOCK_DELETE,
    AuditOperation.ENTRY_DELETE,
    AuditOperation.RESTORE,
)
_CURATORS = (ModifierKind.HUMAN, ModifierKind.DREAMING, ModifierKind.AGENT)


@dataclass(frozen=True, kw_only=True, slots=True)
class SurvivalRate:
    """The survival with the days it was asked for."""

    found: Survival
    window_days: float
    lookback_days: float


async def survival_rate(session: Session, agent_id: NodeId) -> SurvivalRate:
    """Return the survival rate of an agent's body text, as far as the caller sees it.

    Raises:
        NotFound: the caller reads nothing of this agent.
    """
    bases = await watched_bases(session, agent_id)
    settings = await load_settings(session.reader, session.caller.workspace, agent_id)
    days = settings["survival.window_days"], settings["survival.lookback_days"]
    window, now = Window.of_days(*days), session.deps.now()
    if not bases:
        return SurvivalRate(found=Survival(survived=0, cohort=0), window_days=days[0], lookback_days=days[1])
    viewer, since = session.narrowed([base.id for base in bases]), window.begins(now)
    records = await _records(session, viewer, since)
    found = survival(
        await _written(session, viewer, since),
        touched=_moments(record for record in records if record.actor_kind == ModifierKind.HUMAN),
        removed=_moments(record for record in records if record.actor_kind != ModifierKind.HUMAN),
        window=window,
        now=now,
    )
    return SurvivalRate(found=found, window_days=days[0], lookback_days=days[1])


async def _written(session: Session, viewer: Viewer, since: Millis) -> list[Written]:
    query = Find(kind=BlockVersion, where=Range("recorded_at", since, None))
    page = await session.reader.find(viewer, query)
    return [
        Written(
            block=node.block_id,
            number=node.version,
            at=node.recorded_at,
            by=node.modifier_kind,
            curated=_is_curated(node.modifier_kind, node.dream_run_id),
        )
        for node in page.nodes
    ]


async def _records(session: Session, viewer: Viewer, since: Millis) -> Sequence[AuditRecord]:
    """Return what people changed or deleted and what was curated away; edits by others are told by the versions."""
    tags = Tagged(tuple(operation_tag(operation) for operation in _TOUCHING))
    where = And((tags, In("actor_kind", [str(kind) for kind in _CURATORS]), Range("recorded_at", since, None)))
    found = (await session.reader.find(viewer, Find(kind=AuditRecord, where=where))).nodes
    return [
        record
        for record in found
        if record.actor_kind == ModifierKind.HUMAN
        or (record.operation != AuditOperation.BLOCK_EDIT and _is_curated(record.actor_kind, record.dream_run_id))
    ]


def _is_curated(kind: str, run: NodeId | None) -> bool:
    """True for what Dreaming did, or an agent in a learning task rather than in a conversation."""
    return kind == ModifierKind.DREAMING or run is not None


def _moments(records: Iterator[AuditRecord]) -> dict[NodeId, list[Millis]]:
    """Return when each block was changed, deleted or restored by these records, whole entries included."""
    moments: dict[NodeId, list[Millis]] = {}
    for record in records:
        for block in _blocks(record):
            moments.setdefault(block, []).append(record.recorded_at)
    return moments


def _blocks(record: AuditRecord) -> tuple[NodeId, ...]:
    kind = prefix_of(record.target_id)
    if kind == Block.PREFIX:
        return (record.target_id,)
    if kind != Entry.PREFIX:
        return ()
    images = [image for image in (record.before, record.after) if isinstance(image, dict)]
    return tuple(NodeId(block) for image in images for block in image.get(BLOCKS, {}))
