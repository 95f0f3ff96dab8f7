"""The setting of session memory: whole numbers from 0 on, from wherever they come; others stop the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.settings import load
from graph.model.errors import SettingsInvalid

NAME = "sessions.memory.max_length"


@pytest.mark.req("SM-86", "SM-90")
def test_the_limit_is_8000_characters_unless_the_server_says_otherwise(tmp_path: Path) -> None:
    assert load({}).sessions.memory.max_length == 8_000
    assert load({"ROOTWARD_SESSIONS__MEMORY__MAX_LENGTH": "4000"}).sessions.memory.max_length == 4_000
    file = tmp_path / "rootward.toml"
    file.write_text("[sessions.memory]\nmax_length = 0\n")
    assert load({}, file).sessions.memory.max_length == 0


@pytest.mark.req("SM-91")
@pytest.mark.parametrize("value", ["-1", "4000.5", "many", "", "true"])
def test_any_other_value_stops_the_start_with_the_name_of_the_setting(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        load({"ROOTWARD_SESSIONS__MEMORY__MAX_LENGTH": value})
    assert refused.value.details["name"] == NAME
    assert NAME in refused.value.message
    assert refused.value.details["allowed"] == "at least 0"


@pytest.mark.req("SM-91")
@pytest.mark.parametrize("value", ["-1", "4000.0", "true", '"4000x"', "[]"])
def test_so_does_one_in_the_file(tmp_path: Path, value: str) -> None:
    file = tmp_path / "rootward.toml"
    file.write_text(f"[sessions.memory]\nmax_length = {value}\n")
    with pytest.raises(SettingsInvalid, match=NAME):
        load({}, file)
