"""Entries of bot memory: what becomes of drafts and changes, and what clients see."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.access import Rule, RuleKind
from graph.model.errors import InvalidRequest
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.bots import BotEntry, Layer
from graph.model.sealed import Sealed
from graph.model.time import Millis
from graph.rules import bot_entries
from graph.rules.bot_entries import ItemSource
from graph.rules.guarding import is_held

U_1, U_2 = NodeId("prn_w/human/u_1"), NodeId("prn_w/human/u_2")
AT, LATER = Millis(1_000), Millis(2_000)


def entry(**fields: Any) -> BotEntry:
    given = {
        "id": NodeId("mem_1"),
        "layer": "fact",
        "tags": ("from:u_1", "for:person:u_1", "org:o_4"),
        "status": "active",
        "sources": [{"chat": "chat_61", "item": "i-08"}],
    }
    return BotEntry(
        workspace=WorkspaceId("w"),
        pool=NodeId("bpl_w/bot_9"),
        created_at=AT,
        updated_at=AT,
        bot_id=NodeId("prn_w/agent/bot_9"),
        content=Sealed(b"sealed"),
        chars=6,
        **{**given, **fields},
    )


def item(local: str, rule: Rule | None, *tags: str) -> ItemSource:
    given = tags or ("from:u_1", "org:o_4", "chat:chat_61")
    return ItemSource(node=NodeId(f"cit_w/c/{local}"), chat="chat_61", item=local, rule=rule, tags=frozenset(given))


@pytest.mark.req("BM-10", "BM-14", "BM-18")
def test_a_fact_shows_exactly_the_public_fields() -> None:
    assert bot_entries.public_entry(entry(), "text") == {
        "id": "mem_1",
        "layer": "fact",
        "content": "text",
        "tags": ["from:u_1", "for:person:u_1", "org:o_4"],
        "sources": [{"chat": "chat_61", "item": "i-08"}],
        "status": "active",
        "createdAt": 1_000,
        "updatedAt": 1_000,
    }


@pytest.mark.req("BM-11", "BM-12", "BM-14", "BM-16")
def test_an_observation_adds_its_confidence_and_what_no_longer_holds_its_time() -> None:
    shown = bot_entries.public_entry(
        entry(layer="observation", confidence=0.0, invalidated_at=LATER, sources=[{"entry": "mem_0"}]), "text"
    )

    assert (shown["confidence"], shown["invalidatedAt"], shown["sources"]) == (0.0, 2_000, [{"entry": "mem_0"}])
    assert not {"confidence", "invalidatedAt"} & bot_entries.public_entry(entry(), "text").keys()


@pytest.mark.req("BM-21")
@pytest.mark.parametrize("content", ["a", " a\n", "x" * 4_000, "🧺" * 4_000])
def test_a_content_of_1_to_4000_code_points_is_kept(content: str) -> None:
    assert bot_entries.check_content(content) == content


@pytest.mark.req("BM-21", "BM-179")
@pytest.mark.parametrize("content", ["", " \n\t\u3000", "x" * 4_001, "a\0b", "a\ud800"])
def test_any_other_content_is_refused(content: str) -> None:
    with pytest.raises(InvalidRequest):
        bot_entries.check_content(content)
    assert bot_entries.fact(content, [], [item("i", Rule(RuleKind.PERSON, U_1))]) is None


@pytest.mark.req("BM-26", "BM-29", "BM-30", "BM-37", "BM-58")
def test_a_fact_is_tagged_by_its_items() -> None:
    rule = Rule(RuleKind.PERSON, U_1)
    app = item("i-2", rule, "from:u_1", "org:o_4", "chat:chat_61", "app:calendar")

    draft = bot_entries.fact("text", ["Trip", "trip", "for:bot"], [item("i-1", rule), app, app])

    assert draft is not None
    assert draft.tags == ("from:u_1", "for:person:u_1", "org:o_4", "chat:chat_61", "app:calendar", "trip")
    assert bot_entries.source_list(draft) == [{"chat": "chat_61", "item": name} for name in ("i-1", "i-2")]


@pytest.mark.req("BM-58", "BM-83", "BM-46")
def test_a_fact_without_common_reader_or_proof_is_dropped() -> None:
    one, other = Rule(RuleKind.PERSON, U_1), Rule(RuleKind.PERSON, U_2)

    assert bot_entries.fact("text", [], [item("i-1", one), item("i-2", other)]) is None
    assert bot_entries.fact("text", [], [item("i-1", one), item("i-2", None)]) is None
    assert bot_entries.fact("text", [], []) is None


@pytest.mark.req("BM-12", "BM-34", "BM-59")
def test_an_observation_is_tagged_by_its_sources() -> None:
    group = entry(id=NodeId("mem_2"), tags=("from:u_2", "for:channel:ch_5", "org:o_4", "channel:ch_5"))

    draft = bot_entries.observation("text", ["trip"], 1, [entry(), group, group])

    assert draft is not None
    assert draft.tags == ("from:u_1", "from:u_2", "for:person:u_1", "org:o_4", "channel:ch_5", "trip")
    assert (draft.layer, draft.entries, draft.confidence) == (Layer.OBSERVATION, ("mem_1", "mem_2"), 1.0)


@pytest.mark.req("BM-12", "BM-54", "BM-59")
def test_an_observation_from_nothing_that_counts_is_dropped() -> None:
    def conclude(*sources: BotEntry, confidence: float = 0.5) -> object:
        return bot_entries.observation("text", [], confidence, sources)

    assert conclude(entry()) is not None
    assert conclude() is None
    assert conclude(entry(status="retracted")) is None
    assert conclude(entry(invalidated_at=AT)) is None
    assert conclude(entry(), entry(id=NodeId("mem_2"), tags=("for:bot", "org:o_5"))) is None
    assert conclude(entry(), confidence=1.01) is None
    assert conclude(entry(), confidence=float("nan")) is None


@pytest.mark.req("BM-15", "BM-16", "BM-17", "BM-95")
def test_what_no_longer_holds_keeps_its_status_and_is_never_made_active_again() -> None:
    change = bot_entries.invalidated(entry())

    assert change is not None
    left = bot_entries.after(change, LATER)
    assert (left.status, left.invalidated_at, left.updated_at) == ("active", LATER, LATER)
    assert not is_held(left)
    assert bot_entries.invalidated(left) is None
    assert bot_entries.invalidated(entry(status="retracted")) is None
    assert bot_entries.invalidated(entry(layer="pinned")) is None


@pytest.mark.req("BM-25", "BM-92")
def test_topics_move_and_service_tags_stay() -> None:
    before = entry(tags=("from:u_1", "for:person:u_1", "org:o_4", "plan", "trip"))

    renamed = bot_entries.renamed(before, "trip", "plan")
    retagged = bot_entries.retagged(before, ["travel", "for:bot"])

    assert renamed is not None
    assert renamed.fields["tags"][3:] == ("plan",)
    assert retagged is not None
    assert retagged.fields["tags"][3:] == ("travel",)
    assert bot_entries.renamed(before, "org:o_4", "plan") is None
    assert bot_entries.renamed(before, "trip", "for:bot") is None
    assert bot_entries.renamed(before, "rain", "sun") is None
    assert bot_entries.retagged(before, ["trip", "plan"]) is None


@pytest.mark.req("BM-149", "BM-152")
def test_what_concerns_a_person_alone_is_retracted_once() -> None:
    change = bot_entries.forgotten(entry(), U_1)

    assert change is not None
    assert (change.fields, change.excluded) == ({"status": "retracted"}, frozenset())
    assert bot_entries.forgotten(bot_entries.after(change, LATER), U_1) is None


@pytest.mark.req("BM-150")
def test_who_leaves_a_shared_entry_takes_his_tags_and_is_excluded() -> None:
    tags = ("from:u_1", "from:u_2", "for:channel:ch_5", "for:person:u_1", "org:o_4")

    change = bot_entries.forgotten(entry(tags=tags), U_1)
    silent = bot_entries.forgotten(entry(tags=("from:u_2", "for:channel:ch_5", "org:o_4")), U_1)

    assert change is not None
    assert silent is not None
    left = bot_entries.after(change, LATER)
    assert (left.tags, left.removed_tags) == (("from:u_2", "for:channel:ch_5", "org:o_4"), ("from:u_1",))
    assert change.excluded == silent.excluded == {U_1}
    assert "removed_tags" not in silent.fields


@pytest.mark.req("BM-147")
def test_topics_of_a_person_are_refused_or_counted_once() -> None:
    assert bot_entries.check_topics(["trip", "rain", "trip"]) == ("trip", "rain")
    assert len(bot_entries.check_topics([*(f"t-{n}" for n in range(20)), "t-1"])) == 20
    for tags in (["Trip"], ["for:bot"], ["x" * 65], [f"t-{n}" for n in range(21)]):
        with pytest.raises(InvalidRequest):
            bot_entries.check_topics(tags)


@pytest.mark.req("BM-154", "BM-158")
def test_a_purge_takes_four_kinds_of_tags_with_a_value() -> None:
    for tag in ("from:u_1", "chat:chat_61", "org:o_4", "channel:ch_5"):
        assert bot_entries.check_purge_tag(tag) == tag
    for tag in ("for:bot", "app:calendar", "trip", "", "chat:", "from", "from:u_1,chat:chat_61"):
        with pytest.raises(InvalidRequest):
            bot_entries.check_purge_tag(tag)
