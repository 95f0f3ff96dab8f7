"""Similar names and similar lessons."""

import pytest

from graph.text.similarity import name_key, name_similarity, word_overlap


@pytest.mark.req("CO-73")
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("DGIA", "dgia"),
        ("스코프랩스", "스코프 랩스"),
        ("Ångström Labs", "ångström labs"),
        ("A\u030angstro\u0308m Labs", "Ångström Labs"),
        ("Wren", "Wren 🕯️"),
        ("Helio GmbH", "Helio Gmbh."),
        ("ＨＬＯ", "hlo"),
    ],
)
def test_names_that_differ_in_signs_alone_are_equal(name: str, other: str) -> None:
    assert name_key(name) == name_key(other)
    assert name_similarity(name, other) == 1.0


@pytest.mark.parametrize(("name", "other"), [("🕯️", "🔥"), ("हिन्दी", "हन्दी"), ("+", "-")])
def test_names_that_differ_in_more_are_not_equal(name: str, other: str) -> None:
    assert name_key(name) != name_key(other)


@pytest.mark.req("CO-73")
def test_similarity_is_one_minus_distance_over_longer_length() -> None:
    assert name_similarity("abcde fghij klmno pqrst", "abcde fghij klmno xyzst") == pytest.approx(0.85)


@pytest.mark.req("CO-73")
def test_short_names_are_near_only_when_equal() -> None:
    assert name_similarity("abcd", "abce") == 0.0
    assert name_similarity("abcdefg", "abcd") == 0.0
    assert name_similarity("김민수", "김민석") == pytest.approx(2 / 3)
    assert name_similarity("王明", "王月") == 0.0


@pytest.mark.req("SK-13")
def test_reordered_words_are_the_same_lesson() -> None:
    assert word_overlap("Always run migrations first", "first, always run MIGRATIONS") == 1.0


@pytest.mark.req("SK-13")
def test_overlap_is_shared_over_all_words() -> None:
    assert word_overlap("run the tests", "run the linter") == pytest.approx(2 / 4)
    assert word_overlap("部署前先测试", "部署前先备份") == pytest.approx(3 / 7)
    assert word_overlap("", "") == 0.0
