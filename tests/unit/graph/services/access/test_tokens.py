from __future__ import annotations

from datetime import timedelta

import pytest

from graph.model.access import SystemScope
from graph.model.errors import BadInput, Forbidden, NotFound, Unauthenticated
from graph.model.ids import NodeId
from graph.model.nodes.people import Right, Token
from graph.model.time import Millis
from graph.services.access.commands import command
from graph.services.access.grants import revoke
from graph.services.access.members import set_members
from graph.services.access.provisioning import create_organization, set_disabled
from graph.services.access.session import read
from graph.services.access.tokens import (
    MintedToken,
    authenticate,
    create_token,
    list_tokens,
    revoke_token,
)
from graph.services.deps import Deps
from graph.store.query import Find
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run

SYSTEM = SystemScope(reason="test")
DAY_MS = 86_400_000


def tomorrow(world: TeamWorld) -> Millis:
    return Millis(world.deps.now() + DAY_MS)


async def make(world: TeamWorld, who: NodeId, whose: NodeId, **more: object) -> MintedToken:
    return await run(
        world,
        who,
        lambda cmd: create_token(cmd, whose, expires_at=tomorrow(world), **more),  # type: ignore[arg-type]
    )


@pytest.mark.req("AD-9", "AD-42")
async def test_only_the_hash_of_a_long_secret_is_stored(world: TeamWorld, deps: Deps) -> None:
    minted = await make(world, world.ana, world.ana)
    form, public_id, secret = minted.text.split("_")
    assert (form, public_id) == ("rw", minted.token.public_id)
    assert len(bytes.fromhex(secret)) * 8 >= 160
    assert secret not in repr(minted)
    async with deps.store.reading() as reader:
        stored = (await reader.find(SYSTEM, Find(kind=Token))).nodes
    assert secret not in repr(stored)


@pytest.mark.req("AD-9", "AD-13")
async def test_a_token_names_its_principal_workspace_and_rights(world: TeamWorld, deps: Deps) -> None:
    minted = await make(world, world.ana, world.ana, rights=[Right.READER])
    caller = await authenticate(deps, minted.text)
    assert (caller.principal, caller.workspace, caller.rights) == (
        world.ana,
        world.workspace,
        frozenset({Right.READER}),
    )


@pytest.mark.req("AD-10")
async def test_an_admin_makes_tokens_for_others_and_others_only_for_themselves(world: TeamWorld, deps: Deps) -> None:
    minted = await make(world, world.dan, world.ana)
    assert (await authenticate(deps, minted.text)).principal == world.ana
    with pytest.raises(NotFound):
        await make(world, world.ana, world.ben)


@pytest.mark.req("AD-10")
async def test_nobody_gives_himself_a_right_that_he_has_not(world: TeamWorld) -> None:
    await make(world, world.ben, world.ben, rights=[Right.READER])
    with pytest.raises(Forbidden):
        await make(world, world.ben, world.ben, rights=[Right.CURATOR])


@pytest.mark.req("AD-6", "AD-10")
async def test_what_one_has_without_a_grant_a_token_may_carry_too(world: TeamWorld, deps: Deps) -> None:
    for right in (Right.READ, Right.WRITE):  # as the person of sessions and chats
        minted = await make(world, world.eve, world.eve, rights=[right])
        assert (await authenticate(deps, minted.text)).rights == frozenset({right})
    for right in set(Right) - {Right.READ, Right.WRITE}:
        with pytest.raises(Forbidden):
            await make(world, world.eve, world.eve, rights=[right])
    with pytest.raises(Forbidden):
        await make(world, world.atlas, world.atlas, rights=[Right.READ])
    reader = await authenticate(deps, (await make(world, world.eve, world.eve, rights=[Right.READ])).text)
    with pytest.raises(Forbidden):
        await command(
            deps, reader, lambda c: create_token(c, world.eve, expires_at=tomorrow(world), rights=[Right.WRITE])
        )


@pytest.mark.req("AD-10", "AD-13")
async def test_a_narrow_credential_makes_only_narrow_ones(world: TeamWorld, deps: Deps) -> None:
    narrow = await authenticate(deps, (await make(world, world.ana, world.ana, rights=[Right.READER])).text)
    with pytest.raises(Forbidden):
        await command(
            deps, narrow, lambda c: create_token(c, world.ana, expires_at=tomorrow(world), rights=[Right.CURATOR])
        )
    again = await command(deps, narrow, lambda c: create_token(c, world.ana, expires_at=tomorrow(world)))
    assert (await authenticate(deps, again.text)).rights == frozenset({Right.READER})


@pytest.mark.req("AD-9")
async def test_a_token_names_only_an_organization_of_its_principal(world: TeamWorld, deps: Deps) -> None:
    org = await run(world, world.dan, lambda c: create_organization(c, "Helio", local_id="helio"))
    with pytest.raises(NotFound):
        await make(world, world.ana, world.ana, organization=org.id)
    await run(world, world.dan, lambda c: set_members(c, org.id, [world.ana]))
    minted = await make(world, world.ana, world.ana, organization=org.id)
    assert (await authenticate(deps, minted.text)).organization == org.id


@pytest.mark.req("AD-10")
async def test_a_list_shows_all_but_the_secret(world: TeamWorld, deps: Deps, clock: FakeClock) -> None:
    minted = await make(world, world.ana, world.ana)
    await authenticate(deps, minted.text)
    [info] = await ask(world, world.ana, list_tokens)
    assert (info.id, info.principal_id, info.expires_at) == (minted.token.id, world.ana, minted.token.expires_at)
    assert info.last_used_day == "2025-05-10"
    assert minted.token.secret_hash not in repr(info)
    with pytest.raises(NotFound):
        await ask(world, world.ben, lambda s: list_tokens(s, world.ana))
    assert await ask(world, world.dan, lambda s: list_tokens(s, world.ana)) == (info,)


@pytest.mark.req("AD-7", "AD-10", "AD-11")
async def test_unknown_expired_revoked_and_disabled_answer_alike(
    world: TeamWorld, deps: Deps, clock: FakeClock
) -> None:
    revoked, disabled, expired = [await make(world, world.dan, who) for who in (world.ana, world.ben, world.cleo)]
    await run(world, world.ana, lambda c: revoke_token(c, revoked.token.id))
    await run(world, world.dan, lambda c: set_disabled(c, world.ben, True))
    clock.advance(timedelta(days=2))
    valid = await make(world, world.ana, world.ana)
    wrong = valid.text[:-1] + ("0" if valid.text[-1] != "0" else "1")
    said = set()
    for text in ("", "rw_x_y", wrong, revoked.text, disabled.text, expired.text):
        with pytest.raises(Unauthenticated) as refused:
            await authenticate(deps, text)
        said.add((type(refused.value), str(refused.value), repr(refused.value.details)))
    assert len(said) == 1
    assert (await authenticate(deps, valid.text)).principal == world.ana


@pytest.mark.req("AD-10")
async def test_a_token_is_revoked_by_its_owner_or_an_admin_alone(world: TeamWorld, deps: Deps) -> None:
    minted = await make(world, world.ana, world.ana)
    with pytest.raises(NotFound):
        await run(world, world.ben, lambda c: revoke_token(c, minted.token.id))
    info = await run(world, world.dan, lambda c: revoke_token(c, minted.token.id))
    assert info.revoked_at == deps.now()


@pytest.mark.req("AD-9")
async def test_an_expiry_lies_in_the_future(world: TeamWorld, deps: Deps) -> None:
    with pytest.raises(BadInput):
        await run(world, world.ana, lambda c: create_token(c, world.ana, expires_at=deps.now()))


@pytest.mark.req("AD-7")
async def test_a_revoked_grant_narrows_a_token_that_lists_it(world: TeamWorld, deps: Deps) -> None:
    caller = await authenticate(deps, (await make(world, world.ana, world.ana, rights=[Right.CURATOR])).text)
    _, before = await read(deps, caller, list_tokens)
    await run(world, world.dan, lambda c: revoke(c, world.ana, Right.CURATOR, world.atlas))
    _, after = await read(deps, caller, list_tokens)
    assert len(after.viewer.held) < len(before.viewer.held)
