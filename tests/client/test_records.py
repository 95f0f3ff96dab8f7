"""Memory providers and records through the library's client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from api.bootstrap import Ports
from graph.model.nodes.people import Right
from rootward.service import Conflict, InvalidRequest, NotFound, PreconditionFailed
from tests.client.conftest import As
from tests.support.mem0_server import Mem0Server
from tests.support.memory_client import allow
from tests.support.record_room import wire_to
from tests.support.world import TeamWorld


@pytest.fixture
async def mem0() -> AsyncIterator[Mem0Server]:
    async with Mem0Server(key="own-key") as made:
        yield made


@pytest.fixture
def ports(ports: Ports, mem0: Mem0Server) -> Ports:
    return replace(ports, record_wire=wire_to(mem0))


@pytest.mark.req("MT-66")
async def test_providers_are_made_listed_and_changed(world: TeamWorld, as_: As) -> None:
    await allow(world, world.ana, Right.WRITE)
    ana = as_(await world.token(world.ana))
    config = {"base_url": "https://mem0.example"}
    made = await ana(ana.providers.create, "mem0_oss", "Ours", config=config, api_key="k1")
    assert (made.type, made.config, made.credential_configured, made.enabled) == ("mem0_oss", config, True, True)
    assert await ana(ana.providers.read, made.id) == made
    assert (await ana(ana.providers.list)).items == (made,)
    changed = await ana(ana.providers.update, made.id, etag=made.etag, name="Theirs", api_key=None)
    assert (changed.name, changed.credential_configured) == ("Theirs", False)
    with pytest.raises(PreconditionFailed) as stale:
        await ana(ana.providers.update, made.id, etag=made.etag, enabled=False)
    assert stale.value.current_etag == changed.etag
    with pytest.raises(InvalidRequest) as wrong:
        await ana(ana.providers.create, "postgres", "No")
    assert wrong.value.path == "type"


@pytest.mark.req("MT-66")
async def test_records_of_a_file_memory_are_refused(world: TeamWorld, as_: As) -> None:
    await allow(world, world.ana, Right.WRITE)
    ana = as_(await world.token(world.ana))
    memory = (await ana(ana.memories.create, "Team")).id
    acts = (
        (ana.records.list, (memory,)),
        (ana.records.add, (memory, "Likes tea.")),
        (ana.records.search, (memory, "tea")),
        (ana.records.update, (memory, "r1", "Likes coffee.")),
        (ana.records.delete, (memory, "r1")),
    )
    for act, arguments in acts:
        with pytest.raises(Conflict) as refused:
            await ana(act, *arguments)
        assert (refused.value.reason, refused.value.details["expected"]) == ("memory_kind", "record")


@pytest.mark.req("MT-66")
async def test_records_are_added_found_changed_and_deleted(world: TeamWorld, as_: As, mem0: Mem0Server) -> None:
    await allow(world, world.ana, Right.WRITE)
    ana = as_(await world.token(world.ana))
    made = await ana(ana.providers.create, mem0.form, "Ours", config={"base_url": mem0.url}, api_key=mem0.key)
    assert (await ana(ana.providers.test, made.id)).status == "succeeded"
    memory = await ana(ana.memories.create, "Team", type=mem0.form, provider_id=made.id)
    assert (memory.kind, memory.file_count, memory.provider_id) == ("record", None, made.id)
    record = await ana(ana.records.add, memory.id, "Likes tea.")
    assert (record.text, record.score) == ("Likes tea.", None)
    assert [one.id for one in (await ana(ana.records.list, memory.id)).items] == [record.id]
    [found] = (await ana(ana.records.search, memory.id, "tea", limit=3)).items
    assert (found.id, isinstance(found.score, float)) == (record.id, True)
    assert (await ana(ana.records.update, memory.id, record.id, "Likes coffee.")).text == "Likes coffee."
    assert await ana(ana.records.delete, memory.id, record.id) is None
    with pytest.raises(NotFound) as gone:
        await ana(ana.records.delete, memory.id, record.id)
    assert gone.value.details["kind"] == "memory_record"
    off = await ana(ana.providers.update, made.id, etag=made.etag, enabled=False)
    assert off.enabled is False
    with pytest.raises(InvalidRequest) as disabled:
        await ana(ana.records.list, memory.id)
    assert (disabled.value.code, disabled.value.status) == ("disabled", 422)
