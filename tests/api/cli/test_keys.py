"""`rootward keys`, and starts without the keys that a store needs: refused, and nothing made in their place."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.cli.support import Cli, serving

KEY_ID = re.compile(r"key-[0-9a-f]{12}")
STORE = "rootward.db"


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def files(data: Path) -> dict[str, str]:
    """Return what the files of a data directory hold, but for those by which processes take turns."""
    passing = (".lock", "-wal", "-shm")
    return {file.name: digest(file) for file in data.iterdir() if file.is_file() and not file.name.endswith(passing)}


def key_ids(cli: Cli) -> list[str]:
    """Return the ids that `keys list` shows, oldest first."""
    return KEY_ID.findall(cli.ok("keys", "list"))


@pytest.mark.req("AD-14", "AD-29")
def test_the_first_start_makes_root_key_and_keyring_outside_of_the_store(made: Cli) -> None:
    for name in ("root.key", "keyring.json"):
        assert (made.data_dir / name).stat().st_mode & 0o777 == 0o600
    [key_id] = key_ids(made)
    listed = made.ok("keys", "list")
    assert "seals" in listed
    assert "root-" in listed
    assert (made.data_dir / "root.key").read_text().strip() not in listed
    kept = json.loads((made.data_dir / "keyring.json").read_text())
    assert kept["workspaces"]["main"][0]["wrapped"] not in listed
    assert key_id.encode() in b"".join(file.read_bytes() for file in made.data_dir.glob(f"{STORE}*"))
    assert "ok     keys" in made.run("doctor").out


def lose_keyring(data: Path) -> None:
    (data / "keyring.json").unlink()


def lose_root(data: Path) -> None:
    (data / "root.key").unlink()


def change_root(data: Path) -> None:
    (data / "root.key").write_text(secrets.token_hex(32))


def take_older_keyring(data: Path) -> None:
    shutil.copy(data.parent / "older.json", data / "keyring.json")


def take_other_keyring(data: Path) -> None:
    """Put root key and keyring of another store in the place of its own."""
    other = Cli(data_dir=data.parent / "other")
    other.ok("init")
    for name in ("root.key", "keyring.json"):
        shutil.copy(other.data_dir / name, data / name)


@pytest.mark.req("AD-29")
@pytest.mark.parametrize("lose", [lose_keyring, lose_root, change_root, take_older_keyring, take_other_keyring])
def test_a_start_without_a_needed_key_is_refused_with_its_id_and_changes_nothing(
    made: Cli, lose: Callable[[Path], None]
) -> None:
    """Goal D6."""
    data = made.data_dir
    shutil.copy(data / "keyring.json", data.parent / "older.json")
    made.ok("keys", "rotate")
    kept = data.parent / "kept"
    shutil.copytree(data, kept)
    root = json.loads((data / "keyring.json").read_text())["root"]
    newest = key_ids(made)[-1]
    lose(data)
    there = files(data)
    needed = root if lose in (lose_root, change_root) else newest
    for command in (
        ("jobs", "list"),
        ("serve",),
        ("init",),
        ("worker", "--once"),
        ("export", str(data.parent / "x.tar")),
    ):
        refused = made.run(*command)
        assert (refused.code, "STORE_KEY_MISSING" in refused.err) == (7, True), refused
        assert needed in refused.err
    found = made.run("doctor")
    assert (found.code, lose in (lose_root, change_root)) == (
        int("WRONG  keys" in found.out),
        "WRONG  keys" in found.out,
    )
    if lose is lose_keyring:
        refused = made.process("serve")
        assert (refused.code, needed in refused.err, "Traceback" in refused.err) == (7, True, False), refused
    assert files(data) == there
    for name in ("root.key", "keyring.json"):
        shutil.copy(kept / name, data / name)
    made.ok("jobs", "list")


@pytest.mark.req("AD-29")
def test_a_lost_root_key_is_not_replaced_by_a_first_start(made: Cli) -> None:
    """Store and root key are gone, the keyring is not: whoever brings the store back must find it as it was."""
    for file in (*made.data_dir.glob(f"{STORE}*"), made.data_dir / "root.key"):
        file.unlink()
    refused = made.run("init")
    assert (refused.code, "STORE_KEY_MISSING" in refused.err) == (7, True), refused
    assert not (made.data_dir / "root.key").exists()
    assert not (made.data_dir / STORE).exists()


@pytest.mark.req("AD-29")
def test_a_store_from_before_there_were_keys_gets_one(made: Cli) -> None:
    with sqlite3.connect(made.data_dir / STORE) as db:
        db.execute("UPDATE n_Workspace SET key_id = NULL")
    db.close()
    (made.data_dir / "keyring.json").unlink()
    made.ok("jobs", "list")
    assert len(key_ids(made)) == 1
    lose_keyring(made.data_dir)
    assert made.run("jobs", "list").code == 7


@pytest.mark.req("AD-29", "AD-36")
def test_the_root_key_may_come_from_elsewhere_and_lies_nowhere_then(cli: Cli, tmp_path: Path) -> None:
    key = secrets.token_hex(32)
    (tmp_path / "kms.txt").write_text(key)
    cli.more |= {"ROOTWARD_KEYS__ROOT": f"command:cat {tmp_path / 'kms.txt'}"}
    cli.more |= {"ROOTWARD_KEYS__KEYRING": str(tmp_path / "mounted" / "keys.json")}
    cli.ok("init")
    assert not (cli.data_dir / "root.key").exists()
    assert not (cli.data_dir / "keyring.json").exists()
    cli.ok("jobs", "list", ROOTWARD_KEYS__ROOT="env:ROOTWARD_ROOT_KEY", ROOTWARD_ROOT_KEY=key)
    assert cli.run("jobs", "list", ROOTWARD_KEYS__ROOT="env:ROOTWARD_ROOT_KEY").code == 7
    shown = cli.ok("settings")
    assert "command:cat …" in shown
    assert "kms.txt" not in shown
    assert cli.run("jobs", "list", ROOTWARD_KEYS__ROOT="hunter2").code == 2


@pytest.mark.req("AD-29", "AD-30")
def test_a_root_key_in_a_place_that_somebody_named_is_made_on_demand_alone(cli: Cli, tmp_path: Path) -> None:
    """A secret that is not mounted yet: a key made in its place would be gone with the next mount."""
    place = tmp_path / "secrets" / "root-key"
    cli.more |= {"ROOTWARD_KEYS__ROOT": f"file:{place}"}
    refused = cli.run("init")
    assert (refused.code, "STORE_KEY_MISSING" in refused.err) == (7, True), refused
    assert not place.exists()
    assert not (cli.data_dir / "keyring.json").exists()
    cli.ok("keys", "create")
    assert place.stat().st_mode & 0o777 == 0o600
    cli.ok("init")


@pytest.mark.req("AD-30")
def test_keys_may_be_made_ahead_of_the_first_start_and_are_the_ones_it_takes(cli: Cli) -> None:
    said = cli.ok("keys", "create")
    [key_id] = key_ids(cli)
    assert key_id in said
    assert cli.run("keys", "create").code == 6
    cli.ok("init")
    assert key_ids(cli) == [key_id]
    lose_keyring(cli.data_dir)
    assert cli.run("keys", "create").code == 6, "a store that is there has its keys"
    assert not (cli.data_dir / "keyring.json").exists()


@pytest.mark.req("AD-30")
def test_keys_are_rotated_and_retired_and_older_copies_of_the_store_stay_shut(
    made: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    [old] = key_ids(made)
    backup = made.data_dir.parent / "backup"
    shutil.copytree(made.data_dir, backup)
    assert made.ok("keys", "retire") == "main: no old keys\n"
    rotated = made.ok("keys", "rotate")
    [_, new] = key_ids(made)
    assert new in rotated
    monkeypatch.setattr("graph.services.admin.keys.GRACE_MS", 0)
    assert made.ok("keys", "retire") == f"main: {old} forgotten\n"
    assert key_ids(made) == [new]
    made.ok("jobs", "list")
    copy = Cli(data_dir=backup, more=made.keys)
    refused = copy.run("jobs", "list")
    assert (refused.code, old in refused.err) == (7, True), refused
    operations = made.ok("admin", "log")
    assert "key.rotate" in operations
    assert "key.retire" in operations


@pytest.mark.req("AD-30", "AD-39")
def test_a_running_server_rotates_its_keys_and_goes_on(made: Cli) -> None:
    with serving(made, "--no-sample"):
        [old] = key_ids(made)
        assert "everything is sealed with" in made.ok("keys", "rotate")
        assert len(key_ids(made)) == 2
        made.ok("jobs", "list")
        refused = made.run("keys", "create")
        assert refused.code == 6
        assert old in key_ids(made), "nothing is forgotten before somebody says so"
