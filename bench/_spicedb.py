"""SpiceDB in memory, asked the same question over the same graph as `bench.decision`, where there is one.

It is a Go program and no dependency of ours: `ROOTWARD_BENCH_SPICEDB` names it, or it is found on the PATH as
`spicedb`. `docs/how-to/run-the-benchmarks.md` says how to build it. It speaks JSON over HTTP here, on loopback; the
relationships are written before anything is measured.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from bench._graph import Written
from bench.memory import free_port
from graph.model.access import Need
from graph.model.ids import NodeId

PROGRAM = "ROOTWARD_BENCH_SPICEDB"
SCHEMA = """
definition user {}
definition channel {
  relation member: user
}
definition message {
  relation channel: channel
  permission view = channel->member
}
definition statement {
  relation channel: channel
  relation source: message | statement
  permission view = channel->member & source.all(view)
}
"""
"""The law of a statement that needs all of its sources: its own channel, and every source readable."""
_KEY = "bench"
_START_TIMEOUT_S = 60.0
_UPDATES = 500
_DEPTH = "100"


@dataclass(frozen=True, kw_only=True)
class SpiceDb:
    """A running SpiceDB that holds a graph."""

    http: httpx2.AsyncClient

    async def load(self, written: Sequence[Written], viewer: str) -> None:
        """Write the schema and the graph, and let `viewer` be in its channels."""
        await self._post("/v1/schema/write", {"schema": SCHEMA})
        updates = list(_relationships(written, viewer))
        for first in range(0, len(updates), _UPDATES):
            await self._post("/v1/relationships/write", {"updates": updates[first : first + _UPDATES]})

    async def decide(self, viewer: str, asked: Sequence[NodeId]) -> int:
        """Return how many of the statements the viewer may see; one request."""
        subject = {"object": _object("user", viewer)}
        items = [{"resource": _object("statement", id_), "permission": "view", "subject": subject} for id_ in asked]
        body = {"consistency": {"fullyConsistent": True}, "items": items}
        answer = await self._post("/v1/permissions/checkbulk", body)
        found = [pair["item"]["permissionship"] for pair in answer["pairs"]]  # type: ignore[index,union-attr]
        return found.count("PERMISSIONSHIP_HAS_PERMISSION")

    async def _post(self, path: str, body: dict[str, object]) -> dict[str, object]:
        answer = await self.http.post(path, json=body)
        if answer.status_code != 200:
            raise SystemExit(f"SpiceDB refuses {path}: {answer.text[:500]}")
        found: dict[str, object] = answer.json()
        return found


@asynccontextmanager
async def spicedb() -> AsyncIterator[SpiceDb | None]:
    """Give a SpiceDB that was started for this run, or None where there is none."""
    program = os.environ.get(PROGRAM) or shutil.which("spicedb")
    if program is None:
        yield None
        return
    ports = {name: f"127.0.0.1:{free_port()}" for name in ("grpc", "http", "metrics")}
    with tempfile.TemporaryDirectory(prefix="rootward-bench-") as folder, _running(program, ports, Path(folder)) as run:
        headers = {"Authorization": f"Bearer {_KEY}"}
        base = f"http://{ports['http']}"
        async with httpx2.AsyncClient(base_url=base, headers=headers, timeout=120, trust_env=False) as http:
            await _ready(http, run, Path(folder) / "log")
            yield SpiceDb(http=http)


class _running:
    """A SpiceDB with an empty memory, ended at the end."""

    def __init__(self, program: str, ports: dict[str, str], folder: Path) -> None:
        self.command = [
            *(program, "serve", "--datastore-engine", "memory", "--grpc-preshared-key", _KEY),
            *("--grpc-addr", ports["grpc"], "--http-enabled", "--http-addr", ports["http"]),
            *("--metrics-addr", ports["metrics"], "--dispatch-max-depth", _DEPTH, "--log-level", "warn"),
            *("--skip-release-check", "--telemetry-endpoint", ""),
            # Decide anew each time, as we do: an answer that was kept says how quick a cache is.
            *("--dispatch-cache-enabled=false", "--dispatch-cluster-cache-enabled=false"),
        ]
        self.log = folder / "log"

    def __enter__(self) -> subprocess.Popen[bytes]:
        with self.log.open("w") as told:
            self.process = subprocess.Popen(self.command, stdout=told, stderr=told)
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)


async def _ready(http: httpx2.AsyncClient, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise SystemExit(f"SpiceDB ended:\n{_end_of(log)}")
        try:
            if (await http.post("/v1/schema/write", json={"schema": "definition user {}"})).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        await asyncio.sleep(0.2)
    raise SystemExit(f"SpiceDB did not get ready:\n{_end_of(log)}")


def _end_of(log: Path) -> str:
    return log.read_text()[-2_000:]


def _relationships(written: Sequence[Written], viewer: str) -> Iterator[dict[str, object]]:
    guards = [guard for part in written for guard in part.guards]
    kinds = {guard.node: "message" if guard.need is Need.SOURCE else "statement" for guard in guards}
    channels = {guard.node: str(guard.pool) for guard in guards}
    for channel in sorted(set(channels.values())):
        yield _update(_object("channel", channel), "member", _object("user", viewer))
    for node, kind in kinds.items():
        yield _update(_object(kind, node), "channel", _object("channel", channels[node]))
    for part in written:
        for edge in part.law_edges:
            yield _update(_object("statement", edge.source), "source", _object(kinds[edge.target], edge.target))


def _update(resource: dict[str, str], relation: str, subject: dict[str, str]) -> dict[str, object]:
    relationship = {"resource": resource, "relation": relation, "subject": {"object": subject}}
    return {"operation": "OPERATION_TOUCH", "relationship": relationship}


def _object(kind: str, id_: str) -> dict[str, str]:
    return {"objectType": kind, "objectId": id_}
