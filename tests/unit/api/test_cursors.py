import base64
import hashlib

import pytest

from api.cursors import after_of, cursor_of, place_of
from graph.model.ids import NodeId
from graph.store.query import After

QUESTION = hashlib.sha256(b"a question").digest()


@pytest.mark.parametrize("place", [None, 7, "notes/地点.md", [1, "x"], {"seq": 3}])
def test_a_cursor_gives_its_place_back(place: object) -> None:
    assert place_of(QUESTION, cursor_of(QUESTION, place)) == place


@pytest.mark.parametrize("cursor", ["", "!", "AAAA", cursor_of(b"another", 1), cursor_of(QUESTION, 1)[:-1], "\udc80"])
def test_a_cursor_of_another_question_or_none_at_all_is_refused(cursor: str) -> None:
    with pytest.raises(ValueError, match="another question"):
        place_of(QUESTION, cursor)


def test_a_cursor_that_somebody_made_up_is_no_fault() -> None:
    raw = b"[" * 100_000
    check = hashlib.sha256(QUESTION + raw).digest()[:8]
    with pytest.raises(ValueError, match="damaged"):
        place_of(QUESTION, base64.urlsafe_b64encode(check + raw).decode().rstrip("="))


@pytest.mark.parametrize("value", [None, 7, "a", 0.5, True, (1, "a")])
def test_a_cursor_of_a_node_gives_its_place_back(value: object) -> None:
    assert after_of(QUESTION, cursor_of(QUESTION, [value, "ent_x"])) == After(value, NodeId("ent_x"))


@pytest.mark.parametrize(
    "place", [None, 7, "ab", {}, [], ["a"], ["a", 1], [{}, "x"], [[[]], "x"], [2**64, "x"], [1e999, "x"]]
)
def test_a_cursor_that_is_no_place_of_a_node_is_refused(place: object) -> None:
    with pytest.raises(ValueError, match="place of a node"):
        after_of(QUESTION, cursor_of(QUESTION, place))
