"""Bug case 13: one person's words, another person's entity. Two private chats of one agent, dreamed over together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.evidence import ChannelKind
from graph.services.access.commands import command
from graph.services.access.members import set_members
from graph.services.access.provisioning import create_channel
from graph.services.learning.stage_a import arrange_stage_a
from tests.acceptance.stage import NODE, Stage
from tests.acceptance.test_scopes import COUNTS
from tests.api.conftest import ENGINES
from tests.support.held_clock import HeldClock
from tests.support.night import Night, Shown
from tests.support.operations import add, block, cite, create

pytestmark = [
    pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True),
    pytest.mark.usefixtures("alone"),
]

PAGES = "query($owner: ID!) { entries(ownerId: $owner) { totalCount edges { node { id name projection } } } }"
ONCOLOGIST, TENNIS = "Dr Chen is my oncologist.", "Dr Chen plays tennis with me."
CONCISE, DETAILED = "I prefer concise answers.", "From today I prefer detailed answers."


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def bens(stage: Stage) -> NodeId:
    """The private chat of Ben with the same agent."""
    world, admin = stage.world, stage.world.caller(stage.world.dan)
    made = await command(
        world.deps, admin, lambda cmd: create_channel(cmd, world.atlas, ChannelKind.PRIVATE_CHAT, "Ben and Atlas")
    )
    await command(world.deps, admin, lambda cmd: set_members(cmd, made.id, [world.ben]))
    return made.id


async def sleep(night: Night) -> None:
    """Let both stages read all that was said."""
    night.clock.advance(timedelta(minutes=30))
    await arrange_stage_a(night.world.deps)
    await night.work()
    assert await night.later() == ["done"]


def keeps(shown: Shown) -> Sequence[Any]:
    """Answer like a model that keeps whatever it is shown under the same two names."""
    chen = next(text for text in (ONCOLOGIST, TENNIS) if text in shown.text)
    return [
        create("Dr Chen", block(chen, cite(shown.source(chen), chen)), type="person"),
        create("Preferences", block("Prefers concise answers.", cite(shown.source(CONCISE), "concise answers"))),
    ]


def replaces(shown: Shown) -> Sequence[Any]:
    """Answer like a model that hears of another preference, and would change it wherever it stands."""
    entry = shown.entry("Preferences")
    words = cite(shown.source(DETAILED), "I prefer detailed answers")
    new = block("Prefers detailed answers.", words, change="evolution", validFrom="2025-05-11", fromPrecision="day")
    return [add(entry["id"], {**new, "supersedes": [entry["blocks"][0]["id"]]})]


async def pages(stage: Stage, by: Any) -> dict[str, Any]:
    """Return the entries that somebody sees, by name, and how many he is told there are."""
    found = (await by.ok(PAGES, owner=stage.gid(stage.world.atlas)))["entries"]
    rows = {edge["node"]["name"]: edge["node"] for edge in found["edges"]}
    assert len(rows) == found["totalCount"], "each of them sees one of a name"
    return rows


@pytest.mark.req("KN-53", "KN-54", "KN-60", "KN-61", "DR-33")
async def test_13_neither_sees_or_changes_what_the_other_said(stage: Stage, night: Night, bens: NodeId) -> None:
    ana, ben = stage.world.ana, stage.world.ben
    await stage.talk([ONCOLOGIST, CONCISE], channel=stage.world.chat, speaker=ana)
    night.decides(keeps)
    await sleep(night)
    before = await stage.ana.ok(COUNTS, owner=stage.gid(stage.world.atlas))
    await stage.talk([TENNIS, CONCISE], channel=bens, speaker=ben)
    night.decides(keeps)
    await sleep(night)
    await stage.talk([DETAILED], channel=bens, speaker=ben)
    night.decides(replaces)
    await sleep(night)

    # no prompt of either stage held the words of both
    prompts = [" ".join(message.text for message in request.messages) for request in night.model.asked]
    assert not any("oncologist" in prompt and "tennis" in prompt for prompt in prompts)
    # each has a page of that name, with his own words alone
    hers, his = await pages(stage, stage.ana), await pages(stage, stage.ben)
    assert "oncologist" in hers["Dr Chen"]["projection"]
    assert "tennis" in his["Dr Chen"]["projection"]
    assert "tennis" not in str(hers)
    assert "oncologist" not in str(his)
    # what he changed is his
    assert "detailed" not in str(hers)
    assert "concise" in hers["Preferences"]["projection"]
    assert "Prefers detailed answers" in his["Preferences"]["projection"]
    # neither is there for the other: by id, in search, in counts
    for mine, other in ((hers, stage.ben), (his, stage.ana)):
        for page in mine.values():
            assert await other.ok(NODE, id=page["id"]) == {"node": None}
    for words, other in (("oncologist", stage.ben), ("tennis", stage.ana), ("detailed answers", stage.ana)):
        assert words not in str((await stage.search(words, by=other))["items"])
    after = await stage.ana.ok(COUNTS, owner=stage.gid(stage.world.atlas))
    assert after["entries"] == before["entries"]
    assert after["auditLog"] == before["auditLog"]
