from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.store.neo4j import entrances
from graph.store.neo4j.driver import Rows
from graph.store.query import And, By, Eq, In, Linked, Or, Range, Where


class Counting:
    """Answers each count with the next of a list."""

    def __init__(self, *counts: int) -> None:
        self._counts = list(counts)
        self.statements: list[str] = []

    async def run(self, statement: str, /, **parameters: Any) -> Rows:
        self.statements.append(statement)
        return [[self._counts.pop(0)]]


async def test_a_key_that_fits_few_is_the_way_in() -> None:
    runner = Counting(entrances.FEW)
    found = await entrances.narrow(runner, BlockVersion, Eq("entry_id", NodeId("ent_1")))
    assert found is not None
    assert "USING INDEX SEEK n:BlockVersion(`entryId`)" in found.text


async def test_one_that_fits_many_is_not_and_the_next_is_tried() -> None:
    runner = Counting(entrances.FEW + 1, 3)
    where = And([Eq("type", "topic"), Eq("id", "ent_1")])
    found = await entrances.narrow(runner, Entry, where)
    assert found is not None
    assert "n:Node(`id`)" in found.text


def test_an_index_of_which_every_field_is_fixed_comes_before_those_of_one_field() -> None:
    where = And([Eq("kind", "message"), Eq("channel_id", NodeId("chn_1")), In("seq", [1, 2])])
    first, *others = entrances.ways_in(Source, where)
    assert "USING INDEX SEEK n:Source(`channelId`, `seq`)" in first.text
    assert first.condition == "(n.`channelId` = $entrance0) AND (n.`seq` IN $entrance1)"
    assert first.parameters == {"entrance0": "chn_1", "entrance1": [1, 2]}
    assert ["`kind`" in other.text for other in others] == [True]


@pytest.mark.parametrize("loose", [Range("seq", 1, 2), Eq("seq", None)])
def test_an_index_of_which_one_field_is_not_fixed_is_no_way_in(loose: Where) -> None:
    assert entrances.ways_in(Source, And([Eq("channel_id", NodeId("chn_1")), loose])) == ()


@pytest.mark.parametrize("where", [None, Eq("name", "x"), Eq("type", None), Or([Eq("type", "topic")]), Linked([], [])])
async def test_a_condition_without_an_index_leads_nowhere_and_asks_nothing(where: Where | None) -> None:
    runner = Counting()
    assert await entrances.narrow(runner, Entry, where) is None
    assert runner.statements == []


def test_a_scope_that_sees_all_goes_in_by_a_link_or_by_the_kind() -> None:
    linked = entrances.through_kind(Entry, Linked(["CITES"], [NodeId("src_1")]))
    assert linked.parameters == {"targets": ["src_1"]}
    assert entrances.through_kind(Entry, None).text == "MATCH (n:Entry)"


def test_a_walk_along_an_index_begins_at_the_bound_of_the_condition() -> None:
    where = And((Eq("pool", NodeId("knb_1")), Eq("kind", "message"), Range("occurred_at", None, 7)))
    found = entrances.along_order(Source, where, By("occurred_at", descending=True))
    assert found is not None
    assert found.condition == "(n.`kbId` = $along0) AND (n.`occurredAt` < $along1)"
    assert found.parameters == {"along0": "knb_1", "along1": 7}
    assert found.leading == ("pool",)
