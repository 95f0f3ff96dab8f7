"""Global ids at the edge: what clients see is opaque and checked, what services see are internal ids (AD-1).

An id that is damaged, of another kind or of another workspace becomes the id of nothing, so that it answers exactly
like an id that does not exist.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import strawberry

from graph.model.fields import Json
from graph.model.ids import GlobalId, NodeId, WorkspaceId, node_id
from graph.model.schema import kind_of
from graph.rules.operations.parsing import map_ids

NOWHERE = "nil"
"""Prefix of ids that name nothing."""


@lru_cache(maxsize=8_192)
def to_global(node: NodeId, workspace: WorkspaceId) -> strawberry.ID:
    """Return what a client sees of an internal id; another kind of text stays as it is."""
    spec = kind_of(node)
    if spec is None:
        return strawberry.ID(node)
    return strawberry.ID(GlobalId(kind=spec.name, workspace=workspace, node=node).encode())


def to_node(text: str, workspace: WorkspaceId) -> NodeId:
    """Return the internal id that a client names, or one that names nothing, another for each text."""
    return _known(text, workspace) or node_id(NOWHERE, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())


def to_nodes(texts: Iterable[str] | None, workspace: WorkspaceId) -> tuple[NodeId, ...] | None:
    """Return the internal ids of a list; None stays None."""
    return None if texts is None else tuple(to_node(text, workspace) for text in texts)


def inward(operation: Json, workspace: WorkspaceId) -> Json:
    """Return an operation of `applyOperations` with internal ids where clients put global ones.

    Where an id may stand, a text that is no global id stays as it is (the `ref` of an entry made before), unless it
    looks like an internal id: those are never taken from outside.
    """
    return map_ids(operation, lambda text: _inward(text, workspace)) if isinstance(operation, Mapping) else operation


def outward(value: Any, workspace: WorkspaceId) -> Json:
    """Return a JSON value in which every internal id is a global one: for details of errors and images of audits."""
    if isinstance(value, Mapping):
        return {str(key): outward(one, workspace) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [outward(one, workspace) for one in value]
    if isinstance(value, str):
        return to_global(NodeId(value), workspace) if _is_internal(value) else str(value)
    return value


def _inward(text: str, workspace: WorkspaceId) -> str:
    is_id = GlobalId.decode(text) is not None or _is_internal(text)
    return to_node(text, workspace) if is_id else text


def _known(text: str, workspace: WorkspaceId) -> NodeId | None:
    found = GlobalId.decode(text)
    spec = None if found is None or found.workspace != workspace else kind_of(found.node)
    return found.node if found is not None and spec is not None and spec.name == found.kind else None


def _is_internal(text: str) -> bool:
    return len(text) <= 700 and " " not in text and kind_of(text) is not None
