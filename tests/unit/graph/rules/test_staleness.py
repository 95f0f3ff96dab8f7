"""When statements need another look."""

from __future__ import annotations

import pytest

from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.staleness import CitedVersion, is_relation_stale, is_stale

pytestmark = pytest.mark.req("KN-64", "DR-60", "MA-10")

A, B = NodeId("src_a"), NodeId("src_b")
OLD_A = CitedVersion(series=A, latest=False)
NEW_A = CitedVersion(series=A, latest=True)
NEW_B = CitedVersion(series=B, latest=True)


def test_statement_is_stale_when_it_cites_only_an_older_version() -> None:
    assert is_stale([OLD_A])
    assert not is_stale([OLD_A, NEW_A])
    assert not is_stale([NEW_A])


def test_another_source_does_not_make_up_for_the_newer_version() -> None:
    assert is_stale([OLD_A, NEW_B])


def test_deduction_is_stale_when_one_basis_is_no_longer_current() -> None:
    assert is_stale([], [True, False])
    assert not is_stale([], [True, True])


def test_human_confirmation_answers_versions_recorded_until_then() -> None:
    replaced = {A: Millis(10)}
    assert not is_stale([OLD_A], confirmed_at=Millis(10), replaced_at=replaced)
    assert is_stale([OLD_A], confirmed_at=Millis(9), replaced_at=replaced)
    assert is_stale([OLD_A], confirmed_at=Millis(11), replaced_at={B: Millis(10)})


def test_human_confirmation_does_not_answer_a_lost_basis() -> None:
    assert is_stale([], [False], confirmed_at=Millis(99))


def test_relation_is_stale_only_when_all_its_evidence_is_older() -> None:
    assert is_relation_stale([OLD_A])
    assert not is_relation_stale([OLD_A, NEW_B])
    assert not is_relation_stale([])
