"""Global ids in the types of GraphQL; what they are stands in `api.node_ids` (AD-1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import strawberry

from api.node_ids import NOWHERE as NOWHERE
from api.node_ids import is_internal, named_id, shown_id
from api.node_ids import outward as outward
from graph.model.fields import Json
from graph.model.ids import GlobalId, NodeId, WorkspaceId
from graph.rules.operations.parsing import map_ids


def to_global(node: NodeId, workspace: WorkspaceId) -> strawberry.ID:
    """Return what a client sees of an internal id; another kind of text stays as it is."""
    return strawberry.ID(shown_id(node, workspace))


def to_node(text: str, workspace: WorkspaceId) -> NodeId:
    """Return the internal id that a client names, or one that names nothing, another for each text."""
    return named_id(text, workspace)


def to_nodes(texts: Iterable[str] | None, workspace: WorkspaceId) -> tuple[NodeId, ...] | None:
    """Return the internal ids of a list; None stays None."""
    return None if texts is None else tuple(named_id(text, workspace) for text in texts)


def inward(operation: Json, workspace: WorkspaceId) -> Json:
    """Return an operation of `applyOperations` with internal ids where clients put global ones.

    Where an id may stand, a text that is no global id stays as it is (the `ref` of an entry made before), unless it
    looks like an internal id: those are never taken from outside.
    """
    return map_ids(operation, lambda text: _inward(text, workspace)) if isinstance(operation, Mapping) else operation


def _inward(text: str, workspace: WorkspaceId) -> str:
    is_id = GlobalId.decode(text) is not None or is_internal(text)
    return named_id(text, workspace) if is_id else text
