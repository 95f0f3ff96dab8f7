"""Provisioning of agents and bots: whom they serve, links to a home, and their deletion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any

import pytest

from graph.model.access import Rule, RuleKind, SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.errors import AlreadyExists, BadState, Forbidden, NotFound, Unauthenticated
from graph.model.fields import Node
from graph.model.ids import NodeId, hosted_id, node_id
from graph.model.nodes import bots, sessions
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import Connector, ModelCall
from graph.model.nodes.people import Principal, Right
from graph.model.nodes.work import AuditRecord, Job
from graph.model.schema import KINDS
from graph.rules.guarding import guard_of, own_audience
from graph.rules.scopes import session_rule
from graph.rules.signals import IncomingSignal
from graph.services.access.admin_log import admin_log, verify_admin_log
from graph.services.access.agents import create_agent, set_agent
from graph.services.access.deleting import delete_agent
from graph.services.access.facts import load_facts
from graph.services.access.grants import grant
from graph.services.access.members import set_members
from graph.services.access.provisioning import create_channel, create_organization
from graph.services.access.serving import set_serving
from graph.services.access.tokens import authenticate
from graph.services.bots.chats import create_chat
from graph.services.bots.pool import Bot, hold_pool
from graph.services.deps import Deps
from graph.services.knowledge.conversations import open_conversation
from graph.services.knowledge.signals import ingest_signal
from graph.services.knowledge.signals_provisioning import create_signal_source
from graph.services.sessions.host import create_session
from graph.store.port import Writer
from graph.store.sealing import Place
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees

SYSTEM = SystemScope(reason="test")
ENGINES = ("memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j))


async def borea(world: TeamWorld, **given: Any) -> Principal:
    return await run(world, world.dan, lambda cmd: create_agent(cmd, "Borea", local_id="borea", **given))


async def organization(world: TeamWorld, name: str, *members: NodeId) -> NodeId:
    made = await run(world, world.dan, lambda cmd: create_organization(cmd, name, local_id=name))
    await run(world, world.dan, lambda cmd: set_members(cmd, made.id, members))
    return made.id


async def reads_memory(world: TeamWorld, who: NodeId, agent: NodeId) -> bool:
    async with world.deps.store.reading() as reader:
        return agent in (await load_facts(reader, world.caller(who))).serving


@pytest.mark.req("AD-6", "AD-7")
async def test_members_of_an_organization_read_the_memory_of_its_agents_at_once(world: TeamWorld) -> None:
    org = await organization(world, "helio", world.eve)
    agent = await borea(world, shared=True, organizations=[org])
    assert agent.shared
    pool = await _pool(world, agent.id)
    assert await sees(world, world.eve, pool)
    assert not await sees(world, world.ben, pool)
    await run(world, world.host, lambda cmd: set_members(cmd, org, [world.ben]))
    assert not await sees(world, world.eve, pool)
    assert await sees(world, world.ben, pool)
    await run(world, world.dan, lambda cmd: set_serving(cmd, agent.id, org, serves=False))
    assert not await sees(world, world.ben, pool)
    await run(world, world.dan, lambda cmd: set_serving(cmd, agent.id, org, serves=True))
    assert await sees(world, world.ben, pool)


@pytest.mark.req("AD-6", "AD-5")
async def test_who_is_no_member_reads_no_memory_whatever_else_he_may(world: TeamWorld) -> None:
    org = await organization(world, "helio", world.eve)
    agent = await borea(world, organizations=[org])
    pool = await _pool(world, agent.id)
    await run(world, world.dan, lambda cmd: grant(cmd, world.ana, Right.CURATOR, agent.id))
    seen = {who: await sees(world, who, pool) for who in (world.ana, world.ben, world.cleo, world.host)}
    assert not any(seen.values())
    await run(world, world.dan, lambda cmd: grant(cmd, world.ana, Right.READ, agent.id))
    assert await sees(world, world.ana, pool)


@pytest.mark.req("AD-18")
async def test_a_linked_bot_has_a_home_that_is_none(world: TeamWorld) -> None:
    home = await borea(world)
    link = await run(world, world.dan, lambda cmd: create_agent(cmd, "Link", local_id="link", home_id=home.id))
    assert link.home_id == home.id
    for wrong, error in ((link.id, BadState), (world.ana, NotFound), (node_id("prn", "none"), NotFound)):
        with pytest.raises(error):
            await run(world, world.dan, partial(create_agent, display_name="Other", home_id=wrong))
    assert [f.name for f in fields(link) if getattr(link, f.name) != getattr(home, f.name)] == [
        "id",
        "display_name",
        "home_id",
    ]


@pytest.mark.req("AD-18")
async def test_an_agent_is_renamed_and_shared_by_admins_alone(world: TeamWorld) -> None:
    agent = await borea(world)
    changed = await run(world, world.dan, lambda cmd: set_agent(cmd, agent.id, display_name="Boreas", shared=True))
    assert (changed.display_name, changed.shared) == ("Boreas", True)
    for who, target, error in ((world.ana, agent.id, Forbidden), (world.dan, world.ana, NotFound)):
        with pytest.raises(error):
            await run(world, who, partial(set_agent, agent_id=target, shared=False))
    assert not (await run(world, world.dan, lambda cmd: set_agent(cmd, agent.id, shared=False))).shared


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("AD-19", "BM-8", "AD-7")
async def test_a_deleted_agent_leaves_no_memory_no_right_and_no_second_life(world: TeamWorld, deps: Deps) -> None:
    org = await organization(world, "helio", world.eve)
    agent = await borea(world, organizations=[org])
    await run(world, world.dan, lambda cmd: grant(cmd, world.ana, Right.READ, agent.id))
    token = await world.token(agent.id)
    made = await _fill(world, agent.id, org)
    assert await sees(world, world.eve, made["session"])
    await run(world, world.dan, lambda cmd: grant(cmd, world.ben, Right.READ, made["session"]))
    other = await _fill(world, world.atlas, org)
    gone = await run(world, world.dan, lambda cmd: delete_agent(cmd, agent.id))
    assert (gone.sessions, gone.chats, gone.agent_entries, gone.bot_entries) == (1, 1, 1, 1)
    left = await _nodes(deps, [*made.values(), *other.values()])
    assert left == set(other.values()) | {made["stage_a"], made["stage_a_call"], made["audit"]}
    for who in (world.ana, world.ben, world.eve):
        async with deps.store.reading() as reader:
            facts = await load_facts(reader, world.caller(who))
        assert agent.id not in facts.serving
        assert not {agent.id, made["session"]} & {one.object_id for one in facts.grants}
    with pytest.raises(Unauthenticated):
        await authenticate(deps, token)
    with pytest.raises(AlreadyExists):
        await borea(world)
    for again in (partial(delete_agent, agent_id=agent.id), partial(set_agent, agent_id=agent.id)):
        with pytest.raises(NotFound):
            await run(world, world.dan, again)
    async with deps.store.reading() as reader:
        assert (await verify_admin_log(reader, world.workspace)).ok
        job = (await reader.get(SYSTEM, [made["stage_a"]]))[made["stage_a"]]
    assert isinstance(job, Job)
    assert (job.state, job.fence) == ("cancelled", 1)
    [record, *_] = (await ask(world, world.dan, admin_log)).records
    assert (record.operation, record.target_id) == ("agent.delete", agent.id)
    assert set(record.codes["heads"]) == {made["agent_memory"], made["bot_pool"]}


@pytest.mark.req("AD-19")
async def test_the_knowledge_of_a_deleted_agent_is_for_auditors_and_takes_nothing_more(world: TeamWorld) -> None:
    source = await world.say(world.ops, "The kiln is hot.")
    assert await sees(world, world.ben, source)
    signals = await run(world, world.dan, lambda cmd: create_signal_source(cmd, world.atlas, "Oven", KbKind.SHARED))
    event = IncomingSignal(external_id="e", type="hot", payload={"a": 1}, occurred_at=world.deps.now())
    base: dict[str, Any] = {"workspace": world.workspace, "created_at": world.deps.now()}
    folder = Connector(id=node_id("con", "f"), pool=signals.pool, kind="folder", owner_id=world.atlas, **base)
    await world.deps.store.transact(lambda writer: writer.put([folder]))
    await run(world, world.dan, lambda cmd: delete_agent(cmd, world.atlas))
    async with world.deps.store.reading() as reader:
        connector = (await reader.get(SYSTEM, [folder.id]))[folder.id]
    assert isinstance(connector, Connector)
    assert connector.state == "paused"
    with pytest.raises(NotFound):
        await run(world, world.host, lambda cmd: ingest_signal(cmd, signals.id, event))
    assert not await sees(world, world.ben, source)
    assert not await sees(world, world.ana, source)
    assert await sees(world, world.cleo, source)
    with pytest.raises(NotFound):
        await run(world, world.host, lambda cmd: open_conversation(cmd, world.ops))


@pytest.mark.req("AD-19", "BM-8")
async def test_nothing_begins_anew_for_a_deleted_agent(world: TeamWorld) -> None:
    org = await organization(world, "helio", world.eve)
    agent = await borea(world, organizations=[org])
    bot = Bot(id=agent.id, home=agent.id, workspace=world.workspace)
    await run(world, world.dan, lambda cmd: delete_agent(cmd, agent.id))
    for begun in (
        partial(create_session, agent_id=agent.id),
        partial(create_chat, bot_id=agent.id, organization_id=org, person_id=world.eve),
        lambda cmd: hold_pool(cmd.writer, bot, cmd.at),
        lambda cmd: create_channel(cmd, agent.id, ChannelKind.SHARED_CHANNEL, "late"),
        lambda cmd: set_serving(cmd, agent.id, org, serves=True),
        lambda cmd: grant(cmd, world.eve, Right.READ, agent.id),
    ):
        with pytest.raises(NotFound):
            await run(world, world.host if isinstance(begun, partial) else world.dan, begun)


@pytest.mark.req("AD-19")
async def test_only_admins_delete_agents_and_a_home_only_after_its_links(world: TeamWorld) -> None:
    home = await borea(world)
    link = await run(world, world.dan, lambda cmd: create_agent(cmd, "Link", local_id="link", home_id=home.id))
    for who in (world.ana, world.cleo, world.host, world.eve):
        with pytest.raises(Forbidden):
            await run(world, who, lambda cmd: delete_agent(cmd, home.id))
    with pytest.raises(BadState):
        await run(world, world.dan, lambda cmd: delete_agent(cmd, home.id))
    for wrong in (world.ana, node_id("prn", "none")):
        with pytest.raises(NotFound):
            await run(world, world.dan, partial(delete_agent, agent_id=wrong))
    await run(world, world.dan, lambda cmd: delete_agent(cmd, link.id))
    await run(world, world.dan, lambda cmd: delete_agent(cmd, home.id))


@pytest.mark.req("BM-8", "BM-57")
async def test_what_a_home_learned_in_chats_of_a_deleted_link_keeps_its_proof(world: TeamWorld, deps: Deps) -> None:
    org = await organization(world, "helio", world.eve)
    home = await borea(world, organizations=[org])
    link = await run(world, world.dan, lambda cmd: create_agent(cmd, "Link", local_id="link", home_id=home.id))
    kept, of_link = await _fill(world, home.id, org), await _fill(world, link.id, org)
    record = (Rule(RuleKind.PERSON, world.eve).encode(),)
    edge = Edge(type=EdgeType.CITES, source=kept["entry"], target=of_link["chat_item"], record=record)
    await deps.store.transact(lambda writer: writer.link([edge]))
    await run(world, world.dan, lambda cmd: delete_agent(cmd, link.id))
    async with deps.store.reading() as reader:
        item = (await reader.get(SYSTEM, [of_link["chat_item"]]))[of_link["chat_item"]]
        guards = await reader.guards([item.id])
    assert isinstance(item, bots.ChatItem)
    assert item.text is None
    assert guards[item.id].live
    assert not {of_link["confession"], of_link["bot_pool"]} & await _nodes(deps, list(of_link.values()))


async def test_the_story_of_a_deletion_has_one_of_every_kind_of_these_surfaces(world: TeamWorld) -> None:
    named = {kind for module in (bots, sessions) for kind in KINDS if kind.__module__ == module.__name__}
    assert named <= {type(node) for node in _everything(world, world.atlas, world.node).values()}


async def _nodes(deps: Deps, ids: Sequence[NodeId]) -> set[NodeId]:
    async with deps.store.reading() as reader:
        return set(await reader.get(SYSTEM, list(ids)))


async def _pool(world: TeamWorld, agent: NodeId) -> NodeId:
    """Make the pool of an agent's memory, as the first change of it does."""
    pool = node_id("amm", agent.partition("_")[2].replace("/agent/", "/"))

    async def work(writer: Writer) -> None:
        made = sessions.AgentMemory(
            id=pool, workspace=world.workspace, pool=pool, created_at=world.deps.now(), agent_id=agent
        )
        await _guarded(writer, made, Rule(RuleKind.BOT, agent))

    await world.deps.store.transact(work)
    return pool


async def _guarded(writer: Writer, node: Node, rule: Rule) -> None:
    await writer.put([node])
    if type(node).GUARDED:
        guard = guard_of(node, frozenset({rule}))
        await writer.guard([guard])
        await writer.admit([own_audience(guard)])


async def _fill(world: TeamWorld, agent: NodeId, org: NodeId) -> dict[str, NodeId]:
    """Give an agent one of everything that its surfaces keep."""
    nodes = _everything(world, agent, org)

    async def work(writer: Writer) -> None:
        for node in nodes.values():
            await _guarded(writer, node, session_rule(nodes["session"].id, world.eve))

    await world.deps.store.transact(work)
    return {name: node.id for name, node in nodes.items()}


def _everything(world: TeamWorld, agent: NodeId, org: NodeId) -> dict[str, Node]:
    deps, ws, now = world.deps, world.workspace, world.deps.now()
    local = agent.rpartition("/")[2]

    def ids(prefix: str, container: str = "") -> NodeId:
        return hosted_id(prefix, ws, local, container=container)

    def sealed(id_: NodeId, field: str) -> Any:
        return deps.vault.seal(Place(workspace=ws, node=id_, field=field), "words")

    base: dict[str, Any] = {"workspace": ws, "created_at": now}
    ses, cht, amm, bpl = ids("ses"), ids("cht"), ids("amm"), ids("bpl")
    cit, mem, cnf, enr, blr, trn = (
        ids("cit", local),
        node_id("mem", f"{ws}{local}"),
        ids("cnf"),
        ids("enr"),
        ids("blr"),
        ids("trn"),
    )
    in_session, in_pool = {**base, "pool": ses}, {**base, "pool": bpl}
    turn: dict[str, Any] = {"agent_id": agent, "state": "completed", "text": sealed(trn, "text")}
    mark: dict[str, Any] = {"prev_hash": "", "hash": ""}
    job: dict[str, Any] = {"kind": "stage_a", "agent_id": agent, "due_at": now, "unique_key": f"stage_a:{local}"}
    call: dict[str, Any] = {**base, "agent_id": agent, "prompt": "1", "model": "m", "state": "answered"}
    return {
        "session": sessions.Session(
            id=ses, **in_session, agent_id=agent, person_id=world.eve, head="v1", root_head="v0", updated_at=now
        ),
        "turn": sessions.Turn(id=trn, **in_session, place_id=ses, **turn),
        "session_item": sessions.SessionItem(
            id=ids("sit", local), **in_session, session_id=ses, type="note", occurred_at=now, head="v1", parent="v0",
            depth=1,
        ),
        "session_fact": sessions.SessionFact(
            id=ids("sft"), **in_session, session_id=ses, key="k", content="c", kind="fact", status="active",
            updated_at=now, change=1,
        ),
        "session_change": sessions.SessionChange(id=ids("sch"), **in_session, session_id=ses, seq=1, head="v1"),
        "agent_memory": sessions.AgentMemory(id=amm, **base, pool=amm, agent_id=agent),
        "agent_entry": sessions.AgentEntry(
            id=ids("aen"), **base, pool=amm, agent_id=agent, key="k", content="c", kind="procedure", status="active",
            updated_at=now, changed_in=1,
        ),
        "agent_change": sessions.AgentChange(id=ids("ach"), **base, pool=amm, version=1, at=now, cause="person"),
        "consolidation": sessions.Consolidation(id=ids("cns"), **base, of="agent", agent_id=agent, started_at=now),
        "bot_pool": bots.BotPool(id=bpl, **in_pool, bot_id=agent),
        "chat": bots.Chat(id=cht, **in_pool, bot_id=agent, organization_id=org, person_id=world.eve),
        "chat_item": bots.ChatItem(
            id=cit, **in_pool, chat_id=cht, seq=1, type="person_message", text=sealed(cit, "text"), occurred_at=now
        ),
        "entry": bots.BotEntry(
            id=mem, **in_pool, bot_id=agent, layer="fact", content=sealed(mem, "content"), chars=5, status="active",
            updated_at=now,
        ),
        "log_row": bots.BotLogRow(id=blr, **in_pool, entry_id=mem, version=1, at=now, by=sealed(blr, "by")),
        "run": bots.BotRun(id=ids("brn"), **in_pool, bot_id=agent, chat_id=cht, turn_id=trn, state="done"),
        "confession": bots.Confession(id=cnf, **in_pool, chat_id=cht, turn_id=trn, text=sealed(cnf, "text")),
        "enrichment": bots.Enrichment(id=enr, **in_pool, chat_id=cht, turn_id=trn, text=sealed(enr, "text")),
        "call": bots.BotCall(
            id=ids("bcl"), **in_pool, bot_id=agent, chat_id=cht, purpose="bot.learn", prompt="p", model="m",
            state="answered", request=sealed(cnf, "request"),
        ),
        "spending": bots.BotSpending(id=ids("bsp"), **base, bot_id=agent, day="2025-05-10"),
        "audit": AuditRecord(
            id=ids("aud"), **in_pool, seq=1, tx_id="t", recorded_at=now, actor_id=world.eve, actor_kind="human",
            operation="bot.remember", target_id=mem, target_kind="BotEntry", **mark,
        ),
        "stage_a": Job(id=ids("job"), **base, **job),
        "stage_a_call": ModelCall(id=ids("mcl"), **call, call_key=f"a{local}", purpose="stage_a.split"),
        "bot_call": ModelCall(id=ids("mcl", "bot"), **call, call_key=f"b{local}", purpose="learn_bot.decide"),
    }  # fmt: skip
