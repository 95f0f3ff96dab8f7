import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.access import Guard, Need
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.people import Token
from graph.model.nodes.work import Receipt
from graph.model.time import Millis
from graph.store.neo4j import encoding, facts, links
from tests.support.builders import World, clause, private, shared, vector

WORLD = World()
TIMES = st.integers(min_value=-(10**15), max_value=10**15)
NAMES = st.text(min_size=1, max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


def there_and_back(node: Any) -> Any:
    """Return the node as the columns of its properties give it back."""
    properties = encoding.encode_node(node)
    wanted = re.findall(r"`(\w+)`", encoding.columns(type(node).__name__))
    return encoding.decode_node([*(properties.get(name) for name in wanted), True])


def test_nodes_come_back_as_they_were() -> None:
    for node in (
        WORLD.make_entry(name="名", live_name=None),
        WORLD.make_source(meta={"b": [1, None], "a": "ü"}, title=None),
        WORLD.make_block_version(embedding=vector(0.25, -1.5), embedding_model="m"),
        WORLD.make_episode(questions=("a,b", "a", "b")),
        WORLD.make(Receipt, result=None),
    ):
        assert there_and_back(node) == node


def test_an_empty_tuple_and_none_are_not_the_same() -> None:
    token = {"public_id": "p", "secret_hash": "h", "principal_id": "prn_a", "expires_at": 1}
    assert there_and_back(WORLD.make(Token, **token, rights=())).rights == ()
    assert there_and_back(WORLD.make(Token, **token, rights=None)).rights is None


@pytest.mark.parametrize("data", [b"", b"abc", vector(0.0, 0.0), vector(math.inf), vector(math.nan), vector(1.0)])
def test_any_bytes_are_kept_and_only_vectors_with_a_direction_are_given_to_the_engine(data: bytes) -> None:
    node = WORLD.make_block_version(embedding=data, embedding_model="m")
    assert there_and_back(node).embedding == data
    assert encoding.encode_node(node).get("embedding") == ([1.0] if data == vector(1.0) else None)


@given(TIMES, NAMES, TIMES, NAMES)
def test_sort_texts_order_newest_first_then_by_id(time: int, id: str, other_time: int, other_id: str) -> None:
    ours, theirs = facts.encode_sort(time, id), facts.encode_sort(other_time, other_id)
    assert (ours < theirs) == ((-time, id) < (-other_time, other_id))
    assert facts.decode_sort(ours) == time


@given(st.dictionaries(NAMES, SCALARS), st.none() | st.tuples(st.text()), st.text())
def test_edges_come_back_as_they_were(props: dict[str, Any], record: tuple[str, ...] | None, key: str) -> None:
    edge = Edge(
        type=EdgeType.CITES, source=NodeId("blv_1"), target=NodeId("src_1"), key=key, props=props, record=record
    )
    stored = {name: value for name, value in links.encode_edge(edge).items() if value is not None}
    assert links.decode_edge("CITES", "blv_1", "src_1", stored) == edge


def test_props_named_like_the_stores_own_do_not_replace_them() -> None:
    edge = WORLD.cites(NodeId("blv_1"), NodeId("src_1"), key="k", props={"key": "other", "record": "r", "extra": 1})
    assert links.encode_edge(edge)["key"] == "k"


def test_guards_come_back_as_they_were() -> None:
    for rules in (None, clause(shared(), private("chn_1"))):
        guard = Guard(
            node=NodeId("src_1"),
            kind="Source",
            workspace=WORLD.workspace,
            pool=None,
            need=Need.SOURCE,
            rules=rules,
            live=False,
            held=False,
            excluded=frozenset({NodeId("prn_b"), NodeId("prn_a")}),
            tags=("a,b", "a"),
            sort_at=Millis(-5),
        )
        assert facts.decode_guard(["src_1", *facts.encode_guard(guard).values()]) == guard


@pytest.mark.parametrize(
    "changes",
    [{"id": "ent_2"}, {"workspace": "other"}, {"nothing": 1}, {"name": 5}, {"name": None}, {"current_version": 2**63}],
)
def test_changes_that_the_declaration_does_not_take_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        encoding.encode_changes(encoding.spec_of(WORLD.make_entry()), changes)


def test_a_node_that_goes_while_it_is_read_is_not_taken_for_one() -> None:
    entry = WORLD.make_entry()
    properties = encoding.encode_node(entry)
    names = re.findall(r"`(\w+)`", encoding.columns("Entry"))
    held = [properties.get(name) for name in names]
    assert encoding.is_whole([*held, True])
    assert not encoding.is_whole([*held, False])
    assert not encoding.is_whole([entry.id, *[None] * (len(names) - 1), True])
    assert not encoding.is_whole([None] * (len(names) + 1))
    assert not encoding.is_whole(None)
