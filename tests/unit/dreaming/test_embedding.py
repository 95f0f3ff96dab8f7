"""Vectors made by a job after the commit: what is embedded, what is found by it, what drops it, how it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from unittest.mock import AsyncMock

import pytest

from graph.model.errors import ModelUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode
from graph.model.nodes.knowledge import BlockVersion
from graph.rules.embedding import message_vector_id, window_vector_id
from graph.rules.ranking import ItemKind
from graph.services.access.commands import command
from graph.services.knowledge.erasure import erase
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.query import Eq, Find
from tests.support.channel_room import Room
from tests.support.embedding import WordsEmbedder, choose
from tests.support.embedding_desk import LOOK, Desk
from tests.support.held_clock import HeldClock
from tests.support.operations import apply, block, cite, create, edit, made, on_entry
from tests.support.world import TeamWorld

NEO4J = pytest.mark.parametrize("engine", [pytest.param("neo4j", marks=pytest.mark.neo4j)], indirect=True)
VECTOR_ROUTES = {"block_vector", "episode_vector", "message_vector"}


@pytest.fixture
async def desk(world: TeamWorld) -> Desk:
    return await Desk(world=world).make()


@pytest.mark.req("RE-7", "RE-8", "RE-10", "RE-32", "DR-83")
async def test_what_means_the_same_is_found_once_its_vector_is_made(desk: Desk) -> None:
    source = await desk.world.say(desk.world.ops, "Our puppy sleeps.", speaker=desk.world.ben)
    entry = made(await apply(desk.world, create("Rex", block("Is a puppy.", cite(source, "puppy")))))
    assert await desk.found("hound") == {}
    assert await desk.found("puppy") == {entry: ["entry_keyword"], source: ["message_keyword"]}  # at once
    assert await desk.embed() == ["done"]
    assert await desk.found("hound") == {entry: ["block_vector"], source: ["message_vector"]}
    answer = await desk.ask("hound")
    assert answer.routes_skipped == ()
    assert answer.items[0].kind is ItemKind.ENTRY


@pytest.mark.req("RE-32")
async def test_the_texts_name_speaker_day_and_entry(desk: Desk, clock: HeldClock) -> None:
    first = await desk.world.say(desk.world.ops, "The kiln is new.")
    await desk.world.say(desk.world.ops, "Good.", speaker=desk.world.ben, name="Ben")
    await apply(desk.world, create("Helio", block("Builds kilns.", cite(first, "kiln"))))
    await desk.embed()
    texts = [text for call in desk.model.asked for text in call]
    day = "10 May 2025"
    assert texts == [
        "Helio: Builds kilns.",
        f"Ana ({day}): The kiln is new.",
        f"Ben ({day}): Good.",
        f"Ana ({day}): The kiln is new.\nBen ({day}): Good.",
        f"Ana ({day}): The kiln is new.\nBen ({day}): Good.",
    ]


@pytest.mark.req("RE-10", "KN-61")
async def test_nobody_finds_what_he_may_not_see(desk: Desk) -> None:
    private = await desk.world.say(desk.world.chat, "I bought a puppy.")
    shared = await desk.world.say(desk.world.ops, "The hound barks.", speaker=desk.world.ben)
    await desk.embed()
    assert set(await desk.found("dog", by=desk.world.ana)) == {private, shared}
    assert set(await desk.found("dog", by=desk.world.ben)) == {shared}


@pytest.mark.req("RE-10")
async def test_what_is_too_far_is_no_hit(desk: Desk) -> None:
    await desk.world.say(desk.world.ops, "The budget is closed.")
    await desk.embed()
    assert await desk.found("hound") == {}
    await choose(desk.world, search__min_cosine=-1)
    assert len(await desk.found("hound")) == 1


@pytest.mark.req("RE-11")
async def test_a_superseded_block_is_no_candidate(desk: Desk) -> None:
    source = await desk.world.say(desk.world.ops, "A puppy, later a boat.", speaker=desk.world.ben)
    result = await apply(desk.world, create("Rex", block("Is a puppy.", cite(source, "puppy"))))
    await desk.embed()
    await apply(desk.world, edit(made(result, 0, 1), 1, block("Is a boat.", cite(source, "boat"))))
    await desk.embed()
    assert made(result) not in await desk.found("hound")
    assert made(result) in await desk.found("vessel")


@pytest.mark.req("RE-9", "KN-81")
async def test_the_vector_of_an_erased_message_goes_while_its_neighbours_wait_to_be_made_again(desk: Desk) -> None:
    world = desk.world
    first, second, third = [await world.say(world.ops, f"{word} it is.") for word in ("Puppy", "Kiln", "Boat")]
    await desk.embed()
    await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, first, "gone"))
    await erase(world.deps, world.caller(world.dan), second, "asked to")
    assert {node.id for node in await desk.vectors()} == {message_vector_id(third)}


@pytest.mark.req("RE-32", "KN-81")
async def test_no_vector_holds_on_to_a_former_name(desk: Desk) -> None:
    world = desk.world
    source = await world.say(world.ops, "Marmalade is our puppy.", speaker=world.ben)
    result = await apply(world, create("Marmalade", block("Is our puppy.", cite(source, "our puppy"))))
    await desk.embed()
    await apply(world, on_entry("renameEntry", made(result), 1, name="Rex"))
    async with world.deps.store.reading() as reader:
        versions = (await reader.find(LOOK, Find(kind=BlockVersion, where=Eq("entry_id", made(result))))).nodes
    assert [(version.text, version.embedding) for version in versions] == [("Is our puppy.", None)]


@pytest.mark.req("RE-9", "KN-81")
async def test_withdrawal_and_erasure_drop_vectors_at_once(desk: Desk) -> None:
    world = desk.world
    said = [await world.say(world.ops, f"{word} it is.") for word in ("Puppy", "Kiln", "Boat", "Cash")]
    await desk.embed()
    assert len(await desk.vectors()) == 8
    await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, said[0], "gone"))
    left = {node.id for node in await desk.vectors()}
    assert left.isdisjoint({message_vector_id(said[0]), window_vector_id(said[0]), window_vector_id(said[1])})
    assert left >= {message_vector_id(said[1]), message_vector_id(said[3]), window_vector_id(said[3])}
    assert said[0] not in await desk.found("hound")
    desk.model.asked.clear()
    assert await desk.embed() == ["done"]
    assert len(await desk.vectors()) == 6
    receipt = await erase(world.deps, world.caller(world.dan), said[3], "asked to")
    assert receipt.counts["vectors"] == 3  # both of the message, and that of its neighbour with it
    assert len(await desk.vectors()) == 3
    assert await desk.embed() == ["done"]
    assert len(await desk.vectors()) == 4
    assert not [text for call in desk.model.asked for text in call if "Puppy" in text]
    await command(world.deps, world.caller(world.dan), lambda cmd: return_source(cmd, said[0], None))
    await desk.embed()
    assert said[0] in await desk.found("hound")


@pytest.mark.req("RE-9", "RE-32")
async def test_a_new_message_renews_the_windows_beside_it_alone(desk: Desk) -> None:
    for word in ("puppy", "kiln", "boat"):
        await desk.world.say(desk.world.ops, f"A {word}.")
    await desk.embed()
    desk.model.asked.clear()
    await desk.world.say(desk.world.ops, "Cash.")
    assert len(await desk.vectors()) == 5
    await desk.embed()
    texts = [text for call in desk.model.asked for text in call]
    assert len(texts) == 3  # the new one alone and with its neighbour, and the one before with it
    assert len(await desk.vectors()) == 8


@pytest.mark.req("RE-32")
async def test_another_name_of_an_entry_makes_its_vectors_anew(desk: Desk) -> None:
    source = await desk.world.say(desk.world.ops, "Rex is here. Call it Sloop.", speaker=desk.world.ben)
    result = await apply(desk.world, create("Rex", block("Is here.", cite(source, "is here"))))
    await desk.embed()
    await apply(desk.world, on_entry("renameEntry", made(result), 1, name="Boat of Ben"))
    assert (await desk.states())["block"].pending == 1
    await desk.embed()
    assert made(result) in await desk.found("vessel")


@pytest.mark.req("RE-32", "DR-27", "CO-66")
async def test_a_provider_that_fails_is_asked_again_as_the_back_off_says(desk: Desk, clock: HeldClock) -> None:
    await desk.world.say(desk.world.ops, "A puppy.")

    def away(texts: Sequence[str]) -> None:
        raise ModelUnavailable("http_429")

    desk.model.instead = away
    due = []
    for _ in range(4):
        assert await desk.embed() == ["failed"]
        job = await desk.job()
        assert job is not None
        due.append((job.due_at - clock.now()) / 1_000)
        clock.advance(timedelta(milliseconds=job.due_at - clock.now()))
    assert due == [60, 300, 1_800, 7_200]
    state = (await desk.states())["message"]
    assert (state.total, state.embedded, state.pending, state.failed) == (1, 0, 1, 0)
    assert state.oldest_pending_at is not None
    desk.model.instead = lambda texts: None
    assert await desk.embed() == ["done"]
    state = (await desk.states())["message"]
    assert (state.embedded, state.pending, state.oldest_pending_at) == (1, 0, None)


@pytest.mark.req("RE-32")
async def test_another_number_of_vectors_than_of_texts_is_an_answer_that_failed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.world.say(desk.world.ops, "A puppy.")
    monkeypatch.setattr(desk.model, "embed", AsyncMock(return_value=[]))
    assert await desk.embed() == ["failed"]
    job = await desk.job()
    assert job is not None
    assert job.last_error == "MODEL_BAD_RESPONSE"


@pytest.mark.req("RE-32", "CO-66")
async def test_a_text_that_is_refused_holds_up_no_other(desk: Desk) -> None:
    for word in ("puppy", "unspeakable", "kiln"):
        await desk.world.say(desk.world.chat, f"A {word}.")

    def picky(texts: Sequence[str]) -> None:
        if any("unspeakable" in text and "\n" not in text for text in texts):
            raise ModelUnavailable("bad_request")

    desk.model.instead = picky
    assert await desk.embed() == ["done"]
    state = (await desk.states())["message"]
    assert (state.total, state.embedded, state.failed, state.pending) == (3, 2, 1, 0)
    assert await desk.embed() == []  # it is not asked for again and again


async def test_a_model_that_takes_nothing_fails_the_job(desk: Desk) -> None:
    await desk.world.say(desk.world.chat, "A puppy.")

    def nothing(texts: Sequence[str]) -> None:
        raise ModelUnavailable("bad_request")

    desk.model.instead = nothing
    assert await desk.embed() == ["failed"]
    assert (await desk.states())["message"].pending == 1


@pytest.mark.req("RE-32")
async def test_18_another_embedding_model(desk: Desk) -> None:
    """Bug case 18: vectors of 8 numbers, then a model with 12; a stop in the middle; superseded ones too."""
    world = desk.world
    source = await world.say(world.ops, "A puppy, then a kiln.", speaker=world.ben)
    results = [
        await apply(world, create(f"Thing {n}", block(f"Is puppy {n}.", cite(source, "puppy")))) for n in range(12)
    ]
    await apply(world, edit(made(results[0], 0, 1), 1, block("Is a kiln.", cite(source, "kiln"))))
    await desk.embed()
    assert (await desk.states())["block"].embedded == 13
    desk.embedders.models["large"] = larger = WordsEmbedder(size=12)
    await choose(world, embedding__provider="test", embedding__model="large", embedding__batch_size=3)
    # before: the old vectors are ignored at once, the words still find
    assert await desk.found("hound") == {}
    assert made(results[1]) in await desk.found("thing 1")
    # in the middle: the worker ends after the second batch
    calls = 0

    def stop(texts: Sequence[str]) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise asyncio.CancelledError

    larger.instead = stop
    with pytest.raises(asyncio.CancelledError):
        await desk.embed()
    state = (await desk.states())["block"]
    assert (state.total, state.embedded, state.pending) == (13, 6, 7)
    assert await desk.found("hound") != {}
    # after the restart it ends with every vector, superseded ones too
    larger.instead = lambda texts: None
    assert await desk.embed() == ["done"]
    async with world.deps.store.reading() as reader:
        versions = (await reader.find(LOOK, Find(kind=BlockVersion))).nodes
    mine = [v for v in versions if v.workspace == world.workspace]
    assert {(v.embedding_model, len(v.embedding or b"")) for v in mine} == {("test:large", 48)}
    assert {len(v.embedding or b"") for v in await desk.vectors()} == {48}  # type: ignore[attr-defined]


@pytest.mark.req("RE-32")
async def test_another_size_under_the_same_name_is_an_error_people_can_read(desk: Desk) -> None:
    await desk.world.say(desk.world.ops, "A puppy.")
    await desk.embed()
    desk.model.size = 12
    await desk.world.say(desk.world.ops, "A kiln.")
    assert await desk.embed() == ["failed"]
    job = await desk.job()
    assert job is not None
    assert job.last_error == "EMBEDDING_SIZE_CHANGED"
    assert await desk.found("puppy") != {}


@pytest.mark.req("RE-32")
async def test_a_size_that_changes_between_two_calls_is_told_too_and_nothing_of_it_kept(desk: Desk) -> None:
    await choose(desk.world, embedding__batch_size=1)
    for text in ("A puppy.", "A kiln.", "A boat."):
        await desk.world.say(desk.world.ops, text)

    def grows(texts: Sequence[str]) -> None:
        desk.model.size = 8 if len(desk.model.asked) < 2 else 12

    desk.model.instead = grows
    assert await desk.embed() == ["failed"]
    job = await desk.job()
    assert job is not None
    assert job.last_error == "EMBEDDING_SIZE_CHANGED"
    assert {len(vector.embedding or b"") for vector in await desk.vectors()} == {32}  # type: ignore[attr-defined]


@pytest.mark.req("RE-31")
async def test_routes_without_a_vector_of_the_question_are_named_with_the_reason(desk: Desk) -> None:
    await desk.world.say(desk.world.ops, "A puppy.")
    await desk.embed()

    def away(texts: Sequence[str]) -> None:
        raise ModelUnavailable("network")

    desk.model.instead = away
    answer = await desk.ask("puppy")
    assert len(answer.items) == 1
    assert {skip.route: skip.reason for skip in answer.routes_skipped} == dict.fromkeys(
        VECTOR_ROUTES, "failed: MODEL_NETWORK"
    )


@pytest.mark.req("RE-8", "RE-31")
async def test_messages_have_no_vectors_unless_asked_for(desk: Desk) -> None:
    await choose(desk.world, search__message_vectors=False)
    await desk.world.say(desk.world.ops, "A puppy.")
    await desk.embed()
    assert await desk.vectors() == []
    assert await desk.found("hound") == {}
    assert (await desk.states())["message"].total == 0


@pytest.mark.req("RE-30", "CO-66")
async def test_without_a_model_nothing_waits(world: TeamWorld) -> None:
    desk = Desk(world=world)
    await world.say(world.ops, "A puppy.")
    assert await desk.embed() == []
    state = (await desk.states())["message"]
    assert (state.total, state.pending, state.model) == (1, 0, None)


async def test_a_message_that_changes_while_it_is_embedded_is_embedded_again(desk: Desk) -> None:
    first = await desk.world.say(desk.world.ops, "A puppy.")
    await desk.world.say(desk.world.ops, "A kiln.")
    seen: list[NodeId] = []

    original = desk.model.embed

    async def slow(texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        vectors = await original(texts, query=query)
        if not query and not seen:
            seen.append(first)
            world = desk.world
            await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, first, "gone"))
        return vectors

    desk.model.embed = slow  # type: ignore[method-assign]
    assert await desk.embed() == ["done"]
    assert len(await desk.vectors()) == 1  # the other message alone; its window is another one now
    assert await desk.embed() == ["done"]
    assert len(await desk.vectors()) == 2


@NEO4J
@pytest.mark.req("KN-12", "RE-10")
async def test_the_same_on_neo4j(desk: Desk) -> None:
    source = await desk.world.say(desk.world.ops, "Our puppy sleeps.", speaker=desk.world.ben)
    entry = made(await apply(desk.world, create("Rex", block("Is a puppy.", cite(source, "puppy")))))
    await desk.embed()
    assert await desk.found("hound") == {entry: ["block_vector"], source: ["message_vector"]}
    state = (await desk.states())["message"]
    assert (state.total, state.embedded, state.pending) == (1, 1, 0)


async def test_an_episode_is_found_by_its_summary(desk: Desk) -> None:
    room = await Room(desk.world, desk.world.deps.clock).make()  # type: ignore[arg-type]
    said = await desk.world.say(desk.world.ops, "We sail.")
    await room.quiet()
    assert said
    (episode,) = await room.episodes()
    assert isinstance(episode, Episode)
    await desk.world.deps.store.transact(
        lambda writer: writer.patch(episode.id, {"summary": "About a boat.", "embedding_model": ""})
    )
    await desk.embed()
    assert "episode_vector" in (await desk.found("vessel"))[episode.id]
