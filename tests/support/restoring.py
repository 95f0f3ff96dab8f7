"""Short forms of restores."""

from __future__ import annotations

from collections.abc import Sequence

from graph.model.ids import NodeId
from graph.model.nodes.work import AuditRecord
from graph.rules.restore import RestorePlan
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.restore import RestoreResult, restore, restore_preview
from tests.support.world import TeamWorld


async def preview(world: TeamWorld, *ids: NodeId, by: NodeId | None = None) -> RestorePlan:
    """Return the preview of these records, as Ana sees it unless the test says otherwise."""
    found, _ = await read(world.deps, world.caller(by or world.ana), lambda s: restore_preview(s, ids))
    return found


async def undo(
    world: TeamWorld,
    *ids: NodeId,
    by: NodeId | None = None,
    reason: str = "it was wrong",
    confirmed: str | None = None,
) -> RestoreResult:
    """Restore these records as Ana, unless the test says otherwise."""
    return await command(
        world.deps,
        world.caller(by or world.ana),
        lambda cmd: restore(cmd, ids, reason=reason, preview_hash=confirmed),
    )


def ids_of(records: Sequence[AuditRecord]) -> list[NodeId]:
    """Return the ids of records."""
    return [record.id for record in records]
