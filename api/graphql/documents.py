"""What is read off documents and the schema before anything runs."""

from __future__ import annotations

from typing import Any, Final

from graphql import DocumentNode, FieldNode
from strawberry import Schema

INTROSPECTION: Final = frozenset({"__schema", "__type"})


def asks_for_schema(document: DocumentNode) -> bool:
    """Return whether a document asks for the schema itself."""
    stack: list[Any] = list(document.definitions)
    while stack:
        node = stack.pop()
        if isinstance(node, FieldNode) and node.name.value in INTROSPECTION:
            return True
        selections = getattr(node, "selection_set", None)
        if selections is not None:
            stack.extend(selections.selections)
    return False


def names_of(schema: Schema) -> set[str]:
    """Return the names of everything in a schema."""
    found = {"__typename"}
    for name, type_ in schema._schema.type_map.items():
        if name.startswith("__"):
            continue
        found.add(name)
        for member, definition in (getattr(type_, "fields", None) or {}).items():
            found.add(member)
            found.update(getattr(definition, "args", None) or {})
        found.update(getattr(type_, "values", None) or {})
    return found
