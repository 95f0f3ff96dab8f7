"""`rootward init`, `worker`, `migrate` and `settings`: what an operator does with the process and its store."""

from __future__ import annotations

import asyncio
import re
import signal

from rich.console import Console

from api.adapters.root_key import RootKey
from api.bootstrap import Ports, make_deps, make_store, running
from api.cli import places, shown
from api.cli.background import make_worker
from api.cli.first_start import FirstStart, initialise, prepare
from api.cli.given import Chosen
from api.cli.link import require_store
from api.cli.shown import columns
from api.observability import log_fault, start_logging
from api.settings import keyring_file, listed, root_key_origin
from dreaming.jobs import JOB_KINDS
from dreaming.worker import HANDLERS, Worker
from graph.store.port import Migration

_CREDENTIALS = re.compile(r"//[^/@\s]*@")


async def init(chosen: Chosen, *, display_name: str | None, sample: bool, out: Console) -> None:
    """Make workspace, root key, first admin and his token; with `sample` also the sample story (AD-14).

    Raises:
        BadState: the store has a workspace.
    """
    settings = chosen.settings
    with shown.bar("Telling the sample story" if sample else "Making the workspace") as bar:
        first = FirstStart(
            display_name=display_name,
            sample=sample,
            progress=bar if sample else None,
            environ=chosen.environ,
            dreaming=lambda model, done: bar.begin(f"Dreaming about it ({model})", done),
        )
        if not await prepare(settings, first):
            deps = make_deps(settings, Ports())
            async with running(deps):
                await initialise(settings, deps, first)
    for one in places.signed(settings.data_dir):
        out.print(f"{one.key}: {one.file}{f'  {one.token}' if out.is_terminal else ''}")
    root = RootKey(root_key_origin(settings), chosen.environ)
    out.print(f"root key: {root.shown}; keyring: {keyring_file(settings)}: keep copies of both, each at its own place")


async def work(chosen: Chosen, *, once: bool, out: Console) -> None:
    """Do the background work of the store until SIGTERM, or with `once` what is due now."""
    require_store(chosen)
    settings = chosen.settings
    start_logging(settings.log.level, settings.log.format)
    deps = make_deps(settings, Ports())
    # Before anything is said: who reads that the worker works may end it at once.
    told = _told_to_end()
    async with running(deps):
        worker = make_worker(settings, deps)
        worker.on_step = lambda kind, outcome: out.print(f"{kind}: {outcome}")
        worker.on_fault = log_fault
        kinds = ", ".join(f"{kind} ({JOB_KINDS[kind].what.rstrip('.')})" for kind in HANDLERS)
        out.print(f"working: {kinds}; anchors every {settings.audit.anchor_minutes:g} minutes")
        if once:
            await _due(told, worker)
        else:
            await _until(told, worker)
    out.print("ended; what was under way is handed back")


async def _due(told: asyncio.Event, worker: Worker) -> None:
    await worker.arrange()
    while not told.is_set() and await worker.step():
        pass


def _told_to_end() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set from now on."""
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, told.set)
    return told


async def _until(told: asyncio.Event, worker: Worker) -> None:
    """Work until told to end; what was under way is then handed back."""
    work, end = asyncio.ensure_future(worker.run()), asyncio.ensure_future(told.wait())
    try:
        await asyncio.wait({work, end}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            await work  # it never ends by itself: say why
    finally:
        for task in (work, end):
            task.cancel()
        await asyncio.gather(work, end, return_exceptions=True)


async def migrate(chosen: Chosen, *, dry_run: bool, out: Console) -> None:
    """List the numbered steps of the store and, unless rehearsing, take those that are missing (AD-40)."""
    store = make_store(chosen.settings, Ports().clock)
    steps = await store.migrations()
    out.print(columns([_step(step) for step in steps], ("Step", "Name", "State")))
    missing = [step for step in steps if not step.applied]
    if dry_run:
        out.print(f"{len(missing)} steps would be taken" if missing else "nothing is to be done")
        return
    await store.open()
    await store.close()
    out.print(f"{len(missing)} steps were taken" if missing else "nothing was to be done")


def show_settings(chosen: Chosen, out: Console) -> None:
    """Print every setting with its value, default and origin; secrets are masked (AD-36)."""
    rows = [
        (one.name, _masked(one.value), _masked(one.default), one.origin)
        for one in listed(chosen.settings, chosen.given)
    ]
    out.print(columns(rows, ("Setting", "Value", "Default", "From")))


def _step(step: Migration) -> tuple[str, str, str]:
    return str(step.number), step.name, "taken" if step.applied else "missing"


def _masked(value: str) -> str:
    """Return a value without credentials in addresses, and of a command its program alone."""
    if value.startswith("command:"):
        return RootKey(value, {}).shown
    return _CREDENTIALS.sub("//***@", value) if value else "(empty)"
