"""Bot memory: acceptance example 8. A process is killed while it commits what it learned, and the service starts again.

The killed process works on the store alone, and dies by SIGKILL; what is there afterwards is read over a real port.
tests/fault/test_bot_kill.py kills one at every write of a file.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.bootstrap import Service
from graph.store.embedded import EmbeddedStore
from graph.store.neo4j import Neo4jStore
from graph.store.port import Store
from tests.api.conftest import ENGINES
from tests.fault import bot_learner
from tests.fault.bot_learner import LEARNED, LEASE
from tests.fault.driver import WORLD
from tests.fault.tracing import ROOT
from tests.support.bot_room import BotRoom, Rest
from tests.support.bot_talk import LEARN, BotTalk
from tests.support.held_clock import HeldClock
from tests.support.neo4j_store import AUTH
from tests.support.world import TeamWorld

pytestmark = [
    pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True),
    pytest.mark.usefixtures("alone"),
]
SEEDS = 2
"""So many processes were there before the service starts again."""


@dataclass(frozen=True, kw_only=True)
class Killed:
    """A process that was killed while it learned.

    Attributes:
        place: of the store: a file, or an address.
        said: by the process, line by line.
        within: whether the commit was sent.
    """

    place: str
    said: Sequence[str]
    within: bool


@pytest.fixture(params=["before", "within"])
def killed(engine: str, alone: None, tmp_path: Path, request: pytest.FixtureRequest) -> Killed:
    place = request.getfixturevalue("neo4j_uri") if engine == "neo4j" else str(tmp_path / "graph.db")
    prepared = _process(place, "prepare", "1")
    assert prepared.returncode == 0, prepared.stderr
    died = _process(place, "learn", str(SEEDS), request.param)
    assert died.returncode == -signal.SIGKILL, died.stderr
    return Killed(place=place, said=died.stdout.splitlines(), within=request.param == "within")


def _process(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", bot_learner.__name__, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def clock() -> HeldClock:
    """So late that the lease of the dead process is over."""
    clock = HeldClock()
    clock.advance((SEEDS + 1) * LEASE)
    return clock


@pytest.fixture
def store(killed: Killed, engine: str, clock: HeldClock) -> Store:
    """The store that the dead process left."""
    if engine == "neo4j":
        return Neo4jStore(killed.place, auth=AUTH, clock=clock)
    return EmbeddedStore(Path(killed.place), clock=clock)


@pytest.fixture
def world(service: Service) -> TeamWorld:
    """What is there already."""
    return TeamWorld(deps=service.deps, name=WORLD)


@pytest.fixture
def room(world: TeamWorld) -> BotRoom:
    return BotRoom(world=world)


@pytest.mark.req("BM-84", "BM-85", "BM-86")
async def test_example_8_restart(killed: Killed, room: BotRoom, u_1: Rest) -> None:
    talk = BotTalk(room=room)
    (call,) = await talk.calls(LEARN)
    assert (call.state, killed.said.count("asked")) == ("answered", 1)

    contents = [entry["content"] for entry in await u_1.memory()]
    parts = {contents == [LEARNED], await talk.read_seq() == 2, await talk.states() == [("done", None)]}
    assert len(parts) == 1, "all three or none before recovery"
    assert parts == {False} or killed.within

    await talk.learn()

    assert talk.model.asked == [], "no second call"
    assert [entry["content"] for entry in await u_1.memory()] == [LEARNED]
    assert (await talk.read_seq(), await talk.states(), await talk.version()) == (2, [("done", None)], 1)
