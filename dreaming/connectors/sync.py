"""One sync of one connector under the lease of a job: look, open what changed, settle each document by itself.

A document is one transaction. A worker killed in between leaves the rest for the next look, which compares versions
again; so nothing is fetched or written twice for nothing. Source: MA-19 to MA-25, AD-33.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from dreaming.jobs import WorkContext, guarded_command, guarded_commit
from graph.model.errors import SyncFailed, UnsupportedType
from graph.model.fields import Json
from graph.model.nodes.learning import Connector
from graph.model.nodes.people import PrincipalKind
from graph.ports import DocumentPlaces, ListedDocument, Loss, OpenedDocument
from graph.rules.connectors import ConnectorState, to_ask_for, to_open
from graph.rules.mirrors import LIVE
from graph.services.access.caller import Caller
from graph.services.access.commands import Command
from graph.services.knowledge.connectors import find_connector, note_failed_sync, note_sync
from graph.services.knowledge.mirrors import (
    ReadDocument,
    mirror_document,
    mirrors_of,
    miss_document,
    refuse_document,
    withdraw_document,
)
from graph.services.settings import load_settings

TOO_LARGE = "too_large"


@dataclass(kw_only=True, slots=True)
class _Sync:
    """A sync under way.

    Attributes:
        max_bytes: of one document (`materials.max_bytes`).
        told: how many documents ended how.
        problem: code of the last document that gave no answer.
    """

    work: WorkContext
    connector: Connector
    place: DocumentPlaces
    max_bytes: int
    told: Counter[str] = field(default_factory=Counter)
    problem: str | None = None

    async def write(self, step: Callable[[Command], Awaitable[str]]) -> None:
        """Run a step in the name of the connector, under the lease, and count how it ended."""
        self.told[await guarded_command(self.work, actor_of(self.connector), step)] += 1


async def sync_connector(work: WorkContext) -> Json:
    """Bring the mirrors of a connector up to date; return how many documents ended how.

    Raises:
        SyncFailed: the place as a whole could not be read; the mirrors stay, and it is looked at again later.
    """
    async with work.deps.store.reading() as reader:
        connector = await find_connector(reader, work.job.subject_id) if work.job.subject_id else None
        max_bytes = int((await load_settings(reader, work.job.workspace))["materials.max_bytes"])
    if connector is None or connector.state == ConnectorState.PAUSED:
        return {}
    if connector.state == ConnectorState.REMOVED:
        return await _withdraw_all(work, connector)
    try:
        place = work.deps.places.get(connector.kind)
        if place is None:
            raise SyncFailed("kind_unknown")
        sync = _Sync(work=work, connector=connector, place=place, max_bytes=max_bytes)
        await _settle_all(sync)
    except SyncFailed as error:
        code, now = error.wire_code, work.deps.now()
        await guarded_commit(work, lambda writer: note_failed_sync(writer, connector, now, code))
        raise
    now = work.deps.now()
    await guarded_commit(work, lambda writer: note_sync(writer, connector, now, problem=sync.problem))
    return dict(sync.told)


def actor_of(connector: Connector) -> Caller:
    """Return the service as which a connector writes."""
    assert connector.actor_id is not None
    return Caller(workspace=connector.workspace, principal=connector.actor_id, kind=PrincipalKind.SERVICE)


async def _settle_all(sync: _Sync) -> None:
    options = sync.connector.options
    look = await sync.place.look(options, max_bytes=sync.max_bytes)
    async with sync.work.deps.store.reading() as reader:
        known = await mirrors_of(reader, sync.connector.id)
    for listed in to_open(look, known, sync.work.deps.now()):
        await _settle(sync, listed.external_id, listed)
    for mirror in to_ask_for(look, known, sync.work.deps.now()):
        await _settle(sync, mirror.external_id, None)


async def _settle(sync: _Sync, external_id: str, listed: ListedDocument | None) -> None:
    """Settle one document; what gives no answer leaves its mirror as it was and holds up no other."""
    try:
        found = await _opened(sync, external_id, listed)
    except SyncFailed as error:
        if listed is not None and error.reason == TOO_LARGE:
            await _refuse(sync, external_id, listed.version, TOO_LARGE)
            return
        sync.problem = error.wire_code
        sync.told["no_answer"] += 1
        return
    if isinstance(found, Loss):
        await sync.write(lambda cmd: miss_document(cmd, sync.connector, external_id))
        return
    try:
        document = await _read(sync, external_id, found, listed.version if listed else found.version)
        await sync.write(lambda cmd: mirror_document(cmd, sync.connector, document))
    except UnsupportedType as error:
        version = listed.version if listed else found.version
        await _refuse(sync, external_id, version, str(error.details.get("reason", "unknown")))


async def _opened(sync: _Sync, external_id: str, listed: ListedDocument | None) -> OpenedDocument | Loss:
    if listed is not None and listed.content is not None:
        return listed.content
    return await sync.place.open(sync.connector.options, external_id, max_bytes=sync.max_bytes)


async def _read(sync: _Sync, external_id: str, found: OpenedDocument, version: str) -> ReadDocument:
    """Read the text of a document and keep its bytes durably.

    Raises:
        UnsupportedType: no text can be read from it.
    """
    deps = sync.work.deps
    text = await asyncio.to_thread(
        deps.extractor.extract, found.body, media_type=found.media_type, filename=found.filename
    )
    return ReadDocument(
        external_id=external_id,
        version=version,
        blob=await deps.blobs.put(found.body),
        text=text.text,
        title=found.title or text.title,
        media_type=found.media_type,
        filename=found.filename,
        address=found.address,
        modified_at=found.modified_at,
    )


async def _refuse(sync: _Sync, external_id: str, version: str, problem: str) -> None:
    async def step(cmd: Command) -> str:
        await refuse_document(cmd, sync.connector, external_id, version, problem)
        return "refused"

    await sync.write(step)


async def _withdraw_all(work: WorkContext, connector: Connector) -> Json:
    """Withdraw what a removed connector brought; nothing of it is asked for any more."""
    async with work.deps.store.reading() as reader:
        known = await mirrors_of(reader, connector.id)
    live = sorted((mirror for mirror in known.values() if mirror.state == LIVE), key=lambda mirror: mirror.id)
    gone = 0
    for mirror in live:
        gone += await guarded_command(
            work,
            actor_of(connector),
            lambda cmd, one=mirror: withdraw_document(cmd, connector, one),  # type: ignore[misc]
        )
    return {"withdrawn": gone}
