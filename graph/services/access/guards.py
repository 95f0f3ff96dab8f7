"""Writing a node that rests on nothing: with its guard and its own audience."""

from __future__ import annotations

from graph.model.access import Clause
from graph.model.fields import Node
from graph.rules.guarding import guard_of, own_audience
from graph.store.port import Writer


async def put_alone(writer: Writer, node: Node, rules: Clause) -> None:
    """Write a node that whoever passes `rules` may see."""
    await writer.put([node])
    await guard_alone(writer, node, rules)


async def guard_alone(writer: Writer, node: Node, rules: Clause) -> None:
    """Let whoever passes `rules` see a node that is there and rests on nothing, and nobody else."""
    guard = guard_of(node, rules)
    await writer.guard([guard])
    await writer.admit([own_audience(guard)])
