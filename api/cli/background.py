"""The background work of this process: the worker of `dreaming`, and where anchors are kept outside the store."""

from __future__ import annotations

import os
from pathlib import Path

from api.adapters.anchor_address import AnchorAddress
from api.adapters.anchor_file import AnchorFile
from api.adapters.credentials import from_environment
from api.bootstrap import purge_kind, sandbox_rules
from api.observability import log_fault, note_fault
from api.settings import Settings
from dreaming.models.making import ProfileModels
from dreaming.worker import Worker
from graph.rules.jobs import JOB_KINDS, PURGE_RECORDS
from graph.services.deps import Deps
from graph.services.knowledge.anchors import AnchorSink

PAUSE_S = 10.0


async def background(settings: Settings, deps: Deps) -> None:
    """Work until cancelled; a fault is logged, and the work goes on after a pause."""
    while True:
        try:
            await make_worker(settings, deps).run()
        except Exception as error:  # noqa: BLE001 - the edge of the process: background work
            note_fault(error, deps.figures)
        await deps.clock.sleep(PAUSE_S)


def make_worker(settings: Settings, deps: Deps) -> Worker:
    """Return the worker for these settings."""
    return Worker(
        deps=deps,
        anchor_minutes=settings.audit.anchor_minutes,
        anchor_sink=anchor_sink(settings),
        kinds={**JOB_KINDS, PURGE_RECORDS: purge_kind(settings)},
        models=ProfileModels(credentials=from_environment(os.environ), figures=deps.figures),
        sandbox=sandbox_rules(settings),
        on_fault=log_fault,
    )


def anchor_sink(settings: Settings) -> AnchorSink | None:
    """Return where anchors are kept outside the store, if the settings name an address or a file."""
    place = settings.audit.anchor_to
    if place.startswith(("http://", "https://")):
        return AnchorAddress(place)
    return AnchorFile(Path(place)) if place else None
