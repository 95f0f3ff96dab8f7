"""A connector that came with an archive rests until somebody lets it go on (AD-41)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from api.adapters.blobs import open_blobs
from graph.model.access import SystemScope
from graph.model.nodes.learning import Connector, Mirror
from graph.services.admin.archive import export_archive, import_archive
from graph.services.knowledge.connectors import arrange_syncs
from graph.store.memory import MemoryStore
from graph.store.query import Find
from tests.support.connected import Connected
from tests.support.held_clock import HeldClock
from tests.support.world import TeamWorld


@pytest.mark.req("AD-41", "MA-20")
async def test_an_imported_connector_rests_with_its_mirrors(world: TeamWorld, clock: HeldClock, tmp_path: Path) -> None:
    connected = await Connected(world, clock).make()
    connected.place.documents = {"plan.md": "We ship in May."}
    await connected.sync()
    await export_archive(world.deps, tmp_path / "archive")
    store = MemoryStore(clock=clock)
    await store.open()
    other = replace(world.deps, store=store, blobs=open_blobs("memory:///"))
    await import_archive(other, tmp_path / "archive")
    assert await arrange_syncs(other) == []
    async with store.reading() as reader:
        look = SystemScope(reason="test")
        (connector,) = (await reader.find(look, Find(kind=Connector))).nodes
        (mirror,) = (await reader.find(look, Find(kind=Mirror))).nodes
    assert (connector.state, mirror.external_id) == ("paused", "plan.md")
