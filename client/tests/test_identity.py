"""Which conversation a run belongs to."""

from __future__ import annotations

import logging
import re

import pytest

from rootward import ConversationRef, MemorySession, Segment, TerminalMetadata, TerminalState, memory, run
from sandbox_world import World, files_of, lines_of

_BAD = ["../x", "a/b", ".hidden", "x" * 129, "-x", "_x", "a b", "a\nb", "ä", "a\\b", "a\0", "a:b"]
_GOOD = ["a", "7", "x" * 128, "A.b_c-d..e", "con"]


@pytest.mark.req("SB-53")
@pytest.mark.parametrize(
    ("conversation", "session", "group", "file"),
    [("c1", "s1", "g1", "c1"), (None, "s1", "g1", "s1"), (None, None, "g1", "g1"), ("c1", None, None, "c1")],
)
async def test_the_first_that_is_given_names_the_conversation(
    world: World, conversation: str | None, session: str | None, group: str | None, file: str
) -> None:
    sandbox = await world.client.create()
    history = MemorySession(session_id=session) if session else None
    await run(
        world.agent(memory(read=None)),
        "Hello",
        sandbox=sandbox,
        session=history,
        conversation_id=conversation,
        group_id=group,
    )
    assert files_of(sandbox, "sessions/") == [f"sessions/{file}.jsonl"]


@pytest.mark.req("SB-54")
async def test_one_identifier_is_one_conversation(world: World) -> None:
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1", "c1", "c1")
    assert len(lines_of(sandbox, "sessions/c1.jsonl")) == 3


@pytest.mark.req("SB-55")
async def test_phase_1_sees_the_whole_exchange_of_a_session(world: World) -> None:
    sandbox, session = await world.client.create(), MemorySession(session_id="ledger")
    for said in ("the first", "the second"):
        await run(world.agent(), said, sandbox=sandbox, session=session)
    await sandbox.close()
    assert len(world.one.requests) == 1
    asked = str(world.one.requests[0].input)
    assert asked.index("the first") < asked.index("the second")


@pytest.mark.req("SB-56")
async def test_the_sandbox_names_no_conversation(world: World) -> None:
    sandbox = await world.client.create()
    await run(world.agent(), "Hello", sandbox=sandbox)
    assert sandbox.id not in "".join(files_of(sandbox))


@pytest.mark.req("SB-57")
@pytest.mark.parametrize("blank", ["", "  ", "\n\t"])
async def test_a_blank_identifier_counts_as_absent(world: World, blank: str) -> None:
    sandbox = await world.client.create()
    session = MemorySession(session_id=blank)
    await run(world.agent(), "Hello", sandbox=sandbox, session=session, conversation_id=blank, group_id=" g1 ")
    assert files_of(sandbox, "sessions/") == ["sessions/g1.jsonl"]


@pytest.mark.req("SB-58")
async def test_without_identifiers_each_run_has_its_own(world: World) -> None:
    sandbox = await world.client.create()
    for _ in range(2):
        await run(world.agent(), "Hello", sandbox=sandbox)
    names = files_of(sandbox, "sessions/")
    assert len(names) == 2
    assert all(re.fullmatch(r"sessions/run-[0-9a-f]{32}\.jsonl", name) for name in names)


@pytest.mark.parametrize("identifier", _GOOD)
async def test_odd_ids_are_files(world: World, identifier: str) -> None:
    sandbox = await world.client.create()
    await world.say_in(sandbox, identifier)
    assert files_of(sandbox, "sessions/") == [f"sessions/{identifier}.jsonl"]
    report = await sandbox.close()
    assert [(one.rollout_id, one.status) for one in report.layouts[0].phase_one] == [(identifier, "extracted")]


@pytest.mark.parametrize("identifier", _BAD)
async def test_the_recorder_refuses_an_id_that_names_no_file(world: World, identifier: str) -> None:
    sandbox = await world.client.create()
    given = Segment(input=[], terminal_metadata=TerminalMetadata(terminal_state=TerminalState.COMPLETED))
    with pytest.raises(ValueError, match="conversation_id"):
        await sandbox.record(memory(), ConversationRef(conversation_id=identifier, group_id="g1"), given)
    assert files_of(sandbox) == []


@pytest.mark.parametrize("identifier", _BAD)
async def test_a_run_with_such_an_id_keeps_its_result(
    world: World, identifier: str, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox = await world.client.create()
    with caplog.at_level(logging.ERROR, "rootward"):
        result = await world.say_in(sandbox, identifier)
    assert result is not None
    assert result.final_output == "Done."
    assert "conversation_id must begin" in caplog.text
    assert files_of(sandbox) == []
    assert (await sandbox.close()).layouts == []


def test_the_field_that_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match="session_id"):
        ConversationRef(conversation_id=" ", session_id="a/b", group_id="g").rollout_id()
