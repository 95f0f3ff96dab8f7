"""Provenance exports: other tools read them back, and nothing is in them that was not in the graph."""

from __future__ import annotations

import io
import json
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prov.model import ProvDocument, ProvElement

from graph.model.edges import EdgeType
from graph.rules.prov_export import exported, to_graphml, to_prov_json


def make_graph() -> nx.MultiDiGraph[str]:
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.add_node("blv_1", kind="BlockVersion", recorded_at=1_743_465_600_000, version=2, standing="settled")
    graph.add_node("blv_0", kind="BlockVersion", recorded_at=1_743_465_500_000, version=1)
    graph.add_node("src_1", kind="Source", state="live", occurred_at=1_743_465_500_000)
    graph.add_node("drb_1", kind="DreamBatch", started_at=1_743_465_590_000, ended_at=1_743_465_600_000)
    graph.add_node("aud_1", kind="AuditRecord", operation="block.edit")
    graph.add_edge("blv_1", "src_1", key="CITES:1", type="CITES", quote="went vegetarian", start=2, end=17)
    graph.add_edge("blv_1", "src_1", key="CITES:2", type="CITES", quote="last month", start=18, end=28)
    graph.add_edge("blv_1", "blv_0", key="SUPERSEDES:", type=EdgeType.SUPERSEDES)
    graph.add_edge("drb_1", "src_1", key="CONSUMED:", type="CONSUMED")
    graph.add_edge("drb_1", "aud_1", key="PRODUCED:", type="PRODUCED")
    graph.add_edge("aud_1", "blv_1", key="TARGETS:", type="TARGETS")
    return graph


def read_prov(text: str) -> ProvDocument:
    return ProvDocument.deserialize(content=text, format="json")


def write_prov(document: ProvDocument) -> str:
    return str(document.serialize(format="json", sort_keys=True))


def read_graphml(text: str) -> Any:
    return nx.read_graphml(io.BytesIO(text.encode()), force_multigraph=True)


def contents(graph: Any) -> tuple[dict[str, Any], list[Any]]:
    return dict(graph.nodes(data=True)), sorted(graph.edges(keys=True, data=True), key=repr)


@pytest.mark.req("KN-122")
def test_prov_json_says_what_each_edge_means() -> None:
    found = json.loads(to_prov_json(make_graph()))
    assert set(found["entity"]) == {"rw:blv_0", "rw:blv_1", "rw:src_1"}
    assert set(found["activity"]) == {"rw:aud_1", "rw:drb_1"}
    assert found["activity"]["rw:drb_1"]["prov:startTime"].startswith("2025-03-31T23:59:50")
    derived = found["wasDerivedFrom"].values()
    assert {(d["prov:usedEntity"], d.get("rw:quote")) for d in derived} == {
        ("rw:src_1", "went vegetarian"),
        ("rw:src_1", "last month"),
        ("rw:blv_0", None),
    }
    (used,) = found["used"].values()
    assert (used["prov:activity"], used["prov:entity"]) == ("rw:drb_1", "rw:src_1")
    (informed,) = found["wasInformedBy"].values()
    assert (informed["prov:informed"], informed["prov:informant"]) == ("rw:aud_1", "rw:drb_1")
    (influenced,) = found["wasInfluencedBy"].values()
    assert (influenced["prov:influencee"], influenced["prov:influencer"]) == ("rw:blv_1", "rw:aud_1")


@pytest.mark.req("KN-122", "KN-80")
def test_access_rules_and_strange_data_do_not_leave_with_the_graph() -> None:
    graph = make_graph()
    graph.nodes["src_1"].update(rules=("6|secret-channel|",), passed=True, hidden_dependents=["blv_secret"])
    graph.edges["blv_1", "src_1", "CITES:1"].update(speaker_id="prn_secret", record=("1|secret|",))
    for text in (to_prov_json(graph), to_graphml(graph)):
        assert "secret" not in text


@pytest.mark.req("KN-122")
def test_graphml_keeps_every_node_and_edge() -> None:
    found = read_graphml(to_graphml(make_graph()))
    assert contents(found) == contents(exported(make_graph()))
    assert found.nodes["blv_1"]["recorded_at"] == "2025-04-01T00:00:00.000Z"


@pytest.mark.req("KN-122")
def test_order_of_insertion_does_not_show() -> None:
    graph = make_graph()
    turned: Any = nx.MultiDiGraph()
    turned.add_nodes_from(reversed(list(graph.nodes(data=True))))
    turned.add_edges_from(reversed(list(graph.edges(keys=True, data=True))))
    assert to_prov_json(turned) == to_prov_json(graph)
    assert to_graphml(turned) == to_graphml(graph)


def test_a_graph_without_parallel_edges_is_taken_too() -> None:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edge("blv_1", "src_1", type="CITES")
    assert len(list(read_prov(to_prov_json(graph)).get_records())) == 3
    assert list(read_graphml(to_graphml(graph)).edges) == [("blv_1", "src_1", "e0")]


def test_an_empty_graph_is_a_document_too() -> None:
    assert read_prov(to_prov_json(nx.MultiDiGraph())) == ProvDocument()
    assert not read_graphml(to_graphml(nx.MultiDiGraph()))


IDS = st.from_regex(r"(blv|src|drb|aud|prn)_[A-Za-z0-9._:/-]{1,12}", fullmatch=True)
KINDS = {"blv": "BlockVersion", "src": "Source", "drb": "DreamBatch", "aud": "AuditRecord", "prn": "Principal"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TIMES = st.none() | st.integers(0, 4_000_000_000_000)


@st.composite
def graphs(draw: st.DrawFn) -> nx.MultiDiGraph[str]:
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    ids = draw(st.lists(IDS, min_size=1, max_size=8, unique=True))
    for node in ids:
        times: dict[str, Any] = {key: draw(TIMES) for key in ("recorded_at", "started_at", "ended_at")}
        graph.add_node(node, kind=KINDS[node[:3]], label=draw(TEXTS), depth=draw(st.integers(0, 16)), **times)
    ends = st.sampled_from(ids)
    for source, target in draw(st.lists(st.tuples(ends, ends), max_size=12)):
        graph.add_edge(source, target, type=draw(st.sampled_from(EdgeType)), quote=draw(TEXTS))
    return graph


@pytest.mark.req("KN-122")
@given(graphs())
def test_prov_json_loads_exports_equal_again_and_names_only_given_nodes(graph: nx.MultiDiGraph[str]) -> None:
    text = to_prov_json(graph)
    document = read_prov(text)
    assert write_prov(document) == text
    assert read_prov(write_prov(document)) == document
    things = list(document.get_records(ProvElement))
    assert {str(thing.identifier.localpart) for thing in things if thing.identifier} == set(graph)
    assert len(list(document.get_records())) == len(things) + graph.number_of_edges()


def as_xml_keeps_it(data: dict[str, Any]) -> dict[str, Any]:
    """Replace what XML 1.0 has no place for."""
    illegal = {*range(32), 0xFFFE, 0xFFFF} - {9, 10}
    return {
        key: "".join("\ufffd" if ord(c) in illegal else c for c in value) if isinstance(value, str) else value
        for key, value in data.items()
    }


@pytest.mark.req("KN-122")
@given(graphs())
def test_graphml_loads_back_equal_but_for_what_xml_cannot_hold(graph: nx.MultiDiGraph[str]) -> None:
    nodes, edges = contents(exported(graph))
    found = read_graphml(to_graphml(graph))
    assert contents(found) == (
        {node: as_xml_keeps_it(data) for node, data in nodes.items()},
        sorted(((*ends, as_xml_keeps_it(data)) for *ends, data in edges), key=repr),
    )
