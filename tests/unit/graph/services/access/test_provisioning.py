from __future__ import annotations

import pytest

from graph.model.access import SystemScope
from graph.model.errors import AlreadyExists, BadInput, BadState, Forbidden, NotFound, Unauthenticated, VersionConflict
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Right
from graph.model.nodes.work import AdminRecord
from graph.rules.pools import base_id
from graph.services.access.admin_log import admin_log, verify_admin_log
from graph.services.access.agents import create_agent
from graph.services.access.caller import Caller
from graph.services.access.commands import command
from graph.services.access.facts import grants_of
from graph.services.access.grants import grant
from graph.services.access.members import members_of, set_members
from graph.services.access.provisioning import (
    create_channel,
    create_group,
    create_organization,
    create_person,
    create_service,
    set_disabled,
    set_organization,
)
from graph.services.access.session import read
from graph.services.access.tokens import authenticate
from graph.services.access.workspaces import add_workspace, init_workspace
from graph.services.deps import Deps
from graph.store.query import Eq, Find
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees

SYSTEM = SystemScope(reason="test")


@pytest.mark.req("AD-14")
async def test_init_makes_a_workspace_with_an_admin_whose_token_works(deps: Deps) -> None:
    made = await init_workspace(deps, "acme")
    caller = await authenticate(deps, made.token.text)
    assert (caller.workspace, caller.principal) == ("acme", made.admin.id)
    person = await command(deps, caller, lambda c: create_person(c, "Ana", local_id="ana"))
    assert person.id == "prn_acme/human/ana"


@pytest.mark.req("AD-14")
@pytest.mark.parametrize("name", ["acme", "other"])
async def test_init_refuses_a_store_that_has_a_workspace(deps: Deps, name: str) -> None:
    await init_workspace(deps, "acme")
    with pytest.raises(BadState):
        await init_workspace(deps, name)


@pytest.mark.req("AD-2")
@pytest.mark.parametrize("name", ["", " ", "a/b", "a|b", "ä", "x" * 129, "a\n"])
async def test_ids_chosen_by_a_host_have_few_characters(deps: Deps, name: str) -> None:
    with pytest.raises(BadInput):
        await init_workspace(deps, name)
    made = await init_workspace(deps, "acme")
    with pytest.raises(BadInput):
        await command(deps, made.caller, lambda c: create_person(c, "Ana", local_id=name))


@pytest.mark.req("AD-2")
async def test_a_chosen_id_is_unique_per_kind_and_container(world: TeamWorld) -> None:
    await run(world, world.dan, lambda c: create_person(c, "Fay", local_id="fay"))
    with pytest.raises(AlreadyExists):
        await run(world, world.dan, lambda c: create_person(c, "Other", local_id="fay"))
    service = await run(world, world.dan, lambda c: create_service(c, "Fay's bridge", local_id="fay"))
    assert service.id.endswith("/service/fay")


@pytest.mark.req("AD-2")
async def test_ids_that_nobody_chose_are_made_by_the_service(world: TeamWorld) -> None:
    one, two = [await run(world, world.dan, lambda c: create_person(c, "Fay")) for _ in range(2)]
    assert one.id != two.id
    assert len(one.id.rpartition("/")[2]) == 26


@pytest.mark.req("AD-18")
async def test_only_admins_provision(world: TeamWorld) -> None:
    for who in (world.ana, world.cleo, world.host, world.atlas, world.eve):
        for work in (
            lambda c: create_organization(c, "x"),
            lambda c: create_person(c, "x"),
            lambda c: create_agent(c, "x"),
            lambda c: create_service(c, "x"),
            lambda c: create_group(c, "x"),
            lambda c: create_channel(c, world.atlas, ChannelKind.SHARED_CHANNEL),
            lambda c: set_disabled(c, world.ben, True),
        ):
            with pytest.raises(Forbidden):
                await run(world, who, work)


@pytest.mark.req("AD-6")
async def test_who_makes_an_agent_may_curate_and_write_it_and_nobody_else(world: TeamWorld, deps: Deps) -> None:
    agent = await run(world, world.dan, lambda c: create_agent(c, "Borea", local_id="borea"))
    async with deps.store.reading() as reader:
        own = {g.right for g in await grants_of(reader, world.dan) if g.object_id == agent.id}
        others = [g for who in (world.ana, world.ben, world.eve) for g in await grants_of(reader, who)]
    assert own == {Right.CURATOR, Right.WRITE}
    assert agent.id not in {g.object_id for g in others}


@pytest.mark.req("KN-40")
async def test_an_agent_owns_a_shared_and_an_own_base_from_the_start(world: TeamWorld) -> None:
    agent = await run(world, world.dan, lambda c: create_agent(c, "Borea", local_id="borea"))
    for kind in (KbKind.SHARED, KbKind.AGENT):
        assert await sees(world, world.dan, base_id(world.name, agent.id, kind))
        assert not await sees(world, world.ben, base_id(world.name, agent.id, kind))


@pytest.mark.req("AD-6", "AD-7", "KN-58")
async def test_joining_and_leaving_a_channel_takes_effect_at_once(world: TeamWorld) -> None:
    source = await world.say(world.ops, "The kiln is hot.")
    assert await sees(world, world.ben, source)
    change = await run(world, world.host, lambda c: set_members(c, world.ops, [world.ana]))
    assert (change.added, change.removed) == ((), (world.ben,))
    assert not await sees(world, world.ben, source)
    await run(world, world.host, lambda c: set_members(c, world.ops, [world.ana, world.ben]))
    assert await sees(world, world.ben, source)


@pytest.mark.req("AD-6", "AD-7")
async def test_the_people_of_a_group_are_members_of_its_channels(world: TeamWorld) -> None:
    group = await run(world, world.dan, lambda c: create_group(c, "Yard", members=[world.ben]))
    channel = await run(
        world,
        world.dan,
        lambda c: create_channel(c, world.atlas, ChannelKind.SHARED_CHANNEL, "yard", group_id=group.id),
    )
    source = await world.say(channel.id, "The gate is open.")
    assert await sees(world, world.ben, source)
    assert not await sees(world, world.ana, source)
    await run(world, world.host, lambda c: set_members(c, group.id, []))
    assert not await sees(world, world.ben, source)


@pytest.mark.req("AD-15", "KN-57")
async def test_members_are_set_by_hosts_and_only_from_the_workspace(world: TeamWorld) -> None:
    other = await add_workspace(world.deps, f"{world.name}-b")
    with pytest.raises(Forbidden):
        await run(world, world.ana, lambda c: set_members(c, world.ops, [world.ana]))
    with pytest.raises(NotFound):
        await run(world, world.host, lambda c: set_members(c, world.ops, [other.admin.id]))
    with pytest.raises(BadInput):
        await run(world, world.host, lambda c: set_members(c, type(world.ops)(""), []))
    with pytest.raises(NotFound):
        await run(world, world.host, lambda c: set_members(c, world.atlas, [world.ana]))


@pytest.mark.req("AD-15")
async def test_the_host_of_an_organization_sets_its_members_alone(world: TeamWorld) -> None:
    one, two = [await run(world, world.dan, lambda c: create_organization(c, "x")) for _ in range(2)]
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.HOST, one.id))
    await run(world, world.eve, lambda c: set_members(c, one.id, [world.ana]))
    with pytest.raises(Forbidden):
        await run(world, world.eve, lambda c: set_members(c, two.id, [world.ana]))
    async with world.deps.store.reading() as reader:
        assert await members_of(reader, one.id) == {world.ana}
        assert not await members_of(reader, two.id)


@pytest.mark.req("AD-16", "AD-26")
async def test_the_audit_names_the_host_and_the_people_it_named(world: TeamWorld) -> None:
    await run(world, world.host, lambda c: set_members(c, world.ops, [world.ana, world.eve]))
    [record] = (await ask(world, world.dan, admin_log)).records
    assert (record.operation, record.actor_id, record.target_id) == ("members.set", world.host, world.ops)
    assert record.codes == {"added": [world.eve], "removed": [world.ben]}


@pytest.mark.req("AD-7")
async def test_a_disabled_principal_has_neither_rights_nor_sign_in(world: TeamWorld) -> None:
    source = await world.say(world.ops, "The kiln is hot.")
    token = await world.token(world.ben)
    await run(world, world.dan, lambda c: set_disabled(c, world.ben, True))
    assert not await sees(world, world.ben, source)
    with pytest.raises(Unauthenticated):
        await authenticate(world.deps, token)
    await run(world, world.dan, lambda c: set_disabled(c, world.ben, False))
    assert await sees(world, world.ben, source)
    await authenticate(world.deps, token)


@pytest.mark.req("AD-18", "SM-79")
async def test_settings_of_an_organization_are_checked_and_versioned(world: TeamWorld) -> None:
    org = await run(world, world.dan, lambda c: create_organization(c, "Helio", settings={"memory": {"use": False}}))
    changed = await run(
        world,
        world.dan,
        lambda c: set_organization(c, org.id, expected_version=1, settings={"agentMemoryModel": None}),
    )
    assert changed.settings == {"memory": {"use": False}, "agentMemoryModel": None}
    with pytest.raises(VersionConflict):
        await run(world, world.dan, lambda c: set_organization(c, org.id, expected_version=1))
    of_memory = ({"memory": value} for value in ("yes", None, True, {"use": 1}, {"generate": None}, {"other": True}))
    for wrong in (*of_memory, {"colour": "red"}, {"botMemoryModel": 3}):
        with pytest.raises(BadInput):
            await run(
                world,
                world.dan,
                lambda c, w=wrong: set_organization(c, org.id, expected_version=2, settings=w),  # type: ignore[misc]
            )


@pytest.mark.req("AD-26", "AD-27")
async def test_the_chain_of_administration_has_no_gap_and_shows_an_edit(deps: Deps) -> None:
    made = await init_workspace(deps, "acme")
    for name in ("Ana", "Ben", "Cleo"):
        await command(deps, made.caller, lambda c, n=name: create_person(c, f"{n} Secretname"))  # type: ignore[misc]
    async with deps.store.reading() as reader:
        records = (await reader.find(SYSTEM, Find(kind=AdminRecord, where=Eq("workspace", "acme")))).nodes
        assert sorted(r.seq for r in records) == [1, 2, 3, 4]
        assert (await verify_admin_log(reader, made.workspace.workspace)).ok
    assert "Secretname" not in repr(records)
    third = next(r for r in records if r.seq == 3)

    async def edit(writer: object) -> None:
        await writer.patch(third.id, {"target_id": "prn_acme/human/other"})  # type: ignore[attr-defined]

    await deps.store.transact(edit)
    async with deps.store.reading() as reader:
        assert (await verify_admin_log(reader, made.workspace.workspace)).first_broken_seq == 3


@pytest.mark.req("AD-27", "KN-57")
async def test_each_workspace_has_a_chain_of_its_own_that_only_its_auditors_and_admins_read(world: TeamWorld) -> None:
    await run(world, world.dan, lambda c: create_person(c, "Fay"))
    other = await add_workspace(world.deps, f"{world.name}-b")
    page, _ = await read(world.deps, other.caller, admin_log)
    assert {(r.workspace, r.seq) for r in page.records} == {(other.workspace.workspace, 1)}
    assert [r.seq for r in (await ask(world, world.cleo, admin_log)).records] == [1]
    for who in (world.ana, world.ben, world.eve, world.host):
        with pytest.raises(Forbidden):
            await ask(world, who, admin_log)


@pytest.mark.req("KN-57", "AD-13")
async def test_an_admin_of_another_workspace_gets_the_answer_for_unknown_ids(world: TeamWorld) -> None:
    other = await add_workspace(world.deps, f"{world.name}-b")
    caller = Caller(workspace=other.workspace.workspace, principal=world.dan, kind=other.caller.kind)
    with pytest.raises(NotFound):
        await command(world.deps, caller, lambda c: create_person(c, "Fay"))
    with pytest.raises(NotFound):
        await command(world.deps, other.caller, lambda c: set_disabled(c, world.ben, True))
