"""Mirror entries open read-only and say where they come from (CO-30)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.async_api import expect

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from dreaming.connectors import sync_connector
from dreaming.worker import Worker
from graph.services.knowledge.connectors import arrange_syncs
from graph.store.port import Store
from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.visiting import Console
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.places import ScriptedPlace

CREATE = """
mutation($agent: ID!, $channel: ID) {
  createConnector(agentId: $agent, displayName: "Handbook", kind: "scripted", options: {where: "there"}, base: CHANNEL,
    channelId: $channel) { id }
}
"""


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def ports(store: Store, clock: HeldClock) -> Ports:
    place = ScriptedPlace(documents={"orion.txt": "Orion is hosted in Berlin."}, titles={"orion.txt": "Hosting"})
    blobs, keyring = open_blobs("memory:///"), FixedKeyring()
    return Ports(clock=clock, store=store, blobs=blobs, places={"scripted": place}, keyring=keyring)


@pytest.mark.req("CO-30", "CO-13")
async def test_a_mirror_is_read_only_and_names_its_connector(console: Console, stage: Stage, clock: HeldClock) -> None:
    world = stage.world
    await stage.say("Where is Orion hosted?")
    await stage.dan.ok(CREATE, agent=stage.gid(world.atlas), channel=stage.gid(world.ops))
    clock.advance(timedelta(minutes=15))
    await arrange_syncs(world.deps)
    worker = Worker(deps=world.deps, anchor_minutes=0, handlers={"sync_connector": sync_connector})
    while await worker.step():
        pass

    page = await console.open(stage.ana, "/knowledge/{owner}/entries")
    row = page.get_by_role("row").filter(has_text="Hosting")
    await expect(row.get_by_text("mirror")).to_be_visible()
    await row.get_by_role("link", name="Hosting").click()
    notice = page.get_by_role("alert")
    await expect(notice).to_contain_text("Connector: Handbook")
    await expect(notice).to_contain_text("Source version: Orion is hosted in Berlin.")
    await expect(notice).to_contain_text("Last sync: May 10, 2025")
    await expect(page.get_by_text("read-only")).to_be_visible()
    for name in ("Edit", "Delete", "More", "Add a block", "Add a relation"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    assert await axe(page) == []
