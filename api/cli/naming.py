"""What people type for people and places, and the ids that clients use for them.

| Typed | Means |
|---|---|
| `mei` | a person, an agent or a service of this local id, in this order |
| `person:mei`, `agent:kettle`, `service:bridge`, `group:buyers`, `org:heron` | just that |
| `channel:kettle/tea-room` | the channel `tea-room` of the agent `kettle` |
| `session:s1`, `chat:c1` | a session of an agent, a chat of a bot |
| `memory:mem_…` | a memory of the workspace, by its id in the REST routes |
| `workspace` | the whole workspace |
| anything else | an id as the service gave it |
"""

from __future__ import annotations

from collections.abc import Mapping

from api.cli.link import Link
from graph.model.errors import NotFound
from graph.model.fields import Node
from graph.model.ids import GlobalId, NodeId, WorkspaceId, hosted_id, node_id
from graph.model.nodes.bots import Chat
from graph.model.nodes.evidence import Channel
from graph.model.nodes.people import Group, Organization, Principal, PrincipalKind, Workspace
from graph.model.nodes.sessions import Session
from graph.model.nodes.workspace import WorkspaceMemory
from graph.rules.workspace_ids import inside

_PEOPLE: Mapping[str, PrincipalKind] = {
    "person": PrincipalKind.HUMAN,
    "agent": PrincipalKind.AGENT,
    "service": PrincipalKind.SERVICE,
}
_PLACES: Mapping[str, type[Node]] = {"group": Group, "org": Organization, "session": Session, "chat": Chat}
EXISTS = "query($id: ID!) { node(id: $id) { ... on Principal { id displayName } } }"


def named(text: str, workspace: str) -> str:
    """Return the id for what was typed with its kind; what names no kind is an id already.

    Raises:
        BadInput: a local id with characters that none may have.

    >>> GlobalId.decode(named("channel:kettle/tea-room", "main")).node
    'chn_main/kettle/tea-room'
    >>> GlobalId.decode(named("session:s1", "main")).node
    'ses_main//s1'
    """
    kind, _, local = text.partition(":")
    if text == "workspace":
        return _global("Workspace", node_id(Workspace.PREFIX, workspace), workspace)
    if kind in _PEOPLE:
        return _global("Principal", hosted_id(Principal.PREFIX, workspace, local, container=_PEOPLE[kind]), workspace)
    if kind in _PLACES:
        place = _PLACES[kind]
        return _global(place.__name__, hosted_id(place.PREFIX, workspace, local), workspace)
    if kind == "memory":
        return _global("WorkspaceMemory", inside(WorkspaceMemory.PREFIX, local) or NodeId(text), workspace)
    if kind == "channel" and "/" in local:
        agent, _, channel = local.partition("/")
        return _global("Channel", hosted_id(Channel.PREFIX, workspace, channel, container=agent), workspace)
    return text


async def principal(link: Link, token: str, text: str) -> str:
    """Return the id of a person, agent or service.

    Raises:
        NotFound: there is none of this name.
    """
    workspace = link.chosen.settings.workspace
    typed = [text] if GlobalId.decode(text) or ":" in text else [f"{kind}:{text}" for kind in _PEOPLE]
    for one in typed:
        found = (await link.run(EXISTS, token=token, id=named(one, workspace)))["node"]
        if found:
            return str(found["id"])
    raise NotFound("there is no person, agent or service of this id: make one with rootward admin person")


def _global(kind: str, node: NodeId, workspace: str) -> str:
    return GlobalId(kind=kind, workspace=WorkspaceId(workspace), node=node).encode()
