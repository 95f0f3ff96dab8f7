"""What workspace memory still knows when the service was stopped and started again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, Service, build
from api.settings import Settings
from graph.model.nodes.people import Right
from graph.store.embedded import EmbeddedStore
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.memory_client import MemoryClient, key
from tests.support.run_client import Runtime
from tests.support.world import TeamWorld


@asynccontextmanager
async def started(
    settings: Settings, clock: FakeClock, file: Path
) -> AsyncIterator[tuple[Service, httpx2.AsyncClient]]:
    """Start the service on the store in a file, and stop it."""
    store = EmbeddedStore(file, clock=clock)
    ports = Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring())
    service = build(settings, ports=ports)
    async with (
        service.app.router.lifespan_context(service.app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=service.app), base_url="http://x") as http,
    ):
        yield service, http


@pytest.mark.req("FM-29", "MT-11", "MT-44", "MT-64")
async def test_files_history_and_runs_survive_a_restart(settings: Settings, clock: FakeClock, tmp_path: Path) -> None:
    file = tmp_path / "graph.db"
    async with started(settings, clock, file) as (service, http):
        world = await TeamWorld(deps=service.deps).make()
        writer = await (await key(http, world, Right.WRITE)).make(always_load=["a.md"])
        tag = await writer.put("a.md", "two\n", await writer.write("a.md", "one\n"))
        before = (await writer.view(), await writer.revisions())
        thread = await Runtime(writer).start()
        await thread.mount("team", writer.memory)
        await thread.run()
        run = await thread.accept()
        await thread.attempt(run)
        await thread.call(run, "memory_file_create", memory="team", path="b.md", content="")
    async with started(settings, clock, file) as (_, http):
        again = MemoryClient(http=http, token=writer.token, memory=writer.memory)
        view, revisions = await again.view(), await again.revisions()
        assert ({**view, "file_count": 1}, revisions[1:]) == before
        assert (await again.refused("PUT", "/files/a.md", {"content": "x"}, tag='"x:1"'))[2]["current_etag"] == tag
        assert (await again.ok("POST", "/revisions/2/restore", tag=tag))["file"]["content"] == "one\n"
        later = Runtime(again, thread.thread, agent=thread.agent)
        given = await later.attempt(run)
        assert (given["number"], given["reports"]) == (2, [{"memory": "team", "status": "changes"}])
        assert [call["tool"] for call in given["unknown_calls"]] == ["memory_file_create"]
