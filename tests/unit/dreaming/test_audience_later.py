"""A withdrawal of what very much rests on: lists and counts are right at once, whatever becomes of the job (KN-114)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from dreaming.audience import recompute_audience
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.edges import LAW_EDGES, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.model.nodes.work import AuditRecord, Job
from graph.rules.jobs import RECOMPUTE_AUDIENCE, JobState
from graph.rules.visibility import source_graph, visible_to
from graph.services.access.by_proof import unsettled_pools
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.audience import law_edge
from graph.services.audience_later import steps_of
from graph.services.knowledge.entry_list import entries
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.port import Reader, Store
from graph.store.query import By, Direction, Eq, Find, Newest, Order, Page, Where
from tests.support.faults import Fault, FaultyStore, PlannedFault
from tests.support.held_clock import HeldClock
from tests.support.operations import apply, block, cite, create
from tests.support.world import TeamWorld
from tests.unit.dreaming.conftest import ENGINES

pytestmark = [pytest.mark.req("KN-114"), pytest.mark.parametrize("engine", ENGINES, indirect=True)]

EVERYTHING = SystemScope(reason="test")
KINDS: tuple[type[Node], ...] = (Source, Entry, BlockVersion, AuditRecord)
ORDERS: tuple[Order, ...] = (By("id"), By("created_at", descending=True), Newest())
AT_ONCE = 3
PAGE = 4


@dataclass
class Library:
    """Entries of the channel: some rest on a popular message, some on another one, one on both."""

    world: TeamWorld
    clock: HeldClock
    popular: NodeId
    other: NodeId

    @classmethod
    async def make(cls, world: TeamWorld, clock: HeldClock) -> Library:
        """Say two messages and write five entries about them."""
        popular = await world.say(world.ops, "the harbour opens in May", speaker=world.ana)
        other = await world.say(world.ops, "the mill is closed", speaker=world.ben)
        both = (cite(popular, "harbour"), cite(other, "mill"))
        kept = [create(f"mill {n}", block(f"It is closed {n}.", cite(other, "mill"))) for n in range(2)]
        hidden = [create(f"harbour {n}", block(f"It opens {n}.", cite(popular, "harbour"))) for n in range(3)]
        await apply(world, *kept, *hidden, create("town", block("It has both.", *both)))
        world.deps = replace(world.deps, dependents_at_once=AT_ONCE)
        return cls(world=world, clock=clock, popular=popular, other=other)

    async def withdraw(self) -> None:
        await self._as_host(lambda cmd: withdraw_source(cmd, self.popular, "it was said in error"))

    async def give_back(self) -> None:
        await self._as_host(lambda cmd: return_source(cmd, self.popular, "it was right"))

    async def _as_host(self, work: Callable[..., Awaitable[object]]) -> None:
        await command(self.world.deps, self.world.caller(self.world.host), work)

    def worker(self, store: Store | None = None, name: str = "worker") -> Worker:
        deps = self.world.deps if store is None else replace(self.world.deps, store=store)
        handlers = {RECOMPUTE_AUDIENCE: recompute_audience}
        return Worker(deps=deps, anchor_minutes=60, handlers=handlers, owner=name)

    async def work(self) -> None:
        """Do all that is due."""
        worker = self.worker()
        while await worker.step([RECOMPUTE_AUDIENCE]):
            pass

    async def jobs(self) -> list[str]:
        async with self.world.deps.store.reading() as reader:
            query = Find(kind=Job, where=Eq("kind", RECOMPUTE_AUDIENCE))
            found = (await reader.find(replace(EVERYTHING, workspace=self.world.workspace), query)).nodes
        return sorted(job.state for job in found)

    async def unsettled(self) -> frozenset[NodeId]:
        async with self.world.deps.store.reading() as reader:
            return await unsettled_pools(reader, self.world.workspace)

    async def check(self) -> None:
        """Compare every list, count and look-up of every viewer with the law worked out over the whole workspace."""
        every = (self.world.ben, self.world.cleo, self.world.ana, self.world.eve, self.world.atlas)
        few = every[:2]  # a reader and an auditor: on a server each look takes its time
        for who in few if self.world.deps.store.engine == "neo4j" else every:
            await read(self.world.deps, self.world.caller(who), self._check_one)

    async def _check_one(self, session: Session) -> None:
        async with self.world.deps.store.reading() as raw:
            every = {kind: await _all_of(raw, self.world, kind) for kind in KINDS}
            lawful = await _lawful(raw, session, {id_ for nodes in every.values() for id_ in nodes})
        for kind, nodes in every.items():
            right = {id_ for id_ in nodes if id_ in lawful}
            for order in ORDERS:
                expected = sorted(right, key=lambda id_: _place(nodes[id_], order))
                assert await _listed(session, kind, order) == expected
                assert await _listed(session, kind, order, backward=True) == expected[::-1]
            assert (await session.reader.aggregate(session.viewer, kind)).get(None, 0) == len(right)
            assert set(await session.open(sorted(nodes))) == right
        told = await session.reader.edges(session.viewer, sorted(every[BlockVersion]), [EdgeType.CITES], Direction.OUT)
        assert {edge.source for edge in told} | {edge.target for edge in told} <= lawful
        listing = await entries(session, self.world.atlas, first=50)
        assert {item.id for item in listing.items} == {id_ for id_ in every[Entry] if id_ in lawful}
        assert await listing.count() == len(listing.items)


async def _all_of(reader: Reader, world: TeamWorld, kind: type[Node]) -> Mapping[NodeId, Node]:
    page: Page[Node] = await reader.find(replace(EVERYTHING, workspace=world.workspace), Find(kind=kind))
    return {node.id: node for node in page.nodes}


async def _lawful(reader: Reader, session: Session, ids: set[NodeId]) -> frozenset[NodeId]:
    reached = await reader.closure(sorted(ids), LAW_EDGES, Direction.OUT)
    guards = await reader.guards(list(reached.depths))
    return visible_to(source_graph(guards.values(), map(law_edge, reached.edges)), session.viewer)


def _place(node: Node, order: Order) -> tuple[object, ...]:
    if isinstance(order, By):
        value = getattr(node, order.field)
        return (-value if order.descending else value, node.id)
    return (-_sort_at(node), node.id)


def _sort_at(node: Node) -> int:
    names = {"Source": "occurred_at", "Entry": "updated_at"}
    return int(getattr(node, names.get(type(node).__name__, "recorded_at")))


async def _listed(session: Session, kind: type[Node], order: Order, *, backward: bool = False) -> list[NodeId]:
    """Return a whole list, page by page."""
    where: Where | None = None
    query: Find[Node] = Find(kind=kind, where=where, order=order, first=PAGE, backward=backward)
    found: list[NodeId] = []
    while True:
        page = await session.reader.find(session.viewer, query)
        found += [node.id for node in page.nodes]
        if not page.more:
            return found
        query = replace(query, after=page.places[-1])


@pytest.fixture
async def library(world: TeamWorld, clock: HeldClock) -> Library:
    return await Library.make(world, clock)


async def test_lists_and_counts_follow_the_law_before_during_and_after_the_job(library: Library) -> None:
    await library.check()
    await library.withdraw()
    assert await library.jobs() == [JobState.QUEUED]
    assert await library.unsettled()
    await library.check()
    await library.work()
    assert await library.unsettled() == frozenset()
    await library.check()
    await library.give_back()
    assert await library.jobs() == [JobState.QUEUED, JobState.SUCCEEDED]
    await library.check()
    await library.work()
    assert await library.unsettled() == frozenset()
    await library.check()


async def test_a_change_with_few_dependents_needs_no_job(library: Library) -> None:
    library.world.deps = replace(library.world.deps, dependents_at_once=1_000)
    await library.withdraw()
    assert await library.jobs() == []
    await library.check()


async def test_the_transaction_leaves_the_dependents_to_the_job(library: Library) -> None:
    """Otherwise nothing above would have been put to the test."""
    async with library.world.deps.store.reading() as reader:
        (entry, *_) = (
            await reader.find(replace(EVERYTHING, workspace=library.world.workspace), Find(kind=Entry))
        ).nodes
        reached = await reader.closure([library.popular], LAW_EDGES, Direction.IN)
        before = await reader.audiences(list(reached.depths))
    await library.withdraw()
    async with library.world.deps.store.reading() as reader:
        after = await reader.audiences(list(reached.depths))
    assert entry.id in await _ids(library, Entry)
    assert after[library.popular].clauses == frozenset()
    assert {node: audience for node, audience in after.items() if node != library.popular} == {
        node: audience for node, audience in before.items() if node != library.popular
    }


async def _ids(library: Library, kind: type[Node]) -> set[NodeId]:
    async with library.world.deps.store.reading() as reader:
        return set(await _all_of(reader, library.world, kind))


@pytest.mark.parametrize("direction", ["withdrawn", "returned"])
async def test_a_job_killed_in_the_middle_is_taken_over(
    library: Library, direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library.world.deps.store.engine == "neo4j":
        pytest.skip("the steps are the same on each store, and what a store keeps of a killed one is its contract")
    monkeypatch.setattr("dreaming.audience.steps_of", _small_steps)
    await library.withdraw()
    if direction == "returned":
        await library.work()
        await library.give_back()
    commits = 0
    while "queued" in await library.jobs() or "running" in await library.jobs():
        commits += 1
        # The claim is the first commit; then comes one for each step, and the last look over all of them.
        dead = [PlannedFault(fault=Fault.FAIL, at=commits + n, operation="commit", error=Killed) for n in range(1, 9)]
        doomed = library.worker(FaultyStore(library.world.deps.store, dead), f"w{commits}")
        try:
            await doomed.step([RECOMPUTE_AUDIENCE])
        except Killed:
            await library.check()
        library.clock.advance(timedelta(minutes=10))
    assert commits > 4, "the job has several steps, and was killed in each of them"
    assert await library.unsettled() == frozenset()
    await library.check()


class Killed(BaseException):
    """The process is gone: no handler may catch it."""


async def _small_steps(reader: Reader, changed: list[NodeId]) -> list[list[NodeId]]:
    return await steps_of(reader, changed, size=3)


async def test_what_is_written_meanwhile_is_settled_with_the_rest(library: Library) -> None:
    await library.withdraw()
    await apply(library.world, create("late", block("It is closed still.", cite(library.other, "mill"))))
    await library.check()
    await library.give_back()
    await apply(library.world, create("later", block("It opens after all.", cite(library.popular, "harbour"))))
    await library.check()
    await library.work()
    assert await library.jobs() == [JobState.SUCCEEDED, JobState.SUCCEEDED]
    await library.check()


async def test_steps_rest_on_earlier_ones_alone(library: Library) -> None:
    async with library.world.deps.store.reading() as reader:
        steps = await steps_of(reader, [library.popular], size=2)
        reached = await reader.closure([n for step in steps for n in step], LAW_EDGES, Direction.OUT, depth=1)
    place = {node: number for number, step in enumerate(steps) for node in step}
    assert len(steps) > AT_ONCE
    inner = [edge for edge in reached.edges if edge.source in place and edge.target in place]
    assert inner
    assert all(place[edge.target] <= place[edge.source] for edge in inner)
