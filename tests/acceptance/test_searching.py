"""Acceptance examples 22 to 25: what a search brings, in which order, and how much of it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from graph.model.ids import GlobalId
from tests.acceptance.stage import ScriptedReranker, Stage, made
from tests.api.conftest import ENGINES
from tests.support.operations import add, block, cite, create

pytestmark = pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True)

BROWSE = """
query($ref: ID!, $after: String) { memoryBrowse(ref: $ref, after: $after) { text tokens next } }
"""


@pytest.mark.req("RE-30", "RE-31", "KN-8")
async def test_22_search_without_embeddings(stage: Stage) -> None:
    source = await stage.say("Helio builds solar kilns.", speaker=stage.world.ben)
    entry = await stage.write(create("Helio", block("Builds solar kilns.", cite(source, "builds solar kilns"))))
    found = await stage.search("kilns")
    assert [(item["kind"], item["ref"]) for item in found["items"]] == [("ENTRY", made(entry)), ("MESSAGE", source)]
    assert {skip["route"] for skip in found["routesSkipped"]} == {"block_vector", "episode_vector"}
    assert all(skip["reason"] for skip in found["routesSkipped"])
    # and audit and edits work
    edited = await stage.write(add(made(entry), block("Is in Bonn.", basis="authored")), by=stage.ana)
    assert [one["operation"] for one in edited["records"]] == ["block.create"]


@pytest.mark.req("RE-13", "RE-14", "RE-15", "RE-16", "RE-19", "KN-119")
async def test_23_ranking_numbers(stage: Stage) -> None:
    await stage.set_to(rerank__provider="none", search__rrf_k=60, search__neighbours=0)
    await stage.set_to(search__message_half_life_days=30, search__entry_half_life_days=365)
    # Given a message at rank 1 of one route only
    await stage.say("Only the zeppelin matters.")
    start = stage.clock.now()
    for age, score in ((0, 0.016393), (30, 0.008197), (300, 0.000016)):
        stage.clock.set(start)
        stage.clock.advance(timedelta(days=age))
        (item,) = (await stage.search("zeppelin"))["items"]
        assert item["routes"] == [{"route": "message_keyword", "rank": 1}]
        assert item["score"] == pytest.approx(score, abs=5e-7)
    # Given an entry at rank 1 of one route, last updated ten years ago
    stage.clock.set(start)
    source = await stage.say("It flies.")
    await stage.write(create("Airship", block("Something that does it.", cite(source, "It flies"))))
    stage.clock.advance(timedelta(days=3_650))
    (item,) = (await stage.search("airship"))["items"]
    assert item["score"] == pytest.approx(0.016393 * 0.700293, abs=5e-7)


@pytest.mark.req("RE-19")
async def test_23_equal_messages_are_ordered_by_id(stage: Stage) -> None:
    await stage.set_to(rerank__provider="none")
    twins = [await stage.say("balloon"), await stage.say("balloon", channel=stage.world.chat)]
    items = (await stage.search("balloon"))["items"]
    # One route has no two hits of one rank, so the id decides already which of the two is first there.
    assert [item["routes"][0]["rank"] for item in items] == [1, 2]
    assert [item["ref"] for item in items] == sorted(twins, key=node_of)
    assert items == (await stage.search("balloon"))["items"]


def node_of(id_: str) -> str:
    """Return the id inside an opaque one."""
    decoded = GlobalId.decode(id_)
    assert decoded is not None
    return decoded.node


@pytest.mark.req("RE-17", "RE-18")
@pytest.mark.parametrize(
    ("scores", "reason"),
    [(None, "needed more"), ([0.5] * 29, "returned 29 scores for 30"), ([0.5] * 29 + [1.2], "outside 0 to 1")],
)
async def test_24_reranker_fails(
    stage: Stage, reranker: ScriptedReranker, scores: list[float] | None, reason: str
) -> None:
    await stage.set_to(search__neighbours=0, rerank__provider="outside", search__rerank_timeout_ms=20)
    await stage.set_to(search__max_items=40)
    await stage.talk([f"zeppelin {'and more ' * (n % 5)}{n}" for n in range(32)])
    # Given the order without reranker
    without = (await stage.search("zeppelin", rerank=False))["items"]
    assert len(without) == 32
    assert reranker.asked == []
    # When the reranker is late, or returns a wrong count or value
    reranker.scores = scores
    answer = await stage.search("zeppelin")
    # Then the order is the same and the answer says why
    assert reranker.asked == [30]
    assert [item["ref"] for item in answer["items"]] == [item["ref"] for item in without]
    assert answer["rerank"]["applied"] is False
    assert reason in answer["rerank"]["reason"]
    # (a good one does decide)
    reranker.scores = [n / 30 for n in range(30)]
    turned = await stage.search("zeppelin")
    assert turned["rerank"] == {"applied": True, "provider": "outside", "reason": None}
    assert turned["items"][0]["ref"] == without[29]["ref"]


@pytest.mark.req("RE-22", "RE-23", "RE-24", "RE-26", "RE-27", "RE-34")
async def test_25_budget_and_expansion(stage: Stage) -> None:
    # Given a thread of about 9,000 tokens as the best hit, and 4,000 in all
    lines = [f"note {n}: " + "word " * 140 for n in range(64)]
    lines[40] = "note 40: the zeppelin lands " + "word " * 130
    thread = []
    for at in range(0, 64, 16):
        thread += await stage.talk(lines[at : at + 16], thread="long")
        stage.clock.advance(timedelta(minutes=16))
    for n in range(8):
        thread_n = f"t{n}"
        await stage.talk([f"zeppelin in thread {n} " + "word " * 900], thread=thread_n)
    found = await stage.search("zeppelin lands")
    first = found["items"][0]
    # Then the first item has its share, the matched message and the mark, and the sum stays inside
    assert first["ref"] == thread[40]
    assert first["truncated"]
    assert "the zeppelin lands" in first["text"]
    assert re.search(r"… \[truncated: memory_browse \S+\]$", first["text"])
    assert 1_400 <= first["tokens"] <= 1_500
    assert found["totalTokens"] == sum(item["tokens"] for item in found["items"]) <= 4_000
    # and browsing pages through the whole thread
    seen, after = [], None
    while True:
        page = (await stage.ana.ok(BROWSE, ref=first["ref"], after=after))["memoryBrowse"]
        assert page["tokens"] <= 4_000
        seen += [re.search(r"note (\d+)", line) for line in page["text"].splitlines()]
        after = page["next"]
        if after is None:
            break
    assert [int(one[1]) for one in seen if one] == list(range(64))


@pytest.mark.req("RE-23", "RE-24", "KN-61")
async def test_25_a_hit_without_thread_comes_between_its_neighbours(stage: Stage) -> None:
    await stage.say("something private about the zeppelin", channel=stage.world.chat)
    lines = [f"the weather of day {n} is mild" for n in range(9)]
    lines[4] = "the zeppelin lands at noon"
    ids = await stage.talk(lines)
    (item,) = (await stage.search("zeppelin", by=stage.ben))["items"]
    assert item["ref"] == ids[4]
    assert [line.partition(": ")[2] for line in item["text"].splitlines()] == lines[1:8]
