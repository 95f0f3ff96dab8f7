"""The keyring in a file: kept locked, shared by processes, written whole; where the root key comes from."""

from __future__ import annotations

import base64
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from api.adapters.keyring import FileKeyring
from api.adapters.root_key import RootKey, root_id
from graph.model.errors import SettingsInvalid, StoreKeyMissing, StoreUnavailable
from graph.store.sealing import Place, Vault
from tests.support.clock import FakeClock
from tests.support.randomness import SeededRandomness

ROOT = Path(__file__).parents[3]
KEY = bytes(range(32))

pytestmark = pytest.mark.req("AD-29")
Opener = Callable[..., FileKeyring]


@pytest.fixture
def opened(tmp_path: Path) -> Opener:
    """Open the keyring of the test as another process would."""

    def open_(root: str = "", file: str = "keyring.json", environ: Mapping[str, str] | None = None) -> FileKeyring:
        origin = root or f"file:{tmp_path / 'root.key'}"
        return FileKeyring(tmp_path / file, RootKey(origin, environ or {}), FakeClock(), look_every_s=0)

    return open_


def first(keyring: FileKeyring, workspace: str = "main") -> str:
    """Make a key and let it seal."""
    key_id = keyring.make(workspace)
    keyring.use(workspace, key_id)
    return key_id


def test_keys_are_on_the_disk_for_their_owner_alone_and_locked(opened: Opener, tmp_path: Path) -> None:
    keyring = opened()
    key_id = first(keyring)
    key = keyring.find("main", key_id).key
    for name in ("keyring.json", "root.key"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    kept = (tmp_path / "keyring.json").read_bytes()
    assert key_id.encode() in kept
    for written in (key, base64.b64encode(key), key.hex().encode()):
        assert written not in kept
    assert len(key) == 32
    assert key.hex() not in repr(keyring.find("main", key_id))


def test_another_process_sees_a_new_key_and_a_forgotten_one_at_once(opened: Opener) -> None:
    one, other = opened(), opened()
    old = first(one)
    assert other.newest("main").id == old
    new = one.make("main")
    assert other.newest("main").id == old, "a key seals only when it is told to"
    assert other.make("main") == new, "a key that was made and never sealed is taken"
    one.use("main", new)
    assert other.newest("main") == one.newest("main")
    assert [key.id for key in other.keys("main")] == [old, new]
    other.drop("main", [old, new])
    assert [key.id for key in one.keys("main")] == [new], "the one that seals stays"
    with pytest.raises(StoreKeyMissing) as missing:
        one.find("main", old)
    assert missing.value.details["key_id"] == old
    assert old in missing.value.message


def test_a_look_is_spared_for_a_moment_but_never_makes_a_key_seem_missing(tmp_path: Path) -> None:
    root = RootKey(f"file:{tmp_path / 'root.key'}", {})
    lazy = FileKeyring(tmp_path / "keyring.json", root, FakeClock(), look_every_s=3_600)
    assert lazy.keys("main") == ()
    eager = FileKeyring(tmp_path / "keyring.json", root, FakeClock())
    key_id = first(eager)
    assert lazy.newest("main").id == key_id
    newer = first(eager)
    assert lazy.find("main", newer).id == newer


def test_keys_of_one_workspace_open_nothing_of_another(opened: Opener) -> None:
    keyring = opened()
    key_id = first(keyring, "one")
    with pytest.raises(StoreKeyMissing):
        keyring.find("two", key_id)
    vault = Vault(keyring, SeededRandomness())
    with pytest.raises(StoreKeyMissing):
        vault.seal(Place(workspace="two", node="n", field="f"), "x")


MAKER = """
import sys
from pathlib import Path
from api.adapters.keyring import FileKeyring
from api.adapters.root_key import RootKey
from api.adapters.system import SystemClock
folder, name = Path(sys.argv[1]), sys.argv[2]
keyring = FileKeyring(folder / "keyring.json", RootKey(f"file:{folder / 'root.key'}", {}), SystemClock())
for _ in range(25):
    keyring.use(name, keyring.make(name))
"""


def test_processes_that_make_keys_at_once_lose_none(opened: Opener, tmp_path: Path) -> None:
    """They also agree on one root key, though none is there when they begin."""
    names = ["a", "b", "c"]
    makers = [subprocess.Popen([sys.executable, "-c", MAKER, str(tmp_path), name], cwd=ROOT) for name in names]
    assert [maker.wait(60) for maker in makers] == [0, 0, 0]
    keyring = opened()
    for name in names:
        assert len(keyring.keys(name)) == 25
        assert all(keyring.find(name, key.id).key for key in keyring.keys(name))


@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_a_write_that_fails_leaves_the_keys_as_they_were(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    keyring = opened()
    key_id = first(keyring)
    before = (tmp_path / "keyring.json").read_bytes()

    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(*{"fsync": (os, "fsync"), "rename": (Path, "rename")}[call], fails)
    with pytest.raises(StoreUnavailable):
        keyring.make("main")
    monkeypatch.undo()
    assert (tmp_path / "keyring.json").read_bytes() == before
    assert opened().newest("main").id == key_id
    assert sorted(file.name for file in tmp_path.iterdir()) == ["keyring.json", "keyring.json.lock", "root.key"]


def test_a_wrong_root_key_is_told_by_its_name_and_replaces_nothing(opened: Opener, tmp_path: Path) -> None:
    first(opened())
    before = (tmp_path / "keyring.json").read_bytes()
    right = opened().root_id
    wrong = opened("env:ROOT", environ={"ROOT": KEY.hex()})
    for use in (lambda: wrong.newest("main"), lambda: wrong.make("main"), lambda: wrong.make("another")):
        with pytest.raises(StoreKeyMissing) as refused:
            use()
        assert refused.value.details["key_id"] == right
        assert right in refused.value.message
        assert root_id(KEY) in refused.value.message
    assert (tmp_path / "keyring.json").read_bytes() == before


def test_a_lost_root_key_is_not_made_anew_while_a_keyring_needs_it(opened: Opener, tmp_path: Path) -> None:
    first(opened())
    right = opened().root_id
    (tmp_path / "root.key").unlink()
    with pytest.raises(StoreKeyMissing) as refused:
        opened().make("main")
    assert refused.value.details["key_id"] == right
    assert not (tmp_path / "root.key").exists()


def test_a_key_that_was_tampered_with_is_told_by_its_id(opened: Opener, tmp_path: Path) -> None:
    key_id = first(opened())
    file = tmp_path / "keyring.json"
    tree = json.loads(file.read_text())
    (kept,) = tree["workspaces"]["main"]
    kept["wrapped"] = base64.b64encode(bytes(60)).decode()
    file.write_text(json.dumps(tree))
    with pytest.raises(StoreKeyMissing) as refused:
        opened().newest("main")
    assert refused.value.details["key_id"] == key_id


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "rootward-keyring", "version": 2}', "\xff"])
def test_what_is_no_keyring_is_never_taken_for_an_empty_one(opened: Opener, tmp_path: Path, text: str) -> None:
    (tmp_path / "keyring.json").write_text(text, encoding="latin-1")
    with pytest.raises(StoreKeyMissing):
        opened().make("main")
    assert (tmp_path / "keyring.json").read_text(encoding="latin-1") == text


@pytest.mark.parametrize("written", [KEY.hex(), f"{KEY.hex()}\n", base64.b64encode(KEY).decode()])
def test_the_root_key_comes_from_the_environment_a_file_or_a_command(tmp_path: Path, written: str) -> None:
    (tmp_path / "key").write_text(written)
    origins = ["env:ROOT", f"file:{tmp_path / 'key'}", f"command:cat '{tmp_path / 'key'}'"]
    assert [RootKey(origin, {"ROOT": written}).read() for origin in origins] == [KEY] * 3


@pytest.mark.parametrize(
    "origin",
    ["env:NOWHERE", "file:/nowhere/at/all", "command:false", "command:/nowhere/kms", "command:echo short", "command:'"],
)
def test_a_root_key_that_is_not_to_be_had_is_told_with_the_id_it_is_asked_by(origin: str) -> None:
    with pytest.raises(StoreKeyMissing) as refused:
        RootKey(origin, {}).read("root-12345678")
    assert refused.value.details["key_id"] == "root-12345678"
    assert "keys.root" in refused.value.message


@pytest.mark.parametrize("origin", ["", "hunter2", "env:", "vault:x"])
def test_a_place_that_holds_no_key_is_no_setting(origin: str) -> None:
    with pytest.raises(SettingsInvalid):
        RootKey(origin, {})


def test_a_command_is_given_to_no_shell_and_shown_by_its_program_alone(tmp_path: Path) -> None:
    command = RootKey(f"command:echo {KEY.hex()} ; touch {tmp_path / 'pwned'}", {})
    with pytest.raises(StoreKeyMissing):
        command.read()
    assert not (tmp_path / "pwned").exists()
    assert command.shown == "command:echo …"
