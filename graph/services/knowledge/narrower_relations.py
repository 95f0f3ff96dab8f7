"""What deleting or merging an entry means for the relations that narrower bases have to it.

A channel's or a private chat's knowledge may point at an entry of the shared base (KN-27). When that entry goes, its
relations go with it or move to the entry that is kept, wherever they live: each in the base it is in, with its record
in the chain of that base (KN-35, KN-36, KN-82). The caller need not read those bases and is told nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Relation
from graph.rules.operations.state import KnowledgeState
from graph.rules.operations.work import Work
from graph.services.access.commands import Command
from graph.services.knowledge.statements import find_all, load_statements, relations_at
from graph.services.knowledge.targets import actor_of
from graph.services.ledger import Commit, commit, hold
from graph.services.settings import load_settings
from graph.store.query import And, Eq, In


async def change_narrower(
    cmd: Command, pool: NodeId, entries: Sequence[NodeId], reason: str, change: Callable[[Work], None]
) -> None:
    """Change the relations at `entries` that live in other bases than `pool`, which the caller holds.

    Whoever relates something to an entry holds the base of that entry: so none appears meanwhile.

    Args:
        cmd: the command of the caller.
        pool: the base that the entries live in.
        entries: the entry that goes, and the one that is kept.
        reason: why, as the caller said.
        change: what becomes of a base's relations at the entries.
    """
    for narrower in sorted({relation.pool for relation in await _relations(cmd, entries) if relation.pool} - {pool}):
        base = await hold(cmd.writer, narrower)
        relations = await relations_at(cmd.writer, entries, narrower)
        ends = {end for relation in relations for end in (relation.subject_id, relation.object_id)}
        loaded = await load_statements(cmd.writer, entries=ends, relations=relations)
        state = KnowledgeState(base=base, entries=loaded.entries, relations=loaded.relations, roots=loaded.roots)
        settings = await load_settings(cmd.writer, cmd.caller.workspace, base.owner_id)
        work = Work.on(state, actor_of(cmd, reason.strip() or None), settings, cmd.at, cmd.deps.new_id)
        change(work)
        where = Commit(pool=narrower, tx_id=cmd.tx_id, at=cmd.at, language=settings["search.default_language"])
        await commit(cmd.writer, cmd.deps, where, work.changes)


async def _relations(cmd: Command, entries: Sequence[NodeId]) -> list[Relation]:
    ids = sorted(entries)
    found = [
        await find_all(cmd.writer, Relation, And((In(end, ids), Eq("current", True))))
        for end in ("subject_id", "object_id")
    ]
    return [relation for relations in found for relation in relations]
