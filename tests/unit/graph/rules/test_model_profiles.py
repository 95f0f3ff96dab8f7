"""What a model profile may say."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.errors import BadInput
from graph.rules.model_profiles import checked_profile

GOOD: dict[str, Any] = {
    "name": "light",
    "provider": "openai",
    "model": "small",
    "base_url": None,
    "credential": None,
    "prices": None,
}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"base_url": "http://127.0.0.1:8080/v1"},
        {"credential": "env:OPENAI_API_KEY"},
        {"credential": "env:ROOTWARD_MODEL_KEY"},
        {"prices": {"input": 0.15, "output": 0.6}},
        {"model": "org/model:7b"},
    ],
    ids=str,
)
def test_sensible_profiles_are_taken(fields: dict[str, Any]) -> None:
    checked_profile(**{**GOOD, **fields})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Light!"),
        ("name", ""),
        ("provider", "nobody"),
        ("model", "two words"),
        ("model", ""),
        ("base_url", "ftp://host"),
        ("base_url", "http://user:secret@host/v1"),
        ("base_url", "http://host:99999"),
        ("base_url", "http://[bad"),
        ("base_url", "/v1"),
        ("credential", "sk-canary"),
        ("credential", "env:ROOTWARD_STORE__PASSWORD"),
        ("credential", "env:AWS_SECRET_ACCESS_KEY"),
        ("credential", "file:/etc/shadow"),
        ("prices", {"input": 1}),
        ("prices", {"input": -1, "output": 1}),
        ("prices", {"input": True, "output": 1}),
    ],
)
def test_others_are_refused_without_being_repeated(field: str, value: Any) -> None:
    with pytest.raises(BadInput) as caught:
        checked_profile(**{**GOOD, field: value})
    assert "canary" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_no_other_secret_of_the_process_can_be_named() -> None:
    """An admin who sets the base URL could have it sent there."""
    with pytest.raises(BadInput):
        checked_profile(**{**GOOD, "credential": "env:ROOTWARD_ROOT_KEY"})
