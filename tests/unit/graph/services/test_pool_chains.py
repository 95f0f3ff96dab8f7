"""Chains of sessions, agent memories and bot pools are followed, bound and told by the rights of each (AD-27)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.cli.verify_offline import main as verify_offline
from graph.model.access import Clause, Rule, RuleKind, SystemScope
from graph.model.errors import NotRestorable
from graph.model.fields import Node
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.bots import BotPool
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import Right
from graph.model.nodes.sessions import AgentMemory, Session
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_following import ChainBreak
from graph.rules.scopes import session_rule
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.services.access.session import Session as ReadSession
from graph.services.admin.archive import export_archive, import_archive
from graph.services.chained_pools import every_head
from graph.services.knowledge.anchors import anchor_now, write_anchor
from graph.services.knowledge.audit_feed import begin_feed, newer_records
from graph.services.knowledge.audit_log import AuditFilter, audit_log
from graph.services.knowledge.audit_verify import AuditVerification, verify_audit
from graph.services.knowledge.erasure import erase_source
from graph.services.knowledge.restore import restore
from graph.services.pool_audit import Pool, PoolStep, record_step
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.port import Store, Writer
from graph.store.query import By, Find
from tests.support.clock import FakeClock
from tests.support.operations import apply, block, cite, create
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run

pytestmark = pytest.mark.req("AD-26", "AD-27")
SYSTEM = SystemScope(reason="looking in a test")


class Chains:
    """Three pools of Atlas: a session of Ben, its agent memory and its bot memory, which Ana may read."""

    def __init__(self, world: TeamWorld) -> None:
        self.world = world
        self.session = hosted_id(Session.PREFIX, world.name, "s1")
        self.memory = NodeId(f"{AgentMemory.PREFIX}_{world.name}/atlas")
        self.bot = NodeId(f"{BotPool.PREFIX}_{world.name}/atlas")

    async def make(self) -> Chains:
        """Write the pools, with two steps each."""
        world = self.world
        await world.grant(world.ana, Right.READ, world.atlas)
        await world.deps.store.transact(self._write)
        for pool in (self.session, self.memory, self.bot):
            for number in (1, 2):
                await self.step(pool, f"step {number}")
        return self

    async def step(self, pool: NodeId, operation: str, **codes: object) -> AuditRecord:
        """Record a step of Ben in a pool, as its surface does: pool locked, read, record written."""

        async def work(cmd: Command) -> AuditRecord:
            await cmd.writer.lock([pool])
            node = (await cmd.writer.get(SYSTEM, [pool]))[pool]
            assert isinstance(node, Session | AgentMemory | BotPool)
            done = PoolStep(
                operation=operation,
                actor=world.ben,
                actor_kind=ModifierKind.HUMAN,
                target=pool,
                rules=self.rules(node),
                codes=codes or {"number": node.audit_seq + 1},
            )
            return await record_step(cmd.writer, cmd.deps, node, done, tx_id=cmd.tx_id, at=cmd.at)

        world = self.world
        return await run(world, world.ben, work)

    def rules(self, pool: Pool) -> Clause:
        """Return who reads a pool: his session, or who uses the bot; of what a person did with bot memory, he alone."""
        if isinstance(pool, Session):
            return frozenset({session_rule(pool.id, self.world.ben)})
        if isinstance(pool, BotPool):
            return frozenset({Rule(RuleKind.PERSON, self.world.ben)})
        return frozenset({Rule(RuleKind.BOT, self.world.atlas)})

    async def _write(self, writer: Writer) -> None:
        world, now = self.world, self.world.deps.now()
        given: dict[str, Any] = {"workspace": world.workspace, "created_at": now}
        session = Session(
            id=self.session, pool=self.session, agent_id=world.atlas, person_id=world.ben,
            head="h0", root_head="h0", updated_at=now, **given,
        )  # fmt: skip
        memory = AgentMemory(id=self.memory, pool=self.memory, agent_id=world.atlas, **given)
        bot = BotPool(id=self.bot, pool=self.bot, bot_id=world.atlas, **given)
        of_bot = frozenset({Rule(RuleKind.BOT, world.atlas)})
        await put_alone(writer, session, self.rules(session))
        await put_alone(writer, memory, of_bot)
        await put_alone(writer, bot, of_bot)


@pytest.fixture
async def chains(world: TeamWorld) -> Chains:
    return await Chains(world).make()


async def verified(world: TeamWorld, who: NodeId) -> AuditVerification:
    return await ask(world, who, verify_audit)


async def told(world: TeamWorld, who: NodeId, *pools: NodeId) -> list[tuple[NodeId | None, int]]:
    """Return pool and number of the records that somebody is told of."""

    async def work(session: ReadSession) -> list[tuple[NodeId | None, int]]:
        page = await audit_log(session, AuditFilter(kb_ids=pools or None), first=100)
        assert await page.count() == len(page.items)
        return [(record.pool, record.seq) for record in page.items]

    return await ask(world, who, work)


async def tamper(world: TeamWorld, pool: NodeId, seq: int, **changes: object) -> None:
    async def work(writer: Writer) -> None:
        page = await writer.find(SYSTEM, Find(kind=AuditRecord))
        (record,) = [node for node in page.nodes if (node.pool, node.seq) == (pool, seq)]
        await writer.patch_many({record.id: changes})

    await world.deps.store.transact(work)


async def test_everybody_follows_the_chains_of_the_pools_he_reads(world: TeamWorld, chains: Chains) -> None:
    ben, ana = await verified(world, world.ben), await verified(world, world.ana)
    assert [(found.pool, found.report.head.seq) for found in ben.pools] == [(chains.session, 2)]
    assert [(found.pool, found.report.head.seq) for found in ana.pools] == [(chains.memory, 2), (chains.bot, 2)]
    assert ben.ok
    assert ana.ok
    for who in (world.cleo, world.dan, world.eve):
        assert (await verified(world, who)).pools == (), "no auditor and no admin reads sessions or bot memory"


async def test_a_changed_record_of_any_pool_is_found_by_who_reads_it(world: TeamWorld, chains: Chains) -> None:
    for pool, who in ((chains.session, world.ben), (chains.memory, world.ana), (chains.bot, world.ana)):
        await tamper(world, pool, 2, actor_id=world.eve)
        found = next(found for found in (await verified(world, who)).pools if found.pool == pool)
        assert (found.report.first_broken_seq, found.report.reason) == (2, ChainBreak.HASH)


async def test_records_are_told_by_their_own_guards(world: TeamWorld, chains: Chains) -> None:
    ben = await told(world, world.ben)
    assert sorted(ben, key=str) == sorted([(pool, n) for pool in (chains.session, chains.bot) for n in (1, 2)], key=str)
    assert await told(world, world.ben, chains.session) == [(chains.session, 2), (chains.session, 1)]
    assert await told(world, world.ana) == [(chains.memory, 2), (chains.memory, 1)], "she uses the bot; Ben did it"
    for who in (world.cleo, world.dan, world.eve, world.host):
        assert await told(world, who) == []
        assert await told(world, who, chains.session, chains.bot) == []


async def test_a_feed_tells_of_new_records_of_every_pool_in_order(world: TeamWorld, chains: Chains) -> None:
    place = await ask(world, world.ben, begin_feed)
    await chains.step(chains.session, "session.remember")
    await chains.step(chains.memory, "agent.remember")
    new, place = await ask(world, world.ben, lambda s: newer_records(s, AuditFilter(), place))
    assert [(record.pool, record.operation) for record in new] == [(chains.session, "session.remember")]
    again, _ = await ask(world, world.ben, lambda s: newer_records(s, AuditFilter(), place))
    assert again == ()


async def test_an_anchor_binds_every_pool_and_notices_a_cut_chain(world: TeamWorld, chains: Chains) -> None:
    source = await world.say(world.ops, "Orion runs on Postgres.")
    await apply(world, create("Orion", block("Runs on Postgres.", cite(source, "runs on Postgres"))))
    made = await run(world, world.dan, anchor_now)
    async with world.deps.store.reading() as reader:
        heads = await every_head(reader, world.workspace)
    assert {chains.session, chains.memory, chains.bot} < made.heads.keys()
    assert {pool: heads[pool] for pool in made.heads} == made.heads
    assert len(made.heads) == 4
    async with world.deps.store.reading() as reader:
        records = (await reader.find(SYSTEM, Find(kind=AuditRecord, order=By("seq")))).nodes
    first, last = [record for record in records if record.pool == chains.session]

    async def cut(writer: Writer) -> None:
        await writer.delete([last.id])
        await writer.patch_many({chains.session: {"audit_seq": 1, "audit_head": first.hash}})

    await world.deps.store.transact(cut)
    found = next(found for found in (await verified(world, world.ben)).pools if found.pool == chains.session)
    assert (found.report.first_broken_seq, found.report.reason) == (2, ChainBreak.TAIL)


@pytest.mark.req("AD-41", "KN-85")
async def test_an_archive_carries_all_chains_and_the_offline_verifier_follows_them(
    world: TeamWorld, chains: Chains, clock: FakeClock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await run(world, world.dan, anchor_now)
    await export_archive(world.deps, tmp_path / "out")
    assert verify_offline([str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.count("intact up to seq 2") == 3
    for other in (MemoryStore(clock=clock), EmbeddedStore(tmp_path / "in.db", clock=clock)):
        await _equal_in(other, world, chains, tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "audit.jsonl").read_text().splitlines()]
    kept = [line for line in lines if (line["pool"], line["seq"]) != (chains.session, 2)]
    (tmp_path / "out" / "audit.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept))
    assert verify_offline([str(tmp_path / "out")]) == 1


async def _equal_in(other: Store, world: TeamWorld, chains: Chains, archive: Path) -> None:
    """Load an archive into another store and ask the same there."""
    await other.open()
    copy = replace(world, deps=replace(world.deps, store=other))
    await import_archive(copy.deps, archive)
    for who in (world.ben, world.ana, world.cleo):
        assert await verified(copy, who) == await verified(world, who)
        assert await told(copy, who) == await told(world, who)
    assert (await Chains(copy).step(chains.session, "goes on")).seq == 3
    await other.close()


async def test_who_deletes_a_pool_anchors_so_that_nobody_misses_its_chain(
    world: TeamWorld, chains: Chains, tmp_path: Path
) -> None:
    await run(world, world.dan, anchor_now)

    async def delete(cmd: Command, *, anchors: bool) -> None:
        page = await cmd.writer.find(SYSTEM, Find(kind=AuditRecord))
        gone = [record.id for record in page.nodes if record.pool == chains.session]
        await cmd.writer.delete([*gone, chains.session])
        if anchors:
            await write_anchor(cmd.writer, world.workspace, cmd.at)

    await run(world, world.dan, lambda cmd: delete(cmd, anchors=False))
    await export_archive(world.deps, tmp_path / "missed")
    assert verify_offline([str(tmp_path / "missed")]) == 1
    await run(world, world.dan, lambda cmd: delete(cmd, anchors=True))
    await export_archive(world.deps, tmp_path / "told")
    assert verify_offline([str(tmp_path / "told")]) == 0
    assert (await verified(world, world.cleo)).ok


async def test_steps_of_these_pools_are_not_restored_as_knowledge_is(world: TeamWorld, chains: Chains) -> None:
    record = await chains.step(chains.session, "session.remember")
    with pytest.raises(NotRestorable):
        await run(world, world.ben, lambda cmd: restore(cmd, [record.id], reason="try"))


@pytest.mark.req("KN-81", "AD-28")
async def test_erasing_a_source_touches_no_record_of_these_pools(world: TeamWorld, chains: Chains) -> None:
    source = await world.say(world.ops, "Orion runs on Postgres.")
    await apply(world, create("Orion", block("Runs on Postgres.", cite(source, "runs on Postgres"))))
    before = await _records(world, chains)
    await run(world, world.dan, lambda cmd: erase_source(cmd, source, "personal data"))
    assert await _records(world, chains) == before
    for who in (world.ana, world.ben):
        assert (await verified(world, who)).ok


async def _records(world: TeamWorld, chains: Chains) -> list[Node]:
    async with world.deps.store.reading() as reader:
        page = await reader.find(SYSTEM, Find(kind=AuditRecord))
    return [node for node in page.nodes if node.pool in (chains.session, chains.memory, chains.bot)]
