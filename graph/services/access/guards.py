"""Writing nodes that rest on nothing: with their guards and their own audiences."""

from __future__ import annotations

from collections.abc import Sequence

from graph.model.access import Clause
from graph.model.fields import Node
from graph.rules.guarding import guard_of, own_audience
from graph.store.port import Writer


async def put_alone(writer: Writer, node: Node, rules: Clause) -> None:
    """Write a node that whoever passes `rules` may see."""
    await put_all_alone(writer, [node], rules)


async def put_all_alone(writer: Writer, nodes: Sequence[Node], rules: Clause) -> None:
    """Write nodes that whoever passes `rules` may see; none at all is nothing to do."""
    if nodes:
        await writer.put(nodes)
        await guard_all_alone(writer, nodes, rules)


async def guard_alone(writer: Writer, node: Node, rules: Clause) -> None:
    """Let whoever passes `rules` see a node that is there and rests on nothing, and nobody else."""
    await guard_all_alone(writer, [node], rules)


async def guard_all_alone(writer: Writer, nodes: Sequence[Node], rules: Clause) -> None:
    """Do the same for several nodes."""
    guards = [guard_of(node, rules) for node in nodes]
    await writer.guard(guards)
    await writer.admit([own_audience(guard) for guard in guards])
