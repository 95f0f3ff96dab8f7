"""The records of consolidations in GraphQL."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dreaming.models.port import ModelUnavailable
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.sessions import Turn
from graph.model.time import render
from tests.api.clients import GraphQLClient
from tests.support.clock import FakeClock
from tests.support.learning_room import SESSION, LearningRoom, change, says
from tests.support.world import TeamWorld

RECORDS = """
query($id: ID!, $first: Int! = 100) {
  it: sessionConsolidations(sessionId: $id, first: $first) { session turn startedAt endedAt outcome error }
}
"""


@pytest.mark.req("SM-122", "AD-22")
async def test_records_are_read_by_who_may_read_the_session(
    ana: GraphQLClient, ben: GraphQLClient, world: TeamWorld, clock: FakeClock, gid: Callable[[NodeId], str]
) -> None:
    room = LearningRoom(world)
    await room.start(model="m-1")
    room.model.on(SESSION, ModelUnavailable("timeout"), says(change("venue", sources=["i-20"])))
    await room.learned("t-1", "i-20")
    await room.refresh()
    session = gid(room.id("ses_41"))
    last, first = (await ana.ok(RECORDS, id=session))["it"]
    turn = hosted_id(Turn.PREFIX, world.workspace, "t-1", container="ses:ses_41")
    assert (first["session"], first["turn"], first["outcome"], first["error"]) == (
        session,
        gid(turn),
        "failed",
        "MODEL_TIMEOUT",
    )
    assert (last["turn"], last["outcome"], last["error"]) == (None, "applied", None)
    assert first["startedAt"] <= first["endedAt"] <= last["startedAt"] <= last["endedAt"] <= render(clock.now())
    assert len((await ana.ok(RECORDS, id=session, first=1))["it"]) == 1
    refused = await ana.run(RECORDS, id=session, first=0)
    assert refused.errors[0]["extensions"]["path"] == "first"
    hidden = await ben.run(RECORDS, id=session)
    assert hidden.errors[0]["extensions"]["code"] == "SessionNotFound"
