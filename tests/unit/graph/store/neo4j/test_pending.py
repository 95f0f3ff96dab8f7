"""What a transaction gathers before it writes: new nodes with all that is known, links by how they are written."""

from __future__ import annotations

import re

import pytest

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.store.neo4j.driver import prepared
from graph.store.neo4j.pending import Pending, statement

NEW, OLD, HUB = NodeId("blv_new"), NodeId("blv_old"), NodeId("src_hub")


def cites(source: NodeId, target: NodeId = HUB) -> Edge:
    return Edge(type=EdgeType.CITES, source=source, target=target)


@pytest.fixture
def pending() -> Pending:
    made = Pending()
    made.nodes[NEW] = (["Node", "BlockVersion"], {"id": NEW, "text": "said"})
    return made


def test_nothing_waits_at_first() -> None:
    assert not Pending()


def test_a_new_node_is_created_with_what_is_known_about_it(pending: Pending) -> None:
    pending.patch(NEW, {"text": "said again"})
    pending.state(NEW, {"guardKind": "BlockVersion", "guardPool": None})
    assert pending.parameters({NEW})["nodes"] == [
        [["Node", "BlockVersion"], {"id": NEW, "text": "said again", "guardKind": "BlockVersion"}]
    ]
    assert pending.parameters({NEW})["patches"] == pending.parameters({NEW})["facts"] == []


def test_what_is_set_to_nothing_goes_from_a_new_node_and_is_told_of_another(pending: Pending) -> None:
    pending.patch(NEW, {"text": None})
    pending.patch(OLD, {"text": None})
    assert pending.parameters({NEW})["nodes"] == [[["Node", "BlockVersion"], {"id": NEW}]]
    assert pending.parameters({NEW})["patches"] == [[OLD, {"text": None}]]


def test_links_of_new_nodes_are_created_and_those_of_others_are_merged(pending: Pending) -> None:
    pending.link([cites(NEW), cites(OLD)])
    written = pending.parameters({NEW})
    assert [(target, type, [row[0] for row in rows]) for target, type, rows in written["fresh"]] == [
        (HUB, "CITES", [NEW])
    ]
    assert {type: [row[:3] for row in rows] for type, rows in written["links"].items()} == {"CITES": [[OLD, HUB, ""]]}
    assert written["ends"] == [OLD, HUB]


def test_a_link_that_was_written_before_is_merged_the_second_time(pending: Pending) -> None:
    pending.link([cites(NEW)])
    pending.clear()
    assert not pending
    pending.link([cites(NEW)])
    written = pending.parameters({NEW})
    assert (written["fresh"], len(written["links"])) == ([], 1)


def test_an_audience_row_that_comes_and_goes_before_it_is_written_leaves_nothing() -> None:
    row = {"clause": "c", "kind": "Entry", "tag": "", "sort": "1", "n": 1, "node": "ent_1"}
    key = ("c", "Entry", "", "1")
    pending = Pending()
    pending.replace_rows({}, {key: row})
    pending.replace_rows({key: row}, {})
    assert not pending
    pending.replace_rows({key: row}, {key: {**row, "n": 2}})
    written = pending.parameters(())
    assert (len(written["gone"]), len(written["come"]), len(written["several"])) == (1, 0, 1)


def test_every_parameter_of_the_statement_is_given_and_no_other() -> None:
    named = set(re.findall(r"\$(\w+)", statement(("CITES",))))
    assert named == {*Pending().parameters(()), "counters"}


def test_parameters_go_in_one_map_so_that_their_sizes_make_no_other_plan() -> None:
    text, given = prepared("UNWIND $ids AS id CREATE (n:$(id)) SET n.x = $value", {"ids": ["a"], "value": 1})
    assert text == "CYPHER 5 UNWIND $p.ids AS id CREATE (n:$(id)) SET n.x = $p.value"
    assert given == {"p": {"ids": ["a"], "value": 1}}
