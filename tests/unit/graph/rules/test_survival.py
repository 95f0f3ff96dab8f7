"""The survival rate: which versions are observed, which are left out, what people did to them."""

from __future__ import annotations

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.time import DAY_MS, Millis
from graph.rules.survival import Survival, Window, Written, survival

WINDOW = Window.of_days(14, 90)
NOW = Millis(400 * DAY_MS)


def days_ago(days: float) -> Millis:
    return Millis(NOW - round(days * DAY_MS))


def written(block: int, days: float, number: int = 1, by: ModifierKind = ModifierKind.DREAMING) -> Written:
    return Written(block=bid(block), number=number, at=days_ago(days), by=by, curated=by is ModifierKind.DREAMING)


def bid(block: int) -> NodeId:
    return NodeId(f"blk_{block}")


def rate(
    *versions: Written, touched: dict[int, float] | None = None, removed: dict[int, float] | None = None
) -> Survival:
    return survival(
        versions,
        touched={bid(block): [days_ago(days)] for block, days in (touched or {}).items()},
        removed={bid(block): [days_ago(days)] for block, days in (removed or {}).items()},
        window=WINDOW,
        now=NOW,
    )


@pytest.mark.req("DR-85", "DR-84")
def test_seven_of_eight() -> None:
    """Console example 12: ten of 20 days ago; Ana edited one on day 3 and one on day 16; Dreaming replaced two."""
    old = [written(block, 20) for block in range(10)]
    edits = [written(0, 17, 2, ModifierKind.HUMAN), written(1, 4, 2, ModifierKind.HUMAN)]
    replaced = [written(2, 12, 2), written(3, 12, 2)]
    found = rate(*old, *edits, *replaced, written(10, 2), touched={0: 17, 1: 4})
    assert (found.survived, found.cohort, found.rate) == (7, 8, 0.875)


@pytest.mark.req("DR-86")
def test_an_empty_cohort_has_no_rate() -> None:
    assert rate().rate is None
    assert rate(written(1, 30, by=ModifierKind.HUMAN), written(2, 30, by=ModifierKind.AGENT)).rate is None


@pytest.mark.req("DR-85")
@pytest.mark.parametrize(("age", "cohort"), [(104.01, 0), (104, 1), (14.01, 1), (14, 0), (0, 0)])
def test_the_cohort_reaches_from_the_lookback_to_the_period(age: float, cohort: int) -> None:
    assert rate(written(1, age)).cohort == cohort


@pytest.mark.req("DR-85")
@pytest.mark.parametrize(("edited", "survived"), [(30, 1), (29.99, 0), (16, 0), (15.99, 1)])
def test_only_what_people_do_within_the_period_counts(edited: float, survived: int) -> None:
    assert rate(written(1, 30), touched={1: edited}) == Survival(survived=survived, cohort=1)


@pytest.mark.req("DR-85")
def test_what_dreaming_replaced_or_removed_itself_is_in_no_cohort() -> None:
    assert rate(written(1, 30), written(1, 20, 2)) == Survival(survived=1, cohort=1)  # the second one alone
    assert rate(written(1, 30), removed={1: 20}).cohort == 0
    assert rate(written(1, 30), removed={1: 15}).cohort == 1
    learned = Written(block=bid(1), number=2, at=days_ago(20), by=ModifierKind.AGENT, curated=True)
    assert rate(written(1, 30), learned).cohort == 0


@pytest.mark.req("DR-85")
def test_a_correction_counts_although_dreaming_wrote_on() -> None:
    corrected = written(1, 28, 2, ModifierKind.HUMAN)
    assert rate(written(1, 30), corrected, written(1, 27, 3), touched={1: 28}) == Survival(survived=1, cohort=2)


@pytest.mark.req("DR-85")
def test_an_agent_that_writes_on_in_a_conversation_is_no_person() -> None:
    assert rate(written(1, 30), written(1, 29, 2, ModifierKind.AGENT)) == Survival(survived=1, cohort=1)
