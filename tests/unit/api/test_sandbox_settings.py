"""The settings of sandbox memory: those of the contract, and models whose secrets nobody sees (SB-121)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from api.bootstrap import sandbox_rules
from api.settings import given, listed, load, names
from dreaming.sandbox.rules import SandboxRules
from graph.model.errors import SettingsInvalid
from rootward.models import Endpoint
from rootward.sandbox.memory import MemoryGenerateConfig, MemoryLimits
from tests.docs.pages import ROOT

CONTRACT = ROOT / "docs" / "contracts" / "sandbox-memory.md"
MODELS = {"gpt-5.4": {"base_url": "https://models.test/v1", "api_key": "sk-secret", "model": "large"}}


@pytest.mark.req("SB-121")
def test_exactly_the_settings_of_the_contract_are_known_with_its_defaults() -> None:
    row = next(line for line in CONTRACT.read_text(encoding="utf-8").splitlines() if line.startswith("| **SB-121**"))
    found = dict(re.findall(r"`(?:sandbox_memory)?\.(\w+)` `?([^`,]+?)`?(?=,| \()", row))
    assert set(found) == {name.removeprefix("sandbox_memory.") for name in names() if name.startswith("sandbox_mem")}
    settings = load({}).sandbox_memory
    assert {name: json.loads(default) for name, default in found.items()} == settings.model_dump()


@pytest.mark.req("SB-121", "SB-107")
def test_the_defaults_are_those_of_the_library() -> None:
    assert sandbox_rules(load({})) == SandboxRules(limits=MemoryLimits(), generate=MemoryGenerateConfig(), models={})


@pytest.mark.req("SB-121")
def test_models_come_from_the_file_or_as_json_from_a_variable_and_keep_their_secrets(tmp_path: Path) -> None:
    file = tmp_path / "rootward.toml"
    model = 'base_url = "https://models.test/v1"\napi_key = "sk-secret"\nmodel = "large"\n'
    file.write_text(f'[sandbox_memory]\nphase_seconds = 30\n[sandbox_memory.models."gpt-5.4"]\n{model}')
    variables = {"ROOTWARD_SANDBOX_MEMORY__MODELS": json.dumps(MODELS), "ROOTWARD_SANDBOX_MEMORY__PHASE_SECONDS": "30"}
    for settings in (load({}, file), load(variables)):
        rules = sandbox_rules(settings)
        endpoint = Endpoint(base_url="https://models.test/v1", api_key="sk-secret", model="large")
        assert (rules.models, rules.limits.phase_seconds) == ({"gpt-5.4": endpoint}, 30)
        shown = "\n".join(f"{one.name}={one.value}" for one in listed(settings, given(variables)))
        assert "https://models.test/v1" in shown
        assert "sk-secret" not in shown + repr(rules) + repr(settings)


@pytest.mark.req("SB-121")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("models", '{"gpt-5.4": {"api_key": "sk-secret"}}'),
        ("models", '{"gpt-5.4": {"base_url": "ftp://x", "api_key": "sk-secret", "model": "m"}}'),
        ("models", '{"gpt-5.4": "sk-secret"'),
        ("models", "gpt-5.4=sk-secret"),
        ("max_raw_memories_for_consolidation", "0"),
        ("phase_two_max_turns", "0"),
        ("phase_seconds", "0"),
    ],
)
def test_other_values_stop_the_start_with_the_name_alone(name: str, value: str) -> None:
    variable = f"ROOTWARD_SANDBOX_MEMORY__{name.upper()}"
    with pytest.raises(SettingsInvalid) as refused:
        load({variable: value})
    assert (refused.value.details["name"], refused.value.details["origin"]) == (f"sandbox_memory.{name}", variable)
    assert "sk-secret" not in f"{refused.value.message} {refused.value.details}"
