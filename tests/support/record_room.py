"""Record memories of a test: a mem0 server on loopback that the policy allows, a provider, and a worker that purges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from api.adapters.mem0 import Mem0
from api.adapters.outbound import OutboundPolicy
from dreaming.records import purge_records
from dreaming.worker import Worker
from graph.model.nodes.work import Job
from graph.rules.jobs import JOB_KINDS, PURGE_RECORDS, purging_by
from graph.services.learning.jobs import JOBS
from graph.store.query import Eq, Find
from tests.support.mem0_server import Asked, Fault, Mem0Server
from tests.support.memory_client import MemoryClient
from tests.support.world import TeamWorld

Json = dict[str, Any]


def wire_to(*servers: Mem0Server, operation_s: float = 10.0) -> Mem0:
    """Return what speaks to these servers and to no other private one."""
    policy = OutboundPolicy.of(require_https=True, http_origins=[server.url for server in servers])
    return Mem0(policy=policy, operation_s=operation_s)


@dataclass
class RecordRoom:
    """Speaks to the routes of providers and records.

    Attributes:
        ana: a client with write on the workspace.
        outcomes: how tries of purges ended.
    """

    world: TeamWorld
    server: Mem0Server
    ana: MemoryClient
    outcomes: list[str] = field(default_factory=list)

    async def provider(self, server: Mem0Server | None = None, **fields: Any) -> str:
        """Make a provider for a server and return its id."""
        at = server or self.server
        key = {"credential": {"api_key": at.key}} if at.key else {}
        body = {"type": at.form, "name": "Mem0", "config": {"base_url": at.url}, **key, **fields}
        return str((await self.ana.ok("POST", "//memory-providers", body))["id"])

    async def memory(self, provider: str | None = None, **fields: Any) -> MemoryClient:
        """Make a record memory and return a client of it."""
        id_ = provider or await self.provider()
        return await self.ana.make(type=self.server.form, provider_id=id_, **fields)

    async def delete(self, memory: MemoryClient) -> None:
        """Delete a memory with its present tag."""
        tag = await memory.tag("GET", "")
        assert (await memory.send("DELETE", "", tag=tag)).status_code == 204

    def worker(self, attempts: int = 12) -> Worker:
        """Return a worker that purges."""
        return Worker(
            deps=self.world.deps,
            anchor_minutes=0,
            handlers={PURGE_RECORDS: purge_records},
            kinds={**JOB_KINDS, PURGE_RECORDS: purging_by(attempts, 60)},
            on_step=lambda kind, outcome: self.outcomes.append(outcome),
        )

    async def jobs(self) -> list[Job]:
        """Return the jobs of purges."""
        async with self.world.deps.store.reading() as reader:
            return list((await reader.find(JOBS, Find(kind=Job, where=Eq("kind", PURGE_RECORDS)))).nodes)

    async def events(self, memory: MemoryClient) -> list[Json]:
        """Return what was audited of the records of a memory, newest first."""
        found = await self.ana.ok("GET", "//audit-events", target_id=memory.memory)
        return [event for event in found["items"] if event["action"].startswith("memory.record.")]

    def break_writes(self, **how: Any) -> None:
        """Let the server fail at writes: at everything but `GET` and lists."""
        self.server.fault = lambda asked: Fault(**how) if is_write(asked) else None

    def mend(self) -> None:
        """Let the server work again."""
        self.server.fault = lambda asked: None


def is_write(asked: Asked) -> bool:
    """Return whether a request changes records."""
    adds = asked.line in ("POST /memories", "POST /v3/memories/add/")
    return adds or asked.method in ("PUT", "DELETE")
