"""The quick row of a node is the row that the encoders of its fields give."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any, cast

import pytest

from graph.model.fields import FieldType, Node
from graph.model.nodes.knowledge import KbKind
from graph.model.schema import KindSpec, kinds
from graph.model.sealed import Sealed
from graph.store.embedded.row_encoding import row_encoder
from graph.store.embedded.values import encode

PLAIN: dict[FieldType, Any] = {
    FieldType.TEXT: "text",
    FieldType.INTEGER: 7,
    FieldType.REAL: 0.5,
    FieldType.BOOLEAN: True,
    FieldType.BYTES: b"bytes",
    FieldType.JSON: {"b": [1, None], "a": "é"},
    FieldType.TEXTS: ("one", "two"),
    FieldType.SEALED: Sealed(b"sealed"),
}
ODD: dict[FieldType, Any] = {**PLAIN, FieldType.TEXT: KbKind.SHARED, FieldType.REAL: 2, FieldType.TEXTS: ()}
WRONG: dict[FieldType, Any] = {
    FieldType.TEXT: 1,
    FieldType.INTEGER: True,
    FieldType.REAL: "1",
    FieldType.BOOLEAN: 1,
    FieldType.BYTES: "bytes",
    FieldType.JSON: object(),
    FieldType.TEXTS: "one",
    FieldType.SEALED: "open",
}


def node(spec: KindSpec, values: dict[FieldType, Any], **given: Any) -> Node:
    """Something with the fields of a kind."""
    return cast("Node", SimpleNamespace(**{f.name: values[f.type] for f in spec.fields} | given))


@pytest.mark.parametrize("spec", kinds().values(), ids=lambda spec: spec.name)
@pytest.mark.parametrize("values", [PLAIN, ODD], ids=["plain", "odd"])
def test_a_row_is_what_the_encoders_give(spec: KindSpec, values: dict[FieldType, Any]) -> None:
    row = row_encoder(spec)(node(spec, values))
    assert row == tuple(encode(f, values[f.type]) for f in spec.fields)
    assert [type(column) for column in row] == [type(encode(f, values[f.type])) for f in spec.fields]
    assert len(row) == len(fields(spec.node))


@pytest.mark.parametrize("spec", kinds().values(), ids=lambda spec: spec.name)
def test_none_is_kept_where_a_field_takes_it_and_refused_elsewhere(spec: KindSpec) -> None:
    for place, f in enumerate(spec.fields):
        made = node(spec, PLAIN, **{f.name: None})
        if f.nullable:
            assert row_encoder(spec)(made)[place] is None
        elif f.type not in (FieldType.JSON, FieldType.TEXTS):  # a value of its own, and as good as no text
            with pytest.raises(TypeError):
                row_encoder(spec)(made)


@pytest.mark.parametrize("spec", kinds().values(), ids=lambda spec: spec.name)
def test_a_value_of_another_type_is_refused(spec: KindSpec) -> None:
    for f in spec.fields:
        with pytest.raises((TypeError, ValueError)):
            row_encoder(spec)(node(spec, PLAIN, **{f.name: WRONG[f.type]}))
