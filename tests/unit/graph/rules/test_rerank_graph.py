"""The built-in reranker."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.rules.rerank_graph import DEFAULT_WEIGHTS, GraphWeights, graph_scores
from graph.rules.rerank_surroundings import GraphCandidate


def message(id_: str, strength: float = 0.5, **features: object) -> GraphCandidate:
    return GraphCandidate(id=id_, strength=strength, **features)  # type: ignore[arg-type]


def gain(question: str, with_feature: GraphCandidate, *others: GraphCandidate) -> float:
    """By which share a candidate scores better than an equal one without features."""
    plain = GraphCandidate(id="plain", strength=with_feature.strength)
    scores = graph_scores(question, [plain, with_feature, *others], today=date(2026, 11, 29))
    return scores[1] / scores[0] - 1


@pytest.mark.req("RE-17")
def test_without_features_the_order_is_that_of_the_strengths() -> None:
    scores = graph_scores("dogs", [message("a", 0.9), message("b", 1.2), message("c", 0.1)])
    assert scores[1] > scores[0] > scores[2] > 0


@pytest.mark.req("RE-17")
def test_named_speaker_lifts() -> None:
    assert gain("What did Caroline’s friend say?", message("m", names=("Caroline",))) == pytest.approx(
        DEFAULT_WEIGHTS.named
    )
    assert gain("张三说了什么", message("m", names=("张三",))) == pytest.approx(DEFAULT_WEIGHTS.named)
    assert gain("What did Ana say?", message("m", names=("Caroline",))) == 0
    assert gain("When will it rain?", message("m", names=("Will Smith",))) == 0


@pytest.mark.req("RE-17")
def test_date_near_the_named_one_lifts() -> None:
    question = "What happened on 7 May 2023?"
    on_the_day = gain(question, message("m", first_day=date(2023, 5, 7)))
    two_days_later = gain(question, message("m", first_day=date(2023, 5, 9)))
    within_an_episode = gain(question, message("m", first_day=date(2023, 4, 1), last_day=date(2023, 6, 1)))
    assert on_the_day == within_an_episode == pytest.approx(DEFAULT_WEIGHTS.dated)
    assert two_days_later == pytest.approx(DEFAULT_WEIGHTS.dated / 2)
    assert gain("What happened?", message("m", first_day=date(2023, 5, 7))) == 0


@pytest.mark.req("RE-17")
def test_hit_in_the_same_thread_or_conversation_lifts() -> None:
    lonely = gain("dogs", message("m", group="c1"), message("n", 1.0, group="c2"), message("o", 0.9, group="c2"))
    joined = gain("dogs", message("m", group="c1"), message("n", 1.0, group="c1"), message("o", 0.9, group="c1"))
    assert joined == pytest.approx(DEFAULT_WEIGHTS.group)
    assert 0 < lonely < joined


@pytest.mark.req("RE-17")
def test_hits_close_by_in_the_same_talk_lift_more_than_those_further_away() -> None:
    hit = message("n", 1.0, group="c", place=(0, 1))
    others = [message(f"o{at}", 0.1, group="c", place=(0, at)) for at in (3, 4, 5)]
    beside = gain("dogs", message("m", group="c", place=(0, 2)), hit, *others)
    behind = gain("dogs", message("m", group="c", place=(0, 6)), hit, *others)
    elsewhere = gain("dogs", message("m", group="d", place=(0, 2)), hit, *others)
    assert beside > behind > elsewhere


@pytest.mark.req("RE-17")
def test_messages_that_nobody_found_lie_between_no_others() -> None:
    """How far apart two found messages are may depend on what the viewer does not see."""
    hit = message("n", 1.0, group="c", place=(0, 1))
    assert gain("dogs", message("m", group="c", place=(0, 2)), hit) == gain(
        "dogs", message("m", group="c", place=(9, 90)), hit
    )


@pytest.mark.req("RE-17")
@pytest.mark.parametrize("question", ["When did Ana move?", "安娜什么时候搬家的？"])
def test_who_asks_when_is_answered_by_what_names_a_time(question: str) -> None:
    assert gain(question, message("m", tells_time=True)) == pytest.approx(DEFAULT_WEIGHTS.told_time)
    assert gain("Where did Ana move?", message("m", tells_time=True)) == 0


@pytest.mark.req("RE-17")
def test_what_follows_a_question_that_was_hit_is_lifted() -> None:
    after, before = message("m", before="n"), message("n", 1.0, asks=True)
    assert gain("dogs", after, before) > 0.1
    assert gain("dogs", after, replace(before, asks=False)) == 0
    assert gain("dogs", message("m", before="missing"), before) == 0
    asked, answer = graph_scores("dogs", [replace(before, asks=True), replace(after, strength=0.95)])
    assert asked > answer * (1 - DEFAULT_WEIGHTS.asking)  # by this alone nothing passes what it follows


@pytest.mark.req("RE-17")
def test_few_words_and_a_question_say_less() -> None:
    assert gain("dogs", message("m", tokens=200)) == 0
    assert gain("dogs", message("m", tokens=0)) == pytest.approx(-DEFAULT_WEIGHTS.brief)
    half = DEFAULT_WEIGHTS.brief_tokens // 2
    assert gain("dogs", message("m", tokens=half)) == pytest.approx(-DEFAULT_WEIGHTS.brief / 2)
    assert gain("dogs", message("m", asks=True)) == pytest.approx(-DEFAULT_WEIGHTS.asking)


@pytest.mark.req("RE-17", "KN-1")
def test_what_speaks_for_a_message_speaks_for_its_entry() -> None:
    said = message("m", 1.0, names=("Ana",), tokens=100, before="n", sources=frozenset(["m"]))
    entry = GraphCandidate(id="e", strength=1.0, is_entry=True, sources=frozenset(["m"]))
    of_entry, of_message, _ = graph_scores("What did Ana say?", [entry, said, message("n", 1.0)])
    assert of_entry >= of_message


@pytest.mark.req("RE-17")
def test_hit_of_an_entry_on_the_same_source_lifts() -> None:
    sources = frozenset(["m"])
    entry = GraphCandidate(id="e", strength=1.0, is_entry=True, sources=sources)
    assert gain("dogs", message("m", sources=sources), entry) == pytest.approx(DEFAULT_WEIGHTS.shared_entry)
    other = GraphCandidate(id="e", strength=1.0, is_entry=True, sources=frozenset(["x"]))
    assert gain("dogs", message("m", sources=sources), other) == 0


@pytest.mark.req("RE-17")
def test_entry_does_not_lift_itself() -> None:
    entry = GraphCandidate(id="e", strength=0.5, is_entry=True, sources=frozenset(["m"]))
    assert gain("dogs", entry) == 0


def test_no_candidates_give_no_scores() -> None:
    assert graph_scores("dogs", []) == []


@pytest.mark.req("RE-18")
@given(
    st.text(),
    st.lists(
        st.builds(
            GraphCandidate,
            id=st.sampled_from("abcdef"),
            strength=st.floats(0, 5),
            is_entry=st.booleans(),
            names=st.tuples(st.text()),
            first_day=st.none() | st.dates(),
            group=st.none() | st.sampled_from(["g", "h"]),
            place=st.none() | st.tuples(st.integers(), st.integers()),
            before=st.none() | st.sampled_from("abcdef"),
            tokens=st.none() | st.integers(0, 10_000),
            asks=st.booleans(),
            tells_time=st.booleans(),
            sources=st.frozensets(st.sampled_from("abcdef")),
        ),
        unique_by=lambda candidate: candidate.id,
    ),
)
def test_scores_are_between_0_and_1(question: str, candidates: list[GraphCandidate]) -> None:
    scores = graph_scores(question, candidates, weights=GraphWeights())
    assert len(scores) == len(candidates)
    assert all(0.0 <= score <= 1.0 for score in scores)
