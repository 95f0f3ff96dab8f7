"""A session that proves its rows a few at a time, and walks nothing twice, says what the law says at once."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.services.access import session as sessions
from graph.services.access.session import Session
from graph.store.query import Direction, Reached
from tests.reference.law import naive_law
from tests.support.graphs import Flavour, GraphCase, law_graphs, random_case, store_edges

pytestmark = pytest.mark.req("KN-62", "KN-125")


class Walked:
    """The one read of a proof over a graph in memory; counts the nodes whose edges were read."""

    def __init__(self, case: GraphCase) -> None:
        self._guards = {guard.node: guard for guard in case.guards}
        self._below: dict[NodeId, list[Edge]] = {}
        for edge in store_edges(case):
            self._below.setdefault(edge.source, []).append(edge)
        self.walked = 0

    async def closure(
        self,
        ids: Sequence[NodeId],
        types: Iterable[EdgeType],
        direction: Direction,
        *,
        guarded: bool,
        depth: int | None = None,
    ) -> Reached:
        depths = dict.fromkeys(ids, 0)
        edges: list[Edge] = []
        for node in (queue := list(depths)):
            if depth is not None and depths[node] == depth:
                continue
            self.walked += 1
            for edge in self._below.get(node, ()):
                edges.append(edge)
                if edge.target not in depths:
                    depths[edge.target] = depths[node] + 1
                    queue.append(edge.target)
        guards = {id_: self._guards[id_] for id_ in depths if guarded and id_ in self._guards}
        return Reached(depths=depths, edges=tuple(edges), truncated=False, guards=guards)


def session(reader: Any, viewer: Any) -> Session:
    nobody: Any = None
    return Session(deps=nobody, reader=reader, caller=nobody, facts=nobody, own_viewer=viewer, proved={})


@pytest.mark.parametrize("worth", [0, 1, 2])
async def test_proofs_in_any_parts_and_order_say_what_the_law_says_at_once(
    worth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "WORTH_A_STOP", worth)
    shown = hidden = 0
    for seed in range(law_graphs()):
        rng = random.Random(seed)
        case = random_case(rng, list(Flavour)[seed % 3])
        for viewer in case.viewers[:3]:
            right = naive_law(case.guards, case.edges, viewer)
            asking = session(Walked(case), viewer)
            for _ in range(4):
                part = rng.sample(case.ids, rng.randint(1, len(case.ids)))
                assert await asking.prove(part) == right & set(part), f"seed {seed}, viewer {viewer}"
                shown += len(right & set(part))
                hidden += len(set(part) - right)
    assert shown > law_graphs()
    assert hidden > law_graphs()


async def test_what_was_proved_is_not_walked_again() -> None:
    rng = random.Random(3)
    case = random_case(rng, Flavour.KNOWLEDGE, most_nodes=40)
    reader = Walked(case)
    asking = session(reader, case.viewers[0])
    ids = [guard.node for guard in case.guards]
    await asking.prove(ids)
    once = reader.walked
    await asking.prove(ids)
    assert reader.walked == once
