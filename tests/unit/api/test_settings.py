"""Settings: defaults, then the file, then the environment; anything unknown or bad stops the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.settings import given, listed, load, names
from graph.model.errors import SettingsInvalid


def test_without_anything_given_the_defaults_hold() -> None:
    assert load({}).server.port == 8_000


@pytest.mark.req("AD-36")
def test_the_file_wins_over_defaults_and_the_environment_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "rootward.toml"
    file.write_text('[server]\nport = 9001\nhost = "::1"\n', encoding="utf-8")
    settings = load({"ROOTWARD_SERVER__PORT": "9002"}, file)
    assert (settings.server.port, settings.server.host) == (9_002, "::1")


@pytest.mark.req("AD-36")
@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("ROOTWARD_SERVER__PORT", "70000", "server.port"),
        ("ROOTWARD_SERVER__PORT", "many", "server.port"),
        ("ROOTWARD_STORE__URL", "mysql://x", "store.url"),
        ("ROOTWARD_LOG__LEVEL", "chatty", "log.level"),
    ],
)
def test_a_bad_value_names_setting_origin_and_what_is_allowed(variable: str, value: str, name: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        load({variable: value})
    assert refused.value.details["name"] == name
    assert refused.value.details["origin"] == variable
    assert refused.value.details["allowed"]
    assert value not in refused.value.message


@pytest.mark.req("AD-36")
def test_an_unknown_name_stops_the_start(tmp_path: Path) -> None:
    file = tmp_path / "rootward.toml"
    file.write_text("[server]\nprot = 1\n", encoding="utf-8")
    for environ, path, origin in (
        ({"ROOTWARD_SERVR__PORT": "1"}, None, "ROOTWARD_SERVR__PORT"),
        ({}, file, str(file)),
    ):
        with pytest.raises(SettingsInvalid) as refused:
            load(environ, path)
        assert refused.value.details["origin"] == origin


def test_variables_of_the_tests_and_of_other_programs_are_no_settings() -> None:
    load({"ROOTWARD_TEST_PROFILE": "soak", "ROOTWARD_NEO4J": "off", "PATH": "/bin"})


def test_a_list_is_written_with_commas() -> None:
    settings = load({"ROOTWARD_SERVER__ALLOWED_ORIGINS": "https://a.test, https://b.test"})
    assert settings.server.allowed_origins == ("https://a.test", "https://b.test")


@pytest.mark.req("AD-36")
def test_the_list_of_settings_shows_origins_and_hides_secrets() -> None:
    environ = {"ROOTWARD_STORE__PASSWORD": "hunter2"}
    rows = {row.name: row for row in listed(load(environ), given(environ))}
    assert rows.keys() == names().keys()
    assert rows["store.password"].origin == "ROOTWARD_STORE__PASSWORD"
    assert "hunter2" not in rows["store.password"].value
    assert rows["server.port"].origin == "default"


def test_a_named_file_that_is_missing_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid):
        load({"ROOTWARD_CONFIG": str(tmp_path / "nowhere.toml")})
