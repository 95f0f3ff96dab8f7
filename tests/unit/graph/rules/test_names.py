"""Same names, near names and dated names."""

import pytest

from graph.rules.names import (
    NamedEntry,
    NearPair,
    is_dated_name,
    is_near_name,
    is_same_name,
    near_pairs,
    normalised_name,
)


def entries(*names: str) -> list[NamedEntry]:
    return [NamedEntry(id=f"e{number}", names=(name,)) for number, name in enumerate(names)]


@pytest.mark.req("KN-18")
def test_name_is_normalised() -> None:
    assert normalised_name(" Ａ\u030angström \t LABS\n") == normalised_name("Ångström labs")
    assert normalised_name("Helio") != normalised_name("Helio.")


@pytest.mark.req("CO-73")
@pytest.mark.parametrize(
    ("name", "other"),
    [("DGIA", "DGIA"), ("스코프랩스", "스코프 랩스"), ("Ångström Labs", "ångström labs"), ("Wren", "Wren 🕯️")],
)
def test_names_of_one_entity_are_the_same(name: str, other: str) -> None:
    assert is_same_name(name, other)


@pytest.mark.req("CO-73")
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Iran", "Tigran"),
        ("Room 101", "Room 102"),
        ("UA123", "UA124"),
        ("2023 Tax Return", "2024 Tax Return"),
        ("Dr John Richardson", "Dr Jane Richardson"),
        ("김민수", "김민석"),
        ("Q3 revenue report", "Q4 revenue report"),
        ("Тигран", "Иран"),
    ],
)
def test_names_of_two_entities_are_not_the_same(name: str, other: str) -> None:
    assert not is_same_name(name, other)


@pytest.mark.req("DR-65")
def test_near_name_is_found_among_many() -> None:
    assert is_near_name("Invoice approvals", ["Payroll", "Invoice approval"])
    assert not is_near_name("Invoice approvals", ["Payroll", "Invoicing"])


@pytest.mark.req("CO-73")
def test_each_near_pair_counts_once() -> None:
    first = NamedEntry(id="a", names=("Helio GmbH", "Helio Company"))
    second = NamedEntry(id="b", names=("Helio Gmbh.", "HELIO company"))
    assert near_pairs([second, first]) == [NearPair(first="a", second="b")]


@pytest.mark.req("CO-73")
def test_pair_marked_distinct_is_left_out() -> None:
    pair = NearPair(first="e0", second="e1")
    assert near_pairs(entries("Room 101", "Room 102"), distinct={pair}) == []
    assert near_pairs(entries("Room 101", "Room 102")) == [pair]


@pytest.mark.req("CO-73")
def test_names_of_different_length_are_compared() -> None:
    assert near_pairs(entries("Orion platform", "Orion platforms")) == [NearPair(first="e0", second="e1")]
    assert near_pairs(entries("abcdefghijklmnopq", "abcdefghijklmnopqxyz")) == [NearPair(first="e0", second="e1")]
    assert near_pairs(entries("abcdefghijklmnop", "abcdefghijklmnopwxyz")) == []


@pytest.mark.req("CO-73")
def test_short_names_are_no_near_pair() -> None:
    assert near_pairs(entries("HLO", "HLA", "Ana", "Anna")) == []


@pytest.mark.req("CO-73")
def test_own_aliases_are_no_pair() -> None:
    assert near_pairs([NamedEntry(id="a", names=("Helio GmbH", "Helio Gmbh."))]) == []


@pytest.mark.req("CO-73")
def test_similarity_is_a_setting() -> None:
    assert near_pairs(entries("UA123", "UA124"), similarity=0.8) == [NearPair(first="e0", second="e1")]
    assert near_pairs(entries("UA123", "UA124")) == []


@pytest.mark.req("CO-72", "DR-51")
@pytest.mark.parametrize(
    "name",
    [
        "Standup 2025-05-10",
        "Report 2025/05",
        "Notes 2025.05.10",
        "2025年5月10日 会议",
        "2025年5月",
        "Log 20250510",
        "Sprint 2025-W07",
        "Q3 2024 revenue",
        "2024 Q3",
        "March 2024 review",
        "Review of May 10, 2024",
        "2024 december plan",
        "Yesterday's outage",
        "Plan for this week",
        "今天的计划",
        "上周总结",
        "Ｎｏｔｅｓ　２０２５－０５",
    ],
)
def test_dated_name_is_found(name: str) -> None:
    assert is_dated_name(name)
    assert not is_dated_name(name, entry_type="event")


@pytest.mark.req("CO-72")
@pytest.mark.parametrize(
    "name",
    [
        "Plan 2025",
        "2024 Tax Return",
        "Helio GmbH",
        "Room 101",
        "Part 20251340",
        "Part 18991231",
        "Order 202505101",
        "2025-13 board",
        "Q3 revenue report",
        "Marching 2024",
        "May",
        "Todays",
        "",
    ],
)
def test_stable_name_is_not_dated(name: str) -> None:
    assert not is_dated_name(name, entry_type="project")
