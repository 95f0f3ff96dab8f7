"""Whole entries: delete, merge, mark as distinct."""

from __future__ import annotations

import pytest

from graph.model.edges import Edge, EdgeType
from graph.model.errors import OperationRejected
from graph.model.ids import NodeId
from graph.rules.changes import Changes, text_id
from graph.rules.knowledge_settings import defaults
from graph.rules.operations.whole import delete_entry, mark_distinct, merge_entries
from graph.rules.operations.work import Work
from tests.support.desk import HUMAN, Desk
from tests.support.operations import add, block, cite, create, on_entry, relate


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def source(desk: Desk) -> NodeId:
    return desk.source("Ana joined Helio, Ana likes Helio GmbH, HLO pays Ana, Helio is Helio GmbH.")


@pytest.fixture
def ana(desk: Desk, source: NodeId) -> NodeId:
    return desk.made(create("Ana", block("Joined Helio.", cite(source, "Ana joined Helio"))))


@pytest.fixture
def keep(desk: Desk, source: NodeId) -> NodeId:
    return desk.made(create("Helio", block("Has Ana.", cite(source, "Ana joined Helio")), aliases=["HLO"]))


@pytest.fixture
def other(desk: Desk, source: NodeId) -> NodeId:
    blocks = [block("Liked by Ana.", cite(source, "Ana likes Helio GmbH")), block("Pays.", cite(source, "HLO pays"))]
    return desk.made(create("Helio GmbH", *blocks, aliases=["hlo", "Helio Works"]), by=HUMAN)


def work_on(desk: Desk) -> Work:
    return Work.on(desk.state, HUMAN, defaults(), desk.at, desk.new_id)


@pytest.mark.req("KN-36", "KN-101", "KN-83")
def test_deleting_ends_all_that_is_current_and_keeps_it_in_one_record(
    desk: Desk, ana: NodeId, keep: NodeId, source: NodeId
) -> None:
    founded = {"founded": {"value": 1990, "citations": []}}
    desk.made(on_entry("setAttributes", keep, 1, set=founded), by=HUMAN)
    relation = desk.made(relate(ana, "member_of", keep, source, "Ana joined Helio"))
    (inside,) = desk.blocks(keep)
    version = desk.relation(relation).version.id
    work = work_on(desk)
    delete_entry(work, keep)
    (record,) = work.changes.drafts
    assert (record.operation, record.target_id, record.after) == ("entry.delete", keep, None)
    assert set(record.before["blocks"]) == {inside.id}
    assert set(record.before["relations"]) == {relation}
    assert record.before["attributes.founded"]["value"] == 1990
    patches = work.changes.patches
    assert (patches[keep]["deleted_at"], patches[keep]["live_name"]) == (desk.at, None)
    assert patches[inside.version.id] == {"invalidated_at": desk.at}
    assert patches[version] == {"invalidated_at": desk.at}
    assert patches[relation] == {"current": False}
    assert [e.key for e in work.changes.unlinks if e.type is EdgeType.RELATES] == [relation]
    named = desk.entry(keep).name.facet.id
    assert {text_id(named, "name"), text_id(inside.version.id, "block")} <= set(work.changes.untexts)
    assert not work.changes.puts


@pytest.mark.req("KN-35")
def test_merging_moves_blocks_relations_and_names_and_deletes_the_rest(
    desk: Desk, ana: NodeId, keep: NodeId, other: NodeId, source: NodeId
) -> None:
    likes = desk.made(relate(ana, "likes", other, source, "Ana likes Helio GmbH"))
    inner = desk.made(relate(keep, "is", other, source, "Helio is Helio GmbH"))
    moved = [state.id for state in desk.blocks(other)]
    history = {id_: [desk.block(id_).version.id] for id_ in moved}
    narrow = Edge(type=EdgeType.SAME_AS, source=NodeId("ent_narrow"), target=other)
    work = work_on(desk)
    merge_entries(work, keep, other, versions=history, same_as_other=[narrow])

    assert [state.id for state in work.blocks_of(keep)][1:] == moved
    assert [state.version.text for state in work.blocks_of(keep)] == ["Has Ana.", "Liked by Ana.", "Pays."]
    assert work.entries[keep].names == ("Helio", "HLO", "Helio GmbH", "Helio Works")
    assert other not in work.entries
    (left,) = work.relations.values()
    assert (left.relation.subject_id, left.relation.type, left.relation.object_id) == (ana, "likes", keep)
    assert {likes, inner}.isdisjoint(work.relations)
    assert [record.operation for record in work.changes.drafts] == [
        "block.move",
        "block.move",
        "relation.remove",
        "relation.add",
        "relation.remove",
        "entry.set_aliases",
        "entry.delete",
    ]
    assert Edge(type=EdgeType.SAME_AS, source=NodeId("ent_narrow"), target=keep) in work.changes.links
    for version in (v for versions in history.values() for v in versions):
        assert work.changes.patches[version] == {"entry_id": keep}
    assert {t.item for t in work.changes.texts if t.part == "block"} == {keep}


@pytest.mark.req("KN-30", "KN-35")
def test_merging_joins_equal_relations(desk: Desk, ana: NodeId, keep: NodeId, other: NodeId, source: NodeId) -> None:
    kept = desk.made(relate(ana, "at", keep, source, "Ana joined Helio"))
    desk.made(relate(ana, "at", other, source, "Ana likes Helio GmbH"))
    work = work_on(desk)
    merge_entries(work, keep, other, versions={})
    assert set(work.relations) == {kept}
    assert len(work.relations[kept].evidence) == 2
    assert "relation.add_evidence" in {record.operation for record in work.changes.drafts}


@pytest.mark.req("KN-21", "KN-35")
def test_merging_does_not_go_over_the_limit_of_aliases(desk: Desk, keep: NodeId, source: NodeId) -> None:
    many = create("Many", block("x", cite(source, "Ana joined")), aliases=[f"a{n}" for n in range(20)])
    other = desk.made(many, by=HUMAN)
    with pytest.raises(OperationRejected, match="at most 20"):
        merge_entries(work_on(desk), keep, other, versions={})


@pytest.mark.req("CO-73")
def test_two_entries_are_marked_distinct_once(desk: Desk, keep: NodeId, other: NodeId) -> None:
    work = work_on(desk)
    assert mark_distinct(work, other, keep)
    first, second = sorted((keep, other))
    assert [(e.type, e.source, e.target) for e in work.changes.links] == [(EdgeType.DISTINCT_FROM, first, second)]
    (record,) = work.changes.drafts
    assert (record.operation, record.target_id, record.after) == (
        "entry.mark_distinct",
        first,
        {"distinctFrom": [second]},
    )
    assert not mark_distinct(work, keep, other)


def test_later_steps_may_undo_what_a_list_only_just_makes() -> None:
    edge = Edge(type=EdgeType.RELATES, source=NodeId("ent_a"), target=NodeId("ent_b"), key="rel_1")
    first, later = Changes(), Changes()
    first.links.append(edge)
    first.text(NodeId("blv_1"), NodeId("ent_a"), "block", "old")
    later.unlinks.append(edge)
    later.untext(NodeId("blv_1"), "block")
    first.follow(later)
    assert first.links == []
    assert first.texts == []
    assert first.untexts == ["blv_1#block"]


def test_a_patch_of_a_later_step_reaches_a_node_that_is_only_just_put(desk: Desk, source: NodeId) -> None:
    desk.apply(
        create("Ana", block("x", cite(source, "Ana joined")), ref="a"), add("a", block("y", cite(source, "pays Ana")))
    )
    assert desk.last is not None
    made = desk.last.verdicts[0].created[0]
    assert made not in desk.last.changes.patches
