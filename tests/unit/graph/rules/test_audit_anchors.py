"""Anchors: one chain that binds the heads of all pools."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.time import Millis
from graph.rules.audit_anchors import SealedAnchor, anchor, heads_at, purged_pools, verify_anchors
from graph.rules.audit_chain import GENESIS, Head
from graph.rules.audit_following import ChainBreak, verify_chain
from tests.support.audit_chains import make_chain, make_draft


def head(seq: int, mark: str = "a") -> Head:
    return Head(seq=seq, hash=mark * 64)


@pytest.fixture
def anchors() -> list[SealedAnchor]:
    first = anchor({"knb_2": head(3), "knb_1": head(1)}, workspace="w", recorded_at=Millis(1))
    second = anchor({"knb_1": head(5, "b"), "knb_3": GENESIS}, first.head, workspace="w", recorded_at=Millis(2))
    return [first, second, anchor({"knb_1": head(5, "b")}, second.head, workspace="w", recorded_at=Millis(3))]


@pytest.mark.req("AD-27")
def test_anchors_form_a_chain_and_leave_out_empty_pools(anchors: list[SealedAnchor]) -> None:
    assert verify_anchors(anchors, anchors[-1].head).ok
    assert [list(found.heads) for found in anchors] == [["knb_1", "knb_2"], ["knb_1"], ["knb_1"]]
    assert heads_at(anchors, "knb_1") == [head(1), head(5, "b"), head(5, "b")]
    assert purged_pools(anchors) == {"knb_2"}


@pytest.mark.req("AD-27")
def test_changed_missing_or_forked_anchors_are_found(anchors: list[SealedAnchor]) -> None:
    forged = replace(anchors[1], heads={"knb_1": head(4)})
    assert verify_anchors([anchors[0], forged, anchors[2]]).reason is ChainBreak.HASH
    assert verify_anchors(anchors[1:]).first_broken_seq == 1
    assert verify_anchors(anchors[:2], anchors[2].head).reason is ChainBreak.TAIL
    rewritten = anchor({"knb_1": head(9)}, anchors[0].head, workspace="w", recorded_at=Millis(2))
    assert verify_anchors([anchors[0], rewritten]).ok
    assert verify_anchors([anchors[0], rewritten], anchors[1].head).reason is ChainBreak.FORK
    assert verify_anchors([anchors[0], replace(anchors[1], prev_hash="")]).reason is ChainBreak.LINK


@pytest.mark.req("AD-27")
def test_no_pool_goes_back_and_no_anchor_moves_to_another_workspace(anchors: list[SealedAnchor]) -> None:
    back = anchor({"knb_1": head(2)}, anchors[1].head, workspace="w", recorded_at=Millis(3))
    assert verify_anchors([*anchors[:2], back]).reason is ChainBreak.TAIL
    elsewhere = anchor({"knb_1": head(6)}, anchors[1].head, workspace="v", recorded_at=Millis(3))
    assert verify_anchors([*anchors[:2], elsewhere]).reason is ChainBreak.POOL


@pytest.mark.req("AD-27")
def test_anchored_heads_bind_the_chain_of_their_pool() -> None:
    chain = make_chain([make_draft(reason=str(n)) for n in range(5)])
    bound = anchor({"knb_1": chain[2].head}, workspace="w", recorded_at=Millis(1))
    assert verify_chain(chain, anchored=heads_at([bound], "knb_1")).ok
    assert verify_chain(chain[:2], anchored=heads_at([bound], "knb_1")).reason is ChainBreak.TAIL
    rewritten = make_chain([make_draft(reason=f"other {n}") for n in range(5)])
    assert verify_chain(rewritten, anchored=heads_at([bound], "knb_1")).reason is ChainBreak.FORK


def test_anchor_survives_its_export(anchors: list[SealedAnchor]) -> None:
    assert [SealedAnchor.from_export(found.to_export()) for found in anchors] == anchors
