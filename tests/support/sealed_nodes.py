"""Nodes of every kind that has sealed fields, made from the declaration, so that a new kind is never forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from typing import Any

from graph.model.fields import FieldType, Node
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.schema import FieldSpec, KindSpec
from graph.model.sealed import Sealed
from graph.model.time import Millis
from graph.services.admin.resealing import sealed_fields, sealing_kinds
from graph.store.sealing import Place, Vault

_PLAIN: dict[FieldType, Any] = {
    FieldType.TEXT: "x",
    FieldType.INTEGER: 1,
    FieldType.REAL: 0.5,
    FieldType.BOOLEAN: False,
    FieldType.BYTES: b"x",
    FieldType.JSON: None,
    FieldType.TEXTS: (),
}


def sealed_nodes(
    vault: Vault, workspace: WorkspaceId, number: int, text: Callable[[int], str], *, start: int = 0
) -> list[Node]:
    """Return so many nodes, the kinds taking turns; the n-th sealed text of all is ``text(n)``."""
    texts = (text(n) for n in _from(start))
    specs = sealing_kinds()
    return [_node(vault, specs[n % len(specs)], workspace, start + n, texts) for n in range(number)]


def texts_of(vault: Vault, node: Node) -> list[str]:
    """Return the sealed texts of a node, opened."""
    spec = next(spec for spec in sealing_kinds() if isinstance(node, spec.node))
    places = (
        (Place(workspace=node.workspace, node=node.id, field=n), sealed) for n, sealed in sealed_fields(spec, node)
    )
    return [vault.open(place, sealed) for place, sealed in places]


def _from(start: int) -> Iterator[int]:
    while True:
        yield start
        start += 1


def _node(vault: Vault, spec: KindSpec, workspace: WorkspaceId, number: int, texts: Iterator[str]) -> Node:
    id_ = node_id(spec.prefix, f"{workspace}.{number:06d}")
    needed = {field.name for field in fields(spec.node) if field.default is MISSING}
    given = {
        field.name: _value(vault, spec, field, workspace, id_, texts) for field in spec.fields if _is_set(field, needed)
    }
    unique = {name: f"{workspace}-{number}" for key in spec.node.UNIQUE for name in key if name in needed}
    made: dict[str, Any] = {**given, **{name: value for name, value in unique.items() if isinstance(given[name], str)}}
    return spec.node(**{**made, "id": id_, "workspace": workspace, "created_at": Millis(1)})


def _is_set(field: FieldSpec, needed: set[str]) -> bool:
    return field.sealed or field.name in needed


def _value(
    vault: Vault, spec: KindSpec, field: FieldSpec, workspace: WorkspaceId, id_: NodeId, texts: Iterator[str]
) -> Sealed | Any:
    if field.sealed:
        return vault.seal(Place(workspace=workspace, node=id_, field=field.name), next(texts))
    return _PLAIN[field.type]
