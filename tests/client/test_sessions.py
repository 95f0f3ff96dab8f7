"""Sessions and agents through the library's client."""

from __future__ import annotations

import pytest

from graph.model.nodes.people import Right
from rootward.service import Conflict, Forbidden, InvalidRequest, NotFound, Unauthenticated
from rootward.service.agents import AgentMemory
from rootward.service.sessions import Overrides, SessionFact, SessionMemory, SessionView, Switches
from tests.client.conftest import As
from tests.support.session_room import SessionRoom
from tests.support.world import TeamWorld


@pytest.fixture
def room(world: TeamWorld) -> SessionRoom:
    return SessionRoom(world)


async def test_a_session_is_read_and_changed_with_typed_values(room: SessionRoom, world: TeamWorld, as_: As) -> None:
    await room.start()
    ana = as_(await world.token(world.ana))
    seen = await ana(ana.sessions.read, "ses_41")
    assert isinstance(seen, SessionView)
    assert (seen.id, seen.agent, seen.revision) == ("ses_41", "atlas", 11)
    after = await ana(ana.sessions.remember, "ses_41", seen=seen, key="venue", content="Porto.", kind="decision")
    assert after.revision == 12
    assert after.head != seen.head
    memory = await ana(ana.sessions.memory, "ses_41")
    assert isinstance(memory, SessionMemory)
    fact = memory.entries["venue"]
    assert isinstance(fact, SessionFact)
    assert (fact.content, fact.kind, fact.status, len(fact.sources)) == ("Porto.", "decision", "active", 1)
    assert memory.processed[-1] == fact.sources[0]
    forgotten = await ana(ana.sessions.forget, "ses_41", seen=after, key="venue")
    assert (await ana(ana.sessions.memory, "ses_41")).entries["venue"].status == "retracted"
    switched = await ana(ana.sessions.configure, "ses_41", seen=forgotten, use=False)
    memory = await ana(ana.sessions.memory, "ses_41")
    assert (memory.settings, memory.overrides) == (Switches(use=False, generate=True), Overrides(use=False))
    again = await ana(ana.sessions.configure, "ses_41", seen=switched, generate=False)
    back = await ana(ana.sessions.configure, "ses_41", seen=again, use=None)
    assert (await ana(ana.sessions.memory, "ses_41")).overrides == Overrides(generate=False)
    assert await ana(ana.sessions.refresh, "ses_41") == back


async def test_refusals_of_sessions_have_types_codes_and_reasons(room: SessionRoom, world: TeamWorld, as_: As) -> None:
    await room.make()
    ana = as_(await world.token(world.ana))
    seen = await ana(ana.sessions.read, "ses_41")
    fact = {"key": "venue", "content": "Porto.", "kind": "decision"}
    await ana(ana.sessions.remember, "ses_41", seen=seen, **fact)
    with pytest.raises(Conflict) as stale:
        await ana(ana.sessions.remember, "ses_41", seen=seen, **fact)
    assert (stale.value.code, stale.value.reason, stale.value.status) == ("SessionConflict", "stale", 409)
    with pytest.raises(InvalidRequest) as wrong:
        await ana(ana.sessions.remember, "ses_41", seen=seen, key="", content="x", kind="decision")
    assert (wrong.value.code, wrong.value.status) == ("InvalidRequest", 400)
    assert wrong.value.path == "command.key"
    for odd in ("nope", "..", "a/b", "a b?c#d", "地"):
        with pytest.raises(NotFound) as missing:
            await ana(ana.sessions.read, odd)
        assert missing.value.code == "SessionNotFound"
    nobody = as_("rw_no_body")
    with pytest.raises(Unauthenticated) as unknown:
        await nobody(nobody.sessions.read, "ses_41")
    assert (unknown.value.code, unknown.value.status) == ("Unauthorized", 401)


async def test_the_memory_of_an_agent_is_read_changed_and_looked_back_at(world: TeamWorld, as_: As) -> None:
    await world.grant(world.ana, Right.WRITE, world.atlas)
    await world.grant(world.ben, Right.READ, world.atlas)
    ana, ben = as_(await world.token(world.ana)), as_(await world.token(world.ben))
    memory = await ana(ana.agents.memory, "atlas")
    assert memory == AgentMemory(entries={}, version=0)
    memory = await ana(
        ana.agents.remember, "atlas", expected_version=0, key="how", content="Write it down.", kind="procedure"
    )
    assert (memory.version, memory.entries["how"].content, memory.entries["how"].sources) == (1, "Write it down.", ())
    memory = await ana(ana.agents.forget, "atlas", expected_version=1, key="how")
    assert memory.entries["how"].status == "retracted"
    assert await ben(ben.agents.memory, "atlas") == memory
    changes = await ana(ana.agents.log, "atlas", limit=1)
    assert [(change.version, change.cause, change.keys) for change in changes] == [(2, "person", ("how",))]
    assert [change.version for change in await ana(ana.agents.log, "atlas", before=2)] == [1]
    with pytest.raises(Conflict) as stale:
        await ana(ana.agents.forget, "atlas", expected_version=0, key="how")
    assert (stale.value.code, stale.value.reason) == ("AgentMemoryConflict", "stale")
    with pytest.raises(Forbidden):
        await ben(ben.agents.forget, "atlas", expected_version=2, key="how")
