"""Why somebody sees a node, or why not (KN-120, KN-121): the law's own proof, never content.

On bot memory it answers for oneself alone, whatever roles one has; elsewhere auditors and admins ask for others too.
"""

from __future__ import annotations

from graph.model.access import Viewer
from graph.model.errors import NotFound
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.bots import BotPool
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.people import Principal, PrincipalKind
from graph.model.nodes.sessions import AgentMemory
from graph.model.nodes.sessions import Session as AgentSession
from graph.rules.proof import Proof, explain, explain_own
from graph.rules.rights import may_explain_for_others
from graph.rules.scopes import make_viewer
from graph.services.access.caller import Caller
from graph.services.access.facts import VIEWER_FACTS, load_facts
from graph.services.access.session import POOLS, Session


async def explain_visibility(session: Session, node: NodeId, viewer_id: NodeId | None = None) -> Proof | None:
    """Return the proof about one node for the caller, or for `viewer_id` if the caller may ask for others.

    An auditor or admin of the node's owner gets the first failing link of a hidden node; to all others a hidden
    node answers like an unknown one.

    Returns:
        None for what does not exist for the caller.
    """
    guard = (await session.reader.guards([node])).get(node)
    if guard is None or guard.workspace != session.caller.workspace:
        return None
    oversees = not _is_of_bot(guard.pool) and may_explain_for_others(session.facts, await _owner(session, guard.pool))
    if viewer_id not in (None, session.caller.principal) and not oversees:
        return None
    viewer = session.viewer if viewer_id is None else await _viewer_of(session, viewer_id)
    sources = await session.sources([node])
    if oversees:
        return explain(sources, node, viewer)
    own = explain_own(sources, node, viewer)
    return own if own.visible else None


def _is_of_bot(pool: NodeId | None) -> bool:
    return pool is not None and prefix_of(pool) == BotPool.PREFIX


async def _owner(session: Session, pool: NodeId | None) -> NodeId:
    """Return the agent whose pool it is; "" for what lies in none."""
    found = (await session.reader.get(POOLS, [pool])).get(pool) if pool else None
    if isinstance(found, KnowledgeBase):
        return found.owner_id
    return found.agent_id if isinstance(found, AgentSession | AgentMemory) else NodeId("")


async def _viewer_of(session: Session, viewer_id: NodeId) -> Viewer:
    if viewer_id == session.caller.principal:
        return session.viewer
    principal = (await session.reader.get(VIEWER_FACTS, [viewer_id])).get(viewer_id)
    if not isinstance(principal, Principal):
        raise NotFound
    caller = Caller(workspace=session.caller.workspace, principal=viewer_id, kind=PrincipalKind(principal.kind))
    return make_viewer(await load_facts(session.reader, caller))
