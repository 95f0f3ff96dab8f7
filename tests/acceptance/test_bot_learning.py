"""Bot memory: acceptance examples 5 to 7, 9 to 11, 15 to 17, 19, 20, the end of 14: learning, turns, limits, records.

A host drives chats in process with a scripted model and a clock that stands still; people ask over a real port.
Example 8 kills a real process: test_bot_restart.py, and at every write of a file tests/fault/test_bot_kill.py.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dreaming.bots.confide_tool import CALM_ANSWER
from dreaming.models.port import ModelRequest
from graph.model.nodes.bots import Chat, Enrichment
from graph.model.nodes.sessions import ItemType
from graph.model.time import Millis
from graph.rules import bot_entries
from graph.services.access.commands import command
from graph.services.access.guards import put_alone
from graph.services.bots.chat_access import rules_of_chat, text_place
from graph.services.bots.chats import delete_chat_history
from graph.services.bots.learning_context import learning_context
from graph.store.port import Store, Writer
from tests.support.bot_room import BotRoom, Rest
from tests.support.bot_talk import (
    CONFIDE,
    LEARN,
    REWRITE,
    BotTalk,
    costing,
    fact,
    notification,
    observe,
    rewriting,
    rows,
    shown,
)
from tests.support.clock import FakeClock
from tests.support.held_clock import HeldClock
from tests.support.neo4j_store import run
from tests.support.two_services import HeldModel, Meeting, MeetingModel, two_services
from tests.support.world import TeamWorld

pytestmark = [
    pytest.mark.parametrize("engine", ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)], indirect=True),
    pytest.mark.usefixtures("alone"),
]


@pytest.fixture
def clock() -> FakeClock:
    return HeldClock()


@pytest.fixture
async def room(world: TeamWorld, clock: HeldClock) -> BotRoom:
    return await BotRoom(world=world, tick=lambda: _tick(clock)).make()


@pytest.fixture
async def talk(room: BotRoom) -> BotTalk:
    return await BotTalk(room=room).make()


def _tick(clock: HeldClock) -> None:
    clock.advance(timedelta(seconds=1))


@pytest.mark.req("BM-37", "BM-40", "BM-58", "BM-82")
async def test_example_5_two_items_two_rules(talk: BotTalk, u_1: Rest, u_2: Rest) -> None:
    await talk.begin("t1", notification("n"), open_to_all=True, author="u_2")
    await talk.say("i-1", "The office opens at nine.", turn="t1")
    await talk.end("t1")
    await talk.turn("t2", "I come at ten.")
    talk.learns(fact("Opens at nine; u_1 comes at ten.", "i-1", "t2-1"))
    await talk.learn()
    (entry,) = await u_1.memory()
    assert [tag for tag in entry["tags"] if tag.startswith("for:")] == ["for:person:u_1"]
    assert await u_2.memory() == []

    await talk.turn("t3", "Mine.")
    await talk.turn("t4", "Yours.", operator="u_2")
    talk.learns(fact("Mine and yours.", "t3-1", "t4-1"))
    await talk.learn()
    assert len(await u_1.memory()) == 1
    assert {state for state, _ in await talk.states()} == {"done"}


@pytest.mark.req("BM-51", "BM-52", "BM-53", "BM-121")
async def test_example_6_widening_refused(talk: BotTalk, room: BotRoom, u_1: Rest, u_2: Rest, u_9: Rest) -> None:
    f1 = await room.fact("Write the changelog before tagging a release.")
    f2 = await room.group_fact("The channel deploys on Tuesdays.")
    o1 = await room.observe("Changelogs are due on Mondays.", f1, f2)
    o_2 = await room.observe("Mondays are busy.", f2)
    await u_9.send("PATCH", "/bot", {"expected": 0, "instructions": "Share all with the team"})

    def share(id_: str, audience: Any) -> Any:
        return {"_tag": "Share", "id": id_, "audience": audience, "reason": "owner approved"}

    before = (await room.entry(o1)).tags
    await talk.turn("t1", "Hello.")
    talk.learns(share(o1, {"channel": "ch_5"}))
    await talk.learn()
    assert (await room.entry(o1)).tags == before
    assert "Share all with the team" in talk.model.asked_for(LEARN)[0].messages[0].text

    await talk.turn("t2", "Hello.", chat="chat_70")
    talk.learns(share(o_2, {"person": "u_9"}), share(o_2, {"bot": True}), share(o_2, {"person": "u_2"}))
    await talk.learn()
    assert [tag for tag in (await room.entry(o_2)).tags if tag.startswith("for:")] == [
        "for:channel:ch_5",
        "for:person:u_2",
    ]
    assert o_2 in await u_2.ids()
    assert o_2 not in await u_9.ids()
    await room.members("u_1")
    assert o_2 not in await u_2.ids()
    assert [error for _, error in await talk.states()] == [None, None]


@pytest.mark.req("BM-85", "BM-87", "BM-88")
async def test_example_7_concurrent_learning(
    talk: BotTalk, room: BotRoom, u_1: Rest, engine: str, request: pytest.FixtureRequest
) -> None:
    await talk.begin("t1", notification("n"))
    await talk.begin("t2", notification("n"))
    for turn in ("t1", "t2"):
        await talk.confide(turn)
    await talk.say("i-1", "Write the changelog first.", turn="t2")
    await talk.say("i-2", "And then tag.", turn="t1")
    for turn in ("t1", "t2"):
        await talk.end(turn)
    talk.learns(fact("The changelog comes first.", "i-1"))
    uri = request.getfixturevalue("neo4j_uri") if engine == "neo4j" else None
    async with two_services(room.deps, uri=uri) as (one, other):
        together = Meeting(2)
        models = [MeetingModel(talk.model, together, when=LEARN) for _ in range(2)]
        both = [talk.elsewhere(service, model) for service, model in zip((one, other), models, strict=True)]
        await asyncio.gather(*(each.worker(f"w{n}").step() for n, each in enumerate(both)))
    assert len(await u_1.memory()) == 1
    assert await talk.version() == 1
    assert await talk.states() == [("done", None), ("done", None)]
    assert await talk.read_seq() == 4


@pytest.mark.req("BM-63", "BM-91", "BM-94")
async def test_example_9_source_gone_meanwhile(talk: BotTalk, room: BotRoom, u_1: Rest) -> None:
    f1 = await room.fact("Write the changelog before tagging a release.")
    f3 = await room.fact("Reviews take a day.")
    await talk.turn("t1", "We release on Fridays.")
    changes = [observe("From the first.", f1), observe("From the third.", f3), fact("Releases on Fridays.", "t1-1")]
    talk.learns(*changes)
    held = HeldModel(talk.model)
    talk.instead = held
    step = asyncio.ensure_future(talk.worker().step())
    await held.asked.wait()
    assert {entry["id"] for entry in await u_1.memory()} == {f1, f3}, "answered while the model is asked"
    assert (await u_1.forget(f1)).status == 200
    held.go.set()
    await step
    contents = {entry["content"] for entry in await u_1.memory() if entry["id"] not in (f1, f3)}
    assert contents == {"From the third.", "Releases on Fridays."}


@pytest.mark.req("BM-64", "BM-89", "BM-90", "BM-92")
async def test_example_10_300_and_rename(talk: BotTalk, room: BotRoom, u_1: Rest) -> None:
    item = await room.item("chat_61", "old")
    made = []
    for part in range(5):
        drafts = [bot_entries.fact(f"Trip {part}/{n}.", ["trip"], [item]) for n in range(61)]
        made += await room.learn(*[draft for draft in drafts if draft is not None])
    assert len(made) == 305
    async with room.reads("u_1") as reads:
        known = await learning_context(reads)
    order = sorted([await room.entry(id_) for id_ in made], key=lambda entry: (-entry.created_at, entry.id))
    assert [one.entry.id for one in known.entries] == [entry.id for entry in order[:300]]
    assert known.topics == {"trip": 305}

    await talk.turn("t1", "Call it travel.")
    talk.learns({"_tag": "RenameTopic", "from": "trip", "to": "travel"})
    held = HeldModel(talk.model)
    talk.instead = held
    step = asyncio.ensure_future(talk.worker().step())
    await held.asked.wait()
    (request,) = await talk.calls(LEARN)
    assert len(request.shown) == 300
    opened = room.deps.vault.openings
    held.go.set()
    await step
    assert room.deps.vault.openings == opened
    assert len(await u_1.memory("tags=travel")) == 305
    assert await u_1.memory("tags=trip") == []


@pytest.mark.req("BM-76", "BM-77", "BM-78", "BM-79", "BM-80", "BM-81", "BM-30")
async def test_example_11_what_is_no_evidence(talk: BotTalk, u_1: Rest) -> None:
    await talk.begin("t0", "Nobody confides here.")
    await talk.end("t0")
    assert await talk.runs() == []

    await talk.begin("t1", notification("The build is green."))
    await talk.say("app", "42 open tickets.", type=ItemType.APP_RESULT, tool="tickets")
    await talk.say("said", "Close the oldest ticket first.")
    await talk.say("bot", "I closed the newest one.", type=ItemType.AGENT_MESSAGE)
    await talk.confide(text="I closed the wrong ticket.")
    await talk.end()
    note = (await talk.items())[1].id.rpartition("/")[2]
    confession = (await talk.confessions())[0].id
    talk.learns(
        fact("From the confide.", confession),
        fact("From the app.", "app"),
        fact("From the notification.", note),
        fact("From the bot.", "bot"),
        fact("From nothing."),
        fact("From elsewhere.", "said", chat="chat_70"),
        fact("From the message.", "said"),
        fact("From both.", "app", "said"),
    )
    await talk.learn()
    (request,) = talk.model.asked_for(LEARN)
    assert [row["text"] for row in rows(request, "Confided about them")] == ["I closed the wrong ticket."]
    found = {entry["content"]: entry for entry in await u_1.memory()}
    assert set(found) == {"From the message.", "From both."}
    assert "app:tickets" in found["From both."]["tags"]
    assert not [tag for tag in found["From the message."]["tags"] if tag.startswith("app:")]


@pytest.mark.req("BM-154", "BM-159", "BM-161")
async def test_example_14_a_purge_is_final_and_a_deleted_history_none(
    talk: BotTalk, room: BotRoom, u_1: Rest, u_9: Rest
) -> None:
    """The end of example 14; its beginning is in test_bot_memory.py."""
    for turn, chat in (("t1", "chat_61"), ("t2", "chat_70")):
        await talk.turn(turn, "We release on Fridays.", chat=chat)
        talk.learns(fact(f"Releases on Fridays, says {chat}.", f"{turn}-1", chat=chat))
        await talk.learn()
    assert len(await u_1.memory()) == 2
    assert (await u_9.purge("chat:chat_61")).body == {"deleted": 1}

    await talk.turn("t3", "Remember what I said.")
    talk.learns(fact("Releases on Fridays, again.", "t1-1"))
    await talk.learn()
    assert "t1-1" not in shown(talk.model.asked_for(LEARN)[-1])
    (left,) = await u_1.memory()
    assert left["content"] == "Releases on Fridays, says chat_70."

    await command(talk.deps, talk.host, lambda cmd: delete_chat_history(cmd, room.chat_id("chat_70")))
    assert await talk.history("chat_70") == []
    assert await u_1.memory() == [left]


@pytest.mark.req("BM-123", "BM-124", "BM-125", "BM-126", "BM-128", "BM-134", "BM-135")
async def test_example_15_budget(talk: BotTalk, room: BotRoom, u_9: Rest, clock: HeldClock) -> None:
    await talk.organization("o_5", botMemoryModel="m-mem")
    await talk.chat("chat_5", organization_id=room.organization("o_5"))
    talk.model.on(CONFIDE, costing("Calm.", 600), costing("Calm.", 400), costing("Calm.", None, reported=False))
    budget = {"period": "day", "limitMicros": 1000}
    assert (await u_9.send("PATCH", "/bot", {"expected": 0, "budget": budget})).status == 200
    await talk.begin("t1")
    await talk.begin("t5", chat="chat_5")
    assert await talk.confide("t1") == "Calm."
    assert await talk.confide("t5", chat="chat_5") == "Calm."
    day = talk.deps.now() // 86_400_000
    assert [row[1:] for row in await talk.spent()] == [(1000, 0)]

    await room.fact("Write the changelog before tagging a release.")
    asked = len(talk.model.asked)
    assert await talk.begin("t2", "Plan release 4.2") == "Plan release 4.2"
    assert await talk.confide("t2") == CALM_ANSWER
    await talk.end("t2")
    assert await talk.learn() == 1
    assert len(talk.model.asked) == asked, "no call of a model"
    assert [state for state, _ in await talk.states()][-1] == "waiting"

    clock.set(type(clock.now())((day + 1) * 86_400_000 - 1))
    assert await talk.learn() == 0
    clock.advance(timedelta(milliseconds=1))
    assert await talk.learn() == 1, "at 00:00 UTC it runs"
    assert [state for state, _ in await talk.states()][-1] == "done"

    clock.set(type(clock.now())(day * 86_400_000 + 1_000))
    await talk.begin("t3")
    lifted = await u_9.send("PATCH", "/bot", {"expected": 1, "budget": None})
    assert lifted.body["budget"] is None
    assert await talk.confide("t3") == "Calm."
    assert (await talk.spent())[0][1:] == (1000, 1), "a call without reported usage is recorded apart"
    stale = await u_9.send("PATCH", "/bot", {"expected": 0, "budget": None})
    assert (stale.status, stale.body["reason"]) == (409, "stale")


class Slow:
    """A model whose answers take so long by the clock."""

    name = "slow"

    def __init__(self, talk: BotTalk, clock: HeldClock, **seconds: float) -> None:
        self.talk, self.clock, self.seconds = talk, clock, seconds
        self.asked: list[str] = []
        self._came = asyncio.Event()

    async def complete(self, request: ModelRequest) -> Any:
        self.asked.append(request.purpose)
        self._came.set()
        await self.clock.sleep(self.seconds[request.purpose.removeprefix("bot.")])
        return await self.talk.model.complete(request)

    async def was_asked(self, *purposes: str) -> None:
        """Wait until it was asked for all of these."""
        while len(self.asked) < len(purposes):
            self._came.clear()
            await self._came.wait()
        assert self.asked == list(purposes)


def _after(clock: HeldClock, seconds: int) -> Millis:
    return Millis(clock.now() + seconds * 1_000)


@pytest.mark.req("BM-122", "BM-129", "BM-130")
async def test_example_16_15_seconds(talk: BotTalk, room: BotRoom, clock: HeldClock) -> None:
    await talk.configure(concurrency=1)
    await room.fact("Write the changelog before tagging a release.")
    await talk.turn("t0", "We release on Fridays.")
    talk.model.on(CONFIDE, costing("Too late.", 7))
    talk.model.on(REWRITE, rewriting("Plan release 4.2, changelog first"))
    talk.learns(fact("Releases on Fridays.", "t0-1"))
    await talk.begin("t1", notification("n"))
    slow = Slow(talk, clock, learn=10, confide=6, rewrite=6)
    talk.instead = slow
    busy = asyncio.ensure_future(talk.worker().step())
    await slow.was_asked(LEARN)

    too_late = _after(clock, 15)
    confide = asyncio.ensure_future(talk.confide("t1"))
    await clock.so_many_sleep_until(too_late, 1)
    begin = asyncio.ensure_future(talk.begin("t2", "Plan release 4.2"))
    await clock.so_many_sleep_until(too_late, 2)
    clock.advance(timedelta(seconds=10))
    assert await busy
    assert await talk.states() == [("done", None), ("waiting", None)], "the busy task ends as usual"
    await slow.was_asked(LEARN, CONFIDE)
    await clock.so_many_sleep_until(too_late, 2)
    clock.advance(timedelta(seconds=4.999))
    assert clock.asleep_until(too_late) == 2
    assert not confide.done()
    clock.advance(timedelta(milliseconds=1))
    assert await confide == CALM_ANSWER, "15 s after the request"
    assert await begin == "Plan release 4.2"
    clock.advance(timedelta(seconds=1))
    while (call := (await talk.calls(CONFIDE))[-1]).state != "late":
        pass  # it is written down beside: look again
    assert call.cost_micro_usd == 7
    assert (await talk.spent())[0][1] == 7, "a late answer is not used, but its cost counts"
    assert slow.asked == [LEARN, CONFIDE], "what waited in vain asks nothing later"


@pytest.mark.req("BM-97", "BM-131", "BM-132", "BM-133")
async def test_example_17_2_minutes(talk: BotTalk, u_1: Rest, clock: HeldClock) -> None:
    await talk.turn("t1", "We release on Fridays.")
    held = HeldModel(talk.model)
    talk.instead = held
    too_late = _after(clock, 120)
    step = asyncio.ensure_future(talk.worker().step())
    await held.asked.wait()
    await clock.so_many_sleep_until(too_late, 1)
    clock.advance(timedelta(seconds=119.999))
    assert clock.asleep_until(too_late) == 1
    assert not step.done()
    clock.advance(timedelta(milliseconds=1))
    await step
    assert await talk.states() == [("failed", "timeout")]
    assert (await u_1.memory(), await talk.read_seq()) == ([], 0)

    talk.instead = None
    await talk.turn("t2", "Yes, on Fridays.")
    talk.learns(fact("Releases on Fridays.", "t1-1"))
    await talk.learn()
    assert [entry["content"] for entry in await u_1.memory()] == ["Releases on Fridays."]


@pytest.mark.req("BM-72", "BM-99", "BM-100", "BM-101", "BM-102", "BM-103", "BM-104", "BM-105", "BM-106", "BM-107")
async def test_example_19_rewrite(talk: BotTalk, room: BotRoom) -> None:
    f1 = await room.fact("Write the changelog before tagging a release.")
    f2 = await room.group_fact("The channel deploys on Tuesdays.")
    new = "Plan release 4.2; the changelog comes before the tag."
    talk.model.on(REWRITE, rewriting(new))
    given = notification("The build is green.", "Plan release 4.2")
    assert await talk.begin("t1", given) == f"{new}\n\nThe build is green."
    (request,) = talk.model.asked_for(REWRITE)
    assert {row["id"] for row in rows(request, "Notes")} == {f1, f2}
    assert "The build is green." not in shown(request)
    assert await talk.history() == ["Plan release 4.2", "The build is green."]

    await talk.chat("review", review=True)
    for_review = await talk.begin("r1", "Review: deploy 4.2", chat="review")
    assert for_review == "Review: deploy 4.2"

    talk.model.on(REWRITE, rewriting("Plan release 4.2 for Tuesday."))
    await talk.begin("t2", "Plan release 4.2", chat="chat_70")
    assert {row["id"] for row in rows(talk.model.asked_for(REWRITE)[-1], "Notes")} == {f2}

    for answer in (rewriting("Plan release 4.2, and so on.", "mem_other"), rewriting("Plan the release.")):
        talk.model.on(REWRITE, answer)
        assert await talk.begin(f"b{len(talk.model.asked)}", "Plan release 4.2") == "Plan release 4.2"

    await talk.organization(botMemory=False)
    asked = len(talk.model.asked)
    assert await talk.begin("off", "Plan release 4.2") == "Plan release 4.2"
    assert len(talk.model.asked) == asked
    assert await talk.confide("off") == "That sounds hard."
    assert "Notes" not in shown(talk.model.asked[-1])


@pytest.mark.req(
    "BM-168", "BM-169", "BM-170", "BM-171", "BM-173", "BM-184", "BM-185", "BM-186", "BM-187", "BM-159", "BM-50"
)
async def test_example_20_records_and_encryption(
    talk: BotTalk,
    room: BotRoom,
    http: httpx2.AsyncClient,
    u_1: Rest,
    u_9: Rest,
    store: Store,
    engine: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    f1 = await room.fact("Write the changelog before tagging a release.")
    talk.model.on(REWRITE, rewriting("Plan release 4.2 with its changelog."))
    talk.learns({"_tag": "Retag", "id": f1, "topics": ["releases"]}, fact("A new fact of u_1.", "t1-said"))
    await talk.begin("t1", "Plan release 4.2")
    await talk.say("t1-said", "It is due on Friday.")
    await talk.confide("t1", "I tagged too early.")
    await talk.end("t1")
    await talk.learn()
    await _put_old_enrichment(talk)
    token = u_1.token

    async def records(who: str, what: str) -> Any:
        headers = {"Authorization": f"Bearer {who}"}
        answer = await http.get(f"/v1/chats/chat_61/{what}", headers=headers)
        return answer.status_code, answer.json()

    status, body = await records(token, "confessions")
    assert status == 200
    (confession,) = body["confessions"]
    assert (confession["turn"], confession["text"]) == ("t1", "I tagged too early.")
    assert (confession["answer"], confession["entries"]) == ("That sounds hard.", [f1])
    status, body = await records(token, "enrichments")
    old, new = body["enrichments"]
    assert "original" not in old
    assert new == {
        "id": new["id"],
        "turn": "t1",
        "text": "Plan release 4.2 with its changelog.",
        "original": "Plan release 4.2",
        "entries": [f1],
        "createdAt": new["createdAt"],
    }
    for other in (await room.token("u_2"), u_9.token):
        for what in ("confessions", "enrichments"):
            assert (await records(other, what))[0] == 404
    assert (await http.get("/v1/chats/chat_61/confessions")).status_code == 401

    texts = [
        "Write the changelog before tagging a release.",
        "A new fact of u_1.",
        "I tagged too early.",
        "That sounds hard.",
        "Plan release 4.2",
        "It is due on Friday.",
    ]
    neo4j = engine == "neo4j"
    found = await (_rows(request.getfixturevalue("neo4j_uri")) if neo4j else _file(store, tmp_path))
    assert f1 in found, "this is the store"
    assert [text for text in texts if text in found] == []

    assert (await u_9.purge("chat:chat_61")).body["deleted"] == 2
    (confession,) = (await records(token, "confessions"))[1]["confessions"]
    assert (confession["answer"], confession["entries"], confession["withheld"]) == (None, [], True)
    new = (await records(token, "enrichments"))[1]["enrichments"][1]
    assert (new["text"], new["entries"], new["withheld"]) == (None, [], True)
    assert new["original"] == "Plan release 4.2"


async def _put_old_enrichment(talk: BotTalk) -> None:
    """Write a record of an enrichment as older versions kept it."""
    chat = await talk.node(talk.room.chat_id("chat_61"), Chat)
    id_ = talk.deps.new_id(Enrichment.PREFIX)
    turn = (await talk.items())[0].turn_id
    assert turn is not None
    text = talk.deps.vault.seal(text_place(chat.workspace, id_), "An old one.")
    made = Enrichment(
        id=id_, workspace=chat.workspace, pool=chat.pool, created_at=type(talk.deps.now())(1), chat_id=chat.id,
        turn_id=turn, text=text,
    )  # fmt: skip

    async def work(writer: Writer) -> None:
        await put_alone(writer, made, rules_of_chat(chat))

    await talk.deps.store.transact(work)


async def _file(store: Store, folder: Path) -> str:
    """Return all that an embedded store keeps, as text: every row, the file and its log."""
    rows = [repr(row) async for row in store.export_rows()]
    return "\n".join([*rows, _files(folder)])


def _files(folder: Path) -> str:
    parts = [path.read_bytes() for path in sorted(folder.glob("graph.db*"))]
    assert parts, "the store keeps files"
    return b"".join(parts).decode("utf-8", "replace")


async def _rows(uri: str) -> str:
    """Return all that a Neo4j keeps, as text; nothing of other tests is there."""
    nodes = await run(uri, "MATCH (n) RETURN labels(n), properties(n)")
    return repr((nodes, await run(uri, "MATCH ()-[r]->() RETURN type(r), properties(r)")))
