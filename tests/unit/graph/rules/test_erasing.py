from __future__ import annotations

from collections.abc import Iterable

import pytest

from graph.model.access import Guard, LawEdge, Need
from graph.model.ids import NodeId, WorkspaceId
from graph.rules.erasing import lost_for_ever


def guards(**needs: Need) -> dict[NodeId, Guard]:
    return {
        NodeId(name): Guard(
            node=NodeId(name), kind="x", workspace=WorkspaceId("w"), pool=None, need=need, rules=frozenset()
        )
        for name, need in needs.items()
    }


def edges(*pairs: str, ends: Iterable[str] = ()) -> list[LawEdge]:
    plain = [LawEdge(source=NodeId(p[0]), target=NodeId(p[1])) for p in pairs]
    return plain + [LawEdge(source=NodeId(p[0]), target=NodeId(p[1]), ends=True) for p in ends]


def lost(erased: str, needs: dict[NodeId, Guard], links: list[LawEdge]) -> set[str]:
    return {str(node) for node in lost_for_ever([NodeId(e) for e in erased], needs, links)} - set(erased)


@pytest.mark.req("KN-81")
def test_what_needs_all_is_lost_with_one_and_what_needs_any_with_the_last() -> None:
    needs = guards(s=Need.SOURCE, t=Need.SOURCE, a=Need.ALL, b=Need.ANY)
    links = edges("as", "at", "bs", "bt")
    assert lost("s", needs, links) == {"a"}
    assert lost("st", needs, links) == {"a", "b"}


@pytest.mark.req("KN-81")
def test_loss_goes_up_through_statements_and_ends() -> None:
    needs = guards(s=Need.SOURCE, t=Need.SOURCE, a=Need.ALL, n=Need.ANY, e=Need.ANY, r=Need.ANY, v=Need.ALL)
    links = edges("as", "na", "en", "rt", "vr", ends=["re"])
    assert lost("s", needs, links) == {"a", "n", "e", "r", "v"}


@pytest.mark.req("KN-81")
def test_what_needs_none_and_what_only_goes_round_is_not_lost() -> None:
    needs = guards(s=Need.SOURCE, k=Need.NONE, a=Need.ANY, b=Need.ANY)
    assert lost("s", needs, edges("ks", "ab", "ba", "as")) == set()
