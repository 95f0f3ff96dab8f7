from __future__ import annotations

import pytest

from graph.model.access import SystemScope
from graph.model.errors import BadInput, BadState, Forbidden, NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import ChannelKind, Conversation
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Principal, Right
from graph.rules.pools import base_id
from graph.rules.scopes import MemoryScope
from graph.services.access.admin_log import admin_log
from graph.services.access.agents import create_agent
from graph.services.access.grants import grant, grant_shared, revoke, revoke_all
from graph.services.access.provisioning import create_channel, set_disabled
from graph.services.access.session import Session, read
from graph.services.access.workspaces import add_workspace
from graph.services.knowledge.conversations import set_routing_rule
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees

SYSTEM = SystemScope(reason="test")


async def version_of(world: TeamWorld, who: NodeId) -> int:
    async with world.deps.store.reading() as reader:
        found = (await reader.get(SYSTEM, [who]))[who]
    assert isinstance(found, Principal)
    return found.access_version


async def in_shared(world: TeamWorld) -> NodeId:
    """Say something in the channel once it is routed to shared memory."""
    await run(world, world.dan, lambda c: set_routing_rule(c, world.ops, MemoryScope.SHARED, isolated=False))
    return await world.say(world.ops, "The kiln is hot.")


@pytest.mark.req("AD-5", "AD-7", "KN-58")
async def test_a_grant_shows_and_its_revocation_hides_at_the_next_read(world: TeamWorld) -> None:
    source = await in_shared(world)
    assert not await sees(world, world.eve, source)
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.READER, world.atlas))
    assert await sees(world, world.eve, source)
    assert await run(world, world.dan, lambda c: revoke(c, world.eve, Right.READER, world.atlas))
    assert not await sees(world, world.eve, source)


@pytest.mark.req("KN-116", "AD-7")
async def test_every_change_of_a_right_moves_the_access_version(world: TeamWorld) -> None:
    start = await version_of(world, world.eve)
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.READER, world.atlas))
    assert await version_of(world, world.eve) == start + 1
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.READER, world.atlas))
    assert await version_of(world, world.eve) == start + 1
    await run(world, world.dan, lambda c: revoke(c, world.eve, Right.READER, world.atlas))
    assert await version_of(world, world.eve) == start + 2


@pytest.mark.req("AD-5")
async def test_only_admins_grant_and_revoke(world: TeamWorld) -> None:
    for who in (world.ana, world.cleo, world.host, world.eve):
        with pytest.raises(Forbidden):
            await run(world, who, lambda c: grant(c, world.eve, Right.READER, world.atlas))
        with pytest.raises(Forbidden):
            await run(world, who, lambda c: revoke(c, world.ben, Right.READER, world.atlas))


@pytest.mark.req("AD-5")
@pytest.mark.parametrize("scope", ["", " ", "*", "prn_", "prn_*", "prn_w/agent/*", "atlas"])
async def test_an_empty_blank_or_wildcard_scope_is_refused_and_changes_nothing(world: TeamWorld, scope: str) -> None:
    source = await in_shared(world)
    named = NodeId(scope)
    with pytest.raises(BadInput):
        await run(world, world.dan, lambda c: grant(c, world.eve, Right.READER, named))
    with pytest.raises(BadInput):
        await run(world, world.dan, lambda c: revoke(c, world.ben, Right.READER, named))
    with pytest.raises(BadInput):
        await run(world, world.dan, lambda c: revoke_all(c, named))
    assert await sees(world, world.ben, source)


@pytest.mark.req("AD-5")
async def test_taking_everything_from_one_touches_nobody_else(world: TeamWorld) -> None:
    source = await in_shared(world)
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.READER, world.atlas))
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.CURATOR, world.atlas))
    assert await run(world, world.dan, lambda c: revoke_all(c, world.eve)) == 2
    assert not await sees(world, world.eve, source)
    assert await sees(world, world.ana, source)
    assert await sees(world, world.ben, source)


@pytest.mark.req("AD-5", "KN-57")
async def test_nothing_of_another_workspace_is_granted(world: TeamWorld) -> None:
    other = await add_workspace(world.deps, f"{world.name}-b")
    with pytest.raises(NotFound):
        await run(world, world.dan, lambda c: grant(c, other.admin.id, Right.READER, world.atlas))
    with pytest.raises(NotFound):
        await run(world, world.dan, lambda c: grant(c, world.eve, Right.ADMIN, other.workspace.id))


@pytest.mark.req("AD-5", "KN-58")
@pytest.mark.parametrize(
    ("right", "on"),
    [(Right.ADMIN, "atlas"), (Right.READER, "node"), (Right.CURATOR, "eve"), (Right.HOST, "atlas"), (Right.RUN, "ops")],
)
async def test_a_right_is_granted_only_on_objects_of_its_kind(world: TeamWorld, right: Right, on: str) -> None:
    with pytest.raises(BadInput):
        await run(world, world.dan, lambda c: grant(c, world.eve, right, getattr(world, on)))


@pytest.mark.req("KN-56", "KN-58")
async def test_an_agent_gets_no_role(world: TeamWorld) -> None:
    with pytest.raises(BadInput):
        await run(world, world.dan, lambda c: grant(c, world.atlas, Right.READER, world.atlas))


async def test_the_last_admin_stays(world: TeamWorld) -> None:
    with pytest.raises(BadState):
        await run(world, world.dan, lambda c: revoke(c, world.dan, Right.ADMIN, world.node))
    with pytest.raises(BadState):
        await run(world, world.dan, lambda c: set_disabled(c, world.dan, True))
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.ADMIN, world.node))
    assert await run(world, world.dan, lambda c: revoke(c, world.dan, Right.ADMIN, world.node))
    with pytest.raises(Forbidden):
        await run(world, world.dan, lambda c: grant(c, world.dan, Right.ADMIN, world.node))


class SharedReader:
    """Another agent with a conversation of its own, which may or may not read what Atlas shares."""

    def __init__(self, world: TeamWorld, agent: NodeId, conversation: Conversation) -> None:
        self.world, self.agent, self.conversation = world, agent, conversation

    async def sees(self, node: NodeId) -> bool:
        async def work(session: Session) -> bool:
            await session.speak_in(self.conversation.id, idle_hours=24)
            return node in await session.open([node])

        result, _ = await read(self.world.deps, self.world.caller(self.agent), work)
        return result


async def a_second_agent(world: TeamWorld) -> SharedReader:
    agent = await run(world, world.dan, lambda c: create_agent(c, "Borea", local_id="borea"))
    channel = await run(
        world, world.dan, lambda c: create_channel(c, agent.id, ChannelKind.SHARED_CHANNEL, local_id="yard")
    )
    return SharedReader(world, agent.id, await world.open(channel.id))


@pytest.mark.req("KN-55")
async def test_another_agent_reads_shared_knowledge_while_it_is_granted(world: TeamWorld) -> None:
    source, other = await in_shared(world), await a_second_agent(world)
    shared = base_id(world.name, world.atlas, KbKind.SHARED)
    assert not await other.sees(source)
    start = await version_of(world, other.agent)
    await run(world, world.dan, lambda c: grant_shared(c, shared, other.agent, True))
    assert await other.sees(source)
    await run(world, world.dan, lambda c: grant_shared(c, shared, other.agent, True))
    assert await version_of(world, other.agent) == start + 1
    await run(world, world.dan, lambda c: grant_shared(c, shared, other.agent, False))
    assert not await other.sees(source)
    assert await version_of(world, other.agent) == start + 2


@pytest.mark.req("KN-55")
async def test_only_shared_knowledge_is_granted_and_only_by_an_admin(world: TeamWorld) -> None:
    await in_shared(world)
    other = await a_second_agent(world)
    own = base_id(world.name, other.agent, KbKind.AGENT)
    shared = base_id(world.name, world.atlas, KbKind.SHARED)
    with pytest.raises(OperationRejected) as refused:
        await run(world, world.dan, lambda c: grant_shared(c, own, world.atlas, True))
    assert refused.value.rule_code == "SCOPE_FORBIDDEN"
    with pytest.raises(OperationRejected):
        await run(world, world.dan, lambda c: grant_shared(c, shared, world.atlas, True))
    with pytest.raises(Forbidden):
        await run(world, world.ana, lambda c: grant_shared(c, shared, other.agent, True))
    with pytest.raises(NotFound):
        await run(world, world.dan, lambda c: grant_shared(c, shared, world.eve, True))


@pytest.mark.req("KN-55", "KN-60")
async def test_granting_a_private_base_answers_like_an_unknown_one(world: TeamWorld) -> None:
    await world.say(world.chat, "Only for Atlas.")
    other = await a_second_agent(world)
    private = base_id(world.name, world.atlas, KbKind.PRIVATE, world.chat)
    for kb in (private, NodeId(f"{private}-unknown")):
        with pytest.raises(NotFound) as refused:
            await run(world, world.dan, lambda c, kb=kb: grant_shared(c, kb, other.agent, True))  # type: ignore[misc]
        assert str(refused.value) == str(NotFound())


@pytest.mark.req("AD-18", "AD-26")
async def test_grants_are_audited_with_ids_and_codes(world: TeamWorld) -> None:
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.READER, world.atlas))
    await run(world, world.dan, lambda c: revoke(c, world.eve, Right.READER, world.atlas))
    log = await ask(world, world.cleo, admin_log)
    assert [(r.operation, r.actor_id, r.target_id) for r in log.records] == [
        ("grant.revoke", world.dan, world.eve),
        ("grant.add", world.dan, world.eve),
    ]
    assert log.records[0].codes == {"right": "reader", "object": world.atlas}
