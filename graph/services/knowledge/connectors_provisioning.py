"""Installing connectors, pausing and removing them, and telling them that something changed (AD-18, MA-19, MA-20).

Each connector writes as a service of its own, so that the audit names it. Every step is audited with ids and codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.model.errors import BadInput, BadState, Forbidden
from graph.model.fields import Json
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import Connector, Mirror
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.admin_chain import AdminOperation
from graph.rules.connectors import ConnectorState
from graph.rules.explicit import explicit_id
from graph.rules.mirrors import LIVE
from graph.rules.pools import clause_of
from graph.rules.rights import may_administer
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.services.access.people import ADMINISTRATION, hold_one
from graph.services.access.provisioning import checked_name, new_hosted_id, put_principal
from graph.services.access.session import Session
from graph.services.knowledge.connectors import ask_for_sync_at_once
from graph.services.knowledge.routed_bases import routed_base
from graph.store.query import And, By, Eq, Find, Where

MAX_DOCUMENTS = 1_000
"""So many documents of a connector are shown at once."""


async def create_connector(
    cmd: Command,
    agent_id: NodeId,
    display_name: str,
    kind: str,
    options: Mapping[str, Json],
    base: KbKind,
    *,
    channel_id: NodeId | None = None,
    local_id: str | None = None,
) -> Connector:
    """Install a connector whose documents land in a knowledge base of an agent, and ask for its first sync.

    Args:
        cmd: of an admin.
        agent_id: whose knowledge the documents become.
        display_name: how people and prompts name it.
        kind: one of the kinds of `Deps.places`.
        options: where the documents are, as the kind takes them; never a credential.
        base: which knowledge base of the agent.
        channel_id: of channel knowledge.
        local_id: its id, made by the service if not given.

    Raises:
        Forbidden: no admin.
        BadInput: there is no such kind, or its options, the name or the base cannot be taken.
        NotFound, AlreadyExists: no such agent or channel; the id is taken.
    """
    cmd.require_admin()
    place = cmd.deps.places.get(kind)
    if place is None:
        kinds = ", ".join(sorted(cmd.deps.places)) or "none"
        raise BadInput(
            f"kinds of connectors here are {kinds}; folders need the setting connectors.folders", field="kind"
        )
    checked = dict(place.check(options))
    routed = await routed_base(cmd, agent_id, base, channel_id)
    id_ = await new_hosted_id(cmd, Connector.PREFIX, local_id, container=local_part(agent_id))
    name = checked_name(display_name)
    made = Connector(
        id=id_,
        workspace=cmd.caller.workspace,
        pool=routed.id,
        created_at=cmd.at,
        kind=kind,
        display_name=name,
        actor_id=(await _actor(cmd, id_, name)).id,
        owner_id=agent_id,
        options=checked,
    )
    await put_alone(cmd.writer, made, clause_of(routed))
    await record_admin(
        cmd, AdminOperation.CONNECTOR_SET, made.id, {"base": routed.id, "kind": kind, "state": made.state}
    )
    await ask_for_sync_at_once(cmd.writer, made, cmd.at)
    return made


async def set_connector_state(cmd: Command, id_: NodeId, state: ConnectorState) -> Connector:
    """Pause a connector, let it go on, or remove it: then its documents are withdrawn, for good.

    Raises:
        Forbidden, NotFound: no admin; no such connector.
        BadState: it was removed.
    """
    cmd.require_admin()
    found = await hold_one(cmd, explicit_id(id_, "id"), Connector)
    if found.state == state:
        return found
    if found.state == ConnectorState.REMOVED:
        raise BadState("the connector was removed: make another one")
    changed = replace(found, state=str(state))
    await cmd.writer.patch(found.id, {"state": changed.state})
    await record_admin(cmd, AdminOperation.CONNECTOR_SET, found.id, {"state": changed.state})
    if state is not ConnectorState.PAUSED:
        await ask_for_sync_at_once(cmd.writer, changed, cmd.at)
    return changed


async def sync_now(cmd: Command, id_: NodeId) -> Connector:
    """Take the notice of a connector's place that something changed: it is looked at at once (MA-20).

    Raises:
        Forbidden: hosts give notice.
        NotFound: no such connector.
        BadState: it is paused or removed.
    """
    cmd.require_host()
    found = await hold_one(cmd, explicit_id(id_, "id"), Connector)
    if found.state != ConnectorState.ACTIVE:
        raise BadState("the connector is paused or removed")
    await record_admin(cmd, AdminOperation.CONNECTOR_SYNC, found.id)
    await ask_for_sync_at_once(cmd.writer, found, cmd.at)
    return found


async def connectors(session: Session, agent_id: NodeId) -> Sequence[Connector]:
    """Return the connectors of an agent, by id.

    Raises:
        Forbidden: only admins see them.
    """
    if not may_administer(session.facts):
        raise Forbidden("this needs the right admin on the workspace")
    query = Find(kind=Connector, where=Eq("owner_id", agent_id), order=By("id"))
    found = (await session.reader.find(ADMINISTRATION, query)).nodes
    return [node for node in found if node.workspace == session.caller.workspace]


async def connector_documents(session: Session, id_: NodeId, *, problems_only: bool = False) -> Sequence[Mirror]:
    """Return what is known of the documents of a connector, by their names there; at most `MAX_DOCUMENTS`.

    Args:
        session: of an admin.
        id_: the connector.
        problems_only: only those whose newest version could not be read, that are missed or withdrawn.

    Raises:
        Forbidden: only admins see them: names of documents may tell of what stands in them.
    """
    if not may_administer(session.facts):
        raise Forbidden("this needs the right admin on the workspace")
    parts: list[Where] = [Eq("connector_id", id_), Eq("workspace", session.caller.workspace)]
    query = Find(kind=Mirror, where=And(parts), order=By("external_id"))
    found = (await session.reader.find(ADMINISTRATION, query)).nodes
    shown = [one for one in found if not problems_only or one.problem or one.misses or one.state != LIVE]
    return shown[:MAX_DOCUMENTS]


async def _actor(cmd: Command, connector: NodeId, name: str) -> Principal:
    """Make the service as which the connector writes; it has no rights."""
    local = f"connector.{local_part(connector)}"[:128]
    return await put_principal(
        cmd,
        Principal(
            id=hosted_id(Principal.PREFIX, cmd.caller.workspace, local, container=PrincipalKind.SERVICE),
            workspace=cmd.caller.workspace,
            created_at=cmd.at,
            kind=PrincipalKind.SERVICE,
            display_name=name,
        ),
    )
