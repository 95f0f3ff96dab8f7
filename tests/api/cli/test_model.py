"""The one setting that turns learning on is taken by a command, and keys of models are no settings (AD-45)."""

from __future__ import annotations

import pytest

from tests.api.cli.support import Cli


@pytest.mark.req("AD-45", "AD-18")
def test_the_profile_that_turns_learning_on_is_set_by_one_command(made: Cli) -> None:
    command = ("admin", "model", "light", "--provider", "openai", "--model", "some-model")
    shown = made.ok(*command, "--credential", "env:ROOTWARD_MODEL_KEY", ROOTWARD_MODEL_KEY="a key")
    assert shown.strip() == "light: openai some-model (version 1)"
    assert "model_profile.set" in made.ok("admin", "log")
    refused = made.run(*command, "--credential", "sk-a-key-itself")
    assert refused.code == 2
    assert "never the key itself" in refused.err
    assert "sk-a-key" not in refused.err


@pytest.mark.req("AD-18")
def test_prices_that_no_list_has_come_with_a_profile(made: Cli) -> None:
    command = (
        "admin",
        "model",
        "m-1",
        "--provider",
        "openai",
        "--model",
        "local",
        "--base-url",
        "http://127.0.0.1:1/v1",
    )
    assert made.ok(*command, "--prices", '{"input": 0.15, "output": 0.6}').strip() == "m-1: openai local (version 1)"
    assert made.run(*command, "--prices", "cheap").code == 2
