"""How strongly routes speak for what they found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.rules.strength import LEAST_SPREAD, best_places, by_meaning, runners_up, shares, together

SCORES = st.dictionaries(st.text(max_size=3), st.floats(0.001, 100), min_size=1)
COSINES = st.dictionaries(st.text(max_size=3), st.floats(-1, 1), min_size=1)


@pytest.mark.req("RE-17")
@given(SCORES)
def test_words_give_shares_of_the_best_in_the_order_of_the_scores(scores: dict[str, float]) -> None:
    strengths = shares(scores)
    assert max(strengths.values()) == 1.0
    assert min(strengths.values()) > 0.0
    assert sorted(scores, key=lambda id_: scores[id_]) == sorted(scores, key=lambda id_: (strengths[id_], scores[id_]))


@pytest.mark.req("RE-17")
@given(COSINES)
def test_meaning_gives_at_most_1_to_the_nearest_and_no_less_than_0(cosines: dict[str, float]) -> None:
    strengths = by_meaning(cosines)
    assert max(strengths.values()) == 1.0
    assert min(strengths.values()) >= -1e-9


@pytest.mark.req("RE-17")
def test_of_a_few_that_are_all_near_none_counts_for_nothing() -> None:
    assert by_meaning({"a": 0.9}) == {"a": 1.0}
    close = by_meaning({"a": 0.9, "b": 0.9 - LEAST_SPREAD / 3})
    assert close["b"] == pytest.approx(2 / 3)


@pytest.mark.req("RE-17")
def test_what_no_route_prefers_but_all_know_is_put_forward() -> None:
    routes = [{"a": 1.0, "c": 0.7, "d": 0.1}, {"b": 1.0, "c": 0.7, "d": 0.1}]
    places = best_places(map(list, routes))
    assert runners_up(together(routes), places, {"a", "b"}, 3) == ["c"]
    assert runners_up(together(routes), places, {"a", "b"}, 4) == ["c", "d"]
    assert runners_up({}, {}, {"a"}, 4) == []
