"""Stage A's rules: when it is due, what a batch holds, which answers account for every message."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.edges import EdgeType
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.evidence import Source
from graph.model.time import Millis
from graph.rules.knowledge_settings import defaults
from graph.rules.stage_a import (
    Batch,
    Conclusion,
    EpisodeDraft,
    Limits,
    Split,
    StageAKey,
    Waiting,
    choose,
    decide,
    faults_of,
    halved,
    is_due,
    limits_of,
    pace_of,
)

PACE = pace_of(defaults())
KEY = StageAKey(channel=NodeId("chn_w/atlas/ops"), kb=NodeId("knb_w/atlas/shared"))
HOUR = 3_600_000


def message(seq: int, *, at: int | None = None) -> Source:
    return Source(
        id=NodeId(f"src_{seq:02}"),
        workspace=WorkspaceId("w"),
        pool=KEY.kb,
        created_at=Millis(0),
        kind="message",
        content_hash="",
        text=f"text {seq}",
        occurred_at=Millis(seq if at is None else at),
        recorded_at=Millis(seq),
        series=NodeId(f"src_{seq:02}"),
        channel_id=KEY.channel,
        seq=seq,
    )


def some(first: int, last: int) -> list[Source]:
    return [message(seq) for seq in range(first, last + 1)]


def costing(messages: list[Source], tokens: int = 10) -> dict[NodeId, int]:
    return {m.id: tokens for m in messages}


def draft(*names: str, conclusions: tuple[Conclusion, ...] = (), side_topic: bool = False) -> EpisodeDraft:
    return EpisodeDraft(
        topic="t",
        summary="s",
        questions=("q",),
        conclusions=conclusions,
        systems=(),
        side_topic=side_topic,
        messages=names,
    )


@pytest.mark.req("DR-12")
@pytest.mark.parametrize(
    ("pending", "quiet_s", "due"),
    [(0, 9_999, False), (1, 1_799, False), (1, 1_800, True), (39, 0, False), (40, 0, True), (39, 1_800, True)],
)
def test_pair_is_due_after_quiet_or_with_enough_messages(pending: int, quiet_s: int, due: bool) -> None:
    arrived = Millis(0) if pending else None
    assert is_due(Waiting(pending=pending, arrived_at=arrived), PACE, Millis(quiet_s * 1_000)) is due


@pytest.mark.req("DR-19")
@pytest.mark.parametrize(("hours", "due"), [(23.9, False), (24, True)])
def test_carried_messages_make_a_pair_due_only_after_a_day(hours: float, due: bool) -> None:
    assert is_due(Waiting(carried_at=Millis(0)), PACE, Millis(int(hours * HOUR))) is due


@pytest.mark.req("DR-13")
def test_batch_takes_carried_first_then_oldest_up_to_its_number() -> None:
    carried, pending = some(7, 8), some(1, 5)
    batch = choose(carried, pending, costing([*carried, *pending]), Limits(messages=4, tokens=999), overdue=False)
    assert batch is not None
    assert {m.seq for m in batch.messages} == {7, 8, 1, 2}
    assert batch.carried == {m.id for m in carried}


@pytest.mark.req("DR-13")
def test_batch_takes_no_more_tokens_than_allowed() -> None:
    pending = some(1, 5)
    batch = choose([], pending, costing(pending), Limits(messages=200, tokens=35), overdue=False)
    assert batch is not None
    assert [m.seq for m in batch.messages] == [1, 2, 3]


@pytest.mark.req("DR-13")
def test_first_message_is_taken_even_if_it_fills_everything() -> None:
    pending = some(1, 2)
    batch = choose([], pending, costing(pending, 50), Limits(messages=200, tokens=50), overdue=False)
    assert batch is not None
    assert [m.seq for m in batch.messages] == [1]


@pytest.mark.req("DR-14")
def test_messages_are_shown_by_time_sent_then_by_arrival() -> None:
    pending = [message(1, at=30), message(2, at=10), message(3, at=10)]
    batch = choose([], pending, costing(pending), Limits(messages=9, tokens=999), overdue=False)
    assert batch is not None
    assert [m.seq for m in batch.messages] == [2, 3, 1]


@pytest.mark.req("DR-19")
def test_nothing_may_stay_open_when_carried_messages_are_overdue() -> None:
    carried, pending = some(1, 2), some(3, 4)
    limits = Limits(messages=9, tokens=999)
    costs = costing([*carried, *pending])
    late, early = (choose(carried, pending, costs, limits, overdue=overdue) for overdue in (True, False))
    assert late is not None
    assert early is not None
    assert (late.may_stay_open, early.may_stay_open) == (False, True)


def test_carried_messages_that_leave_no_room_must_be_settled() -> None:
    carried, pending = some(1, 3), some(4, 5)
    batch = choose(carried, pending, costing([*carried, *pending]), Limits(messages=3, tokens=999), overdue=False)
    assert batch is not None
    assert [m.seq for m in batch.messages] == [1, 2, 3]
    assert not batch.may_stay_open


def test_there_is_no_batch_of_nothing() -> None:
    assert choose([], [], {}, Limits(messages=1, tokens=1), overdue=False) is None


@pytest.mark.req("DR-79")
def test_a_batch_that_failed_three_times_is_halved_from_what_it_was() -> None:
    sizes = [limits_of(defaults(), failures=n, failed_size=40).messages for n in range(7)]
    assert sizes == [200, 40, 40, 20, 40, 40, 20]
    assert limits_of(defaults(), failures=3, failed_size=1).messages == 1
    assert limits_of(defaults(), failures=3).messages == 200
    assert limits_of(defaults(), halvings=1) == Limits(messages=100, tokens=12_000)


def test_half_of_a_batch_is_what_arrived_first() -> None:
    batch = Batch(messages=tuple(some(1, 5)), carried=frozenset({NodeId("src_05")}), may_stay_open=True)
    half = halved(batch)
    assert [m.seq for m in half.messages] == [1, 5]
    assert half.carried == {"src_05"}
    assert not halved(half).may_stay_open


NAMES = ("m1", "m2", "m3")


@pytest.mark.req("DR-22")
def test_answer_that_names_each_message_once_has_no_faults() -> None:
    split = Split(episodes=(draft("m1"),), skipped=("m2",), open=("m3",))
    assert faults_of(split, NAMES, may_stay_open=True) == ()


@pytest.mark.req("DR-22")
@pytest.mark.parametrize(
    ("split", "fault"),
    [
        (Split(episodes=(draft("m1"),), skipped=("m2",)), "in no episode, not skipped and not open: m3"),
        (Split(episodes=(draft("m1", "m2"),), skipped=("m2", "m3")), "more than once: m2"),
        (Split(episodes=(draft("m1", "m1", "m2"),), skipped=("m3",)), "more than once: m1"),
        (Split(episodes=(draft("m1"), draft("m1")), skipped=("m2", "m3")), "more than once: m1"),
        (Split(skipped=("m1", "m2", "m3", "m4", "src_x")), "2 ids are not ids of messages of this batch"),
        (
            Split(episodes=(draft("m1", conclusions=(Conclusion(text="c", messages=("m2",)),)),), skipped=("m2", "m3")),
            "conclusion 0 of episode 0",
        ),
        (
            Split(episodes=(draft("m1", conclusions=(Conclusion(text="c", messages=()),)),), skipped=("m2", "m3")),
            "conclusion 0 of episode 0",
        ),
    ],
)
def test_answer_that_does_not_account_for_every_message_is_refused(split: Split, fault: str) -> None:
    faults = faults_of(split, NAMES, may_stay_open=True)
    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.req("DR-19")
def test_open_messages_are_refused_where_nothing_may_stay_open() -> None:
    split = Split(skipped=("m1", "m2"), open=("m3",))
    assert faults_of(split, NAMES, may_stay_open=True) == ()
    assert len(faults_of(split, NAMES, may_stay_open=False)) == 1


@pytest.mark.req("DR-16", "DR-20")
def test_episodes_hold_what_was_answered_and_point_to_their_messages() -> None:
    batch = Batch(messages=tuple(some(1, 3)), carried=frozenset(), may_stay_open=True)
    conclusion = Conclusion(text="c", messages=("m1", "m3"))
    split = Split(episodes=(draft("m1", "m3", conclusions=(conclusion,)), draft("m2", side_topic=True)))
    row = KEY.new_progress(WorkspaceId("w"), Millis(0))
    ids = [NodeId("eps_1"), NodeId("eps_2")]
    made = decide(split, batch, row, KEY, run_id=NodeId("drn_1"), new_ids=ids, at=Millis(9))
    first, second = made.episodes
    assert (first.topic, first.from_at, first.to_at, first.conclusions) == ("t", 1, 3, ["c"])
    assert (first.side_topic, second.side_topic) == (False, True)
    assert {e.pool for e in made.episodes} == {KEY.kb}
    links = [(e.type, e.source, e.target, e.props.get("conclusionIndex")) for e in made.changes.links]
    assert (EdgeType.SUMMARIZES, "eps_1", "src_01", None) in links
    assert (EdgeType.CONCLUDES_FROM, "eps_1", "src_03", 0) in links
    assert (EdgeType.SUMMARIZES, "eps_2", "src_02", None) in links
    assert (EdgeType.SCOPED_TO, "eps_2", KEY.kb, None) in links


@pytest.mark.req("DR-18")
def test_open_messages_are_carried_after_those_that_had_no_room() -> None:
    batch = Batch(messages=tuple(some(3, 5)), carried=frozenset({NodeId("src_03")}), may_stay_open=True)
    split = Split(episodes=(draft("m2"),), open=("m1", "m3"))
    row = replace(
        KEY.new_progress(WorkspaceId("w"), Millis(0)), cursor=3, carried=("src_03", "src_02"), returned=("src_01",)
    )
    made = decide(split, batch, row, KEY, run_id=NodeId("drn_1"), new_ids=[NodeId("eps_1")], at=Millis(9))
    assert made.progress["carried"] == ("src_02", "src_03", "src_05")
    assert (made.progress["cursor"], made.progress["returned"]) == (5, ("src_01",))
