"""The audit of administration: written in the transaction of the step, read by admins and auditors (AD-26, AD-27)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.access import SystemScope
from graph.model.errors import Forbidden
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import AdminRecord
from graph.rules.admin_chain import AdminOperation, AdminStep, seal_step, verify_steps
from graph.rules.audit_chain import GENESIS, Head
from graph.rules.audit_following import ChainBreak, ChainReport
from graph.rules.rights import audits_workspace, may_administer
from graph.services.access.caller import workspace_node
from graph.services.access.commands import Command
from graph.services.access.session import Session
from graph.services.deps import Deps
from graph.store.port import Reader, Writer
from graph.store.query import And, By, Eq, Find, Range

ADMIN_AUDIT = SystemScope(reason="audit of administration")
PAGE = 500


async def record_admin(
    cmd: Command,
    operation: AdminOperation,
    target: NodeId,
    codes: Mapping[str, Json] | None = None,
    *,
    on_behalf_of: NodeId | None = None,
) -> AdminRecord:
    """Write the record of a step of the caller into his workspace's chain."""
    step = AdminStep(
        workspace=cmd.caller.workspace,
        actor_id=cmd.caller.principal,
        tx_id=cmd.tx_id,
        at=cmd.at,
        operation=operation,
        target_id=target,
        codes=codes,
        on_behalf_of=on_behalf_of,
    )
    return await append_step(cmd.writer, cmd.deps, step)


async def append_step(writer: Writer, deps: Deps, step: AdminStep) -> AdminRecord:
    """Write a step as the next record of its workspace; steps of one workspace wait for each other."""
    await writer.lock([workspace_node(step.workspace)])
    record = seal_step(step, await admin_head(writer, step.workspace), deps.new_id(AdminRecord.PREFIX))
    await writer.put([record])
    return record


async def admin_head(reader: Reader, workspace: WorkspaceId) -> Head:
    """Return the last record of a workspace's chain of administration, for anchors too."""
    newest = Find(kind=AdminRecord, where=Eq("workspace", workspace), order=By("seq", descending=True), first=1)
    page = await reader.find(ADMIN_AUDIT, newest)
    return Head(seq=page.nodes[0].seq, hash=page.nodes[0].hash) if page.nodes else GENESIS


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminPage:
    """Records of administration, newest first."""

    records: tuple[AdminRecord, ...]
    more: bool


async def admin_log(session: Session, *, first: int = 20, before_seq: int | None = None) -> AdminPage:
    """Return the steps of administration of the caller's workspace, newest first.

    Raises:
        Forbidden: only admins and auditors of the workspace read it.
    """
    if not reads_administration(session):
        raise Forbidden("this needs the right admin or auditor on the workspace")
    where = And((Eq("workspace", session.caller.workspace), Range("seq", None, before_seq)))
    query = Find(kind=AdminRecord, where=where, order=By("seq", descending=True), first=first)
    page = await session.reader.find(ADMIN_AUDIT, query)
    return AdminPage(records=page.nodes, more=page.more)


def reads_administration(session: Session) -> bool:
    """Tell whether the caller reads the chains of the whole workspace: an auditor of it, or an admin."""
    return may_administer(session.facts) or audits_workspace(session.facts)


async def verify_admin_log(reader: Reader, workspace: WorkspaceId, anchored: Sequence[Head] = ()) -> ChainReport:
    """Follow the chain of administration of a workspace; it must meet every head that an anchor binds.

    Nothing but an anchor shows that its tail was cut: no other node counts its records.
    """
    last = GENESIS
    while True:
        where = And((Eq("workspace", workspace), Range("seq", last.seq + 1, None)))
        page = await reader.find(ADMIN_AUDIT, Find(kind=AdminRecord, where=where, order=By("seq"), first=PAGE))
        met = [head for head in anchored if page.nodes and head.seq <= page.nodes[-1].seq]
        report = verify_steps(page.nodes, after=last, anchored=met)
        if not report.ok or not page.nodes:
            return report if not report.ok else _reached(last, anchored)
        last = report.head


def _reached(last: Head, anchored: Sequence[Head]) -> ChainReport:
    if any(head.seq > last.seq for head in anchored):
        return ChainReport(ok=False, head=last, first_broken_seq=last.seq + 1, reason=ChainBreak.TAIL)
    return ChainReport(ok=True, head=last)
