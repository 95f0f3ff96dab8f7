"""Namespaces of record memories: the `user_id` of the backend that a memory owns (RM-14, RM-20 to RM-25). Pure."""

from __future__ import annotations

import hashlib
from typing import Final

from graph.model.ids import NodeId, node_id
from graph.model.nodes.workspace import NamespaceClaim
from graph.rules.memory_refusals import invalid
from graph.rules.workspace_ids import outside

PREFIX: Final = "a13n-"
PROBE: Final = "a13n-probe"
"""What the test of a provider lists; no memory can have it."""
MAX_NAMESPACE: Final = 256


def default_namespace(memory: NodeId) -> str:
    """Return the namespace of a memory that names none, made of the id that clients see.

    >>> default_namespace(NodeId("wsm_01arz"))
    'a13n-417e7f50b94b088ffcb4508ad31acaef'
    """
    return PREFIX + hashlib.sha256(outside(memory).encode()).hexdigest()[:32]


def checked_namespace(given: str) -> str:
    """Return a namespace of 1 to 256 printable characters without whitespace and ``*``.

    A backend takes ``*`` for every user (RM-74).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `namespace`.
    """
    fits = 0 < len(given) <= MAX_NAMESPACE and given.isprintable() and not any(c.isspace() or c == "*" for c in given)
    if not fits:
        raise invalid("namespace", f"has 1 to {MAX_NAMESPACE} printable characters without whitespace and *")
    if given == PROBE:
        raise invalid("namespace", "is the one that tests of providers look at")
    return given


def claim_id(provider: NodeId, namespace: str) -> NodeId:
    """Return the id of the claim on a namespace of a provider: there is one at most."""
    return node_id(NamespaceClaim.PREFIX, hashlib.sha256(f"{provider}\n{namespace}".encode()).hexdigest())
