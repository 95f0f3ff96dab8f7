"""`rootward settings`, `doctor`, `migrate`, `worker`."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from api.settings import names
from tests.api.cli.support import PROGRAM, Cli, Server, environment


@pytest.mark.req("AD-36")
def test_settings_lists_all_with_default_and_origin_and_masks_secrets(cli: Cli) -> None:
    shown = cli.ok(
        "settings",
        ROOTWARD_STORE__PASSWORD="hunter2",
        ROOTWARD_STORE__URL="neo4j://me:hunter2@db.example.org:7687",
    )
    lines = {line.split()[0]: line for line in shown.splitlines()[1:]}
    assert set(lines) == set(names())
    assert "ROOTWARD_STORE__URL" in lines["store.url"]
    assert lines["server.host"].split()[-1] == "default"
    assert "hunter2" not in shown


@pytest.mark.req("AD-36")
@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [
        ("ROOTWARD_SERVER__PORT", "99999", "at most 65535"),
        ("ROOTWARD_NO__SUCH", "1", "a name that"),
    ],
)
def test_a_bad_setting_stops_every_command_with_name_origin_and_range(
    cli: Cli, variable: str, value: str, allowed: str
) -> None:
    for command in (("settings",), ("ask", "x")):
        ran = cli.run(*command, **{variable: value})
        assert ran.code == 2
        assert variable in ran.err
        assert allowed in ran.err
    assert cli.process("serve", **{variable: value}).code == 2


def test_the_doctor_finds_nothing_wrong_with_a_good_store_and_with_a_running_server(made: Cli, sample: Server) -> None:
    assert "all is well" in made.ok("doctor")
    shown = sample.cli.ok("doctor")
    assert f"{sample.address}, ready" in shown


def test_the_doctor_says_what_to_do_about_what_is_wrong(made: Cli) -> None:
    (made.data_dir / "admin.token").chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = made.run("doctor", ROOTWARD_SERVER__PORT=str(taken.getsockname()[1]))
    assert ran.code == 1
    assert "chmod 600 admin.token" in ran.out
    assert "set server.port to a free one" in ran.out


def test_the_doctor_says_that_a_database_is_away(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    ran = cli.run("doctor", ROOTWARD_STORE__URL=f"bolt://127.0.0.1:{port}", ROOTWARD_STORE__PASSWORD="x")
    assert ran.code == 1
    assert "store.url" in ran.out


@pytest.mark.req("AD-40")
def test_a_rehearsed_migration_changes_nothing(made: Cli) -> None:
    file = made.data_dir / "rootward.db"
    before = file.read_bytes()
    assert "nothing is to be done" in made.ok("migrate", "--dry-run")
    assert file.read_bytes() == before


@pytest.mark.req("AD-40")
def test_a_migration_of_a_store_that_is_not_there_is_only_listed(cli: Cli) -> None:
    assert "would be taken" in cli.ok("migrate", "--dry-run")
    assert not (cli.data_dir / "rootward.db").exists()
    assert "taken" in cli.ok("migrate")


@pytest.mark.req("AD-32")
def test_a_worker_does_what_is_due_and_says_so(made: Cli) -> None:
    blob = made.data_dir / "blobs"
    assert blob.is_dir()
    shown = made.ok("worker", "--once")
    assert "collect_blobs: done" in shown
    assert "collect_blobs: done" not in made.ok("worker", "--once")  # it is due again in an hour


@pytest.mark.req("AD-38")
def test_a_worker_that_is_told_to_end_exits_zero(made: Cli) -> None:
    process = subprocess.Popen(
        [PROGRAM, "worker"], env=environment(made.data_dir), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline().startswith("working:")
    process.terminate()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "handed back" in out


def test_a_configuration_file_that_is_missing_is_named(cli: Cli, tmp_path: Path) -> None:
    ran = cli.run("settings", ROOTWARD_CONFIG=str(tmp_path / "none.toml"))
    assert ran.code == 2
    assert "none.toml" in ran.err
