"""The index proposes, the law disposes: an index that is wrong shows nothing (docs/design.md#the-audience-index)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from graph.model.access import Audience, Rule, RuleKind
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.services.access.session import Session, read
from graph.services.audience import dependents
from graph.services.knowledge.entries import entry
from graph.services.knowledge.entry_list import EntryFilter, entries
from graph.services.knowledge.nodes import node_view
from graph.services.knowledge.provenance import provenance
from graph.services.search.search import memory_search
from graph.services.search.values import SearchQuestion
from graph.store.port import Writer
from graph.store.query import Find
from tests.support.operations import apply, block, cite, create, made
from tests.support.world import TeamWorld


class Counting:
    """Figures that a test can look at."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def count(self, name: str, value: int = 1, **labels: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + value

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Forget it."""


async def everything(session: Session, hidden: NodeId, source: NodeId) -> list[object]:
    """Return what the read paths tell of a hidden entry and its source."""
    atlas = NodeId(f"prn_{session.caller.workspace}/agent/atlas")
    question = SearchQuestion(query="salary 90k", owner_id=atlas)
    told: list[object] = [
        (await entries(session, atlas, first=50)).items,
        (await entries(session, atlas, EntryFilter(text="salary"), first=50)).items,
        (await session.page(Find(kind=Source))).nodes,
        await session.open([hidden, source]),
        await node_view(session, hidden),
        await node_view(session, source),
        (await memory_search(session, question)).items,
    ]
    for ask in (entry, provenance):
        told.append(await code_of(ask, session, hidden))
    return told


async def code_of(ask: Callable[..., Awaitable[object]], session: Session, id_: NodeId) -> str:
    try:
        return str(await ask(session, id_))
    except Exception as error:
        return type(error).__name__


@pytest.mark.req("KN-61", "KN-62", "KN-60")
async def test_a_wrong_index_shows_nothing_and_is_counted(world: TeamWorld) -> None:
    source = await world.say(world.chat, "my salary is 90k")
    private = await world.open(world.chat)
    pay = await apply(
        world, create("Salary", block("Earns 90k.", cite(source, "salary is 90k"))), conversation=private.id
    )
    figures = Counting()
    deps = replace(world.deps, figures=figures)

    async def told() -> list[object]:
        return (await read(deps, world.caller(world.ben), lambda s: everything(s, made(pay), source)))[0]

    before = await told()
    assert figures.counts.get("audience_mismatch", 0) == 0

    async def open_to_all(writer: Writer) -> None:
        nodes = sorted(await dependents(writer, [source]))
        everybody = frozenset({frozenset({Rule(RuleKind.WORKSPACE, world.workspace)})})
        await writer.admit([Audience(node=node, clauses=everybody) for node in await writer.guards(nodes)])

    await world.deps.store.transact(open_to_all)
    assert await told() == before
    assert figures.counts["audience_mismatch"] > 0
