"""Ids of nodes at the edge: what clients see is opaque and checked, what services see are internal ids (AD-1).

An id that is damaged, of another kind or of another workspace becomes the id of nothing, so that it answers exactly
like an id that does not exist.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from graph.model.fields import Json
from graph.model.ids import GlobalId, NodeId, WorkspaceId, node_id
from graph.model.schema import kind_of

NOWHERE = "nil"
"""Prefix of ids that name nothing."""


@lru_cache(maxsize=8_192)
def shown_id(node: NodeId, workspace: WorkspaceId) -> str:
    """Return what a client sees of an internal id; another kind of text stays as it is."""
    spec = kind_of(node)
    return node if spec is None else GlobalId(kind=spec.name, workspace=workspace, node=node).encode()


def named_id(text: str, workspace: WorkspaceId) -> NodeId:
    """Return the internal id that a client names, or one that names nothing, another for each text."""
    return _known(text, workspace) or node_id(NOWHERE, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())


def outward(value: Any, workspace: WorkspaceId) -> Json:
    """Return a JSON value with global ids for internal ones, also in keys: details of errors, images of audits."""
    if isinstance(value, Mapping):
        return {str(outward(str(key), workspace)): outward(one, workspace) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [outward(one, workspace) for one in value]
    if isinstance(value, str):
        return shown_id(NodeId(value), workspace) if is_internal(value) else str(value)
    return value


def is_internal(text: str) -> bool:
    """Return whether a text looks like an internal id."""
    return len(text) <= 700 and " " not in text and kind_of(text) is not None


def _known(text: str, workspace: WorkspaceId) -> NodeId | None:
    found = GlobalId.decode(text)
    spec = None if found is None or found.workspace != workspace else kind_of(found.node)
    return found.node if found is not None and spec is not None and spec.name == found.kind else None
