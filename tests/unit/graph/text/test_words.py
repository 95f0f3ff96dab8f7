"""Index words and query words."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.text.words import (
    MAX_WORD_CHARACTERS,
    analyze,
    best_match,
    detect_language,
    fold,
    forget_cached_words,
    query_words,
)

STORED = (
    "外币汇率换算每日更新",
    "今日は成語しりとりをした",
    "오늘 끝말잇기 게임을 했다",
    "重跑gen-itgc后50条悬空引用清零",
)


def found(query: str) -> list[str]:
    """The stored texts that hold a word of the query, most shared words first."""
    words = set(query_words(query))
    hits = [(len(words.intersection(analyze(text))), text) for text in STORED]
    return [text for shared, text in sorted(hits, reverse=True) if shared]


@pytest.mark.req("RE-9")
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("汇率", STORED[0]),
        ("汇率换算", STORED[0]),
        ("しりとり", STORED[1]),
        ("끝말잇기", STORED[2]),
        ("gen-itgc", STORED[3]),
        ("itgc", STORED[3]),
        ("悬空", STORED[3]),
        ("怎么换算外币的汇率", STORED[0]),
    ],
)
def test_each_query_in_cjk_and_mixed_script_finds_its_own_text_first(query: str, text: str) -> None:
    assert found(query)[0] == text


@pytest.mark.req("RE-9")
def test_made_up_cjk_word_finds_nothing() -> None:
    assert found("量子猫砂") == []


@pytest.mark.req("RE-9")
def test_single_cjk_character_is_found() -> None:
    assert found("汇") == [STORED[0]]


@pytest.mark.req("RE-9")
@pytest.mark.parametrize("query", ["gen-itgc", "gen", "itgc", "GEN-ITGC"])
def test_identifier_is_found_by_whole_and_by_part(query: str) -> None:
    assert set(query_words(query)) <= set(analyze("the job gen-itgc failed"))


@pytest.mark.req("RE-9")
def test_path_is_found_by_its_file_name() -> None:
    assert {"helper", "py"} <= set(query_words("helper.py")) & set(analyze("see src/helper.py"))


@pytest.mark.req("RE-9")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("She was running", "runs"),
        ("Die Häuser sind nicht weit und das ist gut", "haus häuser"),
        ("Les chevaux sont dans le pré avec nous", "chevaux"),
        ("Мы купили новые книги", "книга"),
        ("Caroline's adoption", "Caroline’s"),
        ("ＦＵＬＬ width", "full"),
        ("Straße", "STRASSE"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
    ],
)
def test_inflected_and_compatibility_forms_meet(text: str, query: str) -> None:
    assert set(query_words(query)) & set(analyze(text))


def test_short_query_of_unknown_language_finds_a_word_in_a_foreign_text() -> None:
    text = analyze("Où est la gare, et combien coûte le billet pour Paris?")
    assert set(query_words("Paris")) <= set(text)


@pytest.mark.req("RE-9")
def test_function_words_are_dropped_from_queries_only() -> None:
    assert query_words("When did the dog run?") == ("dog", "run")
    assert "the" in analyze("the dog")


def test_query_of_function_words_alone_keeps_them() -> None:
    assert query_words("The Who") == ("the", "who")
    assert query_words("什么") == ("什么",)


def test_query_words_are_different_and_in_order() -> None:
    assert query_words("dogs cats dog") == ("dog", "cat")


def test_index_words_keep_repetition() -> None:
    assert analyze("dog dogs Dog") == ("dog", "dog", "dog")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where is the dog and what does it do?", "en"),
        ("Wo ist der Hund und was macht er?", "de"),
        ("¿Dónde está el perro y qué hace?", "es"),
        ("Où est le chien et que fait-il dans la maison?", "fr"),
        ("Helio GmbH", "en"),
        ("", "en"),
    ],
)
def test_language_is_told_by_function_words(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_default_language_decides_where_nothing_is_detected() -> None:
    assert analyze("Häuser", default="de") == ("haus",)
    assert detect_language("Helio", default="de") == "de"


def test_given_language_is_not_detected_again() -> None:
    assert analyze("houses", language="de") == analyze("houses", language="de", default="en")
    assert "hous" in analyze("houses", language="de")


@pytest.mark.req("RE-9")
@pytest.mark.parametrize(
    "hostile",
    [
        "root causes/solutions",
        "a AND (",
        '"',
        "*",
        "C++ && !x",
        "field:value",
        "",
        "word " * 5_000,
        "x" * 100_000,
        "\ud800\udfff\x00\x1b[0m",
        "a" + "\u0301" * 10_000,
        "-_.@:/'" * 1_000,
        "\u202eevil\u200b",
    ],
)
def test_hostile_text_gives_plain_words(hostile: str) -> None:
    for word in (*analyze(hostile), *query_words(hostile)):
        assert 0 < len(word) <= MAX_WORD_CHARACTERS + 2
        assert not any(character.isspace() for character in word)


@pytest.mark.req("RE-9")
def test_slash_separates_words() -> None:
    assert {"caus", "solut"} <= set(analyze("root causes/solutions"))


@given(st.text(alphabet=st.characters(max_codepoint=sys.maxunicode)))
def test_words_hold_neither_space_nor_control_characters(text: str) -> None:
    for word in analyze(text):
        assert word.split() == [word]
        assert not {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}.intersection(map(unicodedata.category, word))


@given(st.text())
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    assert set(query_words(text)) <= set(analyze(text))


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_forgetting_cached_words_changes_no_result() -> None:
    before = analyze("running dogs")
    forget_cached_words()
    assert analyze("running dogs") == before


@pytest.mark.req("RE-27")
@pytest.mark.parametrize(
    ("text", "query", "sentence"),
    [
        ("Rain. A dog. Two dogs ran home.", "dog home", "Two dogs"),
        ("下雨了。外币汇率每日更新。", "汇率", "外币汇率"),
        ("nothing here", "dog", "nothing"),
        ("Cafe\u0301 one. Dog two.", "dog", "Dog two"),
    ],
)
def test_best_match_is_the_sentence_with_most_words(text: str, query: str, sentence: str) -> None:
    assert text[best_match(text, query_words(query)) :].startswith(sentence)


def test_best_match_of_an_empty_text_is_its_beginning() -> None:
    assert best_match("", ["dog"]) == 0
