"""The caller of a request: what his credential says. Nothing else ever names him (AD-13)."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.people import PrincipalKind, Right, Workspace


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who asks, from the credential alone.

    Attributes:
        rights: if not None, the credential carries only these rights.
        organization: the organization the credential names, if any.
    """

    workspace: WorkspaceId
    principal: NodeId
    kind: PrincipalKind
    rights: frozenset[Right] | None = None
    organization: NodeId | None = None

    @property
    def workspace_node(self) -> NodeId:
        """Id of the workspace's node."""
        return workspace_node(self.workspace)


def workspace_node(workspace: WorkspaceId) -> NodeId:
    """Return the id of the node that stands for a workspace."""
    return node_id(Workspace.PREFIX, workspace)
