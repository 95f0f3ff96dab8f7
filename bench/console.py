"""The console in Debian's Chromium, against a store of a million edges: what a person waits for.

    python -m bench.console [--scale 1]

The first view of a trace, one hop more, the list of entries after typing, the first load. A time is taken in the page:
from the last key or click to the frame in which the result is painted; the 95th percentile of the rounds is given. The
reference is the same answer of the API without a browser. Sizes are those of the scripts as they were sent. Where there
is no Chromium, or no Node to build the console, nothing is measured (``ROOTWARD_BROWSER=required``: a failure).
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from playwright.async_api import Browser, Page, async_playwright

from api.adapters.system import SystemClock
from api.bootstrap import Ports, build
from api.graphql.handshake import Sockets
from api.settings import Settings
from bench._graph import layers
from bench._table import Goal, Table, Timing, arguments, scaled
from bench._talk import WORDS, Talk
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.knowledge import BlockVersion
from graph.model.nodes.people import Principal
from graph.services.access.commands import command
from graph.services.knowledge.ingest import ingest_messages
from graph.store.embedded import EmbeddedStore
from graph.store.port import Store
from tests.api.conftest import AnnouncedServer
from tests.support import browser as chromium
from tests.support.keyring import FixedKeyring
from tests.support.operations import Json, add, apply, block, cite, create, deduction, made
from tests.support.world import TeamWorld
from tools.console import NotBuilt, Places
from tools.console import build as build_console

EDGES, LAYERS = 1_000_000, 10
ENTRIES, ENTRIES_LEAST, AT_ONCE = 2_000, 60, 10
STATED, INFERRED, OVER = 32, 8, 3
"""Blocks of the chain: stated on two messages each, deductions on four of those, one on all, two more on that."""
MOST_NODES, MOST_KIB = 50, 350
ROUNDS, WARM_UP = 100, 3
PATIENCE_MS = 60_000

MEASURES = """
window.until = (act, done) => new Promise((resolve, reject) => {
  const began = performance.now()
  act()
  const end = () => resolve(performance.now() - began)
  const look = () => {
    if (performance.now() - began > 60000)
      reject(new Error(`not seen: ${done}; but: ${document.body.innerText.slice(0, 600)}`))
    else requestAnimationFrame(done() ? end : look)
  }
  look()
})
window.go = (path) => {
  history.pushState(null, '', path)
  window.dispatchEvent(new PopStateEvent('popstate', { state: null }))
}
window.nodes = () => Number(document.querySelector('.picture')?.dataset.nodes ?? 0)
window.shifts = 0
new PerformanceObserver((list) => list.getEntries().forEach((e) => { if (!e.hadRecentInput) window.shifts += e.value }))
  .observe({ type: 'layout-shift', buffered: true })
"""
TYPED = """([last, word]) => {
  const field = document.querySelector('input[type=search]')
  const type = () => {
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
    set.call(field, field.value + last)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const shown = () => location.search.includes(word) && document.querySelector('tbody tr')?.textContent.includes(word)
  return until(type, shown)
}"""
"""Types the last key of a word and waits for its rows."""

SHOWN = "([path, what]) => until(() => go(path), () => document.querySelector(what))"
EXPANDED = """(button) => {
  const lines = () => document.querySelectorAll('.trace-line').length
  const before = lines()
  return until(() => button.click(), () => lines() > before)
}"""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A service on a store, and who looks at it."""

    world: TeamWorld
    address: str
    token: str

    @property
    def owner(self) -> str:
        return GlobalId(kind=Principal.__name__, workspace=self.world.workspace, node=self.world.atlas).encode()

    @property
    def entries(self) -> str:
        return f"/console/knowledge/{self.owner}/entries"

    def trace(self, block_version: NodeId) -> str:
        node = GlobalId(kind=BlockVersion.__name__, workspace=self.world.workspace, node=block_version)
        return f"/console/knowledge/{self.owner}/trace/{node.encode()}"


@asynccontextmanager
async def served(store: Store, folder: Path) -> AsyncIterator[Desk]:
    """Serve a store with the console on a free port."""
    settings = Settings.model_validate({"data_dir": folder, "store": {"url": "memory:"}})
    service = build(settings, ports=Ports(store=store, keyring=FixedKeyring()))
    config = uvicorn.Config(service.app, port=0, lifespan="off", log_config=None, ws=Sockets)
    server = AnnouncedServer(config)
    async with service.app.router.lifespan_context(service.app):
        world = await TeamWorld(service.deps, name="bench").make()
        running = asyncio.create_task(server.serve())
        await server.ready.wait()
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Desk(world=world, address=f"http://127.0.0.1:{port}", token=await world.token(world.ana))
        server.should_exit = True
        await running


async def fill(store: Store, world: TeamWorld, scale: float) -> NodeId:
    """Write edges, entries and a chain; return the top of the chain."""
    edges = scaled(EDGES, scale, 2_000)
    began = time.perf_counter()
    for layer in layers("noise", edges // (2 * LAYERS), LAYERS):
        await layer.write(store)
    told = time.perf_counter()
    print(f"{edges:,} edges in {told - began:.0f} s", flush=True)
    count = scaled(ENTRIES, scale, ENTRIES_LEAST)
    messages = iter(await _messages(world, count + 2 * STATED))
    entries = [_entry(number, next(messages)) for number in range(count)]
    for first in range(0, count, AT_ONCE):
        await apply(world, *entries[first : first + AT_ONCE])
    print(f"{count:,} entries in {time.perf_counter() - told:.0f} s", flush=True)
    return await _chain(world, [next(messages) for _ in range(2 * STATED)])


async def _messages(world: TeamWorld, count: int) -> list[Json]:
    conversation = await world.open(world.ops)
    host, found = world.caller(world.host), []
    for said in Talk(speakers=(world.ana, world.ben), seed=7).batches(count, 1_000):
        portion = said
        receipt = await command(world.deps, host, lambda cmd: ingest_messages(cmd, conversation.id, portion))  # noqa: B023
        ids = zip(receipt.source_ids, said, strict=True)
        found += [cite(id_, message.text[:80].rsplit(" ", 1)[0]) for id_, message in ids]
    return found


def _entry(number: int, citation: Json) -> Json:
    talk = Talk(seed=number)
    return create(
        f"{WORDS[3_000 + number]} {_mark(number)}", block(f"{talk.sentence(15)}.", citation), summary=talk.sentence(8)
    )


def _mark(number: int) -> str:
    """Return the word of one entry that no other has."""
    return f"qx{number:04d}"


async def _chain(world: TeamWorld, said: list[Json]) -> NodeId:
    talk = Talk(seed=3)
    entry = made(await apply(world, create("Chain of evidence", block("It begins.", said[0]))))
    stated = [block(f"{talk.sentence(12)}.", *said[2 * n : 2 * n + 2]) for n in range(STATED)]
    below = await _added(world, entry, stated)
    share, today = STATED // INFERRED, datetime.now(UTC).date().isoformat()
    middle = [
        deduction(talk.sentence(6), f"{talk.sentence(8)}.", *below[n * share : (n + 1) * share], date=today)
        for n in range(INFERRED)
    ]
    between = await _added(world, entry, middle)
    top = between
    for number in range(OVER):
        conclusion = deduction("all of it holds", f"the tea arrives in spring {number}.", *top, date=today)
        result = await apply(world, add(entry, conclusion))
        top = [made(result)]
    return made(result, place=1)


async def _added(world: TeamWorld, entry: NodeId, contents: list[Json]) -> list[NodeId]:
    """Add blocks to an entry; return their ids."""
    found: list[NodeId] = []
    for first in range(0, len(contents), AT_ONCE):
        result = await apply(world, *(add(entry, one) for one in contents[first : first + AT_ONCE]))
        found += [verdict.created[0] for verdict in result.verdicts]
    return found


@dataclass(kw_only=True)
class Watch:
    """Rounds of one question, timed in the page; beside it the processor time of the page and of the server."""

    page: Page
    wall_ms: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    async def round(self, asked: Callable[[], Awaitable[float]]) -> None:
        """Ask once; `asked` returns milliseconds."""
        before = await self._cpu()
        self.wall_ms.append(await asked())
        self.cpu_s.append(await self._cpu() - before)

    def result(self) -> Timing:
        """Return what the rounds after the first few say."""
        return p95(self.wall_ms[WARM_UP:], self.cpu_s[WARM_UP:])

    async def _cpu(self) -> float:
        session = await self.page.context.new_cdp_session(self.page)
        await session.send("Performance.enable")
        told = {one["name"]: one["value"] for one in (await session.send("Performance.getMetrics"))["metrics"]}
        await session.detach()
        return float(told["ProcessTime"]) + time.process_time()


def p95(wall_ms: list[float], cpu_s: list[float]) -> Timing:
    """Return the 95th percentile as the time, with the median and the longest around it."""
    ordered = sorted(wall_ms)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    middle = statistics.median(ordered)
    return Timing(median=high / 1_000, low=middle / 1_000, high=ordered[-1] / 1_000, cpu=statistics.median(cpu_s))


async def open_page(browser: Browser, desk: Desk) -> Page:
    """Open the list of entries in a browser that has seen nothing yet."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.add_init_script(f"sessionStorage.setItem('rootward.token', {json.dumps(desk.token)});{MEASURES}")
    await page.goto(desk.address + desk.entries)
    await page.locator("tbody tr").nth(5).wait_for()
    return page


async def first_load(browser: Browser, desk: Desk) -> None:
    """Print what the first page sends and how far its parts move."""
    page = await open_page(browser, desk)
    await page.wait_for_load_state("networkidle")
    sent = await page.evaluate(
        "() => performance.getEntriesByType('resource').filter((e) => e.name.endsWith('.js'))"
        ".map((e) => [e.encodedBodySize, e.decodedBodySize])"
    )
    shift = await page.evaluate("() => window.shifts")
    kib, plain = (sum(one[place] for one in sent) / 1_024 for place in (0, 1))
    met = _said(kib <= MOST_KIB)
    print(f"first load: {kib:.0f} KiB of script sent ({plain:.0f} KiB unpacked), goal {MOST_KIB} KiB: {met}")
    print(f"first load: layout shift {shift:.4f}, goal 0: {_said(shift == 0)}")
    await page.context.close()


def _said(met: bool) -> str:
    return "met" if met else "MISSED"


async def listed(page: Page, rounds: int) -> Timing:
    """Return how long the list takes, from the last key of a word to the new rows."""
    search, watch = page.get_by_role("searchbox"), Watch(page=page)
    for number in range(rounds + WARM_UP):
        await search.fill("")
        word = _mark(number % ENTRIES_LEAST)
        await search.press_sequentially(word[:-1])
        await watch.round(lambda: page.evaluate(TYPED, [word[-1], word]))  # noqa: B023
    return watch.result()


async def traced(page: Page, desk: Desk, top: NodeId, rounds: int) -> tuple[Timing, Timing, int]:
    """Return how long a first view takes and one more node opened, and how many nodes a first view has."""
    first, more, nodes = Watch(page=page), Watch(page=page), 0
    for _ in range(rounds + WARM_UP):
        await page.evaluate(SHOWN, [desk.entries, "input[type=search]"])
        await first.round(lambda: page.evaluate(SHOWN, [desk.trace(top), ".picture[data-nodes]"]))
        nodes = await page.evaluate("() => nodes()")
        await page.evaluate(SHOWN, [f"{desk.trace(top)}?view=list", ".trace-list"])
        await page.locator(".trace-line").nth(OVER + 1).click()  # the first stated one
        button = page.get_by_role("button", name="Expand")
        await more.round(lambda: button.evaluate(EXPANDED))  # noqa: B023
    return first.result(), more.result(), nodes


async def bare(desk: Desk, body: Any, rounds: int) -> Timing:
    """Return how long the API alone takes for a request that the console made."""
    wall, cpu = [], []
    async with httpx2.AsyncClient(base_url=desk.address, timeout=PATIENCE_MS / 1_000) as http:
        for _ in range(rounds):
            began, began_cpu = time.perf_counter(), time.process_time()
            headers = {"Authorization": f"Bearer {desk.token}"}
            (await http.post("/graphql", json=body, headers=headers)).raise_for_status()
            wall.append(1_000 * (time.perf_counter() - began))
            cpu.append(time.process_time() - began_cpu)
    return p95(wall, cpu)


async def measure(browser: Browser, desk: Desk, top: NodeId, scale: float, table: Table) -> None:
    """Add all rows."""
    rounds = scaled(ROUNDS, scale, 10)
    await first_load(browser, desk)
    page = await open_page(browser, desk)
    asked: list[Any] = []
    page.on("request", lambda one: asked.append(one.post_data_json) if one.url.endswith("/graphql") else None)
    rows = await listed(page, rounds)
    reference = await bare(desk, asked[-1], rounds)
    what = "list of entries after typing stops, p95"
    table.add(what, rows, of="API", reference=reference, goal=Goal(most_ms=200))
    asked.clear()
    first, more, nodes = await traced(page, desk, top, rounds)
    if nodes > MOST_NODES:
        raise SystemExit(f"the first view has {nodes} nodes, over {MOST_NODES}")
    chains = {body["variables"]["depth"]: body for body in asked if "provenance" in body["query"]}
    if len(chains) != 2:
        raise SystemExit(f"chains were asked to the depths {sorted(chains)}: expected one for a view, one to expand")
    for what, took, depth, most in (
        (f"first view of a trace, {nodes} nodes, p95", first, max(chains), 300),
        ("one node expanded, p95", more, min(chains), 200),
    ):
        reference = await bare(desk, chains[depth], rounds)
        table.add(what, took, of="API", reference=reference, goal=Goal(most_ms=most))


async def main() -> int:
    """Measure the embedded store."""
    scale = arguments(__doc__).scale
    executable = chromium.program()
    try:
        if executable is None or chromium.mode() == "off":
            raise NotBuilt("there is no Chromium, or ROOTWARD_BROWSER=off")
        build_console(Places())
    except NotBuilt as reason:
        print(f"LEFT OUT: the console in a browser: {reason}")
        return 1 if chromium.mode() == "required" else 0
    table = Table("The console in Chromium", scale)
    with tempfile.TemporaryDirectory(prefix="rootward-bench-") as folder:
        store = EmbeddedStore(Path(folder) / "bench.db", clock=SystemClock())
        async with async_playwright() as playwright, served(store, Path(folder)) as desk:
            browser = await chromium.launch(playwright, executable)
            try:
                await measure(browser, desk, await fill(store, desk.world, scale), scale, table)
            finally:
                table.print()
                await browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
