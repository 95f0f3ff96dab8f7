"""Public bug reports about memory systems, asked of sessions and agents."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.errors import AlreadyExists, SurfaceConflict
from graph.model.nodes.people import Right
from graph.services.agents.commands import remember
from graph.services.sessions.commands import remember as remember_fact
from tests.support.learning_room import SESSION, LearningRoom, change, names, says
from tests.unit.dreaming.conftest import ENGINES


@pytest.mark.req("SM-68", "SM-69")
async def test_13_neither_person_sees_or_changes_what_the_other_said(room: LearningRoom) -> None:
    world = room.world
    await room.make("ses_ben", person_id=world.ben)
    room.model.on(
        SESSION,
        says(change("style", "Concise answers.", kind="preference", sources=["i-20"])),
        says(change("style", "Concise answers.", kind="preference", sources=["i-20"])),
        says(change("style", "Detailed answers.", kind="preference", sources=["i-21"])),
    )
    await room.learned("t-1", "i-20", text="Dr Chen is my oncologist. Concise answers, please.")
    await room.learned("t-1", "i-20", local="ses_ben", person_id=world.ben, text="Dr Chen plays tennis with me.")
    await room.learned("t-2", "i-21", local="ses_ben", person_id=world.ben, text="Detailed answers from now on.")
    assert await room.facts() == {"style": "Concise answers."}
    for request in room.model.asked[1:]:
        assert "oncologist" not in "".join(message.text for message in request.messages)
    ben = await room.memory("ses_ben", world.ben)
    assert {key: fact.content for key, fact in ben.entries.items()} == {"style": "Detailed answers."}
    assert "oncologist" not in await room.begin_for("t-3", world.ben, local="ses_ben")


@pytest.mark.req("SM-4", "SM-113")
async def test_14_recall_loop_adds_nothing(room: LearningRoom) -> None:
    vim = "User prefers Vim."
    room.model.on(
        SESSION,
        says(change("editor", vim, kind="preference", sources=["u-00"])),
        lambda request: says(
            *(change("editor", vim, kind="preference", sources=[item]) for item in names(request) if item[0] == "a"),
            *(
                change("works-at", "The agent said that the user works at Google.", kind="hypothesis", sources=[item])
                for item in names(request)
                if item == "a-10"
            ),
        ),
    )
    await room.learned("t-00", "u-00", text="I prefer Vim.")
    for number in range(1, 51):
        turn = f"{number:02}"
        told = await room.begin(f"t-{turn}")
        assert told.count(vim) == 1, "one statement, however often it was said again"
        said = "You work at Google." if number == 10 else told
        await room.say(f"a-{turn}", said, type="agent_message", person_id=None)
        await room.say(f"u-{turn}", "thanks")
        await room.complete(f"t-{turn}", "m-1")
        await room.work()
    entries = (await room.memory()).entries
    assert sorted(entries) == ["editor", "works-at"]
    assert entries["editor"].sources == ("u-00",)
    assert (entries["works-at"].kind, entries["works-at"].sources) == ("hypothesis", ("a-10",))


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("SM-57", "AM-12", "SM-114")
async def test_15_same_write_twice_at_the_same_time(room: LearningRoom) -> None:
    world = room.world
    await world.grant(world.ana, Right.WRITE, world.atlas)
    text = "Invoice 17 was paid on 3 May."
    seen = await room.seen()
    edits = [
        *(
            room.as_ana(
                lambda cmd: remember_fact(cmd, room.id("ses_41"), seen, key="invoice", content=text, kind="fact")
            )
            for _ in range(5)
        ),
        *(
            room.as_ana(
                lambda cmd: remember(cmd, world.atlas, expected_version=0, key="invoice", content=text, kind="decision")
            )
            for _ in range(5)
        ),
    ]
    ended = await asyncio.gather(*edits, return_exceptions=True)
    assert [isinstance(result, SurfaceConflict) for result in ended].count(False) == 2
    assert ((await room.agent()).version, len((await room.agent()).entries)) == (1, 1)
    # The same item, and the end of its turn, reported twice
    room.model.on(SESSION, says(change("paid", text, sources=["i-20"])))
    await room.begin("t-1")
    said = await asyncio.gather(*(room.say("i-20", text) for _ in range(2)), return_exceptions=True)
    assert [isinstance(result, AlreadyExists) for result in said].count(True) == 1
    done = await asyncio.gather(*(room.complete("t-1", "m-1") for _ in range(2)), return_exceptions=True)
    assert sum(isinstance(result, Exception) for result in done) == 1
    await asyncio.gather(*(room.worker(str(number)).step() for number in range(4)))
    assert [names(request) for request in room.model.asked] == [["i-20"]]
    assert list((await room.memory()).entries) == ["invoice", "paid"]
