"""Cursors belong to their question."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from api.graphql.connection import Cursors, check_first
from graph.model.errors import CursorInvalid, LimitExceeded
from graph.model.ids import NodeId
from graph.store.query import After

PLACE = After(1_746_867_600_000, NodeId("ent_1"))


@pytest.mark.req("KN-113")
@pytest.mark.parametrize("value", [0, -5, "name", None, (1, "a", -3)])
def test_a_cursor_comes_back(value: Any) -> None:
    cursors = Cursors.of("entries", {"owner": "a"})
    place = After(value, NodeId("ent_1"))
    assert cursors.decode(cursors.encode(place)) == place
    assert cursors.decode(None) is None


@pytest.mark.req("KN-113")
@pytest.mark.parametrize(
    ("field", "arguments"), [("owners", {"owner": "a"}), ("entries", {"owner": "b"}), ("entries", {})]
)
def test_a_cursor_of_another_question_is_refused(field: str, arguments: dict[str, str]) -> None:
    cursor = Cursors.of("entries", {"owner": "a"}).encode(PLACE)
    with pytest.raises(CursorInvalid):
        Cursors.of(field, arguments).decode(cursor)


@pytest.mark.req("KN-113")
@pytest.mark.parametrize("damage", ["", "x", "====", "💥", base64.urlsafe_b64encode(b"[" * 50_000).decode()])
def test_a_damaged_cursor_is_refused(damage: str) -> None:
    with pytest.raises(CursorInvalid):
        Cursors.of("entries", {}).decode(damage)


def test_every_changed_character_is_noticed() -> None:
    cursors = Cursors.of("entries", {})
    cursor = cursors.encode(PLACE)
    for place in range(len(cursor)):
        changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        with pytest.raises(CursorInvalid):
            cursors.decode(changed)


@pytest.mark.req("KN-113")
def test_a_page_has_one_to_a_hundred() -> None:
    assert [check_first(first) for first in (1, 100, None)] == [1, 100, 20]
    for first in (0, -1, 101):
        with pytest.raises(LimitExceeded):
            check_first(first)
