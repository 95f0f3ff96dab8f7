"""Making and routing signal sources (AD-18, MA-15). Only admins; every step is audited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.model.errors import Forbidden
from graph.model.ids import NodeId, local_part
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import SignalSource
from graph.rules.admin_chain import AdminOperation
from graph.rules.explicit import explicit_id
from graph.rules.pools import clause_of
from graph.rules.rights import may_administer, may_host
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.guards import guard_alone, put_alone
from graph.services.access.people import ADMINISTRATION, hold_one
from graph.services.access.provisioning import checked_name, new_hosted_id
from graph.services.access.session import Session
from graph.services.knowledge.routed_bases import routed_base
from graph.store.query import By, Eq, Find


async def create_signal_source(
    cmd: Command,
    agent_id: NodeId,
    display_name: str,
    base: KbKind,
    *,
    channel_id: NodeId | None = None,
    volatile: bool = False,
    local_id: str | None = None,
) -> SignalSource:
    """Make a signal source whose events go into a knowledge base of an agent.

    Raises:
        Forbidden: no admin.
        NotFound, BadInput, AlreadyExists: no such agent or channel; a name, base or id that cannot be taken.
    """
    cmd.require_admin()
    routed = await routed_base(cmd, agent_id, base, channel_id)
    made = SignalSource(
        id=await new_hosted_id(cmd, SignalSource.PREFIX, local_id, container=local_part(agent_id)),
        workspace=cmd.caller.workspace,
        pool=routed.id,
        created_at=cmd.at,
        agent_id=agent_id,
        display_name=checked_name(display_name),
        volatile=volatile,
    )
    await put_alone(cmd.writer, made, clause_of(routed))
    await record_admin(cmd, AdminOperation.SIGNAL_SOURCE_SET, made.id, {"base": routed.id, "volatile": volatile})
    return made


async def set_signal_source(
    cmd: Command,
    id_: NodeId,
    *,
    base: KbKind | None = None,
    channel_id: NodeId | None = None,
    volatile: bool | None = None,
) -> SignalSource:
    """Route a signal source elsewhere or say whether it is volatile; what it reported before stays (KN-52).

    Raises:
        Forbidden, NotFound, BadInput: as `create_signal_source`.
    """
    cmd.require_admin()
    found = await hold_one(cmd, explicit_id(id_, "id"), SignalSource)
    routed = None if base is None else await routed_base(cmd, found.agent_id, base, channel_id)
    changed = replace(
        found,
        pool=found.pool if routed is None else routed.id,
        volatile=found.volatile if volatile is None else volatile,
    )
    await cmd.writer.patch(found.id, {"pool": changed.pool, "volatile": changed.volatile})
    if routed is not None:
        await guard_alone(cmd.writer, changed, clause_of(routed))
    codes = {"base": changed.pool, "volatile": changed.volatile}
    await record_admin(cmd, AdminOperation.SIGNAL_SOURCE_SET, found.id, codes)
    return changed


async def signal_sources(session: Session, agent_id: NodeId) -> Sequence[SignalSource]:
    """Return the signal sources of an agent, by id.

    Raises:
        Forbidden: only admins and hosts see them.
    """
    if not (may_administer(session.facts) or may_host(session.facts)):
        raise Forbidden("this needs the right host on the workspace")
    query = Find(kind=SignalSource, where=Eq("agent_id", agent_id), order=By("id"))
    found = (await session.reader.find(ADMINISTRATION, query)).nodes
    return [node for node in found if node.workspace == session.caller.workspace]
