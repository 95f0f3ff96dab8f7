"""Consolidating a session: what is asked of which model, and what becomes of its answer."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from dreaming.models.port import ModelAnswer, ModelRequest, Role
from dreaming.models.scripted import ScriptedModel, cut
from graph.model.errors import NotFound
from graph.model.nodes.learning import ModelCall, ModelProfile
from graph.model.nodes.sessions import SessionItem
from graph.rules.jobs import DROPPED, JobState
from graph.services.access.commands import Command, command
from graph.services.access.session import read
from graph.services.access.settings_write import set_setting
from graph.services.learning.profiles import set_model_profile
from graph.services.sessions.consolidations import consolidations
from graph.services.sessions.deleting import delete_session
from graph.store.query import Eq, Find
from tests.support.held_clock import HeldClock
from tests.support.learning_room import LOOK, SESSION, LearningRoom, change, gone, names, says, shown
from tests.support.logs import everything_logged


def system(request: ModelRequest) -> str:
    return next(message.text for message in request.messages if message.role is Role.SYSTEM)


def whole(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


@pytest.mark.req("SM-96")
async def test_model_of_the_turn_is_asked(room: LearningRoom) -> None:
    world, asked = room.world, dict[str, ScriptedModel]()

    def make(profile: ModelProfile) -> ScriptedModel:
        return asked.setdefault(profile.name, ScriptedModel().on(SESSION, says()))

    async def profiles(cmd: Command) -> None:
        for name in ("m-1", "m-2"):
            await set_model_profile(cmd, name, provider="openai", model=name)

    await command(world.deps, world.caller(world.dan), profiles)
    await room.turn("t-1", "i-20", model="m-2")
    worker = room.worker()
    worker.models = make
    assert await worker.step()
    assert list(asked) == ["m-2"]
    assert names(asked["m-2"].asked[0]) == ["i-20"]


@pytest.mark.req("SM-109", "SM-122")
async def test_turn_without_a_usable_model_leaves_its_items_unread(room: LearningRoom) -> None:
    await room.turn("t-1", "i-20", model="m-nope")
    worker = room.worker()
    worker.models = lambda profile: room.model
    assert await worker.step()
    assert await room.processed() == []
    assert await room.endings() == [("failed", "MODEL_PROFILE_UNAVAILABLE")]


@pytest.mark.req("SM-105", "SM-106", "SM-107", "SM-39")
async def test_task_text_and_what_is_shown(room: LearningRoom) -> None:
    await room.remember("venue", "Porto.")
    await room.remember("hotel", "MARMALADE.")
    await room.forget("hotel")
    room.model.on(SESSION, says())
    await room.learned("t-1", "i-20")
    [asked] = room.model.asked
    assert shown(asked, "Facts") == [{"key": "venue", "kind": "decision", "content": "Porto."}]
    assert "MARMALADE" not in whole(asked), "neither a retracted fact nor the item of an edit is shown"
    assert names(asked) == ["i-20"]
    assert shown(asked)[0]["from"] == "Ana (ana)"
    told = system(asked)
    assert "changed under the key it already has" in told
    assert "only where the person said so outright" in told
    assert "no password, no key, no token, and no link whose holder gains access" in told
    assert asked.prompt == "learn_session@1"


@pytest.mark.req("SM-108", "SM-112", "SM-113")
async def test_credentials_and_bad_changes_are_dropped_and_the_items_are_read(room: LearningRoom) -> None:
    bad: list[Any] = [
        change("key", "-----BEGIN PRIVATE KEY-----\nMII", sources=["i-20"]),
        change("repo", "https://ana:pw@git.example", sources=["i-20"]),
        change("api", "Bearer abc123", sources=["i-20"]),
    ]
    malformed: list[Any] = [
        "Remember",
        None,
        {"_tag": "Rename", "key": "x", "sources": ["i-20"]},
        {"_tag": "Remember", "key": 7, "content": "x", "kind": "fact", "sources": ["i-20"]},
        {"_tag": "Remember", "key": "x", "kind": "fact", "sources": ["i-20"]},
        {"_tag": "Remember", "key": "x", "content": "x", "kind": "fact", "sources": "i-20"},
        change("x", sources=[{"item": "i-20"}]),
        change("x", sources=["i 20/../"]),
    ]
    room.model.on(SESSION, says(*bad, *malformed), says(*malformed, change("ok", sources=["i-21"])))
    await room.learned("t-1", "i-20")
    assert (await room.facts(), await room.processed()) == ({}, ["i-20"])
    await room.learned("t-2", "i-21")
    assert (await room.facts(), await room.processed()) == ({"ok": "Porto."}, ["i-20", "i-21"])
    assert await room.endings() == [("nothing", None), ("applied", None)]


@pytest.mark.req("SM-109", "SM-111")
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("I would keep the venue.", "MODEL_ANSWER_NO_JSON"),
        ('{"changes": {}}', "MODEL_ANSWER_INVALID"),
        ('{"facts": []}', "MODEL_ANSWER_INVALID"),
        ("", "MODEL_ANSWER_EMPTY"),
        (cut('{"changes": [{"_tag": "Rem'), "MODEL_ANSWER_CUT"),
    ],
)
async def test_answer_that_is_no_list_of_changes_is_a_failure(
    room: LearningRoom, answer: str | ModelAnswer, code: str
) -> None:
    room.model.on(SESSION, answer)
    before = await room.session()
    await room.learned("t-1", "i-20")
    after = await room.session()
    assert (after.revision, await room.processed()) == (before.revision + 1, []), "only the item that was said"
    assert await room.endings() == [("failed", code)]
    assert len(room.model.asked) == 1, "it is not asked again before the next turn"


@pytest.mark.req("SM-111")
@pytest.mark.parametrize("form", ["<think>{}</think>\n{}", "```json\n{}\n```", "Here it is:\n{}\nDone."])
async def test_answer_may_be_fenced_and_thought_about(room: LearningRoom, form: str) -> None:
    answer = json.dumps(says(change("venue", sources=["i-20"])))
    room.model.on(SESSION, form.replace("{}</think>", "perhaps</think>").replace("{}", answer))
    await room.learned("t-1", "i-20")
    assert await room.facts() == {"venue": "Porto."}


@pytest.mark.req("SM-111")
@pytest.mark.parametrize(("seconds", "ended"), [(120, "applied"), (121, "failed")])
async def test_answer_has_120_seconds(room: LearningRoom, clock: HeldClock, seconds: int, ended: str) -> None:
    room.model.on(SESSION, says(change("venue", sources=["i-20"])))
    await room.turn("t-1", "i-20")
    async with room.held():
        await room.prolong(clock.now() + 600_000)
        clock.advance(timedelta(seconds=seconds))
    [(outcome, error)] = await room.endings()
    assert (outcome, error) == (ended, "MODEL_TIMEOUT" if ended == "failed" else None)


@pytest.mark.req("SM-50", "SM-74", "SM-8", "SM-25")
async def test_consolidation_makes_neither_an_item_nor_a_head(room: LearningRoom, clock: HeldClock) -> None:
    room.model.on(SESSION, says(change("venue", sources=["i-20"]), change("date", sources=["i-20"])))
    await room.turn("t-1", "i-20")
    before = await room.session()
    clock.advance(timedelta(seconds=3))
    await room.work()
    after = await room.session()
    assert (after.head, after.revision) == (before.head, before.revision + 1)
    view = await room.memory()
    assert {fact.updated_at for fact in view.entries.values()} == {clock.now()}


async def test_learned_forget_retracts_and_names_its_sources(room: LearningRoom) -> None:
    await room.remember("hotel", "Sol.")
    room.model.on(SESSION, says(gone("hotel", sources=["i-20"]), gone("unknown", sources=["i-20"])))
    await room.learned("t-1", "i-20")
    view = await room.memory()
    assert list(view.entries) == ["hotel"]
    entry = view.entries["hotel"]
    assert (entry.status, entry.content, entry.sources) == ("retracted", "Sol.", ("i-20",))


@pytest.mark.req("SM-118")
async def test_return_to_an_older_version_meanwhile(room: LearningRoom) -> None:
    await room.turn("t-1", "i-20", "i-21")
    room.model.on(
        SESSION,
        says(change("a", sources=["i-20"]), change("b", sources=["i-21"]), change("c", sources=["i-20", "i-21"])),
    )
    async with room.held():
        await room.restore(room.heads["i-20"])
    assert list(await room.facts()) == ["a"]
    assert await room.processed() == ["i-20"]


@pytest.mark.req("SM-118", "SM-74")
async def test_return_that_leaves_nothing_of_what_was_read(room: LearningRoom) -> None:
    await room.turn("t-1", "i-20")
    room.model.on(SESSION, says(change("a", sources=["i-20"])))
    async with room.held():
        restored = await room.restore(room.heads["i-10"])
    assert (await room.facts(), await room.processed()) == ({}, [])
    assert (await room.session()).revision == restored.revision
    assert await room.endings() == [("nothing", None)]


@pytest.mark.req("SM-98", "SM-121")
async def test_one_consolidation_reads_the_oldest_two_hundred(room: LearningRoom) -> None:
    room.model.on(SESSION, says())
    items = [f"j-{number:03}" for number in range(203)]
    await room.learned("t-1", *items)
    assert names(room.model.asked[0]) == items[:200]
    await room.learned("t-2", "i-20")
    assert names(room.model.asked[1]) == [*items[200:], "i-20"]


async def test_very_long_items_wait_for_the_next_turn_or_are_shortened(room: LearningRoom) -> None:
    room.model.on(SESSION, says())
    await room.turn("t-1", "i-20", "i-21", text="x" * 100_000)
    await room.work()
    [asked] = room.model.asked
    assert [(line["id"], len(line["text"]), line["shortened"]) for line in shown(asked)] == [("i-20", 24_000, True)]
    assert await room.processed() == ["i-20"]


@pytest.mark.req("SM-122")
async def test_record_tells_when_and_how_and_nothing_of_the_content(room: LearningRoom, clock: HeldClock) -> None:
    room.model.on(SESSION, says(change("MARMALADE", "MARMALADE.", sources=["i-20"])))
    await room.turn("t-1", "i-20", text="MARMALADE")
    began = clock.now()
    async with room.held():
        clock.advance(timedelta(seconds=7))
    world = room.world
    [record], _ = await read(
        world.deps, world.caller(world.ana), lambda reading: consolidations(reading, room.id("ses_41"))
    )
    assert (record.session_id, record.turn_id) == (room.id("ses_41"), f"trn_{world.name}/ses:ses_41/t-1")
    assert (record.started_at, record.ended_at, record.outcome, record.error) == (
        began,
        began + 7_000,
        "applied",
        None,
    )
    assert "MARMALADE" not in repr(record)
    with pytest.raises(NotFound):
        await read(world.deps, world.caller(world.eve), lambda reading: consolidations(reading, room.id("ses_41")))


@pytest.mark.req("SM-115", "AD-34")
async def test_worker_that_died_leaves_a_failed_record_and_unread_items(room: LearningRoom, clock: HeldClock) -> None:
    room.model.on(SESSION, says())
    await room.turn("t-1", "i-20")
    await room.die()
    assert await room.endings() == [("", None)]
    clock.advance(timedelta(minutes=10))
    assert await room.work() == ["learn_session dropped"]
    assert await room.endings() == [("failed", DROPPED)]
    assert (await room.processed(), room.model.asked) == ([], [])
    assert await room.learned("t-2", "i-21") == ["learn_session done"]
    assert names(room.model.asked[-1]) == ["i-20", "i-21"]


@pytest.mark.req("SM-115", "SM-110")
async def test_turn_that_completes_before_the_dead_lease_is_over_is_learned_from(
    room: LearningRoom, clock: HeldClock
) -> None:
    room.model.on(SESSION, says())
    await room.turn("t-1", "i-20")
    await room.die()
    assert await room.learned("t-2", "i-21") == [], "the lease of the dead one holds"
    clock.advance(timedelta(minutes=10))
    assert await room.work() == ["learn_session dropped", "learn_session done"]
    assert names(room.model.asked[-1]) == ["i-20", "i-21"]
    assert await room.endings() == [("failed", DROPPED), ("nothing", None)]


@pytest.mark.req("SM-114")
async def test_turn_that_completes_while_its_session_is_consolidated_is_learned_from_afterwards(
    room: LearningRoom,
) -> None:
    room.model.on(SESSION, says(change("a", sources=["i-20"])), says())
    await room.turn("t-1", "i-20")
    async with room.held():
        await room.turn("t-2", "i-21")
        assert await room.worker("other").step() is False, "two never overlap"
    assert [names(request) for request in room.model.asked] == [["i-20"], ["i-21"]]
    assert await room.processed() == ["i-20", "i-21"]


async def test_session_that_is_deleted_meanwhile_takes_its_learning_with_it(room: LearningRoom) -> None:
    room.model.on(SESSION, says(change("a", sources=["i-20"])))
    await room.turn("t-1", "i-20")
    async with room.held():
        await room.as_ana(lambda cmd: delete_session(cmd, room.id("ses_41")))
    assert room.outcomes == ["learn_session lost"]
    assert await room.records() == []
    async with room.world.deps.store.reading() as reader:
        assert not (await reader.find(LOOK, Find(kind=SessionItem, where=Eq("session_id", room.id("ses_41"))))).nodes


async def test_answer_is_used_and_not_kept(room: LearningRoom) -> None:
    room.model.on(SESSION, says(change("venue", "MARMALADE.", sources=["i-20"])))
    await room.learned("t-1", "i-20")
    async with room.world.deps.store.reading() as reader:
        calls = (await reader.find(LOOK, Find(kind=ModelCall, where=Eq("workspace", room.world.workspace)))).nodes
    assert [(call.purpose, call.answer) for call in calls] == [(SESSION, None)]


async def test_spent_budget_puts_learning_off_to_the_next_day(room: LearningRoom, clock: HeldClock) -> None:
    world = room.world
    dan = world.caller(world.dan)
    await command(world.deps, dan, lambda cmd: set_setting(cmd, "dream.daily_calls", 0))
    room.model.on(SESSION, says())
    assert await room.learned("t-1", "i-20") == ["learn_session put_off"]
    assert (room.model.asked, await room.endings()) == ([], [("failed", "MODEL_BUDGET_SPENT")])
    await command(world.deps, dan, lambda cmd: set_setting(cmd, "dream.daily_calls", 10))
    clock.advance(timedelta(days=1))
    assert await room.work() == ["learn_session done"]
    assert [job.state for job in await room.jobs()] == [JobState.SUCCEEDED]


@pytest.mark.req("SM-127", "AM-53", "SM-122")
async def test_learning_logs_counts_and_leaves_no_word_of_the_content(
    room: LearningRoom, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = change("marmalade-key", "Marmalade content.", sources=["i-20"])
    room.model.on(SESSION, says(secret, {**secret, "kind": "marmalade"}, "marmalade"), "marmalade", says(secret))
    with everything_logged():
        await room.learned("t-1", "i-20", text="Say marmalade.")
        await room.learned("t-2", "i-21", text="Say marmalade.")
    assert [outcome for outcome, _ in await room.endings()] == ["applied", "failed"]
    logged = capsys.readouterr()
    assert "marmalade" not in (logged.out + logged.err + repr(await room.records()) + repr(await room.jobs())).lower()
