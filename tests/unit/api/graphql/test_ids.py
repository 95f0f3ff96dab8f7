"""Global ids at the edge."""

from __future__ import annotations

import pytest

from api.graphql.ids import inward, outward, to_global, to_node
from graph.model.ids import GlobalId, NodeId, WorkspaceId, prefix_of
from graph.model.schema import kind_of

HERE = WorkspaceId("w1")
ENTRY = NodeId("ent_00000000000000000000000001")


@pytest.mark.req("AD-1")
def test_an_id_is_opaque_and_comes_back() -> None:
    shown = to_global(ENTRY, HERE)
    assert ENTRY not in shown
    assert to_node(shown, HERE) == ENTRY


@pytest.mark.req("AD-1")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "ent_00000000000000000000000001",
        to_global(ENTRY, WorkspaceId("w2")),
        GlobalId(kind="Block", workspace=HERE, node=ENTRY).encode(),
        GlobalId(kind="Nothing", workspace=HERE, node=NodeId("zzz_1")).encode(),
        to_global(ENTRY, HERE)[:-1],
        to_global(ENTRY, HERE) + "=",
        "\ud800",
    ],
)
def test_any_other_text_names_nothing(text: str) -> None:
    node = to_node(text, HERE)
    assert kind_of(node) is None
    assert prefix_of(node) == "nil"


def test_two_texts_that_name_nothing_name_different_things() -> None:
    assert to_node("a", HERE) != to_node("b", HERE)


def test_operations_get_internal_ids_where_ids_may_stand_and_nowhere_else() -> None:
    shown = to_global(ENTRY, HERE)
    given = {
        "op": "addBlock",
        "entry": shown,
        "text": shown,
        "citations": [{"source": shown, "quote": shown}],
        "supersedes": [shown, "ref"],
    }
    assert inward(given, HERE) == {
        "op": "addBlock",
        "entry": ENTRY,
        "text": shown,
        "citations": [{"source": ENTRY, "quote": shown}],
        "supersedes": [ENTRY, "ref"],
    }


@pytest.mark.parametrize("text", [ENTRY, to_global(ENTRY, WorkspaceId("w2"))])
def test_operations_take_no_internal_and_no_foreign_ids(text: str) -> None:
    assert kind_of(inward({"op": "addBlock", "entry": text}, HERE)["entry"]) is None


@pytest.mark.parametrize("raw", ["text", 1, None, ["text"]])
def test_what_is_no_operation_is_left_for_the_service_to_refuse(raw: object) -> None:
    assert inward(raw, HERE) == raw


def test_internal_ids_never_leave() -> None:
    shown = to_global(ENTRY, HERE)
    assert outward({"entry_id": ENTRY, ENTRY: {}, "list": [ENTRY], "text": "an ent_ in a text", "n": 1}, HERE) == {
        "entry_id": shown,
        shown: {},
        "list": [shown],
        "text": "an ent_ in a text",
        "n": 1,
    }
