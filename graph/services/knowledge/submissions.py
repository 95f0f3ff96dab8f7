"""Submitting pasted text and web pages: a source, an entry of its paragraphs and a learning job in one commit.

Source: MA-11 to MA-14. A page is fetched and read before the transaction; its bytes are kept as they came.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from graph.model.ids import NodeId
from graph.model.nodes.evidence import LearningState, Source, SourceKind
from graph.model.nodes.knowledge import Entry, KnowledgeBase
from graph.model.nodes.people import Principal
from graph.model.time import render
from graph.ports import BlobRef, FetchedPage
from graph.rules.explicit import explicit_id
from graph.rules.ingest import content_hash
from graph.rules.names import normalised_name
from graph.rules.operations.actors import ActorRules
from graph.rules.operations.naming import clean_name
from graph.rules.operations.needs import Needs
from graph.rules.operations.work import Work
from graph.rules.submissions import name_for, paragraphs_of, write_submission
from graph.services.access.caller import Caller
from graph.services.access.commands import Command
from graph.services.access.people import find_one
from graph.services.access.session import read
from graph.services.blob_rows import hold_blob
from graph.services.deps import Deps
from graph.services.knowledge.materials import checked_title, writable_base, write_material
from graph.services.knowledge.state import load_state
from graph.services.ledger import hold
from graph.services.settings import load_settings
from graph.text.similarity import name_key

ORIGIN = "submission"


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedPage:
    """A web page that was fetched and read, its bytes kept; `submit_url` makes an entry of it."""

    page: FetchedPage
    blob: BlobRef
    text: str
    title: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Submitted:
    """What a submission made: the entry, its source, and the transaction."""

    entry_id: NodeId
    source: Source
    tx_id: str


async def submit_text(
    cmd: Command,
    kb_id: NodeId,
    text: str,
    *,
    owner_id: NodeId | None = None,
    title: str | None = None,
    entry_id: NodeId | None = None,
) -> Submitted:
    """Keep a pasted text as a source and make an entry of it, or add it to a chosen entry.

    Raises:
        BadInput: no knowledge base is named (MA-14), or the text is empty.
        LimitExceeded: text or title are too long.
        NotFound: no such knowledge base or entry for the caller.
        OperationRejected: ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR``; ``NAME_TAKEN`` with the id of the entry that
            has the name: give another title, or choose that entry.
    """
    base = await writable_base(cmd.session, kb_id, owner_id)
    shown = checked_title(title)
    source = replace(
        _source(cmd, base, SourceKind.TEXT, text, shown),
        speaker=await _caller_name(cmd),
        content_hash=content_hash(text),
    )
    return await _submit(cmd, base, source, name_for(shown, None, text), entry_id)


async def prepare_page(
    deps: Deps, caller: Caller, kb_id: NodeId, url: str, *, owner_id: NodeId | None = None
) -> PreparedPage:
    """Check that the caller may submit there, fetch the page, keep its bytes and read its text.

    Raises:
        BadInput, NotFound, OperationRejected: as `submit_url`, before anything is fetched.
        FetchRefused: the address may not be fetched, or did not answer in time (MA-13).
        UnsupportedType: no text can be read from what it gives.
    """
    await read(deps, caller, lambda session: writable_base(session, kb_id, owner_id))
    page = await deps.fetcher.fetch(url)
    found = await asyncio.to_thread(deps.extractor.extract, page.body, media_type=page.media_type, filename=None)
    paragraphs_of(found.text)
    blob = await deps.blobs.put(page.body)
    return PreparedPage(page=page, blob=blob, text=found.text, title=found.title)


async def submit_url(
    cmd: Command,
    kb_id: NodeId,
    prepared: PreparedPage,
    *,
    owner_id: NodeId | None = None,
    title: str | None = None,
    entry_id: NodeId | None = None,
) -> Submitted:
    """Keep a page with its address and the time of fetching, and make an entry of it. Raises like `submit_text`."""
    base = await writable_base(cmd.session, kb_id, owner_id)
    shown, page = checked_title(title), prepared.page
    await hold(cmd.writer, base.id)
    await hold_blob(cmd.writer, cmd.deps, prepared.blob.sha256)
    source = replace(
        _source(cmd, base, SourceKind.URL, prepared.text, shown or prepared.title),
        content_hash=prepared.blob.sha256,
        blob_ref=prepared.blob.sha256,
        size_bytes=prepared.blob.size_bytes,
        media_type=page.media_type,
        occurred_at=page.fetched_at,
        meta={"address": page.final_url, "fetchedAt": render(page.fetched_at)},
    )
    return await _submit(cmd, base, source, name_for(shown, prepared.title, prepared.text), entry_id)


async def _submit(cmd: Command, base: KnowledgeBase, source: Source, name: str, entry_id: NodeId | None) -> Submitted:
    paragraphs = paragraphs_of(source.text)
    if entry_id is not None:
        await cmd.session.open_one(explicit_id(entry_id, "entryId"), Entry)
    held = await hold(cmd.writer, base.id, [entry_id] if entry_id else ())
    work = await _work(cmd, held, source, name, entry_id)
    made = write_submission(work, source, paragraphs, name=name, entry=entry_id)
    await write_material(cmd, source, work.changes)
    return Submitted(entry_id=made, source=source, tx_id=cmd.tx_id)


async def _work(cmd: Command, base: KnowledgeBase, source: Source, name: str, entry_id: NodeId | None) -> Work:
    """Return a working copy of the present in which the new source is there to be cited."""
    wanted = clean_name(name)
    needs = Needs(
        edited=frozenset({entry_id} if entry_id else ()),
        names=frozenset() if entry_id else frozenset({normalised_name(wanted)}),
        keys=frozenset() if entry_id else frozenset({name_key(wanted)}),
    )
    state = await load_state(cmd.session, base, needs)
    state = replace(state, sources={**state.sources, source.id: source}, visible=state.visible | {source.id})
    actor = ActorRules(id=cmd.caller.principal, kind=cmd.actor_kind, origin=ORIGIN)
    settings = await load_settings(cmd.writer, cmd.caller.workspace, base.owner_id)
    return Work.on(state, actor, settings, cmd.at, cmd.deps.new_id)


def _source(cmd: Command, base: KnowledgeBase, kind: SourceKind, text: str, title: str | None) -> Source:
    own_id = cmd.deps.new_id(Source.PREFIX)
    return Source(
        id=own_id,
        workspace=base.workspace,
        pool=base.id,
        created_at=cmd.at,
        kind=kind,
        content_hash="",
        text=text,
        author_id=cmd.caller.principal,
        title=title,
        occurred_at=cmd.at,
        recorded_at=cmd.at,
        series=own_id,
        learning_state=LearningState.QUEUED,
        learning_at=cmd.at,
    )


async def _caller_name(cmd: Command) -> str:
    return (await find_one(cmd, cmd.caller.principal, Principal)).display_name
