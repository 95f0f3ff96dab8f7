"""The settings of workspace memory (FM-87 to FM-89)."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from api.bootstrap import build
from api.settings import load, names
from graph.model.errors import SettingsInvalid
from graph.rules.memory_limits import BOUNDS, MemoryLimits
from tests.docs.pages import ROOT

CONTRACT = ROOT / "docs" / "contracts" / "workspace-memory.md"


@pytest.mark.req("FM-87")
def test_exactly_the_settings_of_the_contract_are_known_with_its_defaults_and_bounds() -> None:
    rows = [line.split("|")[1:4] for line in CONTRACT.read_text(encoding="utf-8").splitlines() if "| `memory." in line]
    table = {name.strip(" `"): (default.strip(" *"), bounds.strip()) for name, default, bounds in rows}
    assert set(table) == {name for name in names() if name.startswith("memory.")}
    limits = load({}).memory.limits()
    assert limits == MemoryLimits()
    for name, (default, bounds) in table.items():
        field = name.removeprefix("memory.").replace("default_guide.", "default_guide_")
        assert str(getattr(limits, field)) == default.replace("null", "None")
        if field in BOUNDS:
            low, high = BOUNDS[field]
            assert bounds.replace(">", "") == f"{low}\u2013{high}"
    assert len(table) == len(fields(MemoryLimits))


@pytest.mark.req("FM-88")
def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "rootward.toml"
    file.write_text(
        '[memory]\npath_bytes = 100\nwrite_retries = 1\n[memory.default_guide]\nfile = "F"\n', encoding="utf-8"
    )
    variables = {
        "ROOTWARD_MEMORY__PATH_BYTES": "200",
        "ROOTWARD_MEMORY__DEFAULT_GUIDE__RECORD": "R",
        "ROOTWARD_MEMORY__RECALL_SECONDS": "0.5",
    }
    limits = load(variables, file).memory.limits()
    assert (limits.path_bytes, limits.write_retries, limits.recall_seconds) == (200, 1, 0.5)
    assert (limits.default_guide_file, limits.default_guide_record) == ("F", "R")


@pytest.mark.req("FM-89")
@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_a_value_out_of_bounds_is_named(name: str) -> None:
    low, high = BOUNDS[name]
    beyond = [high + 1, low - 1 if low else -1]
    for value in beyond:
        with pytest.raises(SettingsInvalid) as refused:
            load({f"ROOTWARD_MEMORY__{name.upper()}": str(value)}).memory.limits()
        assert refused.value.details["name"] == f"memory.{name}"


@pytest.mark.req("FM-89")
@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({"CONTEXT_BYTES": "2000", "ALWAYS_LOAD_BYTES": "2001"}, "always_load_bytes"),
        ({"MAX_FILE_BYTES": "2048"}, "frontmatter_bytes"),
        ({"MAX_FILE_BYTES": "70000", "MAX_TOTAL_BYTES": "65536"}, "max_file_bytes"),
        ({"DEFAULT_GUIDE__FILE": "x" * 4_097}, "default_guide.file"),
        ({"DEFAULT_GUIDE__RECORD": "é" * 2_049}, "default_guide.record"),
        ({"RECALL_SECONDS": "0"}, "recall_seconds"),
    ],
)
def test_values_that_do_not_fit_together_stop_the_start(variables: dict[str, str], name: str, tmp_path: Path) -> None:
    given = {f"ROOTWARD_MEMORY__{key}": value for key, value in variables.items()}
    settings = load({**given, "ROOTWARD_STORE__URL": "memory:", "ROOTWARD_DATA_DIR": str(tmp_path)})
    with pytest.raises(SettingsInvalid) as refused:
        build(settings)
    assert refused.value.details["name"] == f"memory.{name}"
