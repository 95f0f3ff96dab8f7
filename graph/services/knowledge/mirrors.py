"""Documents of connectors in the store: a source a version, and one read-only entry that mirrors the newest.

Each function is one step of a sync in one transaction, audited as the connector's own (`mirror.sync`,
`mirror.withdraw`). Source: MA-19, MA-21 to MA-25.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceKind, SourceState
from graph.model.nodes.knowledge import KnowledgeBase, ModifierKind
from graph.model.nodes.learning import Connector, Mirror
from graph.model.time import Millis
from graph.ports import BlobRef
from graph.rules.audit_chain import AuditDraft
from graph.rules.audit_operations import AuditOperation
from graph.rules.changes import Changes
from graph.rules.images import mirror_image
from graph.rules.mirrors import (
    LIVE,
    MISSES_OF_LOSS,
    REFUSED,
    WITHDRAWN,
    names_for,
    paragraphs_of_document,
    write_mirror,
)
from graph.rules.names import normalised_name
from graph.rules.operations.actors import ActorRules
from graph.rules.operations.needs import Needs
from graph.rules.operations.work import Work
from graph.services.access.commands import Command
from graph.services.audience import hold_dependents
from graph.services.blob_rows import hold_blob
from graph.services.knowledge.state import load_state
from graph.services.knowledge.statements import load_statements
from graph.services.learning.offering import offer_hidden
from graph.services.learning.pending import pend
from graph.services.ledger import COMMIT_GUARD, Commit, commit, hold
from graph.services.settings import load_settings
from graph.store.port import Reader
from graph.store.query import And, Eq, Find
from graph.text.similarity import name_key

_NAMES = 12
ERASED = "erased"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadDocument:
    """A document whose bytes are durable and whose text was read."""

    external_id: str
    version: str
    blob: BlobRef
    text: str
    title: str | None = None
    media_type: str | None = None
    filename: str | None = None
    address: str | None = None
    modified_at: Millis | None = None


async def mirrors_of(reader: Reader, connector: NodeId) -> dict[str, Mirror]:
    """Return what is known of the documents of a connector, by their external id."""
    page = await reader.find(COMMIT_GUARD, Find(kind=Mirror, where=Eq("connector_id", connector)))
    return {mirror.external_id: mirror for mirror in page.nodes}


async def mirror_document(cmd: Command, connector: Connector, document: ReadDocument) -> str:
    """Mirror a document as it is now: new, replaced as a whole, back again, or as it was; return which.

    Returns:
        ``created``, ``replaced``, ``returned`` or ``unchanged`` (only its row moved: nothing else is written, MA-22).

    Raises:
        UnsupportedType: it is too long for an entry; nothing is written.
    """
    paragraphs = paragraphs_of_document(document.text)
    mirror = await _find(cmd.writer, connector, document.external_id)
    if mirror is not None and mirror.state == WITHDRAWN:
        await _hold_versions(cmd, mirror)
    base = await hold(cmd.writer, _pool(connector), [mirror.entry_id] if mirror and mirror.entry_id else ())
    versions = await _versions(cmd.writer, mirror)  # under the lock: an erasure holds the base as well
    latest = versions[-1] if versions else None
    if mirror is not None and latest is not None and latest.state == SourceState.ERASED:
        return await _stays_erased(cmd, mirror, document.version)
    if mirror is not None and latest is not None and latest.content_hash == document.blob.sha256:
        return await _same_again(cmd, connector, mirror, versions, document.version)
    await hold_blob(cmd.writer, cmd.deps, document.blob.sha256)
    source = _source(cmd, connector, document, latest, _state_of_next(mirror, latest))
    work = await _work(cmd, connector, base, mirror, source)
    known = (mirror, latest) if mirror is not None and latest is not None else None
    entry = write_mirror(work, source, paragraphs, _names(document), known)
    _put_source(work.changes, cmd, connector, source, latest)
    back = mirror is not None and mirror.state == WITHDRAWN
    if back:
        _set_states(work.changes, versions, SourceState.LIVE)
    await _commit(cmd, base, work.changes, moved=back)
    fields = {"entry_id": entry, "series": source.series, "source_version": document.version}
    await _put_mirror(cmd, connector, mirror, document.external_id, {**fields, **_seen(cmd)})
    return "created" if latest is None else "returned" if back else "replaced"


async def refuse_document(cmd: Command, connector: Connector, external_id: str, version: str, problem: str) -> None:
    """Note that this version of a document cannot be read; its mirror, if it has one, stays as it was."""
    await cmd.writer.lock([connector.id])
    mirror = await _find(cmd.writer, connector, external_id)
    state = {} if mirror is not None else {"state": REFUSED}
    fields = {"source_version": version, "problem": problem, "misses": 0, "asked_at": cmd.at, **state}
    await _put_mirror(cmd, connector, mirror, external_id, fields)


async def miss_document(cmd: Command, connector: Connector, external_id: str) -> str:
    """Count an explicit answer that a document is gone or forbidden; the second in a row withdraws it (MA-25).

    Returns:
        ``missed``, ``withdrawn``, or ``unchanged`` if it was withdrawn already.
    """
    mirror = await _find(cmd.writer, connector, external_id)
    if mirror is None:
        return "unchanged"
    misses = mirror.misses + 1
    over = mirror.state == LIVE and misses >= MISSES_OF_LOSS
    lost = over and await withdraw_document(cmd, connector, mirror)
    await cmd.writer.patch(mirror.id, {"misses": misses, "asked_at": cmd.at})
    return "withdrawn" if lost else "missed" if mirror.state == LIVE else "unchanged"


async def withdraw_document(cmd: Command, connector: Connector, mirror: Mirror) -> bool:
    """Withdraw a document: what needs it leaves every read, and is offered to Stage B to be rewritten (MA-24).

    Returns:
        False if nothing of it was there any more. What a person withdrew stays his to take back, whatever the place
        says later.
    """
    versions = [v for v in await _hold_versions(cmd, mirror) if v.state == SourceState.LIVE]
    if not versions:
        return False
    base = await hold(cmd.writer, _pool(connector))
    changes = Changes()
    _set_states(changes, versions, SourceState.WITHDRAWN)
    if mirror.entry_id is not None:
        changes.drafts.append(_draft(connector, mirror, versions[-1], AuditOperation.MIRROR_WITHDRAW, WITHDRAWN))
    await _commit(cmd, base, changes, moved=True)
    await offer_hidden(cmd.writer, connector.owner_id, [version.id for version in versions], cmd.at)
    await cmd.writer.patch(mirror.id, {"state": WITHDRAWN})
    return True


async def _same_again(
    cmd: Command, connector: Connector, mirror: Mirror, versions: Sequence[Source], version: str
) -> str:
    """Note that a document is as it was; make it live again if access to it had been lost."""
    if mirror.state == WITHDRAWN:
        changes = Changes()
        _set_states(changes, versions, SourceState.LIVE)
        changes.drafts.append(_draft(connector, mirror, versions[-1], AuditOperation.MIRROR_SYNC, LIVE))
        base = await hold(cmd.writer, _pool(connector))
        await _commit(cmd, base, changes, moved=True)
    await cmd.writer.patch(mirror.id, {"source_version": version, **_seen(cmd)})
    return "returned" if mirror.state == WITHDRAWN else "unchanged"


async def _stays_erased(cmd: Command, mirror: Mirror, version: str) -> str:
    """Note that a document was erased here: its place does not bring it back, whatever it says now (KN-81)."""
    await cmd.writer.patch(mirror.id, {"source_version": version, "problem": ERASED, "misses": 0, "asked_at": cmd.at})
    return "unchanged"


def _state_of_next(mirror: Mirror | None, latest: Source | None) -> SourceState:
    """Return the state of a new version: what a person withdrew stays so, what its place had lost is back."""
    by_person = mirror is not None and mirror.state == LIVE and latest is not None and latest.state != SourceState.LIVE
    return SourceState.WITHDRAWN if by_person else SourceState.LIVE


def _seen(cmd: Command) -> dict[str, Any]:
    return {"state": LIVE, "misses": 0, "problem": None, "asked_at": cmd.at}


def _pool(connector: Connector) -> NodeId:
    assert connector.pool is not None
    return connector.pool


async def _find(reader: Reader, connector: Connector, external_id: str) -> Mirror | None:
    where = And((Eq("connector_id", connector.id), Eq("external_id", external_id)))
    page = await reader.find(COMMIT_GUARD, Find(kind=Mirror, where=where, first=1))
    return page.nodes[0] if page.nodes else None


async def _versions(reader: Reader, mirror: Mirror | None) -> tuple[Source, ...]:
    """Return the versions of a document that were not erased, oldest first."""
    if mirror is None or mirror.series is None:
        return ()
    page = await reader.find(COMMIT_GUARD, Find(kind=Source, where=Eq("series", mirror.series)))
    return tuple(sorted(page.nodes, key=lambda source: source.version))


async def _hold_versions(cmd: Command, mirror: Mirror) -> tuple[Source, ...]:
    await hold_dependents(cmd.writer, [version.id for version in await _versions(cmd.writer, mirror)])
    return await _versions(cmd.writer, mirror)


def _names(document: ReadDocument) -> list[str]:
    return list(islice(names_for(document.title or document.filename, document.external_id), _NAMES))


def _source(
    cmd: Command, connector: Connector, document: ReadDocument, latest: Source | None, state: SourceState
) -> Source:
    own_id = cmd.deps.new_id(Source.PREFIX)
    return Source(
        id=own_id,
        workspace=connector.workspace,
        pool=connector.pool,
        created_at=cmd.at,
        kind=SourceKind.CONNECTOR_DOC,
        content_hash=document.blob.sha256,
        text=document.text,
        blob_ref=document.blob.sha256,
        speaker=connector.display_name,
        title=document.title or document.filename,
        occurred_at=cmd.at if document.modified_at is None else document.modified_at,
        recorded_at=cmd.at,
        state=state,
        version=1 if latest is None else latest.version + 1,
        source_version=document.version,
        series=own_id if latest is None else latest.series,
        external_id=document.external_id,
        media_type=document.media_type,
        size_bytes=document.blob.size_bytes,
        meta={"connector": connector.id, "filename": document.filename, "address": document.address},
    )


async def _work(cmd: Command, connector: Connector, base: KnowledgeBase, mirror: Mirror | None, source: Source) -> Work:
    """Return a working copy of the present in which the new source is there to be cited."""
    names = list(islice(names_for(source.title, source.external_id or ""), _NAMES))
    needs = Needs(
        names=frozenset(normalised_name(name) for name in names), keys=frozenset(name_key(name) for name in names)
    )
    state = await load_state(cmd.session, base, needs)
    entries = [mirror.entry_id] if mirror is not None and mirror.entry_id is not None else []
    own = await load_statements(cmd.writer, entries=entries, whole=entries)
    state = replace(
        state,
        entries=own.entries,
        blocks=own.blocks,
        sources={source.id: source},
        visible=state.visible | {source.id, *own.entries, *own.blocks},
    )
    assert connector.actor_id is not None
    actor = ActorRules(id=connector.actor_id, kind=ModifierKind.CONNECTOR, name=connector.display_name)
    settings = await load_settings(cmd.writer, connector.workspace, base.owner_id)
    return Work.on(state, actor, settings, cmd.at, cmd.deps.new_id)


def _put_source(changes: Changes, cmd: Command, connector: Connector, source: Source, latest: Source | None) -> None:
    changes.puts[:0] = [source]
    changes.links.append(Edge(type=EdgeType.SCOPED_TO, source=source.id, target=_pool(connector)))
    if latest is not None:
        changes.links.append(Edge(type=EdgeType.SUPERSEDES, source=source.id, target=latest.id))
        changes.patch(latest.id, latest=False, invalidated_at=cmd.at)
    pend(changes, source, connector.owner_id, replaces=latest)


def _set_states(changes: Changes, versions: Sequence[Source], state: SourceState) -> None:
    """Set the state of all versions that were not erased; what is erased stays so (KN-81)."""
    for version in versions:
        if version.state not in (state, SourceState.ERASED):
            changes.patch(version.id, state=str(state))
            changes.reguard.add(version.id)


def _draft(connector: Connector, mirror: Mirror, latest: Source, operation: AuditOperation, to: str) -> AuditDraft:
    assert connector.actor_id is not None
    assert mirror.entry_id is not None
    images = [
        mirror_image(state=state, source_id=latest.id, source_version=latest.source_version)
        for state in (mirror.state, to)
    ]
    return AuditDraft(
        operation=operation,
        actor_id=connector.actor_id,
        actor_kind=ModifierKind.CONNECTOR,
        target_id=mirror.entry_id,
        target_kind="Entry",
        before=images[0],
        after=images[1],
    )


async def _commit(cmd: Command, base: KnowledgeBase, changes: Changes, *, moved: bool) -> None:
    language = (await load_settings(cmd.writer, base.workspace))["search.default_language"]
    await commit(cmd.writer, cmd.deps, Commit(pool=base.id, tx_id=cmd.tx_id, at=cmd.at, language=language), changes)
    if moved:
        await cmd.writer.increment(base.id, "access_version")


async def _put_mirror(
    cmd: Command, connector: Connector, mirror: Mirror | None, external_id: str, fields: dict[str, Any]
) -> None:
    if mirror is not None:
        await cmd.writer.patch(mirror.id, fields)
        return
    made = Mirror(
        id=cmd.deps.new_id(Mirror.PREFIX),
        workspace=connector.workspace,
        pool=connector.pool,
        created_at=cmd.at,
        connector_id=connector.id,
        external_id=external_id,
        **fields,
    )
    await cmd.writer.put([made])
