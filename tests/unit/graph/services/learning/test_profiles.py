"""Setting and listing model profiles."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.errors import BadInput, Forbidden, ProfileUnavailable, VersionConflict
from graph.model.nodes.learning import ModelProfile
from graph.services.access.admin_log import admin_log
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.access.settings_write import set_setting
from graph.services.learning.profiles import (
    agent_profile,
    delete_model_profile,
    list_model_profiles,
    set_model_profile,
)
from tests.support.world import TeamWorld


async def _set(world: TeamWorld, who: str = "dan", name: str = "light", **values: Any) -> ModelProfile:
    given = {"provider": "openai", "model": "small", "credential": "env:OPENAI_API_KEY", **values}
    return await command(world.deps, world.caller(world.person(who)), lambda cmd: set_model_profile(cmd, name, **given))


async def _of_atlas(world: TeamWorld) -> ModelProfile:
    async with world.deps.store.reading() as reader:
        return await agent_profile(reader, world.workspace, world.atlas)


@pytest.mark.req("AD-18", "DR-6")
async def test_agent_uses_the_profile_light(world: TeamWorld) -> None:
    made = await _set(world)
    assert await _of_atlas(world) == made
    assert made.version == 1


@pytest.mark.req("DR-6")
async def test_missing_profile_has_a_reason(world: TeamWorld) -> None:
    await _set(world, name="heavy")
    with pytest.raises(ProfileUnavailable) as caught:
        await _of_atlas(world)
    assert caught.value.details["reason"] == "light_profile_unavailable"


async def test_agent_may_have_a_profile_of_its_own(world: TeamWorld) -> None:
    await _set(world)
    heavy = await _set(world, name="heavy", model="large")
    await command(
        world.deps,
        world.caller(world.dan),
        lambda cmd: set_setting(cmd, "dream.model_profile", "heavy", agent_id=world.atlas),
    )
    assert await _of_atlas(world) == heavy


@pytest.mark.req("AD-18")
async def test_setting_again_changes_and_checks_the_version(world: TeamWorld) -> None:
    await _set(world)
    changed = await _set(world, model="large", expected_version=1)
    assert (changed.version, (await _of_atlas(world)).model) == (2, "large")
    with pytest.raises(VersionConflict):
        await _set(world, model="small", expected_version=1)
    with pytest.raises(VersionConflict):
        await _set(world, name="new", expected_version=1)


@pytest.mark.req("AD-18")
@pytest.mark.parametrize("who", ["ana", "ben", "cleo", "eve"])
async def test_only_admins_set(world: TeamWorld, who: str) -> None:
    with pytest.raises(Forbidden):
        await _set(world, who)


async def test_key_itself_is_refused(world: TeamWorld) -> None:
    with pytest.raises(BadInput):
        await _set(world, credential="sk-canary")


@pytest.mark.req("AD-18")
async def test_steps_are_audited_without_the_credential(world: TeamWorld) -> None:
    await _set(world)
    await command(world.deps, world.caller(world.dan), lambda cmd: delete_model_profile(cmd, "light"))
    page, _ = await read(world.deps, world.caller(world.cleo), lambda session: admin_log(session))
    assert [record.operation for record in page.records] == ["model_profile.delete", "model_profile.set"]
    assert "OPENAI" not in str(page.records)


async def test_who_is_no_admin_does_not_learn_where_keys_come_from(world: TeamWorld) -> None:
    await _set(world, base_url="http://10.0.0.7/v1")
    for who, shown in ((world.dan, "env:OPENAI_API_KEY"), (world.ben, None)):
        (profile,), _ = await read(world.deps, world.caller(who), list_model_profiles)
        assert (profile.name, profile.credential) == ("light", shown)
        assert (profile.base_url is None) is (shown is None)


async def test_profiles_of_other_workspaces_are_not_there(world: TeamWorld) -> None:
    await _set(world)
    other = await TeamWorld(deps=world.deps).make()
    shown, _ = await read(other.deps, other.caller(other.dan), list_model_profiles)
    assert shown == ()
