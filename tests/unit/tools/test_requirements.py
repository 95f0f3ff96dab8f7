"""The requirements tool: what counts as a test of an id, and what makes it fail."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.requirements import ROOT, Report, Requirement, judge, marks_in, read_report, render

CONTRACT = {"a.md": "- **KN-1** One.\n- **KN-2** Two, see **KN-1**.\n| **FM-1** | Three. |\n"}


def report_on(test: str, *, built: Sequence[str] = (), building: Sequence[str] = ()) -> Report:
    source = f"import pytest\n\n{test}\ndef test_it(): ...\n"
    return judge(CONTRACT, {"test_a.py": source}, {"built": built, "building": building})


def names(ids: frozenset[Requirement]) -> set[str]:
    return set(map(str, ids))


def test_ids_are_read_from_lists_and_tables_but_not_from_prose() -> None:
    assert names(report_on("").declared) == {"KN-1", "KN-2", "FM-1"}


@pytest.mark.parametrize(
    "mark",
    [
        '@pytest.mark.req("KN-1", "FM-1")',
        'pytestmark = [pytest.mark.req("KN-1"), pytest.mark.req("FM-1")]',
        '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.req("KN-1", "FM-1"))])',
        'from pytest import mark\n@mark.req("KN-1", "FM-1")',
    ],
)
def test_a_mark_covers_its_ids_wherever_it_stands(mark: str) -> None:
    assert names(report_on(mark).covered) == {"KN-1", "FM-1"}


@pytest.mark.parametrize("idle", ["@pytest.mark.skip", '@pytest.mark.xfail(reason="later")'])
def test_a_test_that_does_not_run_covers_nothing(idle: str) -> None:
    assert report_on(f'{idle}\n@pytest.mark.req("KN-1")').covered == frozenset()


def test_a_mark_of_another_name_covers_nothing() -> None:
    assert marks_in('import pytest\n@pytest.mark.required("KN-1")\ndef test_it(): ...\n', "t.py") == []


def test_a_built_id_without_a_test_fails() -> None:
    report = report_on('@pytest.mark.req("KN-1")', built=["KN-1..KN-2"])
    assert names(report.broken_promises) == {"KN-2"}
    assert report.fails


def test_an_id_that_is_being_built_is_listed_and_does_not_fail() -> None:
    report = report_on('@pytest.mark.req("KN-1")', building=["KN-1..KN-2"])
    assert not report.fails
    assert "being built, without a test: 1\n  KN-2" in render(report)
    assert "KN      1/2 with a test; being built: 1/2" in render(report)


@pytest.mark.parametrize(
    ("mark", "fault"),
    [
        ('@pytest.mark.req("KN-9")', "test_a.py:3: KN-9 stands in no contract"),
        ('@pytest.mark.req("kn-1")', "test_a.py:3: 'kn-1' is no requirement id; write it as KN-70"),
        ("@pytest.mark.req(*IDS)", "test_a.py:3: write the ids as plain strings"),
        ("@pytest.mark.req()", "test_a.py:3: write the ids as plain strings"),
    ],
)
def test_a_mark_that_names_no_requirement_is_a_fault(mark: str, fault: str) -> None:
    report = report_on(mark)
    assert report.fails
    assert [text for text in report.faults if text.startswith(fault)]


def test_an_id_declared_twice_is_a_fault() -> None:
    report = judge({"a.md": "- **KN-1** One.\n", "b.md": "- **KN-1** Again.\n"}, {}, {})
    assert report.faults == ("KN-1 is declared twice",)


def test_a_list_entry_that_no_contract_declares_is_a_fault() -> None:
    assert report_on("", building=["KN-2..KN-3"]).faults == ("built.toml names KN-3, which no contract declares",)


@pytest.mark.parametrize("entry", ["KN-2..KN-1", "KN-1..FM-1", "KN"])
def test_a_malformed_list_entry_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r"KN"):
        report_on("", built=[entry])


def test_the_contracts_of_this_checkout_declare_every_requirement_without_gaps() -> None:
    declared = read_report(ROOT).declared
    numbers: dict[str, list[int]] = {}
    for one in sorted(declared):
        numbers.setdefault(one.prefix, []).append(one.number)
    assert len(declared) == 1_141
    assert {prefix: found for prefix, found in numbers.items() if found != list(range(1, len(found) + 1))} == {}


def test_tests_of_the_python_library_count(tmp_path: Path) -> None:
    for path, text in {
        "docs/contracts/a.md": CONTRACT["a.md"],
        "docs/contracts/built.toml": 'built = ["KN-1", "FM-1"]',
        "tests/test_a.py": '@pytest.mark.req("KN-1")\ndef test_it(): ...\n',
        "client/tests/test_b.py": '@pytest.mark.req("FM-1")\ndef test_it(): ...\n',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    report = read_report(tmp_path)
    assert names(report.covered) == {"KN-1", "FM-1"}
    assert not report.fails
