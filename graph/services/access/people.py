"""Looking up and locking who and what administration names: always inside the caller's workspace."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from graph.model.access import SystemScope
from graph.model.errors import NotFound
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.people import Principal
from graph.services.access.commands import Command

ADMINISTRATION = SystemScope(reason="objects that an admin or host named")
N = TypeVar("N", bound=Node)


async def hold_one(cmd: Command, id_: NodeId, kind: type[N]) -> N:
    """Lock an object of the caller's workspace and return it.

    Raises:
        NotFound: missing, of another kind or of another workspace, all alike.
    """
    await cmd.writer.lock([id_])
    return await find_one(cmd, id_, kind)


async def find_one(cmd: Command, id_: NodeId, kind: type[N]) -> N:
    """Return an object of the caller's workspace; raises like `hold_one`."""
    found = (await cmd.writer.get(ADMINISTRATION, [id_])).get(id_)
    if not isinstance(found, kind) or found.workspace != cmd.caller.workspace or _is_deleted(found):
        raise NotFound
    return found


def _is_deleted(node: Node) -> bool:
    return isinstance(node, Principal) and node.deleted_at is not None


async def hold_people(cmd: Command, ids: Collection[NodeId]) -> dict[NodeId, Principal]:
    """Lock principals of the caller's workspace, in id order, and return them.

    Raises:
        NotFound: one of them does not exist in this workspace.
    """
    wanted = sorted(set(ids))
    await cmd.writer.lock(wanted)
    found = await cmd.writer.get(ADMINISTRATION, wanted)
    people = {
        id_: node
        for id_, node in found.items()
        if isinstance(node, Principal) and node.workspace == cmd.caller.workspace and not _is_deleted(node)
    }
    if len(people) != len(wanted):
        raise NotFound
    return people


async def move_access(cmd: Command, principals: Collection[NodeId]) -> None:
    """Move the access version of principals whose rights changed: reads and commands under way begin again (KN-116)."""
    for principal in sorted(set(principals)):
        await cmd.writer.increment(principal, "access_version")
        cmd.moved[principal] += 1
