"""Every code of a model's failure has words for people."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dreaming.models.answers import Problem
from graph.model.errors import ModelAnswerInvalid, ModelBudgetSpent
from graph.rules.model_reasons import ADVICE, SYNC_ADVICE, advice_on


@pytest.mark.parametrize("problem", list(Problem))
def test_every_problem_of_an_answer_is_explained(problem: Problem) -> None:
    assert advice_on(ModelAnswerInvalid("", problem=str(problem)).wire_code)


def test_a_used_up_budget_is_explained() -> None:
    assert "tomorrow" in str(advice_on(ModelBudgetSpent("").wire_code))


def test_what_says_itself_has_no_advice() -> None:
    assert [advice_on(code) for code in ("NAME_TAKEN", "", None)] == [None] * 3


def test_each_says_what_helps() -> None:
    helps = ("set ", "check ", "again", "raise ", "look at", "next try", "make ")
    assert [code for code, text in ADVICE.items() if not any(word in text for word in helps)] == []


def test_the_page_on_models_lists_every_code_with_its_words() -> None:
    page = how_to("use-a-model.md")
    assert [line for line in page.splitlines() if line.startswith(("| `MODEL_", "| `light_"))]
    assert [code for code, text in ADVICE.items() if f"| `{code}` | {text} |" not in page] == []


@pytest.mark.req("MA-25")
def test_every_code_of_a_connector_is_explained_by_the_service_and_on_its_page() -> None:
    rows = [line for line in how_to("connect-documents.md").splitlines() if line.startswith("| `SYNC_")]
    assert {code for row in rows for code in re.findall(r"`(SYNC_\w+)`", row)} == set(SYNC_ADVICE)
    assert "feed" in str(advice_on("SYNC_NOT_A_FEED"))
    assert "give it back, or remove" in str(advice_on("SYNC_PLACE_GONE"))


def how_to(name: str) -> str:
    return (Path(__file__).parents[4] / "docs" / "how-to" / name).read_text(encoding="utf-8")
