"""Anchors: every so often the heads of all chains of a workspace are bound in a chain of their own (AD-27).

The chain of administration is bound like those of the pools, under the id of the workspace's node.

A copy kept outside the store shows what the store alone cannot: that a chain was cut or written anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from graph.model.access import SystemScope
from graph.model.errors import Forbidden, RootwardError
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.people import Workspace
from graph.model.nodes.work import Anchor
from graph.model.time import MINUTE_MS, Millis
from graph.rules.audit_anchors import SealedAnchor, anchor, heads_from_json, heads_to_json, verify_anchors
from graph.rules.audit_chain import Head
from graph.rules.audit_following import ChainReport
from graph.services.access.admin_log import admin_head, reads_administration
from graph.services.access.caller import workspace_node
from graph.services.access.commands import Command
from graph.services.access.session import Session
from graph.services.chained_pools import every_head
from graph.services.deps import Deps
from graph.store.port import Writer
from graph.store.query import And, By, Eq, Find, Range

ANCHORS = SystemScope(reason="binding the heads of all pools")
_CATCH_UP = 20
"""So many anchors are published anew at the start of a process: those that were made while none ran are among them."""


class AnchorSink(Protocol):
    """A place outside the store that keeps anchors."""

    async def publish(self, anchor: SealedAnchor) -> None:
        """Keep an anchor durably; one that is kept already changes nothing."""
        ...


async def anchor_now(cmd: Command) -> SealedAnchor:
    """Bind all heads of the caller's workspace on demand.

    Raises:
        Forbidden: only an admin does.
    """
    cmd.require_admin()
    return await write_anchor(cmd.writer, cmd.caller.workspace, cmd.at)


async def anchor_if_due(deps: Deps, workspace: WorkspaceId, minutes: float) -> SealedAnchor | None:
    """Bind all heads if the last anchor is `minutes` old; None if it is not, or another process was faster."""

    async def work(writer: Writer) -> SealedAnchor | None:
        await writer.lock([workspace_node(workspace)])
        page = await writer.find(
            ANCHORS,
            Find(kind=Anchor, where=Eq("workspace", workspace), order=By("seq", descending=True), first=1),
        )
        now = deps.now()
        if page.nodes and now - page.nodes[0].created_at < minutes * MINUTE_MS:
            return None
        return await write_anchor(writer, workspace, now)

    return await deps.store.transact(work)


async def keep_anchoring(
    deps: Deps,
    minutes: float,
    *,
    sink: AnchorSink | None = None,
    on_fault: Callable[[RootwardError], Awaitable[None]] | None = None,
) -> None:
    """Anchor every workspace every `minutes` until cancelled; a fault is told and tried again at the next turn.

    All are anchored before any is published, so that a sink that is away leaves none out. What is anchored on demand,
    or by a deletion, is published at the next turn, at most a minute later.
    """
    published: dict[WorkspaceId, int] = {}
    while True:
        try:
            there = await workspaces(deps)
            for workspace in there:
                await anchor_if_due(deps, workspace, minutes)
            if sink is not None:
                await _publish(deps, sink, there, published)
        except RootwardError as error:
            deps.figures.count("anchor_failed", code=error.wire_code)
            if on_fault is not None:
                await on_fault(error)
        await deps.clock.sleep(min(minutes, 1) * 60)


async def _publish(
    deps: Deps, sink: AnchorSink, there: Sequence[WorkspaceId], published: dict[WorkspaceId, int]
) -> None:
    """Publish what is not, and note in `published` how far each workspace is; it stops at the first that fails."""
    for workspace in there:
        for made in await _unpublished(deps, workspace, published.get(workspace)):
            await sink.publish(made)
            published[workspace] = made.seq


async def _unpublished(deps: Deps, workspace: WorkspaceId, last: int | None) -> Sequence[SealedAnchor]:
    """Return the anchors behind the last that this process published, oldest first; at its start the newest ones."""
    where = And((Eq("workspace", workspace), Range("seq", low=1 if last is None else last + 1)))
    query = Find(kind=Anchor, where=where, order=By("seq", descending=True), first=_CATCH_UP if last is None else None)
    async with deps.store.reading() as reader:
        found = (await reader.find(ANCHORS, query)).nodes
    return [sealed_anchor(node) for node in reversed(found)]


async def workspaces(deps: Deps) -> Sequence[WorkspaceId]:
    """Return the workspaces of the store."""
    async with deps.store.reading() as reader:
        page = await reader.find(ANCHORS, Find(kind=Workspace))
    return [node.workspace for node in page.nodes]


async def write_anchor(writer: Writer, workspace: WorkspaceId, at: Millis) -> SealedAnchor:
    """Write the next anchor of a workspace.

    The heads of a store without snapshots may be of different moments; each is a head that its chain once had, and
    none goes back from one anchor to the next, which is all that an anchor says. Call it in the transaction that
    deletes a pool, behind the deletion: a pool that the newest anchor does not name was deleted, any other is missed.
    """
    place = workspace_node(workspace)
    await writer.lock([place])
    node = (await writer.get(ANCHORS, [place])).get(place)
    previous = Head(seq=node.anchor_seq, hash=node.anchor_head) if isinstance(node, Workspace) else Head(seq=0, hash="")
    heads = {**await every_head(writer, workspace), place: await admin_head(writer, workspace)}
    made = anchor(heads, previous, workspace=workspace, recorded_at=at)
    await writer.put([_node(made)])
    await writer.patch_many({place: {"anchor_seq": made.seq, "anchor_head": made.hash}})
    return made


async def anchors(session: Session, after_seq: int = 0, first: int | None = None) -> tuple[SealedAnchor, ...]:
    """Return the anchors of the caller's workspace behind number `after_seq`, oldest first.

    Raises:
        Forbidden: only auditors of the workspace and admins read them; they name every pool.
    """
    if not reads_administration(session):
        raise Forbidden("this needs the right auditor or admin on the workspace")
    where = And((Eq("workspace", session.caller.workspace), Range("seq", low=after_seq + 1)))
    page = await session.reader.find(ANCHORS, Find(kind=Anchor, where=where, order=By("seq"), first=first))
    return tuple(sealed_anchor(node) for node in page.nodes)


async def verify_anchor_chain(session: Session) -> ChainReport:
    """Follow the chain of anchors up to the head that the workspace names.

    Raises:
        Forbidden: as for `anchors`.
    """
    found = await anchors(session)
    place = session.caller.workspace_node
    node = (await session.reader.get(ANCHORS, [place])).get(place)
    head = Head(seq=node.anchor_seq, hash=node.anchor_head) if isinstance(node, Workspace) else None
    return verify_anchors(found, head)


def sealed_anchor(node: Anchor) -> SealedAnchor:
    """Return the anchor that a node keeps."""
    return SealedAnchor(
        workspace=node.workspace,
        seq=node.seq,
        recorded_at=node.created_at,
        heads=heads_from_json(node.heads),
        prev_hash=node.prev_hash,
        hash=node.hash,
    )


def _node(made: SealedAnchor) -> Anchor:
    workspace = WorkspaceId(made.workspace)
    return Anchor(
        id=_anchor_id(workspace, made.seq),
        workspace=workspace,
        created_at=made.recorded_at,
        seq=made.seq,
        heads=heads_to_json(made.heads),
        prev_hash=made.prev_hash,
        hash=made.hash,
    )


def _anchor_id(workspace: WorkspaceId, seq: int) -> NodeId:
    return node_id(Anchor.PREFIX, f"{workspace}/{seq:012}")
