from __future__ import annotations

from typing import Any

import pytest

from graph.model.errors import BadInput, Forbidden, NotFound, NotRestorable, VersionConflict
from graph.model.ids import NodeId
from graph.rules.knowledge_settings import SPECS
from graph.services.access.admin_log import admin_log
from graph.services.access.session import read
from graph.services.access.settings_write import SettingView, list_settings, reset_setting, set_setting
from graph.services.access.workspaces import add_workspace
from graph.services.knowledge.restore import restore_preview
from graph.services.settings import load_settings
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run


async def view(world: TeamWorld, name: str, agent: NodeId | None = None) -> SettingView:
    found = await ask(world, world.ben, lambda s: list_settings(s, agent))
    return next(setting for setting in found if setting.name == name)


async def put(world: TeamWorld, name: str, value: Any, **more: Any) -> SettingView:
    return await run(world, world.dan, lambda c: set_setting(c, name, value, **more))


@pytest.mark.req("KN-119")
async def test_every_setting_is_listed_with_default_range_and_origin(world: TeamWorld) -> None:
    found = await ask(world, world.ben, list_settings)
    assert [s.name for s in found] == sorted(SPECS)
    rrf = next(s for s in found if s.name == "search.rrf_k")
    assert (rrf.value, rrf.default, rrf.origin, rrf.version) == (10, 10, "default", 0)
    assert rrf.allowed == "a whole number from 1"


@pytest.mark.req("KN-119")
async def test_a_change_applies_to_the_next_read_and_is_audited(world: TeamWorld) -> None:
    shown = await put(world, "search.rrf_k", 60)
    assert (shown.value, shown.origin, shown.version) == (60, "workspace", 1)
    async with world.deps.store.reading() as reader:
        assert (await load_settings(reader, world.workspace))["search.rrf_k"] == 60
    [record] = (await ask(world, world.cleo, admin_log)).records
    assert (record.operation, record.actor_id, record.target_id) == ("settings.write", world.dan, world.node)
    assert record.codes == {"name": "search.rrf_k", "from": 10, "to": 60}


@pytest.mark.req("KN-103")
async def test_a_change_of_a_setting_is_a_step_of_administration_and_cannot_be_restored(world: TeamWorld) -> None:
    await put(world, "search.rrf_k", 60)
    [record] = (await ask(world, world.cleo, admin_log)).records
    for who, refusal in ((world.dan, NotRestorable), (world.cleo, NotRestorable), (world.ana, NotFound)):
        with pytest.raises(refusal):
            await ask(world, who, lambda session: restore_preview(session, [record.id]))


@pytest.mark.req("KN-119", "AD-26")
async def test_the_audit_keeps_no_words_of_a_setting(world: TeamWorld) -> None:
    await put(world, "dream.first_person", ["secretword"])
    assert (await view(world, "dream.first_person")).value == ("secretword",)
    assert "secretword" not in repr((await ask(world, world.cleo, admin_log)).records)


@pytest.mark.req("KN-119")
async def test_only_dreaming_differs_per_agent(world: TeamWorld) -> None:
    await put(world, "dream.max_operations", 50)
    await put(world, "dream.max_operations", 5, agent_id=world.atlas)
    assert (await view(world, "dream.max_operations")).value == 50
    own = await view(world, "dream.max_operations", world.atlas)
    assert (own.value, own.origin, own.version) == (5, "agent", 1)
    with pytest.raises(BadInput):
        await put(world, "search.rrf_k", 5, agent_id=world.atlas)
    with pytest.raises(NotFound):
        await put(world, "dream.max_operations", 5, agent_id=world.ana)


@pytest.mark.req("KN-119")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stage_b.max_wait_hours", float("inf")),
        ("search.min_cosine", float("nan")),
        ("search.message_half_life_days", 10**400),
        ("stage_b.max_items", 10**30),
        ("search.rrf_k", 0),
        ("search.rrf_k", "10"),
        ("search.rrf_k", None),
        ("search.min_cosine", 1.5),
        ("conversation.idle_hours", 0),
        ("dream.enabled", 1),
        ("dream.transient_patterns", ["("]),
        ("search.default_language", "klingon"),
        ("search.default_language", ""),
        ("no.such.setting", 1),
    ],
)
async def test_a_value_out_of_range_is_refused_and_nothing_changes(world: TeamWorld, name: str, value: Any) -> None:
    with pytest.raises(BadInput):
        await put(world, name, value)
    assert all(s.origin == "default" for s in await ask(world, world.ben, list_settings))


@pytest.mark.req("KN-58", "AD-18")
async def test_only_admins_set(world: TeamWorld) -> None:
    for who in (world.ana, world.ben, world.cleo, world.host, world.atlas, world.eve):
        with pytest.raises(Forbidden):
            await run(world, who, lambda c: set_setting(c, "search.rrf_k", 60))
        with pytest.raises(Forbidden):
            await run(world, who, lambda c: reset_setting(c, "search.rrf_k"))


@pytest.mark.req("KN-87")
async def test_an_expected_version_must_be_the_present_one(world: TeamWorld) -> None:
    await put(world, "search.rrf_k", 60, expected_version=0)
    with pytest.raises(VersionConflict):
        await put(world, "search.rrf_k", 70, expected_version=0)
    assert (await put(world, "search.rrf_k", 70, expected_version=1)).version == 2


@pytest.mark.req("KN-119")
async def test_a_reset_brings_back_the_default(world: TeamWorld) -> None:
    await put(world, "search.rrf_k", 60)
    shown = await run(world, world.dan, lambda c: reset_setting(c, "search.rrf_k"))
    assert (shown.value, shown.origin, shown.version) == (10, "default", 0)


@pytest.mark.req("KN-57")
async def test_workspaces_do_not_share_settings(world: TeamWorld) -> None:
    other = await add_workspace(world.deps, f"{world.name}-b")
    await put(world, "search.rrf_k", 60)
    found, _ = await read(world.deps, other.caller, list_settings)
    assert all(s.origin == "default" for s in found)
    with pytest.raises(NotFound):
        await read(world.deps, other.caller, lambda s: list_settings(s, world.atlas))
