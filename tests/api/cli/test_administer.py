"""`rootward admin` and `token`: to a running server and to the store itself, with the same outcome (AD-18, AD-39)."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.cli import exits
from api.cli.exits import ServerRefused, exit_code
from api.errors import TABLE
from graph.model import errors
from tests.api.cli.support import Cli, Server


@pytest.mark.req("AD-18")
def test_people_places_and_rights_are_made_without_a_server(made: Cli) -> None:
    made.ok("admin", "agent", "Atlas", "--id", "atlas")
    made.ok("admin", "person", "Otto", "--id", "otto")
    made.ok("admin", "service", "Bridge", "--id", "bridge")
    made.ok("admin", "group", "Buyers", "--id", "buyers", "--member", "otto")
    made.ok("admin", "organization", "Heron", "--id", "heron", "--set", 'memory={"generate": false}')
    channel = ("admin", "channel", "Orders", "--agent", "atlas", "--id", "orders", "--member", "otto")
    made.ok(*channel, "--memory", "channel")
    assert "Otto" in made.ok("admin", "members", "channel:atlas/orders")
    made.ok("admin", "members", "channel:atlas/orders", "--remove", "otto")
    assert "Otto" not in made.ok("admin", "members", "channel:atlas/orders")
    made.ok("admin", "grant", "otto", "reader", "atlas")
    assert "no such grant" in made.ok("admin", "revoke", "otto", "curator", "atlas")
    assert "no longer has reader" in made.ok("admin", "revoke", "otto", "reader", "atlas")
    steps = made.ok("admin", "log")
    assert "grant.add" in steps
    assert "channel.create" in steps
    assert "Otto" not in steps


@pytest.mark.req("AD-18", "AD-19")
def test_agents_and_linked_bots_are_made_serve_organizations_and_are_deleted(made: Cli) -> None:
    made.ok("admin", "organization", "Heron", "--id", "heron")
    made.ok("admin", "agent", "Borea", "--id", "borea", "--shared", "--serves", "org:heron")
    made.ok("admin", "agent", "Link", "--id", "link", "--home", "borea")
    assert "no longer serves" in made.ok("admin", "serve", "borea", "org:heron", "--stop")
    assert "borea serves org:heron" in made.ok("admin", "serve", "borea", "org:heron")
    assert made.run("admin", "delete-agent", "borea", "--yes").code == 6
    made.ok("admin", "delete-agent", "link", "--yes")
    assert "deleted borea: 0 sessions and 0 chats" in made.ok("admin", "delete-agent", "borea", "--yes")
    assert made.run("admin", "delete-agent", "borea", "--yes").code == 5
    assert made.ok("admin", "log").count("agent.delete") == 2


def test_who_has_no_token_in_a_file_is_told_how_to_get_one(made: Cli) -> None:
    refused = made.run("ask", "who?", "--as", "nina", ROOTWARD_TOKEN=made.token("admin"))
    assert (refused.code, "nina.token: rootward token create nina --save makes one" in refused.err) == (2, True)
    (made.data_dir / "admin.token").unlink()
    assert "give one by ROOTWARD_TOKEN" in made.run("admin", "log").err


@pytest.mark.req("AD-18", "SM-79")
def test_settings_of_an_organization_are_listed_and_changed(made: Cli) -> None:
    assert "there are none yet" in made.ok("admin", "organizations")
    made.ok("admin", "organization", "Heron", "--id", "heron", "--set", 'memory={"generate": false}')
    made.ok("admin", "organization", "Auk", "--id", "auk")
    set_ = ("admin", "set-organization", "org:heron", "--set")
    assert made.ok(*set_, "agentMemoryModel=m-mem", "--name", "Heron & Co").startswith("Heron & Co: ")
    made.ok(*set_, "botMemory=true")
    auk, heron = made.ok("admin", "organizations").splitlines()
    assert (auk.split()[0], auk[-2:]) == ("Auk:", "{}")
    assert heron.endswith('{"agentMemoryModel": "m-mem", "botMemory": true, "memory": {"generate": false}}')
    assert '"agentMemoryModel": null' in made.ok(*set_, "agentMemoryModel=null")
    assert made.run(*set_, "memory=true").code == 2
    assert made.run("admin", "set-organization", "org:none", "--set", "botMemory=true").code == 5
    assert made.ok("admin", "log").count("organization.set") == 3


@pytest.mark.req("AD-18", "AM-45")
def test_an_agent_is_renamed_and_shared(made: Cli) -> None:
    made.ok("admin", "agent", "Atlas", "--id", "atlas")
    assert made.ok("admin", "set-agent", "atlas", "--name", "Borea", "--shared").startswith("Borea: ")
    assert made.ok("admin", "set-agent", "atlas", "--own").startswith("Borea: ")
    steps = [line for line in made.ok("admin", "log").splitlines() if "principal.set" in line]
    assert ["true" in line for line in steps] == [False, True]


@pytest.mark.req("AD-18")
def test_skills_are_made_listed_enabled_and_disabled(made: Cli, tmp_path: Path) -> None:
    made.ok("admin", "agent", "Atlas", "--id", "atlas")
    text = tmp_path / "skill.md"
    text.write_text("Write the changelog first.", encoding="utf-8")
    set_ = ("admin", "skill", "set", "release", str(text), "--name")
    assert made.ok(*set_, "Release").strip() == "release: Release (version 1)"
    text.write_text("Tag last.", encoding="utf-8")
    assert made.ok(*set_, "Releases").strip() == "release: Releases (version 2)"
    assert made.ok("admin", "skill", "list").strip() == "release: Releases (version 2)"
    assert made.ok("admin", "skill", "enable", "atlas", "release").strip() == "Atlas has release"
    assert made.ok("admin", "skill", "disable", "atlas", "release").strip() == "Atlas no longer has release"
    assert "SKILL_NOT_FOUND" in made.run("admin", "skill", "enable", "atlas", "none").err
    text.write_bytes(b"\xff")
    assert made.run(*set_, "Release").code == 2
    steps = made.ok("admin", "log")
    assert [steps.count(step) for step in ("skill.set", "skill.enable", "skill.disable")] == [2, 1, 1]
    assert "changelog" not in steps


@pytest.mark.req("AD-39", "AD-10")
def test_a_running_server_is_asked_instead_of_its_store(sample: Server) -> None:
    cli = sample.cli
    cli.ok("admin", "person", "Petra", "--id", "petra")
    cli.ok("token", "create", "petra", "--save")
    assert (cli.data_dir / "petra.token").stat().st_mode & 0o777 == 0o600
    assert cli.run("ask", "tea", "--as", "petra").code == 5  # she reads nobody's knowledge yet
    cli.ok("admin", "grant", "petra", "reader", "kettle")
    assert "Petra asks Kettle" in cli.ok("ask", "tea", "--as", "petra")
    cli.ok("admin", "revoke", "petra", "reader", "kettle")
    assert cli.run("ask", "tea", "--as", "petra").code == 5
    cli.ok("admin", "disable", "petra")
    refused = cli.run("ask", "tea", "--as", "petra")
    assert (refused.code, "UNAUTHENTICATED" in refused.err) == (4, True)


@pytest.mark.req("AD-18", "AD-9")
def test_a_token_is_made_for_one_of_the_organizations_of_a_person(made: Cli) -> None:
    made.ok("admin", "person", "Otto", "--id", "otto")
    for name in ("heron", "owl", "wren"):
        made.ok("admin", "organization", name, "--id", name)
    for name in ("heron", "owl"):
        made.ok("admin", "members", f"org:{name}", "--add", "otto")
    assert made.ok("token", "create", "otto", "--organization", "org:owl").startswith("rw_")
    assert made.run("token", "create", "otto", "--organization", "org:wren").code == 5


@pytest.mark.req("AD-10")
def test_tokens_are_printed_once_listed_without_secret_and_revoked_at_once(made: Cli) -> None:
    made.ok("admin", "person", "Otto", "--id", "otto")
    text = made.ok("token", "create", "otto", "--days", "3").strip()
    assert text.startswith("rw_")
    listed = made.ok("token", "list", "otto")
    assert text.split("_")[2] not in listed
    id_ = listed.splitlines()[1].split()[0]
    assert made.run("token", "list", ROOTWARD_TOKEN=text).code == 0
    made.ok("token", "revoke", id_)
    assert made.run("token", "list", ROOTWARD_TOKEN=text).code == 4
    assert "revoked" in made.ok("token", "list", "otto")


@pytest.mark.parametrize("argument", ["NaN", "1e400", '"\\ud800"'])
def test_what_no_server_could_be_sent_is_refused_as_such(made: Cli, argument: str) -> None:
    refused = made.run("admin", "settings", "set", "search.rrf_k", argument)
    assert (refused.code, "[BAD_INPUT]" in refused.err) == (2, True), refused.err


@pytest.mark.req("KN-119", "AD-18")
def test_settings_of_knowledge_are_shown_set_and_reset(made: Cli) -> None:
    assert "rrf_k" in made.ok("admin", "settings", "get")
    assert made.ok("admin", "settings", "set", "search.rrf_k", "20").strip() == "search.rrf_k = 20 (workspace)"
    assert " 20 " in made.ok("admin", "settings", "get", "search.rrf_k")
    refused = made.run("admin", "settings", "set", "search.rrf_k", "many")
    assert refused.code == 2
    assert "a whole number from 1" in refused.err
    assert made.ok("admin", "settings", "reset", "search.rrf_k").strip() == "search.rrf_k = 10 (default)"


@pytest.mark.req("AD-14")
def test_init_refuses_a_store_that_has_a_workspace(made: Cli) -> None:
    token = made.token("admin")
    again = made.run("init")
    assert (again.code, "BAD_STATE" in again.err) == (6, True)
    assert made.token("admin") == token


@pytest.mark.parametrize("command", [("ask", "x"), ("export", "x.tar"), ("token", "list"), ("worker", "--once")])
def test_without_a_store_nothing_is_made(cli: Cli, command: tuple[str, ...]) -> None:
    ran = cli.run(*command)
    assert ran.code in (2, 6)
    assert not cli.data_dir.exists()


@pytest.mark.req("AD-42")
def test_an_unexpected_fault_is_one_line_without_what_it_said(made: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("Mia likes tea")

    monkeypatch.setattr("api.cli.operating.show_settings", fails)
    ran = made.run("settings")
    assert ran.code == exits.FAULT
    assert "Mia" not in ran.err
    assert ran.err.count("\n") == 1


def test_every_class_of_errors_has_an_exit_code() -> None:
    codes = {kind: exit_code(kind.__new__(kind)) for kind in TABLE if kind is not errors.RootwardError}
    assert exits.FAULT not in codes.values()
    assert codes[errors.StoreLocked] == 3
    assert exit_code(ServerRefused("", code="FORBIDDEN", status=403)) == 4


def test_exit_codes_are_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "command-line.md").read_text(encoding="utf-8")
    for code in (0, 1, 2, 3, 4, 5, 6, 7, 70, 130):
        assert f"| {code} |" in page
