"""The job `reseal` among others: it goes through the whole store, and nobody waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dreaming.jobs import WorkContext
from tests.support.working import Workshop
from tests.support.world import TeamWorld


@pytest.mark.req("AD-30", "AD-33")
async def test_sealing_everything_anew_does_not_hold_up_the_rest(world: TeamWorld) -> None:
    shop = Workshop(world)
    await shop.ask("reseal")
    await shop.ask("recompute_audience")
    begun, settled = asyncio.Event(), asyncio.Event()

    async def for_long(work: WorkContext) -> Any:
        begun.set()
        await asyncio.Event().wait()

    async def settle(work: WorkContext) -> Any:
        settled.set()

    worker = shop.worker(for_long)
    worker.handlers = {"reseal": for_long, "recompute_audience": settle}
    run = asyncio.ensure_future(worker.run())
    await asyncio.gather(begun.wait(), settled.wait())
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (await shop.job("reseal")).owner is None, "it is handed back"
