"""The resident memo: whole, inside its budget, in the order of the read set, restorable."""

from __future__ import annotations

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.rules.pools import base_id, new_base
from graph.services.access.agents import create_agent
from graph.services.access.commands import Command, command
from graph.services.access.grants import grant_shared
from graph.services.knowledge.bases import ensure_base
from graph.services.knowledge.restore import restore
from graph.services.knowledge.withdrawal import withdraw_source
from tests.support.learning import carried, code_of, memo, task
from tests.support.operations import apply, cite
from tests.support.world import TeamWorld


async def said(world: TeamWorld, text: str, channel: NodeId | None = None) -> dict[str, str]:
    """A message and a citation of all of it."""
    return cite(await world.say(channel or world.ops, text, speaker=world.ana), text)


@pytest.mark.req("RE-1", "RE-4", "RE-5")
async def test_a_turn_carries_the_memos_of_its_read_set_in_order(world: TeamWorld) -> None:
    await command(world.deps, world.caller(world.dan), lambda cmd: _agent_bases(cmd, world))
    for kind, text in ((KbKind.SHARED, "answer in English"), (KbKind.AGENT, "be brief")):
        kb = base_id(world.name, world.atlas, kind)
        await apply(world, memo(0, (text, ())), by=world.ana, kb=kb)
    public = await said(world, "ops: never deploy on friday")
    await apply(world, memo(0, ("never deploy on friday", [public])))
    private = await said(world, "call me Annie", world.chat)
    chat = (await world.open(world.chat)).id
    await apply(world, memo(0, ("call her Annie", [private])), conversation=chat)

    assert (await carried(world)).text == "be brief\nanswer in English\nnever deploy on friday"
    assert (await carried(world, world.chat)).text == "be brief\nanswer in English\ncall her Annie"
    seen = await carried(world, by=world.ben)
    assert [view.node.pool for view in seen.memos][-1] == base_id(world.name, world.atlas, KbKind.CHANNEL, world.ops)
    (line,) = seen.memos[-1].lines
    assert [citation.source.id for citation in line.support.citations] == [public["source"]]


async def _agent_bases(cmd: Command, world: TeamWorld) -> None:
    for kind in (KbKind.SHARED, KbKind.AGENT):
        await ensure_base(cmd.writer, new_base(world.name, world.atlas, kind, cmd.at))


@pytest.mark.req("RE-3", "RE-4")
async def test_a_memo_over_budget_is_refused_and_never_cut(world: TeamWorld) -> None:
    words = await said(world, "some words to cite")
    fits = " ".join(["word"] * 200)
    assert await code_of(world, memo(0, (fits, [words]))) == "accepted"
    assert await code_of(world, memo(1, (fits, [words]), ("more", [words]))) == "MEMO_OVER_BUDGET"
    assert (await carried(world)).text == fits


@pytest.mark.req("RE-5", "KN-87")
async def test_the_whole_memo_is_written_by_version(world: TeamWorld) -> None:
    first, second = await said(world, "deploy on monday"), await said(world, "ask Ana before")
    result = await apply(world, memo(0, ("deploy on monday", [first]), ("ask Ana", [second])))
    assert [record.operation for record in result.records] == ["memo.write"]
    assert await code_of(world, memo(0, ("ask Ana", [second]))) == "VERSION_CONFLICT"
    same = memo(1, ("deploy on monday", [first]), ("ask Ana", [second]))
    assert await code_of(world, same) == "noop"
    await apply(world, memo(1, ("ask Ana", [second])))
    found = await carried(world)
    assert (found.text, found.memos[-1].node.version) == ("ask Ana", 2)


@pytest.mark.req("RE-5", "DR-46", "DR-48")
async def test_every_line_cites_evidence_that_counts_for_a_memo(world: TeamWorld) -> None:
    words = await said(world, "deploy on monday")
    assert await code_of(world, memo(0, ("deploy on monday", ()))) == "SCHEMA_INVALID"
    assert await code_of(world, memo(0, ("two\nlines", [words]))) == "SCHEMA_INVALID"
    done = await task(world, ("ok", "deployed on monday"))
    assert await code_of(world, memo(0, ("it works", [cite(done, "deployed on monday")]))) == "TASK_RESULT_NOT_EVIDENCE"


@pytest.mark.req("KN-68")
async def test_a_person_types_a_line_and_leaves_others_as_they_are(world: TeamWorld) -> None:
    words = await said(world, "deploy on monday")
    await apply(world, memo(0, ("deploy on monday", [words])))
    kb = base_id(world.name, world.atlas, KbKind.CHANNEL, world.ops)
    await apply(world, memo(1, ("deploy on monday", ()), ("ask Ana", ())), by=world.ana, kb=kb)
    kept, typed = (await carried(world)).memos[-1].lines
    assert [c.source.id for c in kept.support.citations] == [words["source"]]
    assert [c.source.kind for c in typed.support.citations] == ["human_note"]


@pytest.mark.req("RE-5", "KN-94")
async def test_a_memo_is_restored_line_by_line_and_to_nothing(world: TeamWorld) -> None:
    first, second = await said(world, "deploy on monday"), await said(world, "ask Ana before")
    made = await apply(world, memo(0, ("deploy on monday", [first])))
    changed = await apply(world, memo(1, ("ask Ana", [second])))
    caller = world.caller(world.ana)

    async def undo(*records: NodeId) -> None:
        await command(world.deps, caller, lambda cmd: restore(cmd, list(records), reason="as it was"))

    await undo(changed.records[0].id)
    found = await carried(world)
    assert (found.text, found.memos[-1].node.version) == ("deploy on monday", 3)
    await undo(made.records[0].id)
    assert (await carried(world)).text == ""


@pytest.mark.req("KN-62")
async def test_a_line_goes_with_its_evidence(world: TeamWorld) -> None:
    first, second = await said(world, "deploy on monday"), await said(world, "ask Ana before")
    await apply(world, memo(0, ("deploy on monday", [first]), ("ask Ana", [second])))
    await command(world.deps, world.caller(world.host), lambda cmd: withdraw_source(cmd, NodeId(first["source"]), None))
    assert (await carried(world)).text == "ask Ana"
    assert await code_of(world, memo(1, ("deploy on monday", [first]))) == "EVIDENCE_NOT_FOUND"


@pytest.mark.req("RE-4")
async def test_what_was_only_granted_is_not_carried(world: TeamWorld) -> None:
    admin = world.caller(world.dan)
    other = await command(world.deps, admin, lambda cmd: create_agent(cmd, "Orion", local_id="orion"))
    shared = base_id(world.name, other.id, KbKind.SHARED)
    await command(world.deps, admin, lambda cmd: grant_shared(cmd, shared, world.atlas, True))
    await apply(world, memo(0, ("Orion speaks French", ())), by=world.dan, kb=shared)
    assert (await carried(world)).text == ""
