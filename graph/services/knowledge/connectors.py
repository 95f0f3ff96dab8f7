"""Connectors as the worker sees them: which are due, and how their syncs went (MA-20, AD-33)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graph.model.access import SystemScope
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.learning import Connector
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.connectors import SYNC_CONNECTOR, ConnectorState, is_due, sync_key
from graph.rules.jobs import JobState, released
from graph.services.deps import Deps
from graph.services.learning.jobs import enqueue, find_job
from graph.services.settings import load_settings
from graph.store.port import Reader, Writer
from graph.store.query import Eq, Find

SYNCING = SystemScope(reason="which connectors are due, and how they are")


async def find_connector(reader: Reader, id_: NodeId) -> Connector | None:
    """Return a connector as it is now."""
    found = (await reader.get(SYNCING, [id_])).get(id_)
    return found if isinstance(found, Connector) else None


async def arrange_syncs(deps: Deps) -> list[NodeId]:
    """Ask for a job for each connector that is due and has none under way; return their ids."""
    now = deps.now()
    async with deps.store.reading() as reader:
        due = [connector for connector in await _active(reader) if await _is_due(reader, connector, now)]
    for connector in due:
        await deps.store.transact(lambda writer, one=connector: ask_for_sync(writer, one, now))  # type: ignore[misc]
    return [connector.id for connector in due]


async def ask_for_sync(writer: Writer, connector: Connector, now: Millis) -> Job:
    """Ask for a sync of a connector now; one that waits after a failure goes on waiting."""
    return await enqueue(
        writer,
        SYNC_CONNECTOR,
        workspace=connector.workspace,
        unique_key=sync_key(connector.id),
        due_at=now,
        now=now,
        subject=connector.id,
        agent=connector.owner_id,
    )


async def ask_for_sync_at_once(writer: Writer, connector: Connector, now: Millis) -> Job:
    """Ask for a sync because somebody says so: one that waits after a failure waits no longer."""
    job = await ask_for_sync(writer, connector, now)
    if job.state != JobState.QUEUED or not job.attempts:
        return job
    changes = released(now)
    await writer.patch_many({job.id: changes})
    return replace(job, **changes)


async def note_sync(writer: Writer, connector: Connector, at: Millis, *, problem: str | None = None) -> None:
    """Note that a sync went through; `problem` is the code of a document that gave no answer, if one did."""
    fields: Mapping[str, Json] = {"last_sync_at": at, "last_error": problem, "failures": 0}
    await writer.patch_many({connector.id: fields})


async def note_failed_sync(writer: Writer, connector: Connector, at: Millis, code: str) -> None:
    """Note that the place as a whole could not be read; its mirrors stay as they are (MA-25)."""
    fields = {"last_sync_at": at, "last_error": code, "failures": connector.failures + 1}
    await writer.patch_many({connector.id: fields})


async def _active(reader: Reader) -> tuple[Connector, ...]:
    query = Find(kind=Connector, where=Eq("state", str(ConnectorState.ACTIVE)))
    return (await reader.find(SYNCING, query)).nodes


async def _is_due(reader: Reader, connector: Connector, now: Millis) -> bool:
    settings = await load_settings(reader, connector.workspace)
    if not is_due(connector, now, float(settings["connector.sync_minutes"])):
        return False
    job = await find_job(reader, sync_key(connector.id))
    return job is None or job.state not in (JobState.QUEUED, JobState.RUNNING)
