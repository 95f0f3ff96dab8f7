"""Questions that no store could answer are refused before they reach one."""

import pytest

from graph.model.errors import CursorInvalid
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.services.knowledge.listing import Row, cut_rows
from graph.store.query import After, By, Find, Newest, Order

ID = NodeId("src_x")


@pytest.mark.parametrize(
    ("order", "value"),
    [(By("id"), 1), (By("occurred_at"), "x"), (By("occurred_at"), True), (By("occurred_at"), (1,)), (Newest(), "x")],
)
def test_a_place_of_another_order_is_refused(order: Order, value: object) -> None:
    with pytest.raises(CursorInvalid):
        Find(kind=Source, order=order, after=After(value, ID))


@pytest.mark.parametrize(
    ("order", "value"), [(By("id"), ID), (By("occurred_at"), 1), (By("occurred_at"), None), (Newest(), 1)]
)
def test_a_place_of_the_order_is_taken(order: Order, value: object) -> None:
    assert Find(kind=Source, order=order, after=After(value, ID)).after == (value, ID)


@pytest.mark.parametrize("value", ["x", (1, 2), None])
def test_a_place_among_rows_of_another_key_is_refused(value: object) -> None:
    with pytest.raises(CursorInvalid):
        cut_rows([Row(key=1, id=ID)], first=1, after=After(value, ID))
