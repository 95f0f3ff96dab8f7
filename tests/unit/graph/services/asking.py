"""Short ways to run commands and reads as somebody."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.services.access.commands import Command, command
from graph.services.access.session import Session, read
from tests.support.world import TeamWorld

T = TypeVar("T")


async def run(world: TeamWorld, who: NodeId, work: Callable[[Command], Awaitable[T]]) -> T:
    """Run a command as `who`."""
    return await command(world.deps, world.caller(who), work)


async def ask(world: TeamWorld, who: NodeId, work: Callable[[Session], Awaitable[T]]) -> T:
    """Run a read as `who`."""
    result, _ = await read(world.deps, world.caller(who), work)
    return result


async def sees(world: TeamWorld, who: NodeId, node: NodeId) -> bool:
    """Tell whether `who` may see a node."""

    async def work(session: Session) -> dict[NodeId, Node]:
        return dict(await session.open([node]))

    return node in await ask(world, who, work)
