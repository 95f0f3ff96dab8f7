"""Watching what an agent learns: its state, its lint, one more run that is followed, background work, models."""

from __future__ import annotations

import re

import pytest

from api.cli.commands.watching import Rule
from graph.rules.lint import LintRule
from tests.api.cli.support import Cli, Server


@pytest.mark.req("CO-65", "CO-66", "CO-69")
def test_the_state_is_told_in_order_with_the_alerts_first(sample: Server) -> None:
    shown = sample.cli.ok("dream", "status", "--as", "mei")
    heads = [line for line in shown.splitlines() if line and not line.startswith(" ")]
    assert heads[1:] == [
        "Alerts",
        "Vectors",
        "Stage A: what was said, channel by channel",
        "Stage B: curation",
        "Resident memos",
        "Stuck",
        "Lint",
        "Survival",
    ]
    assert "embedding_unconfigured: no embedding provider is configured" in shown
    assert "dated_name: " in shown


@pytest.mark.req("CO-68")
def test_a_private_chat_is_in_the_state_of_its_people_alone(sample: Server) -> None:
    assert "private: " in sample.cli.ok("dream", "status", "--as", "mei")
    assert "private: " not in sample.cli.ok("dream", "status", "--as", "jonas")


@pytest.mark.req("CO-70", "CO-71")
def test_the_lint_lists_findings_with_the_ids_of_their_entries(sample: Server) -> None:
    shown = sample.cli.ok("dream", "lint", "--as", "jonas")
    number = int(shown.split(" ", 1)[0])
    assert len(re.findall(r"^(?:dated_name|near_name|long_entry|no_blocks): ", shown, flags=re.MULTILINE)) == number
    assert sample.cli.ok("dream", "lint", "--as", "jonas", "--rule", "long_entry").startswith("0 findings")


@pytest.mark.req("DR-82", "DR-32")
def test_a_run_is_followed_until_it_has_ended(sample: Server) -> None:
    shown = sample.cli.ok("dream", "run", "--as", "jonas")
    assert re.search(r"^succeeded: 0 items read, 0 operations, 0 lessons, 0 refused$", shown, flags=re.MULTILINE)


def test_background_work_is_listed_cancelled_and_released(sample: Server) -> None:
    sample.cli.ok("dream", "run", "--as", "jonas")
    shown = sample.cli.ok("jobs", "list", "--state", "succeeded", "--state", "queued")
    job = next(line.split()[-1] for line in shown.splitlines() if line.startswith("stage_b"))
    assert sample.cli.ok("jobs", "release", job).splitlines()[1].startswith("stage_b")
    refused = sample.cli.run("jobs", "cancel", "no-such-job", "--reason", "no_need")
    assert refused.code == 5


@pytest.mark.req("AD-18")
def test_models_are_listed_and_removed(made: Cli) -> None:
    assert made.ok("admin", "models").strip() == "none"
    made.ok(
        "admin", "model", "light", "--provider", "openai", "--model", "some-model", "--credential", "env:OPENAI_API_KEY"
    )
    assert "light  openai    some-model           env:OPENAI_API_KEY  1" in made.ok("admin", "models")
    assert "removed" in made.ok("admin", "remove-model", "light")
    assert made.ok("admin", "models").strip() == "none"


def test_without_a_server_a_run_is_asked_for_and_nobody_waits(made: Cli) -> None:
    made.ok("admin", "agent", "Kettle", "--id", "kettle")
    said = made.ok("dream", "run")
    assert "start rootward serve, or rootward worker --once" in said
    assert "stage_b" in made.ok("jobs", "list")
    shown = made.ok("dream", "status")
    assert "light_profile_unavailable" in shown
    assert "no run can start: light_profile_unavailable" in shown


def test_the_rules_that_can_be_asked_for_are_those_of_the_lint() -> None:
    assert {rule.name: rule.value for rule in Rule} == {rule.name: rule.value for rule in LintRule}
