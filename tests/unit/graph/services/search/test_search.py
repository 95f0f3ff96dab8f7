"""`memorySearch`: what is found, in which order, how much of it, and what stays out of sight."""

from __future__ import annotations

import asyncio
import base64
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graph.model.errors import BadInput, NotFound, OperationRejected, SearchUnavailable, StoreUnavailable
from graph.model.ids import GlobalId
from graph.rules.ranking import ItemKind
from tests.support.clock import FakeClock
from tests.support.operations import add, apply, block, cite, create, made
from tests.support.world import TeamWorld
from tests.unit.graph.services.search.asking import ask, browse, days, set_to, talk

FILLER = ("the weather is mild", "lunch was late today", "my bike has a flat tyre", "the lift is broken again")


@pytest.mark.req("KN-1", "KN-8", "RE-7", "RE-8", "RE-29", "RE-30", "RE-31")
async def test_without_embeddings_an_entry_and_its_message_are_found_by_an_exact_word(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds solar kilns.", speaker=world.ben)
    result = await apply(world, create("Helio", block("Builds solar kilns.", cite(source, "builds solar kilns"))))
    answer = await ask(world, "kilns")
    assert [(item.kind, item.ref) for item in answer.items] == [
        (ItemKind.ENTRY, made(result)),
        (ItemKind.MESSAGE, source),
    ]
    assert answer.items[0].ranks == {"entry_keyword": 1}
    assert [c.source.id for c in answer.items[0].sources] == [source]
    assert answer.items[0].sources[0].quote == "builds solar kilns"
    assert answer.items[0].standing == "settled"
    assert {s.route for s in answer.routes_skipped} == {"block_vector", "episode_vector"}
    assert all(skip.reason for skip in answer.routes_skipped)
    assert answer.rerank.applied
    assert answer.rerank.provider == "graph"


@pytest.mark.req("RE-8", "RE-13", "RE-17")
async def test_the_graph_reranker_also_looks_at_what_comes_next_behind_the_depth_of_the_routes(
    world: TeamWorld,
) -> None:
    await set_to(world, "search.neighbours", 0)
    await set_to(world, "search.route_depth", 1)
    said = await talk(world, world.ops, ["the kiln is hot", *FILLER[:2], "a kiln beside a shed", *FILLER[2:], "kilns"])
    plain = await ask(world, "kiln", rerank=False)
    reranked = await ask(world, "kiln")
    assert len(plain.items) == 1
    assert len(reranked.items) == 2
    assert {item.ref for item in reranked.items} <= set(said)
    assert sorted(item.ranks["message_keyword"] for item in reranked.items) == [1, 2]


@pytest.mark.req("RE-17", "RE-19")
async def test_of_messages_alike_the_graph_reranker_looks_at_the_newest(world: TeamWorld, clock: FakeClock) -> None:
    await set_to(world, "search.neighbours", 0)
    await set_to(world, "search.route_depth", 2)
    said = []
    for day in range(9):
        said += await talk(world, world.ops, ["zeppelin"], thread=f"day {day}")
        clock.advance(days(1))
    assert [item.ref for item in (await ask(world, "zeppelin")).items] == said[:-5:-1]


@pytest.mark.req("RE-13", "RE-14", "RE-15", "RE-16")
@pytest.mark.parametrize(("age", "score"), [(0, 1 / 61), (30, 1 / 122), (300, 2**-10 / 61)])
async def test_a_message_fades_with_age(world: TeamWorld, clock: FakeClock, age: float, score: float) -> None:
    await _plain_order(world)
    await world.say(world.ops, "Only the zeppelin matters.")
    clock.advance(days(age))
    item = (await ask(world, "zeppelin")).items[0]
    assert item.score == pytest.approx(score, abs=5e-7)


@pytest.mark.req("RE-15", "RE-16")
async def test_an_entry_keeps_most_of_its_weight_for_ever(world: TeamWorld, clock: FakeClock) -> None:
    await _plain_order(world)
    source = await world.say(world.ops, "It flies.")
    await apply(world, create("Zeppelin", block("Something that does it.", cite(source, "It flies"))))
    clock.advance(days(3_650))
    items = (await ask(world, "zeppelin")).items
    assert [item.kind for item in items] == [ItemKind.ENTRY]
    assert items[0].score == pytest.approx(0.011480, abs=5e-7)


@pytest.mark.req("RE-19")
async def test_equal_scores_are_ordered_by_id_and_the_answer_repeats(world: TeamWorld) -> None:
    await _plain_order(world)
    await set_to(world, "search.neighbours", 0)
    first = await talk(world, world.ops, ["zeppelin"])
    second = await talk(world, world.chat, ["zeppelin"])
    answers = [[item.ref for item in (await ask(world, "zeppelin")).items] for _ in range(2)]
    assert answers[0] == answers[1] == sorted([*first, *second])


@pytest.mark.req("RE-6", "RE-11", "KN-43", "KN-60", "KN-61")
async def test_a_private_chat_is_found_by_its_partner_and_by_nobody_else(world: TeamWorld) -> None:
    secret = await world.say(world.chat, "my salary is 90k", speaker=world.ana)
    shared = await world.open(world.ops)
    assert [item.ref for item in (await ask(world, "salary 90k")).items] == [secret]
    assert (await ask(world, "salary 90k", by=world.ben)).items == ()
    spoken = await ask(world, "salary 90k", by=world.atlas, conversation_id=shared.id)
    assert spoken.items == ()
    private = await world.open(world.chat)
    assert [i.ref for i in (await ask(world, "salary", by=world.atlas, conversation_id=private.id)).items] == [secret]


@pytest.mark.req("RE-6", "RE-9", "RE-17")
async def test_what_somebody_may_not_see_moves_no_score_of_the_reranker(world: TeamWorld) -> None:
    await talk(world, world.ops, ["is the kiln hot?", "yes, since Monday", *FILLER, "the kiln cooled down"])
    before = await ask(world, "When was the kiln hot?", by=world.ben)
    await talk(world, world.chat, ["my kiln is hot", "is a hot kiln bad?", "since Monday it is"] * 9)
    after = await ask(world, "When was the kiln hot?", by=world.ben)
    assert len(await _refs(world, "kiln")) > len(before.items) > 1
    assert [(item.ref, item.score, item.ranks) for item in after.items] == [
        (item.ref, item.score, item.ranks) for item in before.items
    ]


@pytest.mark.req("RE-35", "KN-56")
async def test_where_to_search_must_be_named_and_allowed(world: TeamWorld) -> None:
    private, shared = await world.open(world.chat), await world.open(world.ops)
    for query in ("", "   ", "x" * 1_001, "e\u0301" * 1_001):
        with pytest.raises(BadInput):
            await ask(world, query)
    assert (await ask(world, f" {'e' + chr(0x301)} " * 333)).items == ()  # 999 characters, and 1,332 before NFC
    with pytest.raises(BadInput):
        await ask(world, "kilns", by=world.atlas, owner_id=world.atlas)
    with pytest.raises(NotFound):
        await ask(world, "kilns", by=world.ben, conversation_id=private.id)
    assert private.pool is not None
    with pytest.raises(OperationRejected) as refused:
        await ask(world, "kilns", by=world.atlas, conversation_id=shared.id, kb_ids=(private.pool,))
    assert refused.value.wire_code == "SCOPE_FORBIDDEN"


@pytest.mark.req("RE-9")
@pytest.mark.parametrize(
    "query", ["root causes/solutions", "a AND (", '"', "*", "C++ && !x", "field:value", "kiln " * 190]
)
async def test_hostile_queries_never_fail(world: TeamWorld, query: str) -> None:
    source = await world.say(world.ops, "We list root causes/solutions for the kiln.")
    answer = await ask(world, query)
    if "root" in query or "kiln" in query:
        assert [item.ref for item in answer.items] == [source]


@pytest.mark.req("RE-9")
async def test_words_of_every_script_are_found(world: TeamWorld) -> None:
    texts = (
        "外币汇率换算每日更新",
        "今日は成語しりとりをした",
        "오늘 끝말잇기 게임을 했다",
        "重跑gen-itgc后50条悬空引用清零",
    )
    ids = await talk(world, world.ops, texts)
    asked = {
        "汇率": 0,
        "汇率换算": 0,
        "しりとり": 1,
        "끝말잇기": 2,
        "gen-itgc": 3,
        "itgc": 3,
        "悬空": 3,
        "怎么换算外币的汇率": 0,
    }
    for query, wanted in asked.items():
        assert (await ask(world, query)).items[0].ref == ids[wanted], query
    assert (await ask(world, "量子猫砂")).items == ()


@pytest.mark.req("RE-20", "RE-23", "RE-24")
async def test_a_message_comes_between_its_neighbours_of_the_same_scope(world: TeamWorld) -> None:
    lines = [f"{FILLER[n % 4]} {n}" for n in range(9)]
    lines[4] = "the zeppelin lands at noon"
    ids = await talk(world, world.ops, lines)
    other = await talk(world, world.chat, ["something private about the zeppelin pilot"])
    items = (await ask(world, "zeppelin", by=world.ben)).items
    assert [item.ref for item in items] == [ids[4]]
    assert [line.partition(": ")[2] for line in items[0].text.splitlines()] == lines[1:8]
    assert other[0] not in {item.ref for item in items}


@pytest.mark.req("RE-21", "RE-22", "RE-24", "RE-25", "RE-26", "RE-27", "RE-34")
async def test_a_long_thread_is_cut_to_its_share_and_browsed_as_a_whole(world: TeamWorld) -> None:
    lines = [f"note {n}: " + "word " * 100 for n in range(60)]
    lines[40] = "note 40: the zeppelin lands " + "word " * 90
    ids = await talk(world, world.ops, lines, thread="long")
    answer = await ask(world, "zeppelin lands")
    first = answer.items[0]
    assert first.ref == ids[40]
    assert first.truncated
    assert "the zeppelin lands" in first.text
    mark = re.search(r"… \[truncated: memory_browse (\S+)\]$", first.text)
    assert mark is not None
    named = GlobalId.decode(mark.group(1))
    assert named is not None
    assert named.node == first.ref
    assert first.tokens <= 1_500
    assert answer.total_tokens == sum(item.tokens for item in answer.items) <= 4_000
    seen, page = [], await browse(world, first.ref)
    while True:
        assert page.tokens <= 4_000
        seen += page.text.splitlines()
        if page.next is None:
            break
        page = await browse(world, first.ref, after=page.next)
    assert [line.partition(": ")[2].strip() for line in seen] == [line.strip() for line in lines]
    back = await browse(world, first.ref, before=page.previous)
    assert back.next is not None
    with pytest.raises(NotFound):
        await browse(world, first.ref, by=world.eve)


@pytest.mark.req("RE-24")
async def test_a_message_inside_a_better_item_is_not_repeated(world: TeamWorld) -> None:
    ids = await talk(world, world.ops, ["zeppelin zeppelin", "the zeppelin again", "nothing"])
    items = (await ask(world, "zeppelin")).items
    assert [item.ref for item in items] == [ids[0]]
    assert items[0].text.count("zeppelin again") == 1


@pytest.mark.req("RE-26")
async def test_items_and_tokens_are_limited_as_asked(world: TeamWorld) -> None:
    await set_to(world, "search.neighbours", 0)
    await talk(world, world.ops, [f"zeppelin number {n} " + "word " * 60 for n in range(30)])
    assert len((await ask(world, "zeppelin")).items) == 12
    assert len((await ask(world, "zeppelin", max_items=3)).items) == 3
    small = await ask(world, "zeppelin", total_tokens=200)
    assert small.total_tokens <= 200
    assert 0 < len(small.items) < 12
    with pytest.raises(BadInput):
        await ask(world, "zeppelin", total_tokens=199)


@pytest.mark.req("RE-24", "RE-26")
async def test_filling_goes_on_behind_items_that_were_inside_better_ones(world: TeamWorld) -> None:
    await set_to(world, "search.neighbours", 0)
    await set_to(world, "search.total_tokens", 400)
    await set_to(world, "search.item_tokens", 100)
    for n in range(4):
        await talk(world, world.ops, ["zeppelin " * 3 + "word " * 8] * 3, thread=f"long{n}")
    for n in range(9):
        await talk(world, world.ops, ["a zeppelin"], thread=f"short{n}")
    answer = await ask(world, "zeppelin", rerank=False)
    assert [item.text.count("word") > 0 for item in answer.items[:4]] == [True] * 4
    left = 400 - answer.total_tokens
    assert len(answer.items) > 4
    assert 0 <= left < answer.items[-1].tokens


@pytest.mark.req("RE-28")
async def test_the_answer_names_its_tokenizer(world: TeamWorld) -> None:
    assert (await ask(world, "anything")).tokenizer == "approximate"


class _Reranker:
    def __init__(self, scores: Sequence[Any] | None) -> None:
        self.scores, self.asked = scores, 0

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked = len(texts)
        if self.scores is None:
            await asyncio.Event().wait()
        assert self.scores is not None
        return self.scores


@pytest.mark.req("RE-12", "RE-17", "RE-18")
@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (None, "needed more"),
        ((0.5,), "returned 1 scores"),
        ((0.5, 1.2), "outside"),
        ((0.5, math.nan), "outside"),
        ((0.5, None), "no number"),
        ((0.5, True), "no number"),
    ],
)
async def test_a_bad_reranker_changes_nothing(world: TeamWorld, scores: Sequence[Any] | None, reason: str) -> None:
    await set_to(world, "search.rerank_timeout_ms", 20)
    await set_to(world, "search.neighbours", 0)
    await talk(world, world.ops, ["zeppelin zeppelin zeppelin", "a zeppelin"])
    await set_to(world, "rerank.provider", "outside")
    without = [item.ref for item in (await ask(world, "zeppelin", rerank=False)).items]
    world.deps = replace(world.deps, reranker=_Reranker(scores))
    answer = await ask(world, "zeppelin")
    assert [item.ref for item in answer.items] == without
    assert not answer.rerank.applied
    assert reason in (answer.rerank.reason or "")


@pytest.mark.req("RE-17")
async def test_a_good_reranker_decides_the_order(world: TeamWorld) -> None:
    await set_to(world, "search.neighbours", 0)
    ids = await talk(world, world.ops, ["zeppelin zeppelin zeppelin", "a zeppelin"])
    await set_to(world, "rerank.provider", "outside")
    world.deps = replace(world.deps, reranker=_Reranker((0.1, 0.9)))
    answer = await ask(world, "zeppelin")
    assert [item.ref for item in answer.items] == [ids[1], ids[0]]
    assert answer.rerank.applied


@pytest.mark.req("RE-17")
async def test_the_question_names_the_speaker(world: TeamWorld) -> None:
    await set_to(world, "search.neighbours", 0)
    others = [await world.say(world.ops, "the zeppelin is grey", speaker=world.ana) for _ in range(2)]
    by_ben = await world.say(world.ops, "the zeppelin is grey", speaker=world.ben)
    assert (await ask(world, "What colour did Ben say the zeppelin is?")).items[0].ref == by_ben
    assert (await ask(world, "What colour did Ana say the zeppelin is?")).items[0].ref in others


@pytest.mark.req("RE-31")
async def test_a_failing_route_is_named_and_all_failing_is_an_error(
    world: TeamWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await world.say(world.ops, "the zeppelin lands")

    async def fails(*_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr("graph.services.search.routes.entry_keyword", fails)
    answer = await ask(world, "zeppelin")
    assert [item.ref for item in answer.items] == [source]
    assert "entry_keyword" in {skip.route for skip in answer.routes_skipped}
    monkeypatch.setattr("graph.services.search.routes.message_keyword", fails)
    with pytest.raises(SearchUnavailable):
        await ask(world, "zeppelin")


@pytest.mark.req("RE-11", "KN-36")
async def test_only_the_present_text_is_found(world: TeamWorld) -> None:
    first = await world.say(world.ops, "The plan is green.", speaker=world.ben)
    result = await apply(world, create("Plan", block("It is emerald.", cite(first, "plan is green"))))
    assert [i.kind for i in (await ask(world, "emerald")).items] == [ItemKind.ENTRY]
    second = await world.say(world.ops, "We painted it crimson.", speaker=world.ben)
    await apply(world, add(made(result), block("It is crimson.", cite(second, "painted it crimson"))))
    answer = await ask(world, "crimson")
    assert {item.kind for item in answer.items} == {ItemKind.ENTRY, ItemKind.MESSAGE}
    assert answer.items[0].text.splitlines()[0].startswith("Plan")


@pytest.mark.req("RE-34", "RE-33")
async def test_browse_opens_entries_and_conversations_inside_the_read_set(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds solar kilns.", speaker=world.ben)
    result = await apply(world, create("Helio", block("Builds solar kilns.", cite(source, "builds solar kilns"))))
    page = await browse(world, made(result))
    assert page.text.splitlines()[0] == "# Helio"
    assert "Builds solar kilns." in page.text
    assert [c.source.id for c in page.sources] == [source]
    conversation = await world.open(world.ops)
    assert "solar kilns" in (await browse(world, conversation.id)).text
    private = await world.say(world.chat, "a secret")
    with pytest.raises(NotFound):
        await browse(world, private, by=world.atlas, conversation_id=conversation.id)
    with pytest.raises(BadInput):
        await browse(world, source, after="x", before="y")
    with pytest.raises(BadInput):
        await browse(world, source, after="bm90IGEgY3Vyc29y")
    with pytest.raises(BadInput):
        await browse(world, source, after=base64.urlsafe_b64encode(b"[" * 100_000).decode())


async def _refs(world: TeamWorld, query: str) -> list[str]:
    return [item.ref for item in (await ask(world, query)).items]


async def _plain_order(world: TeamWorld) -> None:
    """The settings of acceptance example 23."""
    await set_to(world, "rerank.provider", "none")
    await set_to(world, "search.rrf_k", 60)
    await set_to(world, "search.message_half_life_days", 30)
    await set_to(world, "search.entry_half_life_days", 365)
