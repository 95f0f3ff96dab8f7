"""Files as materials: kept unchanged, downloadable, learned from later, replaced by newer versions.

Source: MA-1 to MA-6, MA-10, MA-14, AD-32. Bytes are durable before the row that names them, and the learning job is
made in the transaction of that row. A file from which no text can be read is kept, with the reason. If it is of another
type than those that are read, its learning has failed with ``UNSUPPORTED_TYPE`` when it is submitted, since nothing
that comes later could tell more; a damaged or locked one of these types waits like any other, and its task fails.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput, BadState, LimitExceeded, NotFound, OperationRejected, UnsupportedType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import LearningState, Source, SourceKind, SourceState
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.model.nodes.work import Job
from graph.ports import BlobRef
from graph.rules.changes import Changes
from graph.rules.explicit import explicit_id
from graph.rules.learning import SUPERSEDED, UNSUPPORTED_TYPE, check_retry, learning_job, learning_key
from graph.rules.pools import scope_of
from graph.rules.scopes import check_write
from graph.rules.unreadable import OTHER_TYPE, with_reason
from graph.services.access.caller import Caller
from graph.services.access.commands import Command
from graph.services.access.session import Session, read
from graph.services.blob_rows import hold_blob
from graph.services.deps import Deps
from graph.services.knowledge.owners import check_named
from graph.services.ledger import COMMIT_GUARD, Commit, commit, hold
from graph.services.settings import load_settings
from graph.store.port import Reader
from graph.store.query import And, Eq, Find

MAX_TITLE = 200
MAX_FILENAME = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedFile:
    """A file whose bytes are durable and whose text was read; `submit_file` makes a material of it.

    Attributes:
        reason: why no text could be read, if so (`graph.rules.unreadable`).
    """

    blob: BlobRef
    filename: str | None
    media_type: str | None
    text: str
    title: str | None
    reason: str | None = None

    @property
    def failed(self) -> str | None:
        """The code with which its learning has failed from the start: nothing is read from files of its type."""
        return UNSUPPORTED_TYPE if self.reason == OTHER_TYPE else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """The original bytes of a material, to be streamed from the blobs."""

    sha256: str
    size_bytes: int
    filename: str | None
    media_type: str | None


async def prepare_file(
    deps: Deps,
    caller: Caller,
    kb_id: NodeId,
    data: bytes,
    *,
    owner_id: NodeId | None = None,
    filename: str | None = None,
    media_type: str | None = None,
) -> PreparedFile:
    """Check that the caller may submit there, keep the bytes durably and read the text.

    Raises:
        BadInput: no knowledge base is named (MA-14), or the file is empty.
        NotFound, OperationRejected: as `submit_file`.
        LimitExceeded: over `materials.max_bytes`; nothing was kept.
    """
    limit, _ = await read(deps, caller, lambda session: _limit(session, kb_id, owner_id))
    if not data:
        raise BadInput("the file is empty", field="file")
    if len(data) > limit:
        raise LimitExceeded(f"a file has at most {limit} bytes", field="file", limit=limit)
    blob = await deps.blobs.put(data)
    name = None if filename is None else filename[:MAX_FILENAME]
    try:
        found = await asyncio.to_thread(deps.extractor.extract, data, media_type=media_type, filename=name)
    except UnsupportedType as error:
        reason = str(error.details.get("reason", OTHER_TYPE))
        return PreparedFile(blob=blob, filename=name, media_type=media_type, text="", title=None, reason=reason)
    return PreparedFile(blob=blob, filename=name, media_type=media_type, text=found.text, title=found.title)


async def submit_file(
    cmd: Command, kb_id: NodeId, file: PreparedFile, *, owner_id: NodeId | None = None, title: str | None = None
) -> Source:
    """Make a material of a prepared file and queue its learning; equal bytes in a base are the same material.

    Raises:
        BadInput: no knowledge base is named (MA-14).
        NotFound: no such knowledge base for the caller.
        OperationRejected: ``SCOPE_FORBIDDEN``: he reads it but may not write there.
    """
    shown = checked_title(title)
    base = await writable_base(cmd.session, kb_id, owner_id)
    await hold(cmd.writer, base.id)
    found = await _equal(cmd.writer, base.id, file.blob.sha256)
    if found is not None:
        return found
    await hold_blob(cmd.writer, cmd.deps, file.blob.sha256)
    source = _material(cmd, base, file, shown)
    await write_material(cmd, source)
    return source


async def replace_material(cmd: Command, material_id: NodeId, file: PreparedFile) -> Source:
    """Put a newer version in the place of a file and queue its learning; what cites the old one becomes stale.

    Equal bytes change nothing.

    Raises:
        NotFound: no such material for the caller.
        OperationRejected: ``SCOPE_FORBIDDEN``.
        BadState: it has a newer version already.
    """
    old = await _own_material(cmd, material_id)
    assert old.pool is not None
    await hold(cmd.writer, old.pool, [old.id])
    old = await _own_material(cmd, material_id)
    if not old.latest:
        raise BadState("replace the newest version of the material")
    if old.content_hash == file.blob.sha256:
        return old
    await hold_blob(cmd.writer, cmd.deps, file.blob.sha256)
    base = await writable_base(cmd.session, old.pool)
    fresh = _material(cmd, base, file, None)
    source = replace(fresh, version=old.version + 1, series=old.series, title=file.title or old.title)
    await write_material(cmd, source, replaces=old)
    return source


async def retry_learning(cmd: Command, material_id: NodeId) -> Source:
    """Queue the learning of a material again; its bytes are there, so nothing is uploaded anew (MA-3).

    Raises:
        NotFound: no such material for the caller.
        OperationRejected: ``SCOPE_FORBIDDEN``.
        BadState: it neither failed nor is stuck.
    """
    found = await _own_material(cmd, material_id, any_kind=True)
    assert found.pool is not None
    await hold(cmd.writer, found.pool, [found.id])
    found = await _own_material(cmd, material_id, any_kind=True)
    job = await job_of(cmd.writer, found.id)
    settings = await load_settings(cmd.writer, cmd.caller.workspace)
    check_retry(found, job, cmd.at, float(settings["jobs.stuck_minutes"]))
    queued = replace(found, learning_state=LearningState.QUEUED, learning_code=None, learning_at=cmd.at)
    fields = {"learning_state": queued.learning_state, "learning_code": None, "learning_at": cmd.at}
    await cmd.writer.patch_many({found.id: fields})
    await _queue_again(cmd, queued, job)
    return queued


async def download(session: Session, source_id: NodeId) -> Download:
    """Return where the original bytes of a file or page are.

    Raises:
        NotFound: no such source for the caller, or it has no bytes.
    """
    source = await session.open_one(source_id, Source)
    if source.blob_ref is None:
        raise NotFound
    meta = source.meta if isinstance(source.meta, dict) else {}
    return Download(
        sha256=source.blob_ref,
        size_bytes=source.size_bytes or 0,
        filename=meta.get("filename"),
        media_type=source.media_type,
    )


async def writable_base(session: Session, kb_id: NodeId | None, owner_id: NodeId | None = None) -> KnowledgeBase:
    """Return the knowledge base that the caller named and may write.

    Raises:
        BadInput: none is named: no default points anywhere (MA-14).
        NotFound: no such base of this owner for the caller.
        OperationRejected: ``SCOPE_FORBIDDEN``: he reads it but may not write there, or is an agent that names one
            outside of its conversation (KN-56).
    """
    named = explicit_id(kb_id, "kbId")
    check_named(session, [named])
    base = await session.open_one(named, KnowledgeBase)
    if owner_id is not None and base.owner_id != owner_id:
        raise NotFound
    if base.kind == KbKind.GUIDE:
        raise OperationRejected("SCOPE_FORBIDDEN", "submit material to the knowledge of an agent")
    check_write(session.facts, scope_of(base), conversation=session.conversation)
    return base


async def write_material(
    cmd: Command, source: Source, changes: Changes | None = None, *, replaces: Source | None = None
) -> None:
    """Write a source that is learned from, with its job and whatever `changes` holds, in one commit."""
    assert source.pool is not None
    whole = changes or Changes()
    whole.puts[:0] = [source, await _new_job(cmd, source)]
    whole.links.append(Edge(type=EdgeType.SCOPED_TO, source=source.id, target=source.pool))
    if replaces is not None:
        whole.links.append(Edge(type=EdgeType.SUPERSEDES, source=source.id, target=replaces.id))
        await _retire(cmd, whole, replaces)
    language = (await load_settings(cmd.writer, cmd.caller.workspace))["search.default_language"]
    where = Commit(pool=source.pool, tx_id=cmd.tx_id, at=cmd.at, language=language)
    await commit(cmd.writer, cmd.deps, where, whole)


def checked_title(title: str | None) -> str | None:
    """Return a title, trimmed; None if there is none.

    Raises:
        LimitExceeded: it is too long.
    """
    text = (title or "").strip()
    if len(text) > MAX_TITLE:
        raise LimitExceeded(f"a title has at most {MAX_TITLE} characters", field="title", limit=MAX_TITLE)
    return text or None


async def job_of(reader: Reader, source_id: NodeId) -> Job | None:
    """Return the learning job of a source."""
    where = Eq("unique_key", learning_key(source_id))
    page = await reader.find(COMMIT_GUARD, Find(kind=Job, where=where, first=1))
    return page.nodes[0] if page.nodes else None


async def _limit(session: Session, kb_id: NodeId, owner_id: NodeId | None) -> int:
    await writable_base(session, kb_id, owner_id)
    return int((await load_settings(session.reader, session.caller.workspace))["materials.max_bytes"])


async def _equal(reader: Reader, pool: NodeId, sha256: str) -> Source | None:
    where = And(
        (
            Eq("pool", pool),
            Eq("content_hash", sha256),
            Eq("kind", SourceKind.FILE),
            Eq("latest", True),
            Eq("state", SourceState.LIVE),
        )
    )
    page = await reader.find(COMMIT_GUARD, Find(kind=Source, where=where, first=1))
    return page.nodes[0] if page.nodes else None


async def _own_material(cmd: Command, material_id: NodeId, *, any_kind: bool = False) -> Source:
    found = await cmd.session.open_one(explicit_id(material_id, "id"), Source)
    if found.learning_state is None or not (any_kind or found.kind == SourceKind.FILE):
        raise NotFound
    await writable_base(cmd.session, found.pool)
    return found


def _material(cmd: Command, base: KnowledgeBase, file: PreparedFile, title: str | None) -> Source:
    own_id = cmd.deps.new_id(Source.PREFIX)
    return Source(
        id=own_id,
        workspace=base.workspace,
        pool=base.id,
        created_at=cmd.at,
        kind=SourceKind.FILE,
        content_hash=file.blob.sha256,
        text=file.text,
        blob_ref=file.blob.sha256,
        author_id=cmd.caller.principal,
        title=title or file.title or file.filename,
        occurred_at=cmd.at,
        recorded_at=cmd.at,
        series=own_id,
        learning_state=LearningState.FAILED if file.failed else LearningState.QUEUED,
        learning_code=file.failed,
        learning_at=cmd.at,
        media_type=file.media_type,
        size_bytes=file.blob.size_bytes,
        meta=with_reason({"filename": file.filename}, file.reason),
    )


async def _retire(cmd: Command, changes: Changes, old: Source) -> None:
    """Let an older version be superseded; what was still to be learned from it is not learned any more."""
    changes.patch(old.id, latest=False, invalidated_at=cmd.at)
    if old.learning_state not in (LearningState.QUEUED, LearningState.RUNNING):
        return
    changes.patch(old.id, learning_state=str(LearningState.FAILED), learning_code=SUPERSEDED, learning_at=cmd.at)
    job = await job_of(cmd.writer, old.id)
    if job is not None:  # the fence keeps a worker that is at it from committing
        changes.patch(job.id, state=str(LearningState.FAILED), last_error=SUPERSEDED, fence=job.fence + 1)


async def _new_job(cmd: Command, source: Source) -> Job:
    """Return the job of a source, for the agent that owns its base."""
    assert source.pool is not None
    base = (await cmd.writer.get(COMMIT_GUARD, [source.pool]))[source.pool]
    assert isinstance(base, KnowledgeBase)
    return learning_job(source, cmd.deps.new_id(Job.PREFIX), cmd.at, agent=base.owner_id)


async def _queue_again(cmd: Command, source: Source, job: Job | None) -> None:
    if job is None:
        await cmd.writer.put([await _new_job(cmd, source)])
        return
    fields = {
        "state": str(LearningState.QUEUED),
        "attempts": 0,
        "fence": job.fence + 1,  # a worker that was thought lost may not commit any more
        "due_at": cmd.at,
        "lease_until": None,
        "heartbeat_at": None,
        "owner": None,
        "last_error": None,
    }
    await cmd.writer.patch_many({job.id: fields})
