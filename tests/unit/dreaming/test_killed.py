"""A worker killed between any two calls of the store: nothing is lost, nothing is done twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from dreaming.jobs import WorkContext, guarded_commit
from dreaming.light_model import light_model
from dreaming.models.port import ChatMessage, ModelRequest, Role
from dreaming.models.scripted import ScriptedModel
from dreaming.saved_calls import saved_call
from graph.model.access import SystemScope
from graph.model.ids import node_id
from graph.model.nodes.learning import ModelCall, ModelSpending
from graph.model.nodes.work import Receipt
from graph.rules.jobs import JobState
from graph.services.access.commands import command
from graph.services.deps import Deps
from graph.services.learning.profiles import set_model_profile
from graph.store.memory import MemoryStore
from graph.store.port import Store, Writer
from graph.store.query import Find
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.faults import Fault, FaultyStore, PlannedFault
from tests.support.held_clock import HeldClock
from tests.support.ids import SequentialIds
from tests.support.keyring import fixed_vault
from tests.support.model_calls import answer_of
from tests.support.pages import FakeFetcher
from tests.support.randomness import SeededRandomness
from tests.support.working import Workshop
from tests.support.world import TeamWorld

SYSTEM = SystemScope(reason="test")
MARK = node_id(Receipt.PREFIX, "committed")


class Killed(BaseException):
    """The process is gone: no handler may catch it."""


def _deps(store: Store, clock: HeldClock, ids: int) -> Deps:
    return Deps(
        store=store,
        clock=clock,
        ids=SequentialIds(ids),
        randomness=SeededRandomness(),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=open_blobs("memory:///"),
        fetcher=FakeFetcher(clock),
        extractor=DocumentExtractor(),
        vault=fixed_vault(),
    )


async def _learns(work: WorkContext) -> Any:
    """Ask twice, commit once."""
    async with work.deps.store.reading() as reader:
        if await reader.get(SYSTEM, [MARK]):
            return "done before"
    light = await light_model(work)
    texts = [(await saved_call(work, light, step, _request(step))).text for step in ("select", "decide")]

    async def write(writer: Writer) -> None:
        now = work.deps.now()
        made = Receipt(id=MARK, workspace=work.job.workspace, created_at=now, result=texts)
        await writer.put([made])  # a second one would be refused

    await guarded_commit(work, write)
    return "done"


def _request(text: str) -> ModelRequest:
    return ModelRequest(purpose=text, prompt=f"{text}@1", messages=(ChatMessage(role=Role.USER, text=text),))


async def _killed_at(fault: Fault, at: int) -> tuple[bool, int]:
    """Kill a worker at the n-th call of its store, let another go on, and check all that must hold.

    Returns whether the call was reached, and how often the model was asked.
    """
    clock, model = HeldClock(), ScriptedModel().on("select", "selected").on("decide", "decided")
    store = MemoryStore(clock=clock)
    await store.open()
    world = await TeamWorld(deps=_deps(store, clock, 1)).make()
    await command(
        world.deps, world.caller(world.dan), lambda cmd: set_model_profile(cmd, "light", provider="openai", model="m")
    )
    shop = Workshop(world, models=lambda profile: model)
    await shop.ask()
    dead = [PlannedFault(fault=Fault.FAIL, at=later, error=Killed) for later in range(at + 1, at + 20)]
    faulty = FaultyStore(store, [PlannedFault(fault=fault, at=at, error=Killed), *dead])
    doomed = shop.worker(_learns, name="doomed")
    doomed.deps = _deps(faulty, clock, 1_000)
    killed = False
    try:
        await doomed.step()
    except Killed:
        killed = True
    clock.advance(timedelta(seconds=600))
    heir = shop.worker(_learns, name="heir")
    while await heir.step():
        pass
    await _check(shop, model)
    return killed, len(model.asked)


async def _check(shop: Workshop, model: ScriptedModel) -> None:
    assert (await shop.job()).state == JobState.SUCCEEDED
    async with shop.world.deps.store.reading() as reader:
        mark = (await reader.get(SYSTEM, [MARK]))[MARK]
        calls = (await reader.find(SYSTEM, Find(kind=ModelCall))).nodes
        (spending,) = (await reader.find(SYSTEM, Find(kind=ModelSpending))).nodes
    assert isinstance(mark, Receipt)
    assert mark.result == ["selected", "decided"]
    assert sorted((call.state, answer_of(shop.world.deps, call)) for call in calls) == [
        ("answered", "decided"),
        ("answered", "selected"),
    ]
    assert len(model.asked) <= 3, "at most the call that was under way is made again"
    assert len(model.asked) <= spending.calls <= len(model.asked) + 1, "what was asked was paid for"


@pytest.mark.parametrize("fault", [Fault.FAIL, Fault.CUT])
async def test_killed_worker_loses_nothing_and_repeats_nothing(fault: Fault) -> None:
    at, killed, asked = 1, True, []
    while killed:
        killed, calls = await _killed_at(fault, at)
        asked.append(calls)
        at += 1
    assert at > 8, "it was killed at every call"
    assert asked[-1] == 2
    assert set(asked) <= {2, 3}
