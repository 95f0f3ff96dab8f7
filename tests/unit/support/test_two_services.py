"""The harness of races does what it says: both have an answer before either goes on, and afterwards nobody waits."""

from __future__ import annotations

import asyncio

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from dreaming.models.port import ModelPort, ModelRequest
from dreaming.models.scripted import ScriptedModel
from graph.services.deps import Deps
from graph.store.memory import MemoryStore
from graph.store.sealing import Vault
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.clock import FakeClock
from tests.support.ids import SequentialIds
from tests.support.keyring import FixedKeyring
from tests.support.pages import FakeFetcher
from tests.support.randomness import SeededRandomness
from tests.support.two_services import HeldModel, Meeting, MeetingModel, two_services


def request(purpose: str) -> ModelRequest:
    return ModelRequest(purpose=purpose, prompt=f"{purpose}@1", messages=())


async def test_nobody_gets_an_answer_before_both_have_asked_and_afterwards_nobody_waits() -> None:
    scripted, together = ScriptedModel().on("*", "yes"), Meeting(2)
    one, other = (MeetingModel(scripted, together, when="learn") for _ in range(2))
    first = asyncio.create_task(one.complete(request("learn")))
    await asyncio.sleep(0)
    assert (await one.complete(request("confide"))).text == "yes", "other questions pass"
    assert len(scripted.asked) == 2
    assert not first.done()
    assert (await other.complete(request("learn"))).text == "yes"
    assert (await first).text == "yes"
    assert (await one.complete(request("learn"))).text == "yes", "who comes later meets nobody"
    assert [r.purpose for r in one.asked] == ["learn", "confide", "learn"]


async def test_a_held_model_answers_when_it_is_let() -> None:
    held = HeldModel(ScriptedModel().on("*", "yes"))
    answer = asyncio.create_task(_ask(held))
    await held.asked.wait()
    assert not answer.done()
    held.go.set()
    assert await answer == "yes"


async def test_two_services_make_different_ids_on_one_store() -> None:
    store = MemoryStore(clock=FakeClock())
    await store.open()
    async with two_services(_deps(store)) as (one, other):
        assert one.store is other.store
        assert one.new_id("src") != other.new_id("src")
    await store.close()


async def _ask(model: ModelPort) -> str:
    return (await model.complete(request("learn"))).text


def _deps(store: MemoryStore) -> Deps:
    clock = FakeClock()
    return Deps(
        store=store,
        clock=clock,
        ids=SequentialIds(),
        randomness=SeededRandomness(),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=open_blobs("memory:///"),
        fetcher=FakeFetcher(clock),
        extractor=DocumentExtractor(),
        vault=Vault(FixedKeyring(), SeededRandomness()),
    )
