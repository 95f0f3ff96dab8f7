"""Resident memory of a server at rest: started with the sample, asked a few times, then left alone.

    python -m bench.memory [--scale 1]

The reference is a process that has only imported the libraries that a server needs.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2

from bench._table import Goal, Table, arguments, scaled

GOAL = Goal(most_mib=150)
LIBRARIES = "import apsw, neo4j, sqlite_vec, starlette, strawberry, uvicorn, pydantic, networkx, structlog, httpx2"
LOG = "server.log"
_START_TIMEOUT_S, _REST_S = 120, 10


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process, in MiB."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1_024


def libraries_mib() -> float:
    """Return what the libraries alone take."""
    code = f"{LIBRARIES}; print('ready', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = resident_mib(process.pid)
        process.communicate("\n")
    return found


async def server_mib(folder: Path, questions: int, rest_s: float) -> float:
    """Return what a server takes after some questions and a rest."""
    port = free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ROOTWARD_BENCH_")},
        "ROOTWARD_DATA_DIR": str(folder / "data"),
        "ROOTWARD_SERVER__PORT": str(port),
    }
    process = _started(environment, folder / LOG)
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            await _ready(http, process, folder / LOG)
            for _ in range(questions):
                await http.post("/graphql", json={"query": "{ __typename }"})
        await asyncio.sleep(rest_s)
        return resident_mib(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def _started(environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("w") as told:
        rootward = Path(sys.executable).with_name("rootward")
        return subprocess.Popen([str(rootward), "serve"], env=environment, stdout=told, stderr=told)


def _end_of(log: Path) -> str:
    return log.read_text()[-2_000:]


async def _ready(http: httpx2.AsyncClient, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise SystemExit(f"the server ended:\n{_end_of(log)}")
        try:
            if (await http.get("/health/ready")).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        await asyncio.sleep(0.2)
    raise SystemExit("the server did not get ready")


def free_port() -> int:
    """Return a port of loopback that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def main() -> None:
    """Measure one server."""
    scale = arguments(__doc__).scale
    table = Table("Memory", scale)
    with tempfile.TemporaryDirectory(prefix="rootward-bench-") as folder:
        at_rest = await server_mib(Path(folder), scaled(500, scale, least=10), _REST_S * min(scale, 1))
    table.add_size("server at rest", at_rest, of="its libraries alone", reference_mib=libraries_mib(), goal=GOAL)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
