"""Refusals of workspace memory in the words of GraphQL: ids as its clients have them, fields as its arguments (AD-24).

>>> argument_of("memory_mounts.0.memory_id"), argument_of("arguments.old_string"), argument_of("cursor")
('memoryMounts.0.memoryId', 'arguments.old_string', 'after')
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from api.graphql.ids import to_global
from graph.model.ids import WorkspaceId
from graph.model.nodes.workspace import MemoryProvider, WorkspaceMemory
from graph.rules.workspace_ids import inside
from graph.services.workspace.providers import KIND as PROVIDER
from graph.services.workspace.run_finding import KINDS

PREFIXES: Final[Mapping[str, str]] = {
    "memory": WorkspaceMemory.PREFIX,
    PROVIDER: MemoryProvider.PREFIX,
    **{kind: prefix for prefix, kind in KINDS.items()},
}
"""The kinds of which refusals name the id; files, mounts, records and tools go by path, name or an id of their own."""

_INPUTS: Final = frozenset({"memories", "memory_mounts", "layout"})
"""Arguments with fields of their own below; what is below others is JSON of the client."""
_ARGUMENTS: Final[Mapping[str, str]] = {"cursor": "after"}


def worded(details: Mapping[str, Any], tenant: WorkspaceId) -> dict[str, Any]:
    """Return the details of a refusal as clients of GraphQL know what they are about; an id of nothing is left out."""
    found = dict(details)
    prefix = PREFIXES.get(str(found.get("kind")))
    if prefix is not None and "id" in found:
        node = inside(prefix, str(found.pop("id")))
        found |= {} if node is None else {"id": to_global(node, tenant)}
    if "field" in found:
        found["field"] = argument_of(str(found["field"]))
    return found


def argument_of(field: str) -> str:
    """Return the argument of GraphQL, with what is below it, that is a field of a REST body."""
    head, *rest = field.split(".")
    below = [camel(part) for part in rest] if head in _INPUTS else rest
    return ".".join([_ARGUMENTS.get(head, camel(head)), *below])


def camel(name: str) -> str:
    """Return a name as GraphQL writes it.

    >>> camel("current_etag")
    'currentEtag'
    """
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)
