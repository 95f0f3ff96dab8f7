"""Sealing on the disk, with real processes: no plain text in any file, rotation killed anywhere, old copies shut."""

from __future__ import annotations

import base64
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fault.sealer import STORE
from tests.fault.tracing import ROOT
from tests.support.plain_texts import canary, files_of, hits
from tests.support.profile import sized

KILLS = sized(small=4, full=200)
TEXTS = sized(small=400, full=2_000)
CANARIES = 1_000


def start(folder: Path, script: str, number: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.fault.sealer", str(folder), script, str(number)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def run(folder: Path, script: str, number: int = 0) -> list[str]:
    """Run a script to its end and return what it said but for its transactions."""
    process = start(folder, script, number)
    out, _ = process.communicate(timeout=120)
    return [line for line in out.splitlines() if line != "tx"]


def filled(folder: Path, number: int) -> subprocess.Popen[str]:
    """Start a process that wrote so many nodes and now waits."""
    process = start(folder, "fill", number)
    assert process.stdout is not None
    for line in process.stdout:
        if line == "filled\n":
            return process
    raise AssertionError(f"the process ended: {process.wait()}")


def test_the_search_finds_a_plain_text_in_every_form(tmp_path: Path) -> None:
    text = canary(7)
    forms = [text.encode(), text.encode("utf-16-le"), ascii(text).encode(), text.encode().hex().encode()]
    forms += [base64.b64encode(b"x" * shift + text.encode()) for shift in range(3)]
    for number, form in enumerate(forms):
        (tmp_path / f"{number}").write_bytes(b"\0\1" + form + b"\2")
    assert {hit.partition(":")[0] for hit in hits(files_of(tmp_path))} == {str(number) for number in range(len(forms))}


@pytest.mark.req("BM-184", "BM-186", "BM-187", "AD-29")
def test_no_sealed_text_stands_in_a_file_neither_after_a_kill_nor_after_an_end(tmp_path: Path) -> None:
    """Goal D1: canaries in all sealed fields of all kinds."""
    process = filled(tmp_path, CANARIES)
    assert (tmp_path / f"{STORE}-wal").stat().st_size, "what is in the log counts too"
    assert hits(files_of(tmp_path)) == []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert hits(files_of(tmp_path)) == []
    (told,) = run(tmp_path, "read")
    assert int(told.split()[1]) >= CANARIES
    assert hits(files_of(tmp_path)) == []


@pytest.mark.req("AD-30")
@pytest.mark.soak
def test_a_rotation_killed_at_any_point_goes_on_and_old_copies_stay_shut_after_it(tmp_path: Path) -> None:
    """Goals D3 and D4."""
    folder, rng = tmp_path / "data", random.Random(11)
    folder.mkdir()
    filled(folder, TEXTS).communicate("")
    (before,) = run(folder, "read")
    old_key = before.split()[2]
    backup = tmp_path / "backup"
    shutil.copytree(folder, backup)
    killed = 0
    for number in range(1, KILLS + 1):
        killed += _kill_within(start(folder, "rotate", number), rng.randrange(1, 10))
    assert killed
    assert run(folder, "rotate", KILLS + 1)[-1:] in (["worked True"], ["worked False"])
    (after,) = run(folder, "read", KILLS + 2)
    count, *keys = after.split()[1:]
    assert count == before.split()[1], "everything is there and opens"
    assert len(keys) == 1
    assert keys != [old_key]
    forgotten = run(folder, "retire", KILLS + 3)
    assert forgotten[0].startswith("forgot ")
    assert old_key in forgotten[0]
    assert run(folder, "read", KILLS + 4) == [after]
    for name in ("keyring.json", "root.key"):
        shutil.copy(folder / name, backup / name)
    assert run(backup, "read", KILLS + 5) == [f"error STORE_KEY_MISSING {old_key}"]
    assert hits(files_of(tmp_path)) == []


def _kill_within(process: subprocess.Popen[str], transactions: int) -> bool:
    """Kill a process after so many transactions; false if it ended before."""
    assert process.stdout is not None
    for line in process.stdout:
        transactions -= line == "tx\n"
        if transactions <= 0:
            process.send_signal(signal.SIGKILL)
            break
    process.communicate()
    return process.returncode == -signal.SIGKILL
