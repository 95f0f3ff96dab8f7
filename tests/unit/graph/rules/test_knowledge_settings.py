"""The table of settings is that of the contract: names, defaults, ranges (KN-119)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import regex

from graph.model.errors import BadInput
from graph.rules.knowledge_settings import CURRENT_VALUE_PATTERNS, SPECS, TRANSIENT_PATTERNS, SettingType, checked

CONTRACT = Path(__file__).parents[4] / "docs" / "contracts" / "knowledge.md"
_ROW = re.compile(r"^\| (`[a-z_]+\.[a-z_`., ]+) \| (.+?) \| (.*) \|$", re.MULTILINE)
_SPAN = re.compile(r"(−?[\d.,]*\d)–([\d.,]*\d)")
_LEAST = re.compile(r"([≥>]) ([\d.,]+)")


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield name, default and range of each setting of the contract."""
    section = CONTRACT.read_text(encoding="utf-8").partition("## 19 Settings")[2].partition("## 20")[0]
    for names, default, range_ in _ROW.findall(section):
        for name in re.findall(r"`([^`]+)`", names):
            yield name, default.strip("`"), range_


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def default_of(name: str, text: str) -> Any:
    if text.startswith("none"):
        return None
    if text == "built-in list":
        return SPECS[name].default
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"[\d.,]+", text):
        return number(text)
    return tuple(text.split(", ")) if ", " in text else text


@pytest.mark.req("KN-119")
def test_every_setting_of_the_contract_has_its_default() -> None:
    listed = {name: default_of(name, default) for name, default, _ in rows()}
    assert len(listed) > 50
    assert {name: SPECS[name].default for name in listed if name in SPECS} == listed
    assert {name for name in SPECS if SPECS[name].per_agent} == {n for n in SPECS if n.startswith("dream.")}


@pytest.mark.req("KN-119")
@pytest.mark.parametrize(("name", "range_"), [pytest.param(n, r, id=n) for n, _, r in rows() if _SPAN.search(r)])
def test_both_ends_of_a_range_are_inside_and_what_is_beyond_is_refused(name: str, range_: str) -> None:
    found = _SPAN.search(range_)
    assert found is not None
    low, high = number(found[1]), number(found[2])
    whole = SettingType.of(SPECS[name]) is SettingType.INTEGER
    for value in (low, high):
        assert checked(name, int(value) if whole else value) == value
    for value in (low - 1, high + 1):
        with pytest.raises(BadInput):
            checked(name, int(value) if whole else value)


@pytest.mark.req("KN-119")
@pytest.mark.parametrize(("name", "range_"), [pytest.param(n, r, id=n) for n, _, r in rows() if _LEAST.search(r)])
def test_the_least_value_is_that_of_the_contract(name: str, range_: str) -> None:
    found = _LEAST.search(range_)
    assert found is not None
    least = int(number(found[2]))
    beyond = least if found[1] == ">" else least - 1
    assert checked(name, beyond + 1) == beyond + 1
    with pytest.raises(BadInput):
        checked(name, beyond)


@pytest.mark.req("DR-50")
@pytest.mark.parametrize("pattern", [*TRANSIENT_PATTERNS, *CURRENT_VALUE_PATTERNS])
def test_no_built_in_pattern_begins_again_at_each_place_of_a_run(pattern: str) -> None:
    """They are searched without watching the clock: one that did would take minutes here."""
    compiled = regex.compile(pattern, regex.IGNORECASE | regex.MULTILINE)

    def ends(text: str) -> bool:
        try:
            compiled.search(text, timeout=30)
        except TimeoutError:
            return False
        return True

    tails = (" in stock", " 1 of 1 do", " at a.b(c:1", " dollar", " code", " 年")
    texts = (run * 50_000 + "x" * 41 + tail for run in ("1.", "1,", "1", "\n", "costs 1", "库存1") for tail in tails)
    assert all(map(ends, texts))
