"""Repeats, budget and cuts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.rules.packing import Item, PackedItem, Part, cut, pack, truncation_mark, without_repeats
from graph.text.tokens import ApproximateTokenizer, CountingTokenizer

COUNT = ApproximateTokenizer().count


def words(tokens: int, word: str = "word") -> str:
    return " ".join([word] * tokens)


def hit(ref: str, *context: str, tokens: int = 10) -> Item:
    own = Part(text=words(tokens), message_id=ref, matched=True)
    return Item(ref=ref, parts=(own, *(Part(text=f"{id_} said", message_id=id_, own=False) for id_ in context)))


def long_thread(matched_at: int = 150, messages: int = 300) -> Item:
    parts = (
        Part(
            text="THE ANSWER " + words(28) if place == matched_at else words(30),
            message_id=f"m{place}",
            own=place == matched_at,
            matched=place == matched_at,
        )
        for place in range(messages)
    )
    return Item(ref="thread-1", parts=tuple(parts))


def must(item: PackedItem | None) -> PackedItem:
    assert item is not None
    return item


@pytest.mark.req("RE-26", "RE-27")
def test_long_thread_takes_1500_tokens_with_the_match_and_the_mark() -> None:
    packed = pack([long_thread(), hit("m-x"), hit("m-y")], total_tokens=4_000)
    assert COUNT("\n".join(part.text for part in long_thread().parts)) == pytest.approx(9_000, abs=20)
    assert packed[0].tokens == COUNT(packed[0].text) == 1_500
    assert packed[0].truncated
    assert "THE ANSWER" in packed[0].text
    assert packed[0].text.endswith("… [truncated: memory_browse thread-1]")
    assert [item.ref for item in packed[1:]] == ["m-x", "m-y"]
    assert sum(item.tokens for item in packed) <= 4_000


@pytest.mark.req("RE-24")
def test_message_contained_in_a_better_item_is_not_repeated() -> None:
    packed = pack([hit("a", "b", "c"), hit("d", "c", "e")])
    assert packed[0].message_ids == ("a", "b", "c")
    assert packed[1].message_ids == ("d", "e")


@pytest.mark.req("RE-24")
def test_item_left_without_own_messages_is_dropped() -> None:
    assert [item.ref for item in without_repeats([hit("a", "b"), hit("b", "c"), hit("c")])] == ["a", "c"]


@pytest.mark.req("RE-24")
def test_episode_keeps_the_messages_that_are_its_own_alone() -> None:
    episode = Item(ref="ep", parts=tuple(Part(text=id_, message_id=id_) for id_ in "abc"))
    assert [part.message_id for part in without_repeats([hit("a"), episode])[1].parts] == ["b", "c"]


@pytest.mark.req("RE-24")
def test_texts_of_entries_are_never_repeats() -> None:
    entry = Item(ref="e", parts=(Part(text="Helio"),))
    assert len(without_repeats([entry, Item(ref="f", parts=entry.parts)])) == 2


@pytest.mark.req("RE-26")
def test_item_that_does_not_fit_is_cut_to_a_rest_of_64_tokens() -> None:
    packed = pack([hit("a", tokens=136), hit("b", tokens=500)], total_tokens=200)
    assert [item.truncated for item in packed] == [False, True]
    assert packed[1].tokens == 64


@pytest.mark.req("RE-26")
def test_filling_stops_at_the_first_item_that_cannot_be_taken() -> None:
    packed = pack([hit("a", tokens=137), hit("b", tokens=500), hit("c", tokens=5)], total_tokens=200)
    assert [item.ref for item in packed] == ["a"]


@pytest.mark.req("RE-26")
def test_small_item_fits_into_a_small_rest() -> None:
    assert len(pack([hit("a", tokens=137), hit("b", tokens=63)], total_tokens=200)) == 2


@pytest.mark.req("RE-26")
def test_filling_stops_after_max_items() -> None:
    assert len(pack([hit(str(number)) for number in range(20)], max_items=12)) == 12


@pytest.mark.req("RE-27")
def test_left_out_middle_is_shown_as_a_gap() -> None:
    others = [Part(text=words(40))] * 5
    parts = (Part(text="Helio", matched=True), *others, Part(text="HIT", matched=True))
    packed = must(cut(Item(ref="e1", parts=parts), 80))
    lines = packed.text.split("\n")
    assert lines[0] == "Helio"
    assert "HIT" in lines
    assert "…" in lines[1:-1]
    assert packed.tokens <= 80


@pytest.mark.req("RE-27")
def test_long_matched_text_is_kept_from_its_match_on() -> None:
    text = words(500) + " HERE " + words(500)
    part = Part(text=text, message_id="m", matched=True, focus=text.index("HERE"))
    packed = must(cut(Item(ref="m", parts=(part,)), 100))
    assert "HERE" in packed.text
    assert packed.tokens == 100


def test_budget_smaller_than_the_mark_takes_nothing() -> None:
    assert cut(hit("a"), COUNT(truncation_mark("a")) - 1) is None


TEXTS = st.lists(st.tuples(st.text(max_size=80), st.booleans()), min_size=1, max_size=12)


@pytest.mark.req("RE-25", "RE-26", "RE-27")
@pytest.mark.parametrize("tokenizer", [ApproximateTokenizer(), CountingTokenizer("characters", len)])
@given(contents=st.lists(TEXTS, max_size=6), total=st.integers(0, 300), each=st.integers(0, 200))
def test_total_never_exceeds_the_budget(
    tokenizer: ApproximateTokenizer | CountingTokenizer,
    contents: list[list[tuple[str, bool]]],
    total: int,
    each: int,
) -> None:
    items = [
        Item(ref=f"r{number}", parts=tuple(Part(text=text, matched=matched) for text, matched in parts))
        for number, parts in enumerate(contents)
    ]
    packed = pack(items, total_tokens=total, item_tokens=each, tokenizer=tokenizer)
    assert sum(item.tokens for item in packed) <= total
    for item in packed:
        assert item.tokens == tokenizer.count(item.text) <= max(each, 0)
        assert item.text.endswith(truncation_mark(item.ref)) or not item.truncated
