"""Random bodies never give a fault, and what is refused changes nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as running
from hypothesis import strategies as st

from api.bootstrap import Ports, Service, build
from api.settings import Settings
from graph.store.memory import MemoryStore
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.profile import sized
from tests.support.session_room import SessionClient, SessionRoom
from tests.support.world import TeamWorld

BODIES = sized(small=200, full=20_000)

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)

TEXTS = st.one_of(
    st.text(alphabet=st.characters(), max_size=12),
    st.sampled_from(
        ["venue", "fact", "decision", "Remember", "Configure", "", " ", "\0", "\ud800", "x" * 129, "🚀" * 4_001]
    ),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-1, 3), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
KINDS = st.sampled_from(["fact", "decision", "preference", "procedure", "hypothesis"])
GOOD = st.one_of(
    st.fixed_dictionaries({"_tag": st.just("Remember"), "key": TEXTS, "content": TEXTS, "kind": KINDS}),
    st.fixed_dictionaries({"_tag": st.just("Forget"), "key": TEXTS}),
    st.fixed_dictionaries({"_tag": st.just("Configure")}, optional={"use": VALUES, "generate": st.booleans()}),
)
BROKEN = st.fixed_dictionaries(
    {},
    optional={
        "_tag": st.one_of(VALUES, st.sampled_from(["Remember", "Forget", "Configure"])),
        "key": VALUES,
        "content": VALUES,
        "kind": VALUES,
        "use": VALUES,
        "more": VALUES,
    },
)


@st.composite
def bodies(draw: st.DrawFn) -> Any:
    """A body for the head ``H`` and revision ``R``, which the test puts in, with something wrong in most."""
    if draw(st.integers(0, 9)) == 0:
        return draw(VALUES)
    expected = draw(st.one_of(st.just("H"), st.just("H"), st.just("H"), VALUES))
    revision = draw(st.one_of(st.just("R"), st.just("R"), st.just("R"), VALUES))
    body = {"expected": expected, "revision": revision, "command": draw(st.one_of(GOOD, GOOD, BROKEN, VALUES))}
    for name in draw(st.lists(st.sampled_from(sorted(body)), max_size=1)) if draw(st.integers(0, 3)) == 0 else []:
        del body[name]
    return body


class Fuzzed:
    """One service and one session for all bodies; requests run on one loop."""

    def __init__(self, given: Settings) -> None:
        self.loop = asyncio.new_event_loop()
        clock = FakeClock()
        ports = Ports(clock=clock, store=MemoryStore(clock=clock), keyring=FixedKeyring())
        self.service: Service = build(given, ports=ports)
        self.http = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=self.service.app), base_url="http://rootward.test"
        )
        self.states: list[int] = []
        self.person = self.loop.run_until_complete(self._start())
        self.now = self.loop.run_until_complete(self._look())

    async def _start(self) -> SessionClient:
        await self.service.deps.store.open()
        room = SessionRoom(await TeamWorld(deps=self.service.deps).make())
        await room.start()
        await room.remember("venue")
        return SessionClient(http=self.http, token=await room.world.token(room.world.ana))

    def send(self, body: Any) -> None:
        self.loop.run_until_complete(self._send(body))

    async def _send(self, body: Any) -> None:
        view = self.now[0]
        if isinstance(body, dict):
            body = {**body, **{n: view[w] for n, m, w in _PLACES if body.get(n) == m}}
        headers = {**self.person.headers, "Content-Type": "application/json"}
        answer = await self.http.post(f"{self.person.path}/memory", content=json.dumps(body), headers=headers)
        self.states.append(answer.status_code)
        before, self.now = self.now, await self._look()
        if answer.status_code == 200:
            assert self.now[0]["revision"] == view["revision"] + 1
            return
        assert answer.status_code in (400, 409, 413)
        assert answer.json()["_tag"] in ("InvalidRequest", "SessionConflict", "PayloadTooLarge")
        assert ("path" in answer.json()) is (answer.status_code == 400)
        assert self.now == before

    async def _look(self) -> tuple[Any, Any]:
        return await self.person.view(), await self.person.memory()

    def close(self) -> None:
        self.loop.run_until_complete(self.http.aclose())
        self.loop.close()


_PLACES = (("expected", "H", "head"), ("revision", "R", "revision"))


@pytest.fixture
def fuzzed(settings: Settings) -> Iterator[Fuzzed]:
    made = Fuzzed(settings)
    yield made
    made.close()


@pytest.mark.req("SM-56", "SM-62", "SM-63", "SM-64")
def test_no_body_gives_a_fault_and_what_is_refused_changes_nothing(fuzzed: Fuzzed) -> None:
    @running(max_examples=BODIES, deadline=None, derandomize=True, database=None, suppress_health_check=SLOW)
    @given(body=bodies())
    def run(body: Any) -> None:
        fuzzed.send(body)

    run()
    assert {200, 400, 409} <= set(fuzzed.states)
    assert fuzzed.states.count(200) >= BODIES // 20
