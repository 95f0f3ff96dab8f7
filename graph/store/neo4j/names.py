"""What things are called in Neo4j: labels are class names, properties are camelCase. Source: KN-10, KN-11."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from graph.model import schema
from graph.model.edges import EdgeType
from graph.model.fields import FieldType, Node
from graph.model.schema import FieldSpec, KindSpec

NODE = "Node"
"""On everything that has an id, so that one constraint keeps ids unique over all kinds."""

PLACEHOLDER = "Placeholder"
"""Instead of a kind, on the end of a link to something that is not there."""

EXTRA_LABELS: Mapping[str, tuple[str, ...]] = {"KnowledgeBase": ("Scope",)}

SOURCE_LABELS: Mapping[str, str] = {
    "message": "Message",
    "task_result": "TaskResult",
    "file": "Material",
    "text": "PastedText",
    "url": "WebPage",
    "connector_doc": "ConnectorDoc",
    "signal": "Signal",
    "human_note": "HumanNote",
}

_RENAMED: Mapping[str, str] = {"workspace": "workspaceId", "pool": "kbId"}
_RENAMED_IN: Mapping[tuple[str, str], str] = {("Episode", "from_at"): "from", ("Episode", "to_at"): "to"}

_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)*")
_CAMEL_HUMP = re.compile(r"[A-Z]")


@cache
def camel(name: str) -> str:
    """Return a snake_case name in camelCase.

    >>> camel("current_version")
    'currentVersion'
    """
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def snake(name: str) -> str:
    """Return what `camel` made a camelCase name of.

    >>> snake("currentVersion")
    'current_version'
    """
    return _CAMEL_HUMP.sub(lambda hump: "_" + hump[0].lower(), name)


def survives_camel(name: str) -> bool:
    """True if `snake` gives this name back."""
    return _SNAKE.fullmatch(name) is not None


@cache
def property_of(kind: str, field: str) -> str:
    """Return the property that holds a field."""
    return _RENAMED_IN.get((kind, field)) or _RENAMED.get(field) or camel(field)


@cache
def fields_of(kind: str) -> Mapping[str, FieldSpec]:
    """Return the declared fields of a kind by name."""
    return {spec.name: spec for spec in schema.kinds()[kind].fields}


def field_of(kind: type[Node], name: str) -> FieldSpec:
    """Return one declared field.

    Raises:
        TypeError: the kind has none of this name.
    """
    found = fields_of(kind.__name__).get(name)
    if found is None:
        raise TypeError(f"{kind.__name__} has no field {name}")
    return found


def reference(kind: type[Node], name: str, variable: str = "n") -> str:
    """Return the Cypher expression of a declared field; it is built from the declaration alone."""
    return f"{variable}.`{property_of(kind.__name__, field_of(kind, name).name)}`"


def vector_field(kind: type[Node]) -> str | None:
    """Return the field that holds vectors (float32, little endian) of the model that `embedding_model` names."""
    fields = fields_of(kind.__name__)
    is_vector = "embedding_model" in fields and fields.get("embedding") is not None
    return "embedding" if is_vector and fields["embedding"].type is FieldType.BYTES else None


def vector_index(kind: str) -> str:
    """Return the name of the vector index of a kind."""
    return f"rw_near_{kind}"


def labels_of(spec: KindSpec, source_kind: str | None = None) -> tuple[str, ...]:
    """Return the labels of a node beside `NODE`; a Source also has that of its kind."""
    sub = SOURCE_LABELS.get(source_kind or "") if spec.name == "Source" else None
    return (spec.name, *EXTRA_LABELS.get(spec.name, ()), *((sub,) if sub else ()))


@cache
def all_labels() -> tuple[str, ...]:
    """Return every label that a kind can have."""
    extra = [label for labels in EXTRA_LABELS.values() for label in labels]
    return (*schema.kinds(), *extra, *SOURCE_LABELS.values())


@cache
def relationship(type: EdgeType) -> str:
    """Return the relationship type of an edge; only declared types become part of a statement.

    Raises:
        ValueError: there is no such type.
    """
    return EdgeType(type).value
