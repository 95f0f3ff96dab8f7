"""A connector of Atlas to a scripted place, and a worker that syncs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from dreaming.connectors import sync_connector
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import Connector, Mirror, PendingItem
from graph.model.nodes.work import Job
from graph.services.access.commands import command
from graph.services.deps import Deps
from graph.services.knowledge.connectors import arrange_syncs, find_connector
from graph.services.knowledge.connectors_provisioning import create_connector
from graph.store.query import By, Find
from tests.support.clock import FakeClock
from tests.support.places import ScriptedPlace
from tests.support.world import TeamWorld

LOOK = SystemScope(reason="test")
MINUTES = timedelta(minutes=15)


@dataclass
class Connected:
    """One connector and its place.

    Attributes:
        outcomes: how tries of jobs ended, in order.
    """

    world: TeamWorld
    clock: FakeClock
    place: ScriptedPlace = field(default_factory=ScriptedPlace)
    outcomes: list[str] = field(default_factory=list)
    id: NodeId = NodeId("")

    @property
    def deps(self) -> Deps:
        return replace(self.world.deps, places={"scripted": self.place})

    async def make(self, base: KbKind = KbKind.SHARED, channel: NodeId | None = None) -> Connected:
        made = await command(
            self.deps,
            self.world.caller(self.world.dan),
            lambda cmd: create_connector(
                cmd,
                self.world.atlas,
                "Handbook",
                "scripted",
                {"where": "there"},
                base,
                channel_id=channel,
                local_id="h",
            ),
        )
        self.id = made.id
        return self

    def worker(self) -> Worker:
        return Worker(
            deps=self.deps,
            anchor_minutes=0,
            handlers={"sync_connector": sync_connector},
            on_step=lambda kind, outcome: self.outcomes.append(outcome),
        )

    async def sync(self, *, after: timedelta = MINUTES) -> Any:
        """Let time pass, do what is due and return what the last job told."""
        self.clock.advance(after)
        await arrange_syncs(self.deps)
        worker = self.worker()
        while await worker.step():
            pass
        return (await self.jobs())[-1].result

    async def connector(self) -> Connector:
        async with self.deps.store.reading() as reader:
            found = await find_connector(reader, self.id)
        assert found is not None
        return found

    async def mirrors(self) -> dict[str, Mirror]:
        return {mirror.external_id: mirror for mirror in await self.all(Mirror)}

    async def mirror(self, external_id: str) -> NodeId:
        entry = (await self.mirrors())[external_id].entry_id
        assert entry is not None
        return entry

    async def versions(self, external_id: str) -> list[Source]:
        return [source for source in await self.all(Source) if source.external_id == external_id]

    async def pending(self) -> list[PendingItem]:
        return list(await self.all(PendingItem))

    async def jobs(self) -> list[Job]:
        return [job for job in await self.all(Job) if job.kind == "sync_connector"]

    async def all(self, kind: type[Any]) -> Sequence[Any]:
        async with self.deps.store.reading() as reader:
            found = await reader.find(LOOK, Find(kind=kind, order=By("created_at")))
        return [node for node in found.nodes if node.workspace == self.world.workspace]
