"""Verifying the audit through the service, and anchors that show what a chain alone cannot."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from api.adapters.anchor_file import AnchorFile
from api.cli.verify_offline import main as verify_offline
from graph.model.access import SystemScope
from graph.model.errors import BadInput, Forbidden, StoreUnavailable
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.work import AdminRecord, AuditRecord
from graph.rules.audit_anchors import SealedAnchor
from graph.rules.audit_chain import SealedAudit
from graph.rules.audit_following import ChainBreak
from graph.services.access.commands import command
from graph.services.access.provisioning import create_person
from graph.services.access.session import read
from graph.services.access.workspaces import add_workspace
from graph.services.knowledge.anchors import (
    anchor_if_due,
    anchor_now,
    anchors,
    keep_anchoring,
    verify_anchor_chain,
)
from graph.services.knowledge.audit_verify import AuditVerification, verify_audit
from graph.services.knowledge.erasure import erase_source
from graph.store.port import Writer
from graph.store.query import And, By, Eq, Find
from tests.support.clock import FakeClock
from tests.support.held_clock import HeldClock
from tests.support.operations import apply, block, cite, create
from tests.support.world import TeamWorld

SYSTEM = SystemScope(reason="looking in a test")


async def filled(world: TeamWorld) -> NodeId:
    """Five records in the channel's pool, one in the private chat's; return a cited source."""
    source = await world.say(world.ops, "Orion runs on Postgres.", speaker=world.ben)
    for number in range(5):
        await apply(world, create(f"Orion {number}", block("Runs on Postgres.", cite(source, "runs on Postgres"))))
    await world.say(world.chat, "A secret.")
    private = await world.open(world.chat)
    await apply(world, create("Secret", block("It is one.")), by=world.ana, conversation=private.id)
    return source


async def verified(world: TeamWorld, by: NodeId, from_seq: int = 1) -> AuditVerification:
    found, _ = await read(world.deps, world.caller(by), lambda s: verify_audit(s, from_seq))
    return found


async def all_records(world: TeamWorld) -> list[AuditRecord]:
    async with world.deps.store.reading() as reader:
        return list((await reader.find(SYSTEM, Find(kind=AuditRecord, order=By("seq")))).nodes)


async def tamper(world: TeamWorld, seq: int, **changes: object) -> None:
    async def work(writer: Writer) -> None:
        page = await writer.find(SYSTEM, Find(kind=AuditRecord, where=Eq("seq", seq)))
        record = next(node for node in page.nodes if "channel" in str(node.pool))
        await writer.patch_many({record.id: changes})

    await world.deps.store.transact(work)


@pytest.mark.req("KN-85", "AD-27")
async def test_intact_chains_verify_and_only_readable_ones_are_named(world: TeamWorld) -> None:
    await filled(world)
    own = await verified(world, world.ana)
    assert (own.ok, own.first_broken_seq) == (True, None)
    assert {found.pool.rpartition("/")[2].partition(":")[0] for found in own.pools} == {"channel", "private"}
    assert sorted(found.report.head.seq for found in own.pools) == [1, 5]
    assert [found.report.head.seq for found in (await verified(world, world.ben)).pools] == [5]
    assert (await verified(world, world.eve)).pools == ()
    assert len((await verified(world, world.cleo)).pools) == 2


@pytest.mark.req("KN-85")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tx_id": "another"}, ChainBreak.HASH),
        ({"reason": "another reason"}, ChainBreak.IMAGE),
        ({"reason_commitment": None}, ChainBreak.HASH),
        ({"after": {"name": "forged"}}, ChainBreak.IMAGE),
        ({"salt": "00"}, ChainBreak.IMAGE),
        ({"before": None, "after": "[erased]", "reason": "[erased]", "salt": ""}, ChainBreak.ERASURE),
        ({"prev_hash": "00"}, ChainBreak.LINK),
    ],
)
async def test_the_first_changed_record_is_named(
    world: TeamWorld, changes: dict[str, object], reason: ChainBreak
) -> None:
    await filled(world)
    await tamper(world, 3, **changes)
    found = await verified(world, world.ben)
    assert (found.ok, found.first_broken_seq) == (False, 3)
    assert found.pools[0].report.reason is reason
    assert (await verified(world, world.ben, 3)).first_broken_seq == 3
    assert (await verified(world, world.ben, 5)).ok, "records before the first asked for are taken as good"


@pytest.mark.req("KN-85")
async def test_missing_records_are_noticed_in_the_middle_and_at_the_end(world: TeamWorld) -> None:
    await filled(world)
    channel = [record for record in await all_records(world) if "channel" in str(record.pool)]

    async def drop(record: AuditRecord) -> None:
        async def work(writer: Writer) -> None:
            await writer.delete([record.id])

        await world.deps.store.transact(work)

    await drop(channel[-1])
    found = await verified(world, world.ben)
    assert (found.first_broken_seq, found.pools[0].report.reason) == (5, ChainBreak.TAIL)
    await drop(channel[1])
    assert (await verified(world, world.ben)).first_broken_seq == 2
    assert (await verified(world, world.ben, 3)).first_broken_seq == 2, "the record before the first is missing"
    with pytest.raises(BadInput):
        await verified(world, world.ben, 0)


@pytest.mark.req("KN-81", "KN-85", "AD-28")
async def test_an_erased_image_is_explained_by_its_erasure(world: TeamWorld) -> None:
    source = await filled(world)
    await command(world.deps, world.caller(world.dan), lambda cmd: erase_source(cmd, source, "personal data"))
    found = await verified(world, world.ben)
    assert found.ok
    assert found.pools[0].report.erased == 5


@pytest.mark.req("AD-27")
async def test_an_anchor_shows_a_chain_that_was_cut_or_written_anew(world: TeamWorld) -> None:
    await filled(world)
    made = await command(world.deps, world.caller(world.dan), anchor_now)
    assert sorted(head.seq for head in made.heads.values()) == [1, 5]
    (last,) = [r for r in await all_records(world) if r.seq == 5]

    async def cut(writer: Writer) -> None:
        pool = NodeId(str(last.pool))
        before = (await writer.find(SYSTEM, Find(kind=AuditRecord, where=And((Eq("pool", pool), Eq("seq", 4)))))).nodes[
            0
        ]
        await writer.delete([last.id])
        await writer.patch_many({pool: {"audit_seq": 4, "audit_head": before.hash}})

    await world.deps.store.transact(cut)
    found = await verified(world, world.ben)
    assert (found.first_broken_seq, found.pools[0].report.reason) == (5, ChainBreak.TAIL)


@pytest.mark.req("AD-27", "KN-85")
async def test_an_anchor_binds_the_chain_of_administration_too(world: TeamWorld) -> None:
    for name in ("Fay", "Gus"):
        await command(world.deps, world.caller(world.dan), lambda c, n=name: create_person(c, n))  # type: ignore[misc]
    made = await command(world.deps, world.caller(world.dan), anchor_now)
    place = world.caller(world.dan).workspace_node
    bound = made.heads[place]
    for who in (world.cleo, world.dan):
        found = await verified(world, who)
        assert found.administration is not None
        assert (found.ok, found.administration.head) == (True, bound)
        assert found.anchors is not None
        assert found.anchors.head == made.head
    own = await verified(world, world.ana)
    assert (own.administration, own.anchors) == (None, None)

    async def cut(writer: Writer) -> None:
        page = await writer.find(SYSTEM, Find(kind=AdminRecord, where=Eq("seq", bound.seq)))
        await writer.delete([record.id for record in page.nodes])

    await world.deps.store.transact(cut)
    found = await verified(world, world.cleo)
    assert found.administration is not None
    assert (found.ok, found.first_broken_seq) == (False, bound.seq)
    assert found.administration.reason is ChainBreak.TAIL
    assert (await verified(world, world.ana)).ok, "who does not read administration is told nothing of it"


@pytest.mark.req("AD-27")
async def test_only_auditors_and_admins_read_anchors_and_only_admins_make_them(world: TeamWorld) -> None:
    await filled(world)
    for who in (world.ana, world.ben, world.cleo, world.host):
        with pytest.raises(Forbidden):
            await command(world.deps, world.caller(who), anchor_now)
    await command(world.deps, world.caller(world.dan), anchor_now)
    await command(world.deps, world.caller(world.dan), anchor_now)
    for who in (world.ana, world.ben, world.eve):
        with pytest.raises(Forbidden):
            await read(world.deps, world.caller(who), anchors)
    for who in (world.cleo, world.dan):
        listed, _ = await read(world.deps, world.caller(who), lambda s: anchors(s, after_seq=1))
        assert [found.seq for found in listed] == [2]
    report, _ = await read(world.deps, world.caller(world.cleo), verify_anchor_chain)
    assert (report.ok, report.head.seq) == (True, 2)


@pytest.mark.req("AD-27")
async def test_anchors_are_made_when_they_are_due_and_never_twice(world: TeamWorld, clock: FakeClock) -> None:
    await filled(world)

    async def due() -> SealedAnchor | None:
        return await anchor_if_due(world.deps, world.workspace, 15)

    first = await due()
    assert first is not None
    assert await due() is None
    clock.advance(timedelta(minutes=14, seconds=59))
    assert await due() is None
    clock.advance(timedelta(seconds=1))
    second = await due()
    assert second is not None
    assert (second.seq, second.prev_hash) == (2, first.hash)


@pytest.mark.req("AD-27", "KN-85")
async def test_a_published_anchor_lets_the_offline_verifier_find_a_cut_tail(
    world: TeamWorld, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await filled(world)
    published = AnchorFile(tmp_path / "outside" / "anchors.jsonl")
    made = await command(world.deps, world.caller(world.dan), anchor_now)
    await published.publish(made)
    await published.publish(made)
    file = tmp_path / "outside" / "anchors.jsonl"
    assert len(file.read_text().splitlines()) == 1
    export = tmp_path / "audit.jsonl"
    records = [SealedAudit.from_node(node).to_export() for node in await all_records(world)]
    export.write_text("".join(json.dumps(line) + "\n" for line in records))
    assert verify_offline([str(export), "--published", str(file)]) == 0
    export.write_text("".join(json.dumps(line) + "\n" for line in records if line["seq"] != 5))
    assert verify_offline([str(export)]) == 0, "the chain alone does not show it"
    assert verify_offline([str(export), "--published", str(file)]) == 1
    assert "BROKEN at seq 5" in capsys.readouterr().out
    with pytest.raises(StoreUnavailable):
        await AnchorFile(export / "below a file").publish(made)


class Kept:
    """Keeps numbers of anchors; refuses as often as it is told to."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.refusals = 0

    async def publish(self, anchor: SealedAnchor) -> None:
        if self.refusals:
            self.refusals -= 1
            raise StoreUnavailable("the disk is full")
        self.seqs.append(anchor.seq)


@pytest.mark.req("AD-27")
async def test_every_anchor_is_published_also_one_on_demand_and_one_that_failed_before(world: TeamWorld) -> None:
    clock, kept = HeldClock(), Kept()
    deps = replace(world.deps, clock=clock)
    await filled(world)
    await command(deps, world.caller(world.dan), anchor_now)
    keeping = asyncio.create_task(keep_anchoring(deps, 15, sink=kept))
    try:
        await clock.somebody_sleeps()
        assert kept.seqs == [1], "what was anchored before is published at the start"
        for _ in range(2):
            await command(deps, world.caller(world.dan), anchor_now)
        for refusals, seqs in ((1, [1]), (0, [1, 2, 3]), (0, [1, 2, 3])):
            kept.refusals = refusals
            clock.advance(timedelta(minutes=1))
            await clock.somebody_sleeps()
            assert kept.seqs == seqs
        clock.advance(timedelta(minutes=15))
        await clock.somebody_sleeps()
        assert kept.seqs == [1, 2, 3, 4]
    finally:
        keeping.cancel()


@pytest.mark.req("AD-27")
async def test_every_workspace_is_anchored_while_the_place_outside_is_away(world: TeamWorld) -> None:
    clock, kept = HeldClock(), Kept()
    kept.refusals = 1
    deps = replace(world.deps, clock=clock)
    await filled(world)
    names = [WorkspaceId("aaa"), world.workspace, WorkspaceId("zzz")]
    for name in (names[0], names[2]):
        await add_workspace(deps, name)
    keeping = asyncio.create_task(keep_anchoring(deps, 15, sink=kept))
    try:
        await clock.somebody_sleeps()
        assert kept.seqs == []
        for name in names:
            assert await anchor_if_due(deps, name, 15) is None, "it was anchored already"
    finally:
        keeping.cancel()


@pytest.mark.req("AD-27")
async def test_heads_of_pools_without_records_are_not_bound(world: TeamWorld) -> None:
    await world.say(world.ops, "Hello.")
    made = await command(world.deps, world.caller(world.dan), anchor_now)
    async with world.deps.store.reading() as reader:
        assert (await reader.find(SYSTEM, Find(kind=KnowledgeBase))).nodes
    assert made.heads == {}
