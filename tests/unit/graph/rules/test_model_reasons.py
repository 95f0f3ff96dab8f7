"""Every code of a model's failure has words for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreaming.models.answers import Problem
from graph.model.errors import ModelAnswerInvalid, ModelBudgetSpent
from graph.rules.model_reasons import ADVICE, advice_on


@pytest.mark.parametrize("problem", list(Problem))
def test_every_problem_of_an_answer_is_explained(problem: Problem) -> None:
    assert advice_on(ModelAnswerInvalid("", problem=str(problem)).wire_code)


def test_a_used_up_budget_is_explained() -> None:
    assert "tomorrow" in str(advice_on(ModelBudgetSpent("").wire_code))


def test_what_says_itself_has_no_advice() -> None:
    assert [advice_on(code) for code in ("VERSION_CONFLICT", "", None)] == [None] * 3


def test_each_says_what_helps() -> None:
    helps = ("set ", "check ", "again", "raise ", "look at", "next try", "make ")
    assert [code for code, text in ADVICE.items() if not any(word in text for word in helps)] == []


def test_the_page_on_models_lists_every_code_with_its_words() -> None:
    page = (Path(__file__).parents[4] / "docs" / "how-to" / "use-a-model.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith(("| `MODEL_", "| `light_"))]
    assert [code for code, text in ADVICE.items() if f"| `{code}` | {text} |" not in page] == []
