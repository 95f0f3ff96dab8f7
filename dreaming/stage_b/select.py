"""What the next batch of a base holds: the oldest items that wait, read under the scope of that base (DR-31, DR-33)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dreaming.curation import agent_caller, read_as_base
from dreaming.curation.names import Names
from dreaming.curation.quoting import as_text, episode_line, source_line
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import DreamBatch, DreamRun, PendingItem, Progress, RunState
from graph.rules.stage_b import Limits, StageBKey, batch_id, choose, limits_of
from graph.services.access.session import Session, read
from graph.services.deps import Deps
from graph.services.learning.episode_messages import episode_messages
from graph.services.learning.pending import pending_items
from graph.services.learning.progress import find_progress
from graph.services.learning.stage_b import find_batch
from graph.services.settings import load_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Selected:
    """A batch with what it was chosen from.

    Attributes:
        progress: of the base, as it was read; a batch may be committed only onto the same version of it.
        items: rows of what waits, oldest first; never none.
        nodes: the episodes and sources themselves, as the base sees them.
        messages: of each episode, in talk order.
        limits: of the batch.
    """

    base: KnowledgeBase
    progress: Progress
    items: tuple[PendingItem, ...]
    nodes: Mapping[NodeId, Episode | Source]
    messages: Mapping[NodeId, tuple[Source, ...]]
    limits: Limits

    @property
    def batch_id(self) -> NodeId:
        """Id of the batch: one for each version of the progress of the base."""
        return batch_id(self.progress)

    @property
    def item_ids(self) -> tuple[NodeId, ...]:
        """Ids of the episodes and sources, oldest first."""
        return tuple(item.item_id for item in self.items)


async def select(deps: Deps, run: DreamRun, base: KnowledgeBase, *, halvings: int = 0) -> Selected | None:
    """Return the next batch of a base in a run; None if nothing is left that waited when the run began.

    A batch that was begun is chosen again as it was, as long as its items are there.
    """
    selected, _ = await read(deps, agent_caller(base), lambda session: _select(session, run, base, halvings))
    return selected


async def _select(session: Session, run: DreamRun, base: KnowledgeBase, halvings: int) -> Selected | None:
    key = StageBKey(agent=run.agent_id, kb=base.id)
    progress = await find_progress(session.reader, key) or key.new_progress(base.workspace, run.started_at)
    settings = await load_settings(session.reader, base.workspace, run.agent_id)
    failed = await find_batch(session.reader, batch_id(progress, 1)) if progress.failures else None
    size = len(failed.item_ids) if failed else 0
    limits = limits_of(settings, halvings=halvings, failures=progress.failures, failed_size=size)
    waiting = await pending_items(session.reader, run.agent_id, pool=base.id)
    waiting = [item for item in waiting if item.created_at <= run.started_at]
    begun = await find_batch(session.reader, batch_id(progress))
    candidates = _again(waiting, begun)[: limits.items]
    read_as_base(session, base)
    opened = await session.open([item.item_id for item in candidates])
    nodes = {id_: node for id_, node in opened.items() if isinstance(node, Episode | Source)}
    talks = await episode_messages(session, [id_ for id_, node in nodes.items() if isinstance(node, Episode)])
    costs = _costs(session, nodes, talks, limits)
    items = choose(sorted(candidates, key=lambda item: _age(item, nodes)), costs, limits)
    if not items:
        return None
    return Selected(base=base, progress=progress, items=items, nodes=nodes, messages=talks, limits=limits)


def _age(item: PendingItem, nodes: Mapping[NodeId, Episode | Source]) -> tuple[int, int, str, NodeId]:
    """Return what items are ordered by: since when they wait, then what they are about, so that ids decide nothing."""
    node = nodes.get(item.item_id)
    if isinstance(node, Episode):
        return item.created_at, node.from_at, node.topic, item.id
    return item.created_at, node.occurred_at if node else 0, node.text[:200] if node else "", item.id


def _again(waiting: Sequence[PendingItem], begun: DreamBatch | None) -> Sequence[PendingItem]:
    """Return the items of a batch that was begun, if all still wait; else all that wait, oldest first."""
    if begun is None or begun.state != RunState.RUNNING:
        return waiting
    chosen = [item for item in waiting if item.item_id in begun.item_ids]
    return chosen if len(chosen) == len(begun.item_ids) else waiting


def _costs(
    session: Session,
    nodes: Mapping[NodeId, Episode | Source],
    talks: Mapping[NodeId, Sequence[Source]],
    limits: Limits,
) -> dict[NodeId, int]:
    """Return how many tokens each item takes with its originals as a prompt quotes them, at most those of a batch.

    What a batch takes in has to be shown in it: nothing comes twice.
    """
    names, count = Names(), session.deps.tokenizer.count
    costs = {}
    for id_, node in nodes.items():
        originals = talks[id_] if isinstance(node, Episode) else (node,)
        lines = [source_line(original, names) for original in originals]
        if isinstance(node, Episode):
            lines.append(episode_line(node, names, messages=len(originals)))
        costs[id_] = min(sum(count(as_text(line)) for line in lines), limits.tokens)
    return costs
