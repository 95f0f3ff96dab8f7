"""Quick encoding of nodes as rows: a function made for each kind, without a call for values that are kept as they are.

Most values are texts and integers of exactly these types. What is anything else goes to the encoder of its field type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graph.model.fields import FieldType, Node
from graph.model.schema import FieldSpec, KindSpec
from graph.store.embedded.values import ENCODERS, Column

_KEPT = {FieldType.TEXT: "str", FieldType.INTEGER: "int", FieldType.REAL: "float", FieldType.BYTES: "bytes"}


def row_encoder(spec: KindSpec) -> Callable[[Node], tuple[Column, ...]]:
    """Return a function that gives the row of a node, its fields in their order.

    It gives what the encoders of the field types give, and raises `TypeError` or `ValueError` where one of them does,
    without the name of the field. None in a field that needs a value goes to its encoder.
    """
    values = [f" {_value(f)} = node.{f.name}" for f in spec.fields]
    columns = "".join(f"{_column(f)}, " for f in spec.fields)
    scope: dict[str, Any] = {_encoder(f): ENCODERS[f.type] for f in spec.fields}
    exec("\n".join(["def _encode(node):", *values, f" return ({columns})"]), scope)  # of the names of fields only
    made: Callable[[Node], tuple[Column, ...]] = scope["_encode"]
    return made


def _column(f: FieldSpec) -> str:
    value = _value(f)
    kept = [f"type({value}) is {_KEPT[f.type]}"] if f.type in _KEPT else []
    none = [f"{value} is None"] if f.nullable else []
    encoded = f"{_encoder(f)}({value})"
    return f"{value} if {' or '.join(kept + none)} else {encoded}" if kept or none else encoded


def _value(f: FieldSpec) -> str:
    return f"value_{f.name}"


def _encoder(f: FieldSpec) -> str:
    return f"encode_{f.name}"
