"""Keyword texts: what matches, the figures for BM25, and the choice among many (RE-9)."""

from __future__ import annotations

import pytest

from graph.model.access import ALL_AGENTS
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry, KnowledgeBase
from graph.model.time import Millis
from graph.store.port import Store, Writer
from graph.store.query import Matches, TextHit, TextIndex, TextRow
from tests.contract.store.asking import Ask
from tests.support.builders import NOW, World, clause, private, shared

pytestmark = pytest.mark.req("KN-12", "RE-9")

CHAT = private("chn_chat")


async def write_texts(store: Store, world: World, *words: str, first_at: int = NOW) -> list[Entry]:
    """Store one visible entry a text, each a millisecond newer than the one before."""
    entries = [world.make_entry(name=text[:20]) for text in words]
    texts = [
        world.text_for(entry, text, sort_at=Millis(first_at + number))
        for number, (entry, text) in enumerate(zip(entries, words, strict=True))
    ]
    await world.write(store, *entries, clauses=[clause(shared())], texts=texts)
    return entries


def items(matches: Matches) -> set[NodeId]:
    return {hit.item for hit in matches.hits}


async def test_a_hit_tells_counts_length_and_place(store: Store, ask: Ask, world: World) -> None:
    entry, block = world.make_entry(), world.make_block_version()
    text = world.text_for(
        block, "dog bites dog in park", id=f"{block.id}#7", item=entry.id, part="summary", sort_at=Millis(-5)
    )
    await world.write(store, entry, block, clauses=[clause(shared())], texts=[text])
    matches = await ask.match(world.viewer(shared()), "dog", "park", "cat")
    assert matches.hits == (
        TextHit(
            id=f"{block.id}#7",
            guard=block.id,
            item=entry.id,
            part="summary",
            pool=world.pool,
            counts={"dog": 2, "park": 1},
            length=5,
            sort_at=Millis(-5),
        ),
    )
    assert (matches.df, matches.total) == ({"dog": 1, "park": 1, "cat": 0}, 1)


async def test_any_of_the_words_is_enough(store: Store, ask: Ask, world: World) -> None:
    one, two, both, _ = await write_texts(store, world, "dog x", "cat y", "cat dog", "bird")
    matches = await ask.match(world.viewer(shared()), "dog", "cat")
    assert items(matches) == {one.id, two.id, both.id}
    assert (matches.df, matches.total) == ({"dog": 2, "cat": 2}, 4)


async def test_no_words_match_nothing(store: Store, ask: Ask, world: World) -> None:
    await write_texts(store, world, "dog")
    matches = await ask.match(world.viewer(shared()))
    assert (matches.hits, matches.df) == ((), {})


async def test_a_word_asked_twice_counts_once(store: Store, ask: Ask, world: World) -> None:
    (entry,) = await write_texts(store, world, "dog dog cat")
    matches = await ask.match(world.viewer(shared()), "dog", "dog")
    assert [(hit.item, dict(hit.counts)) for hit in matches.hits] == [(entry.id, {"dog": 2})]
    assert matches.df == {"dog": 1}


async def test_an_empty_index_answers(ask: Ask, world: World) -> None:
    assert await ask.match(world.viewer(shared()), "dog") == Matches(hits=(), df={"dog": 0}, total=0)


async def test_a_text_without_words_is_counted_and_never_found(store: Store, ask: Ask, world: World) -> None:
    await write_texts(store, world, "", "dog")
    matches = await ask.match(world.viewer(shared()), "dog")
    assert (len(matches.hits), matches.total) == (1, 2)


HOSTILE_WORDS = [
    '"', "*", "dog*", "AND", "OR", "NOT", "NEAR", "(", ")", "a)", "field:value", "c++", "!x", "&&", "||", "^2", "~",
    "-", "--", "'", "';", "\\", "/", "[a", "{", "}", "+", "words:x", "clauses:*", "_", "a_b", "%", "$1", "`", "?",
    "\x00", "a\x00", "\u00e9", "e\u0301", "Dog", "DOG", "ß", "ﬁ", "\U0001f56f", "\ufeff", "\u200d", "null", "汇率",
    "汇", "しり", "끝말", "itgc", "gen-itgc", "x" * 300, "中" * 200, "1", "0", "{a TO b}", "\u00ad", "\x7f", "<b>",
]  # fmt: skip


def usable(word: str) -> str:
    return "".join(word.split())


@pytest.mark.parametrize("word", HOSTILE_WORDS, ids=[repr(word[:12]) for word in HOSTILE_WORDS])
async def test_a_hostile_word_finds_itself_only(store: Store, ask: Ask, world: World, word: str) -> None:
    """Source: bug cases 3 and 4, attack case 6."""
    word = usable(word)
    entry = world.make_entry()
    others = [usable(other) for other in HOSTILE_WORDS if usable(other) != word]
    texts = [
        world.text_for(entry, ["plain", word, "dog"], id=f"{entry.id}#mine"),
        world.text_for(entry, ["dog", *others], id=f"{entry.id}#others"),
    ]
    await world.write(store, entry, clauses=[clause(shared())], texts=texts)
    matches = await ask.match(world.viewer(shared()), word)
    assert [(hit.id, dict(hit.counts), hit.length) for hit in matches.hits] == [(f"{entry.id}#mine", {word: 1}, 3)]
    assert (matches.df, matches.total) == ({word: 1}, 2)
    assert await ask.found(world.viewer(CHAT), word) == []


async def test_cjk_words_find_their_own_text(store: Store, ask: Ask, world: World) -> None:
    """Source: bug case 4; the service cuts characters and bigrams, the store finds them."""
    sentences = [
        "外币汇率换算每日更新",
        "今日は成語しりとりをした",
        "오늘 끝말잇기 게임을 했다",
        "重跑gen-itgc后50条悬空引用清零",
    ]

    def cut(sentence: str) -> str:
        letters = sentence.replace(" ", "")
        return " ".join([*letters, *(letters[at : at + 2] for at in range(len(letters) - 1))])

    entries = await write_texts(store, world, *map(cut, sentences))
    for words, expected in [("汇率", 0), ("しり とり", 1), ("끝말 말잇", 2), ("悬空", 3), ("汇", 0), ("條", None)]:
        found = items(await ask.match(world.viewer(shared()), *words.split()))
        assert found == (set() if expected is None else {entries[expected].id})


async def test_five_thousand_words_are_answered(store: Store, ask: Ask, world: World) -> None:
    """Source: bug case 3."""
    one, two, _ = await write_texts(store, world, "word17 word4999", "word4000 other", "none")
    matches = await ask.match(world.viewer(shared()), *(f"word{number}" for number in range(5_000)))
    assert items(matches) == {one.id, two.id}
    assert sum(matches.df.values()) == 3
    assert len(matches.df) == 5_000


async def test_a_long_text_counts_every_word(store: Store, ask: Ask, world: World) -> None:
    await write_texts(store, world, " ".join(["dog"] * 3_000 + ["cat"] * 2_000 + [f"w{n}" for n in range(2_000)]))
    (hit,) = (await ask.match(world.viewer(shared()), "cat", "dog", "w1999")).hits
    assert (dict(hit.counts), hit.length) == ({"dog": 3_000, "cat": 2_000, "w1999": 1}, 7_000)


async def test_indexes_and_parts_stay_apart(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    texts = [
        world.text_for(entry, "dog", id=f"{entry.id}#{index}-{part}", index=index, part=part)
        for index in TextIndex
        for part in ("name", "block", "message")
    ]
    await world.write(store, entry, clauses=[clause(shared())], texts=texts)
    scope = world.viewer(shared())
    cases: list[tuple[TextIndex, tuple[str, ...] | None, int]] = [
        (TextIndex.ENTRY, None, 3),
        (TextIndex.MESSAGE, None, 3),
        (TextIndex.ENTRY, ("name",), 1),
        (TextIndex.ENTRY, ("name", "block"), 2),
        (TextIndex.ENTRY, ("none",), 0),
        (TextIndex.ENTRY, (), 0),
    ]
    for index, parts, count in cases:
        matches = await ask.match(scope, "dog", index=index, parts=parts)
        assert (len(matches.hits), matches.df["dog"], matches.total) == (count, count, count)
        assert all(f"#{index}-" in hit.id for hit in matches.hits)


async def test_pools_of_the_question_narrow_it(store: Store, ask: Ask, world: World) -> None:
    pools = [world.id("knb", name) for name in "abc"]
    entries = [world.make_entry(pool=pool) for pool in pools]
    texts = [world.text_for(entry, "dog", pool=entry.pool) for entry in entries]
    await world.write(store, *entries, clauses=[clause(shared())], texts=texts)
    for scope in (world.viewer(shared()), world.system):
        for asked in (pools, pools[:2], pools[2:], []):
            matches = await ask.match(scope, "dog", pools=tuple(asked))
            assert items(matches) == {entry.id for entry in entries if entry.pool in asked}
            assert (matches.df["dog"], matches.total) == (len(asked), len(asked))
    narrowed = world.viewer(shared(), pools=pools[:2])
    assert items(await ask.match(narrowed, "dog", pools=tuple(pools[1:]))) == {entries[1].id}


async def test_a_text_put_again_replaces_the_old_one(store: Store, ask: Ask, world: World) -> None:
    entry, hidden = world.make_entry(), world.make_entry()
    await world.write(store, entry, hidden, clauses=[clause(shared())], texts=[world.text_for(entry, "dog dog")])
    await world.write(store, audiences=[world.audience_for(hidden, clause(CHAT))])
    scope = world.viewer(shared())
    await world.write(store, texts=[world.text_for(entry, "cat")])
    assert (await ask.found(scope, "dog"), await ask.found(scope, "cat")) == ([], [f"{entry.id}#block"])
    assert (await ask.match(scope, "cat")).total == 1
    await world.write(store, texts=[world.text_for(hidden, "cat", id=f"{entry.id}#block")])
    assert await ask.match(scope, "cat") == Matches(hits=(), df={"cat": 0}, total=0)
    assert await ask.found(world.viewer(CHAT), "cat") == [f"{entry.id}#block"]
    assert await ask.texts_of(entry.id) == []


async def test_the_last_of_equal_texts_in_one_call_counts(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    texts = [world.text_for(entry, "dog"), world.text_for(entry, "cat")]
    await world.write(store, entry, clauses=[clause(shared())], texts=texts)
    assert await ask.found(world.system, "dog") == []
    assert await ask.texts_of(entry.id) == texts[1:]


async def test_unindex_removes_by_id(store: Store, ask: Ask, world: World) -> None:
    one, two = await write_texts(store, world, "dog", "dog")
    await store.transact(lambda writer: writer.unindex([f"{one.id}#block", f"{one.id}#none", "nonsense"]))
    matches = await ask.match(world.viewer(shared()), "dog")
    assert items(matches) == {two.id}
    assert (matches.df["dog"], matches.total) == (1, 1)


async def test_texts_of_gives_them_as_they_were_put(store: Store, ask: Ask, world: World) -> None:
    one, two, three = world.make_entry(), world.make_entry(), world.make_entry()
    texts = [
        world.text_for(one, ["a\x00", "\u00e9", "e\u0301", "a", "a"], id=f"{one.id}#b", part="x", sort_at=Millis(-1)),
        world.text_for(one, "", id=f"{one.id}#a"),
        world.text_for(two, "c", id=f"{one.id}#B", item=three.id, index=TextIndex.MESSAGE),
        world.text_for(three, "d"),
    ]
    await world.write(store, one, two, three, clauses=[clause(shared())], texts=texts)
    expected = sorted(texts[:3], key=lambda text: text.id.encode())
    assert await ask.texts_of(two.id, one.id, world.id("ent")) == expected
    assert await ask.texts_of() == []


async def test_a_text_follows_its_guards_audience(store: Store, ask: Ask, world: World) -> None:
    (entry,) = await write_texts(store, world, "dog")
    text = f"{entry.id}#block"
    for clauses, viewer, seen in [
        ([clause(CHAT)], world.viewer(shared()), []),
        ([clause(CHAT)], world.viewer(CHAT), [text]),
        ([clause(CHAT, shared())], world.viewer(CHAT), []),
        ([clause(CHAT), clause(shared())], world.viewer(shared()), [text]),
        ([clause(CHAT), clause(shared())], world.viewer(shared(), CHAT), [text]),
    ]:
        await world.write(store, audiences=[world.audience_for(entry, *clauses)])
        assert await ask.found(viewer, "dog") == seen
        matches = await ask.match(viewer, "dog")
        assert matches.df == {"dog": len(seen)}
        assert bool(matches.total) is bool(seen)
    await world.write(store, audiences=[world.audience_for(entry, excluded=["prn_reader"])])
    assert (await ask.match(world.viewer(shared()), "dog")) == Matches(hits=(), df={"dog": 0}, total=0)


async def test_a_text_may_be_put_before_or_after_its_audience(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    await world.write(store, entry, guards=[world.guard_for(entry)], texts=[world.text_for(entry, "dog")])
    assert await ask.found(world.viewer(shared()), "dog") == []
    await world.write(store, audiences=[world.audience_for(entry)])
    assert await ask.found(world.viewer(shared()), "dog") == [f"{entry.id}#block"]
    await world.write(store, texts=[world.text_for(entry, "dog", id=f"{entry.id}#name", part="name")])
    assert len(await ask.found(world.viewer(shared()), "dog")) == 2


async def test_a_text_may_be_put_before_its_guard_is_there(store: Store, ask: Ask, world: World) -> None:
    """Also where the store takes what is put for new: the text is found there, and counted once."""
    entry, pool = world.make_entry(), world.make_knowledge_base(version=0)
    await world.write(store, pool, texts=[world.text_for(entry, "dog")])

    async def arrive(writer: Writer) -> None:
        await writer.increment(pool.id, "version")
        await writer.put([entry])
        await writer.guard([world.guard_for(entry)])
        await writer.admit([world.audience_for(entry)])

    await store.transact(arrive)
    matches = await ask.match(world.viewer(shared()), "dog")
    assert ([hit.item for hit in matches.hits], matches.total) == ([entry.id], 1)
    assert await ask.counts(world.system, KnowledgeBase, "version") == {1: 1}


async def test_the_system_matches_what_nobody_sees(store: Store, ask: Ask, world: World) -> None:
    (entry,) = await write_texts(store, world, "dog")
    nobody = type(world.audience_for(entry))(node=entry.id, clauses=frozenset())
    await world.write(store, audiences=[nobody])
    assert await ask.found(world.viewer(shared(), audits=[ALL_AGENTS]), "dog") == []
    assert await ask.found(world.system, "dog") == [f"{entry.id}#block"]
    assert (await ask.match(world.system, "dog")).df == {"dog": 1}
    assert await ask.found(World().system, "dog") == []


async def test_rarer_words_are_chosen_first(store: Store, ask: Ask, world: World) -> None:
    """The one with the rare word is oldest: sets of words come before time."""
    rare, *common = await write_texts(store, world, "rare x", *(["common"] * 8))
    scope = world.viewer(shared())
    assert items(await ask.match(scope, "common", "rare", limit=1)) == {rare.id}
    assert items(await ask.match(scope, "common", "rare", limit=3)) == {rare.id, common[-1].id, common[-2].id}


async def test_then_the_next_word_decides(store: Store, ask: Ask, world: World) -> None:
    texts = ["a b", "a", "a c", "b c", "b", "c", "b", "c", "c", "c"]  # df: a 3, b 4, c 6
    entries = await write_texts(store, world, *texts)
    expected = [0, 2, 1, 3, 6, 4, 9, 8, 7, 5]
    for limit in range(1, len(expected) + 1):
        matches = await ask.match(world.viewer(shared()), "c", "a", "b", limit=limit)
        assert items(matches) == {entries[number].id for number in expected[:limit]}
        assert matches.df == {"a": 3, "b": 4, "c": 6}


async def test_equally_rare_words_go_in_byte_order(store: Store, ask: Ask, world: World) -> None:
    upper, lower, accent = await write_texts(store, world, "Z", "a", "é")
    assert items(await ask.match(world.viewer(shared()), "é", "a", "Z", limit=1)) == {upper.id}
    assert items(await ask.match(world.viewer(shared()), "é", "a", "Z", limit=2)) == {upper.id, lower.id}
    assert items(await ask.match(world.viewer(shared()), "é", "a", limit=1)) == {lower.id}
    assert items(await ask.match(world.viewer(shared()), "é", limit=1)) == {accent.id}


async def test_a_word_that_nobody_has_changes_nothing(store: Store, ask: Ask, world: World) -> None:
    one, two = await write_texts(store, world, "rare", "common")
    await write_texts(store, world, "common")
    matches = await ask.match(world.viewer(shared()), "none", "common", "rare", limit=1)
    assert items(matches) == {one.id}
    assert items(await ask.match(world.viewer(shared()), "none", limit=1)) == set()
    assert two.id not in items(matches)


async def test_equal_matches_are_chosen_newest_first_then_by_id(store: Store, ask: Ask, world: World) -> None:
    entries = [world.make_entry() for _ in range(9)]
    texts = [
        world.text_for(entry, "dog", id=f"{world.name}#{name}", sort_at=Millis(sort_at))
        for entry, name, sort_at in zip(entries, "ihgfedcba", (5, 5, 5, 9, 1, 1, 5, 5, -3), strict=True)
    ]
    await world.write(store, *entries, clauses=[clause(shared())], texts=texts)
    for limit in range(10):
        found = await ask.found(world.viewer(shared()), "dog", limit=limit)
        assert [id[-1] for id in found] == sorted("fbcghide"[:limit] + "a" * (limit > 8))


async def test_repeats_of_a_word_do_not_help_a_text(store: Store, ask: Ask, world: World) -> None:
    _, new = await write_texts(store, world, "dog dog dog dog", "dog and many other words of no use at all")
    assert items(await ask.match(world.viewer(shared()), "dog", limit=1)) == {new.id}


async def test_hidden_texts_have_no_part_in_the_choice(store: Store, ask: Ask, world: World) -> None:
    """``rare`` is rare only for who sees few of them; hidden texts make ``b`` common for nobody else."""
    old, new = await write_texts(store, world, "b", "a")
    third = (await write_texts(store, world, "a", first_at=NOW + 50))[0]
    hidden = [world.make_entry() for _ in range(6)]
    texts = [world.text_for(entry, "b", sort_at=Millis(NOW + 100)) for entry in hidden]
    await world.write(store, *hidden, clauses=[clause(CHAT)], texts=texts)
    matches = await ask.match(world.viewer(shared()), "a", "b", limit=1)
    assert items(matches) == {old.id}
    assert (matches.df, matches.total) == ({"a": 2, "b": 1}, 3)
    everything = await ask.match(world.viewer(shared(), CHAT), "a", "b", limit=1)
    assert items(everything) == {third.id}
    assert (everything.df, everything.total) == ({"a": 2, "b": 7}, 9)
    assert new.id not in items(everything)


async def test_frequencies_are_counted_to_their_limit(store: Store, ask: Ask, world: World) -> None:
    await write_texts(store, world, *(["dog"] * 7), "cat")
    matches = await ask.match(world.viewer(shared()), "dog", "cat", "none", df_limit=3)
    assert matches.df == {"dog": 3, "cat": 1, "none": 0}
    assert matches.total == 8
    assert len(matches.hits) == 8


async def test_the_figures_are_of_all_matches_not_of_the_chosen(store: Store, ask: Ask, world: World) -> None:
    await write_texts(store, world, *(["dog"] * 30), *(["cat"] * 20))
    matches = await ask.match(world.viewer(shared()), "dog", "cat", limit=5)
    assert (len(matches.hits), matches.df, matches.total) == (5, {"dog": 30, "cat": 20}, 50)


async def test_a_text_seen_by_several_clauses_is_one_hit(store: Store, ask: Ask, world: World) -> None:
    entries = [world.make_entry() for _ in range(4)]
    rules = [private(f"chn_{number}") for number in range(3)]
    await world.write(
        store,
        *entries,
        guards=[world.guard_for(entry) for entry in entries],
        audiences=[world.audience_for(entry, *map(clause, rules)) for entry in entries],
        texts=[world.text_for(entry, "dog") for entry in entries],
    )
    for held in (rules[:1], rules[:2], rules):
        matches = await ask.match(world.viewer(*held), "dog")
        assert (len(matches.hits), matches.df) == (4, {"dog": 4})
        assert 4 <= matches.total <= 4 * len(held)  # a counter per clause, summed (RE-9)
        assert len((await ask.match(world.viewer(*held), "dog", limit=2)).hits) == 2


async def test_more_matches_than_the_limit_of_thousands(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    texts = [
        world.text_for(entry, ["dog", f"w{n % 10}"], id=f"{entry.id}#{n:05}", sort_at=Millis(n % 97))
        for n in range(3_000)
    ]
    await world.write(store, entry, clauses=[clause(shared())], texts=texts)
    matches = await ask.match(world.viewer(shared()), "dog", "w3", limit=1_000)

    def preference(text: TextRow) -> tuple[bool, int, str]:
        return "w3" not in text.words, -text.sort_at, text.id

    expected = {text.id for text in sorted(texts, key=preference)[:1_000]}
    assert {hit.id for hit in matches.hits} == expected
    assert (matches.df, matches.total) == ({"dog": 3_000, "w3": 300}, 3_000)
