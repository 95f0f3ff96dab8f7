"""Everything from outside the core is a port (KN-14): given ones are used, and the core reaches for nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import graph
from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, make_deps
from api.settings import Settings
from graph.store.memory import MemoryStore
from tests.acceptance.stage import ScriptedReranker
from tests.support.clock import FakeClock
from tests.support.ids import SequentialIds
from tests.support.pages import FakeFetcher
from tests.support.randomness import SeededRandomness

OUTSIDE = {
    "time": {"time", "time_ns", "sleep"},
    "random": {"*"},
    "secrets": {"*"},
    "uuid": {"*"},
    "os": {"urandom"},
    "httpx": {"*"},
    "httpx2": {"*"},
    "socket": {"create_connection"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}
"""What only an adapter may use; drivers of the stores are adapters."""


@pytest.mark.req("KN-14")
def test_given_ports_are_those_that_the_services_get(tmp_path: Path) -> None:
    clock = FakeClock()
    store, reranker, blobs = MemoryStore(clock=clock), ScriptedReranker(), open_blobs("memory:///")
    ports = Ports(
        clock=clock,
        ids=SequentialIds(),
        randomness=SeededRandomness(),
        store=store,
        blobs=blobs,
        fetcher=FakeFetcher(clock),
        reranker=reranker,
    )
    deps = make_deps(Settings.model_validate({"data_dir": tmp_path, "store": {"url": "memory:"}}), ports)
    assert deps.clock is clock
    assert deps.ids is ports.ids
    assert deps.randomness is ports.randomness
    assert deps.blobs is blobs
    assert deps.fetcher is ports.fetcher
    assert deps.reranker is reranker
    assert deps.store.engine == store.engine
    clock.set("2001-01-01T00:00:00Z")
    assert deps.now() == clock.now()


@pytest.mark.req("KN-14")
def test_the_core_asks_neither_the_machine_nor_the_network() -> None:
    root = Path(str(graph.__file__)).parent
    files = [file for file in root.rglob("*.py") if not {"embedded", "neo4j"} & set(file.parts)]
    assert len(files) > 100
    found = [f"{file.relative_to(root)}: {name}" for file in files for name in reaches_out(file.read_text("utf-8"))]
    assert found == []


def reaches_out(text: str) -> list[str]:
    """Return the uses of what is outside, also ``datetime.now`` and its like."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if "*" in OUTSIDE.get(a.name.partition(".")[0], ())]
        elif isinstance(node, ast.ImportFrom):
            names = OUTSIDE.get(str(node.module).partition(".")[0], set())
            found += [f"{node.module}.{a.name}" for a in node.names if "*" in names or a.name in names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = OUTSIDE.get(node.value.id, set())
            if node.attr in names or (
                node.value.id in ("datetime", "date") and node.attr in ("now", "utcnow", "today")
            ):
                found.append(f"{node.value.id}.{node.attr}")
    return found


def test_reaching_out_is_noticed() -> None:
    text = "import random\nfrom time import time\nx = datetime.now()\n"
    assert reaches_out(text) == ["random", "time.time", "datetime.now"]
