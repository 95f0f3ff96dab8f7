"""Keys of workspaces: asked for at the start, rotated while others read and write, retired for good."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dreaming.resealing import reseal
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.errors import BadState, NotFound, StoreKeyMissing, StoreUnavailable
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.bots import BotEntry
from graph.model.nodes.people import Workspace
from graph.model.nodes.work import AdminRecord
from graph.model.sealed import Sealed
from graph.services.access.admin_log import verify_admin_log
from graph.services.access.caller import workspace_node
from graph.services.access.workspaces import add_workspace
from graph.services.admin import keys
from graph.services.admin.keys import GRACE_MS, Retirement, retire, rotate, rotation, unlock
from graph.services.admin.resealing import reseal_workspace, sealing_kinds
from graph.services.deps import Deps
from graph.store.port import Store, Writer
from graph.store.query import By, Find
from graph.store.sealing import Vault, key_id_of
from tests.support.clock import FakeClock
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.randomness import SeededRandomness
from tests.support.sealed_nodes import sealed_nodes, texts_of

ENGINES = ["memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
SYSTEM = SystemScope(reason="looking in a test")
NODES = 40


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def keyring(clock: FakeClock) -> FixedKeyring:
    return FixedKeyring(clock)


@pytest.fixture
def deps(deps: Deps, keyring: FixedKeyring) -> Deps:
    return replace(deps, vault=Vault(keyring, SeededRandomness()))


@pytest.fixture
async def space(deps: Deps) -> AsyncIterator[WorkspaceId]:
    """A workspace with sealed texts of every kind."""
    called = f"w{deps.ids.new()[:20]}".lower()
    workspace = (await add_workspace(deps, called)).workspace.workspace
    await deps.store.transact(lambda writer: writer.put(sealed_nodes(deps.vault, workspace, NODES, str)))
    yield workspace
    await name(deps, workspace, None)  # on a shared server nobody else has the keys that a test made


async def stored(deps: Deps, space: WorkspaceId) -> list[Node]:
    """Return all nodes of the workspace that have sealed fields."""
    scope = replace(SYSTEM, workspace=space)
    async with deps.store.reading() as reader:
        pages = [await reader.find(scope, Find(kind=spec.node)) for spec in sealing_kinds()]
    return [node for page in pages for node in page.nodes]


def sealed_with(nodes: list[Node]) -> set[str]:
    """Return the ids of the keys that seal the nodes' texts."""
    values = [value for node in nodes for value in (getattr(node, name) for name in node.__dataclass_fields__)]
    return {key_id_of(value) for value in values if isinstance(value, Sealed)}


async def named(deps: Deps, space: WorkspaceId) -> str | None:
    """Return the key that the workspace names."""
    async with deps.store.reading() as reader:
        found = (await reader.get(SYSTEM, [workspace_node(space)]))[workspace_node(space)]
    assert isinstance(found, Workspace)
    return found.key_id


async def name(deps: Deps, space: WorkspaceId, key_id: str | None) -> None:
    await deps.store.transact(lambda writer: writer.patch(workspace_node(space), {"key_id": key_id}))


def worker(deps: Deps) -> Worker:
    return Worker(deps=deps, anchor_minutes=0, handlers={"reseal": reseal})


@pytest.mark.req("AD-14", "AD-29")
async def test_a_workspace_has_a_key_from_the_start_and_one_of_an_older_store_gets_one(
    deps: Deps, space: WorkspaceId
) -> None:
    assert await named(deps, space) == "e1"
    await name(deps, space, None)
    await unlock(deps)
    assert await named(deps, space) == "e1"


@pytest.mark.req("AD-29")
async def test_a_missing_key_is_told_by_its_id_and_nothing_is_made_in_its_place(deps: Deps, space: WorkspaceId) -> None:
    other = (await add_workspace(deps, f"{space}b")).workspace.workspace
    await name(deps, other, None)
    await name(deps, space, "e7")
    with pytest.raises(StoreKeyMissing) as refused:
        await unlock(deps)
    assert refused.value.details["key_id"] == "e7"
    assert await named(deps, other) is None, "nobody gets a key in a store that is locked"
    assert [key.id for key in deps.vault.keyring.keys(space)] == ["e1"]


@pytest.mark.req("AD-30")
async def test_a_rotation_seals_everything_anew_and_the_old_key_can_be_forgotten(
    deps: Deps, space: WorkspaceId, clock: HeldClock
) -> None:
    before = await stored(deps, space)
    texts = {node.id: texts_of(deps.vault, node) for node in before}
    begun = await rotate(deps, space)
    assert (begun.state, begun.key_id, await named(deps, space)) == ("queued", "e2", "e2")
    [new] = sealed_nodes(deps.vault, space, 1, str, start=900)
    assert sealed_with([new]) == {"e2"}, "what is new is sealed with the new key at once"
    opened = deps.vault.openings
    assert await worker(deps).step()
    assert deps.vault.openings == opened, "no text is opened"
    told = await rotation(deps, space)
    assert (told.state, told.done, told.total, told.broken) == ("succeeded", NODES, NODES, 0)
    after = await stored(deps, space)
    assert sealed_with(after) == {"e2"}
    clock.advance(timedelta(milliseconds=GRACE_MS))
    assert await retire(deps, space) == Retirement(dropped=("e1",))
    assert {node.id: texts_of(deps.vault, node) for node in after} == texts
    for node in before:
        with pytest.raises(StoreKeyMissing):
            texts_of(deps.vault, node)


@pytest.mark.req("AD-30")
async def test_rotations_and_retirements_stand_in_the_chain_of_administration_by_ids(
    deps: Deps, space: WorkspaceId, clock: HeldClock
) -> None:
    await rotate(deps, space)
    await worker(deps).step()
    clock.advance(timedelta(minutes=5))
    await retire(deps, space)
    async with deps.store.reading() as reader:
        steps = (await reader.find(replace(SYSTEM, workspace=space), Find(kind=AdminRecord, order=By("seq")))).nodes
        assert (await verify_admin_log(reader, space)).ok
    assert [(step.operation, step.codes) for step in steps[-2:]] == [
        ("key.rotate", {"key": "e2"}),
        ("key.retire", {"keys": ["e1"]}),
    ]


@pytest.mark.req("AD-30")
async def test_no_key_is_forgotten_before_what_was_under_way_has_come(
    deps: Deps, space: WorkspaceId, clock: HeldClock
) -> None:
    """What was sealed with the old key and is committed after the rotation ended is found by the retirement."""
    [late] = sealed_nodes(deps.vault, space, 1, str, start=900)
    await rotate(deps, space)
    with pytest.raises(BadState):
        await retire(deps, space)
    await worker(deps).step()
    assert await retire(deps, space) == Retirement(wait_ms=GRACE_MS)
    await deps.store.transact(lambda writer: writer.put([late]))
    clock.advance(timedelta(milliseconds=GRACE_MS))
    assert (await retire(deps, space)).dropped == ("e1",)
    assert sealed_with(await stored(deps, space)) == {"e2"}
    assert await retire(deps, space) == Retirement(), "there is nothing more to forget"


@pytest.mark.req("AD-30", "BM-187")
async def test_what_no_key_opens_is_counted_and_keeps_the_old_keys(
    deps: Deps, space: WorkspaceId, clock: HeldClock
) -> None:
    one, other = [node for node in await stored(deps, space) if isinstance(node, BotEntry)][:2]
    await deps.store.transact(lambda writer: writer.patch(one.id, {"content": other.content}))
    await rotate(deps, space)
    await worker(deps).step()
    assert ((await rotation(deps, space)).state, (await rotation(deps, space)).broken) == ("succeeded", 1)
    clock.advance(timedelta(hours=1))
    with pytest.raises(BadState) as refused:
        await retire(deps, space)
    assert refused.value.details["nodes"] == [one.id]
    assert [key.id for key in deps.vault.keyring.keys(space)] == ["e1", "e2"]
    await deps.store.transact(lambda writer: writer.delete([one.id]))
    assert (await retire(deps, space)).dropped == ("e1",)


@pytest.mark.req("AD-30")
@pytest.mark.parametrize("at", ["made", "named", "half way"])
async def test_a_rotation_that_was_cut_off_goes_on_with_the_same_key(
    deps: Deps, space: WorkspaceId, clock: HeldClock, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    broken = {
        "made": (deps.store, "transact"),
        "named": (deps.vault.keyring, "use"),
        "half way": (deps.vault, "rewrap"),
    }
    target, method = broken[at]
    works, calls = getattr(target, method), 0

    def fails(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if at != "half way" or calls > NODES // 2:
            raise StoreUnavailable("the process is gone")
        return works(*given, **named)

    monkeypatch.setattr("graph.services.admin.resealing.BATCH", 3)
    with monkeypatch.context() as patched:
        patched.setattr(target, method, fails)
        if at == "half way":
            await rotate(deps, space)
            assert await worker(deps).step()
            assert (await rotation(deps, space)).reason == "STORE_UNAVAILABLE"
        else:
            with pytest.raises(StoreUnavailable):
                await rotate(deps, space)
    await unlock(deps)
    assert (await rotate(deps, space)).key_id == "e2"
    clock.advance(timedelta(hours=1))
    assert await worker(deps).step()
    assert (await rotation(deps, space)).state == "succeeded"
    assert sealed_with(await stored(deps, space)) == {"e2"}
    assert [key.id for key in deps.vault.keyring.keys(space)] == ["e1", "e2"]


@pytest.mark.req("AD-29")
async def test_a_store_of_before_the_rotation_goes_on_with_the_newer_key_until_that_is_the_only_one(
    deps: Deps, space: WorkspaceId, clock: HeldClock
) -> None:
    await rotate(deps, space)
    await worker(deps).step()
    await name(deps, space, "e1")
    await unlock(deps)
    assert await named(deps, space) == "e2"
    clock.advance(timedelta(hours=1))
    await retire(deps, space)
    await name(deps, space, "e1")
    with pytest.raises(StoreKeyMissing) as refused:
        await unlock(deps)
    assert refused.value.details["key_id"] == "e1"


@pytest.mark.req("AD-29")
async def test_a_key_that_only_the_store_names_seals_after_the_next_start(deps: Deps, space: WorkspaceId) -> None:
    """The process died after the workspace named the new key and before the keyring let it seal."""
    key_id = deps.vault.keyring.make(space)
    await name(deps, space, key_id)
    assert deps.vault.keyring.newest(space).id == "e1"
    await unlock(deps)
    assert deps.vault.keyring.newest(space).id == key_id


@pytest.mark.req("AD-30")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_what_somebody_writes_meanwhile_is_neither_lost_nor_left_behind(
    deps: Deps, space: WorkspaceId, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text is changed between the look at its batch and the transaction that seals the batch anew."""
    entry = next(node for node in await stored(deps, space) if isinstance(node, BotEntry))
    edited = [node for node in sealed_nodes(deps.vault, space, NODES, lambda n: f"edited {n}") if node.id == entry.id]
    writes = store.transact

    async def edit(writer: Writer) -> None:
        await writer.patch(entry.id, {"content": edited[0].content})  # type: ignore[attr-defined]

    async def after_an_edit(work: Callable[..., Any], **given: Any) -> Any:
        monkeypatch.setattr(store, "transact", writes)
        await writes(edit)
        return await writes(work, **given)

    await rotate(deps, space)
    monkeypatch.setattr(store, "transact", after_an_edit)
    found = await reseal_workspace(deps, space, "e2", lambda work: store.transact(work))
    assert (found.moved, found.broken) == (NODES, ())
    now = {node.id: node for node in await stored(deps, space)}
    assert texts_of(deps.vault, now[entry.id])[0].startswith("edited")
    assert sealed_with(list(now.values())) == {"e2"}


async def test_reads_are_answered_half_way_through_a_rotation(
    deps: Deps, space: WorkspaceId, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.services.admin.resealing.BATCH", 5)
    await rotate(deps, space)
    writes, held, go = store.transact, asyncio.Event(), asyncio.Event()

    async def holding(work: Callable[..., Any], **given: Any) -> Any:
        result = await writes(work, **given)
        told = await rotation(deps, space)
        if told.done >= NODES // 2 and not go.is_set():
            held.set()
            await go.wait()
        return result

    monkeypatch.setattr(store, "transact", holding)
    step = asyncio.create_task(worker(deps).step())
    await held.wait()
    nodes = await stored(deps, space)
    assert len([text for node in nodes for text in texts_of(deps.vault, node)]) > NODES
    assert sealed_with(nodes) == {"e1", "e2"}
    assert not step.done()
    go.set()
    assert await step
    assert sealed_with(await stored(deps, space)) == {"e2"}


async def test_there_are_no_keys_of_a_workspace_that_is_not_there(deps: Deps) -> None:
    for ask in (rotate, retire, rotation):
        with pytest.raises(NotFound):
            await ask(deps, WorkspaceId("nowhere"))


async def test_a_rotation_that_was_given_up_begins_afresh_when_it_is_asked_for(
    deps: Deps, space: WorkspaceId, clock: HeldClock
) -> None:
    await rotate(deps, space)
    parked = {"state": "parked", "last_error": "STORE_UNAVAILABLE"}
    await deps.store.transact(lambda w: w.patch(NodeId(f"job_{keys.RESEAL}:{space}"), parked))
    assert (await rotate(deps, space)).state == "queued"
    assert await worker(deps).step()
    assert (await rotation(deps, space)).state == "succeeded"
