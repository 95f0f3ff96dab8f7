"""Commands on what the workspace has beside memories; to who reads nothing of it there is nothing (KN-60)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from strawberry.types import Info

from api.graphql.context import context
from api.graphql.tagging import refusing
from graph.model.fields import Node
from graph.services.access.commands import Command
from graph.services.access.session import Session, read
from graph.services.workspace.finding import require_readable
from graph.services.workspace.run_finding import KINDS

T = TypeVar("T")


async def run_on(info: Info[Any, Any], kind: type[Node], work: Callable[[Command], Awaitable[T]]) -> T:
    """Run a command on a node of a kind of `KINDS`, once for its field."""

    async def shown(cmd: Command) -> T:
        require_readable(cmd.facts, None, KINDS[kind.PREFIX])
        return await work(cmd)

    with refusing():
        return await context(info).run(info, shown)


async def act_on(info: Info[Any, Any], kind: type[Node], act: Callable[[], Awaitable[T]]) -> T:
    """Do what takes more than a command to a node of a kind of `KINDS`, once for its field."""
    ctx = context(info)

    async def look(reading: Session) -> None:
        require_readable(reading.facts, None, KINDS[kind.PREFIX])

    async def shown() -> T:
        await read(ctx.deps, ctx.caller, look)
        return await act()

    with refusing():
        return await ctx.once(info, shown)
