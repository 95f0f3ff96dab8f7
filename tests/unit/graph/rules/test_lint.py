"""The lint: what counts as a finding, what does not, in which order."""

from __future__ import annotations

import pytest

from graph.model.ids import NodeId
from graph.rules.lint import LintedEntry, LintLimits, LintRule, count, lint, without_distinct
from graph.rules.names import NearPair

LIMITS = LintLimits(similarity=0.85, long_tokens=3_000, long_blocks=40)


def page(
    name: str, *aliases: str, pool: str = "knb_1", type: str = "concept", tokens: int = 9, blocks: int = 1
) -> LintedEntry:
    return LintedEntry(
        id=NodeId(f"ent_{name}"), pool=NodeId(pool), type=type, names=(name, *aliases), tokens=tokens, blocks=blocks
    )


@pytest.mark.req("CO-70", "CO-72", "CO-73", "CO-75")
def test_the_example_of_the_console() -> None:
    """Console example 16."""
    pages = [
        page("Standup 2025-05-10"),
        page("Helio GmbH"),
        page("Helio Gmbh."),
        page("Plan 2025"),
        page("Offsite 2025-06-01", type="event"),
        page("Empty", blocks=0, tokens=0),
    ]
    counts = count(lint(pages, LIMITS))
    assert counts == {
        LintRule.DATED_NAME: 1,
        LintRule.NEAR_NAME: 1,
        LintRule.LONG_ENTRY: 0,
        LintRule.NO_BLOCKS: 1,
    }


@pytest.mark.req("CO-74")
@pytest.mark.parametrize(("tokens", "blocks", "measure"), [(3_000, 40, None), (3_001, 1, 3_001), (1, 41, 41)])
def test_an_entry_is_long_by_tokens_or_by_blocks(tokens: int, blocks: int, measure: float | None) -> None:
    found = lint([page("Long", tokens=tokens, blocks=blocks)], LIMITS)
    assert [(finding.rule, finding.measure) for finding in found] == (
        [(LintRule.LONG_ENTRY, measure)] if measure else []
    )


@pytest.mark.req("CO-73")
def test_names_of_two_knowledge_bases_are_never_near() -> None:
    assert lint([page("Helio", pool="knb_1"), page("Helio.", pool="knb_2")], LIMITS) == []


@pytest.mark.req("CO-73")
def test_an_alias_near_a_name_is_one_finding_and_a_mark_takes_it_away() -> None:
    found = lint([page("HLO", "Helio Company"), page("Helio Companys", "Helio  company")], LIMITS)
    assert [finding.entries for finding in found] == [("ent_HLO", "ent_Helio Companys")]
    first, second = found[0].entries
    assert without_distinct(found, {NearPair(first=first, second=second)}) == []
    assert without_distinct(found, {NearPair(first="ent_a", second="ent_b")}) == found


@pytest.mark.req("CO-70")
def test_only_the_asked_rules_are_looked_at() -> None:
    pages = [page("Standup 2025-05-10", blocks=0)]
    assert [f.rule for f in lint(pages, LIMITS, [LintRule.NO_BLOCKS])] == [LintRule.NO_BLOCKS]
    assert [f.rule for f in lint(pages, LIMITS)] == [LintRule.DATED_NAME, LintRule.NO_BLOCKS]
