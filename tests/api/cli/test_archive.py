"""`rootward export`, `import --archive`, `verify`, `anchor`, `bundle`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.api.cli.support import Cli, Server

QUESTION = ("ask", "How do goods come from China, by sea or by rail?", "--as", "jonas", "--trace")


@pytest.fixture(scope="module")
def archive(sample: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive that the running server wrote."""
    path = tmp_path_factory.mktemp("archive") / "all.tar.gz"
    assert "rows" in sample.cli.ok("export", str(path))
    return path


@pytest.mark.req("AD-41", "AD-39")
def test_an_archive_gives_equal_answers_from_another_store(sample: Server, archive: Path, cli: Cli) -> None:
    refused = cli.run("import", str(archive), "--archive")
    assert (refused.code, "STORE_KEY_MISSING" in refused.err) == (7, True), "what it holds is sealed with other keys"
    cli.more |= sample.cli.keys
    cli.ok("import", str(archive), "--archive")
    cli.ok("import", str(archive), "--archive")
    for token in sample.cli.data_dir.glob("*.token"):
        shutil.copy(token, cli.data_dir)
    assert cli.ok(*QUESTION) == sample.cli.ok(*QUESTION)
    assert archive.stat().st_mode & 0o777 == 0o600


@pytest.mark.req("AD-41")
def test_an_archive_is_not_loaded_over_other_data_nor_under_a_server(sample: Server, archive: Path, cli: Cli) -> None:
    cli.more |= sample.cli.keys
    cli.ok("init")
    assert cli.run("import", str(archive), "--archive").code == 6
    assert sample.cli.run("import", str(archive), "--archive").code == 6
    assert cli.run("import", str(archive), "--archive", "--agent", "x").code == 2


@pytest.mark.req("KN-85")
def test_the_verifiers_accept_what_is_intact_and_refuse_what_is_not(
    sample: Server, archive: Path, tmp_path: Path
) -> None:
    assert "all chains hold" in sample.cli.ok("verify", "--as", "noor")
    assert "all chains hold" in sample.cli.ok("verify", str(archive))
    shutil.unpack_archive(archive, tmp_path / "open")
    file = tmp_path / "open" / "audit.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    first["reason"] = "another reason"
    file.write_text("\n".join([json.dumps(first, ensure_ascii=False), *lines[1:]]) + "\n", encoding="utf-8")
    broken = sample.cli.run("verify", str(tmp_path / "open"))
    assert broken.code == 1
    assert "BROKEN at seq 1" in broken.out
    missing = sample.cli.run("verify", str(tmp_path / "none.tar"))
    assert (missing.code, "no such file" in missing.err) == (2, True)


@pytest.mark.req("AD-41")
def test_the_verifier_refuses_an_archive_of_which_any_file_was_changed(
    sample: Server, archive: Path, tmp_path: Path
) -> None:
    assert "all files are those that were written" in sample.cli.ok("verify", str(archive))
    shutil.unpack_archive(archive, tmp_path / "open")
    with (tmp_path / "open" / "texts.jsonl").open("ab") as file:
        file.write(b"\n")
    broken = sample.cli.run("verify", str(tmp_path / "open"))
    assert broken.code == 1
    assert "all chains hold" in broken.out
    assert "the archive is BROKEN" in broken.out
    assert "texts.jsonl" in broken.out


@pytest.mark.req("AD-41")
def test_the_verifier_calls_no_archive_broken_that_it_cannot_compare(
    sample: Server, archive: Path, tmp_path: Path
) -> None:
    shutil.unpack_archive(archive, tmp_path / "open")
    manifest = tmp_path / "open" / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**told, "schema_version": told["schema_version"] + 1}), encoding="utf-8")
    newer = sample.cli.run("verify", str(tmp_path / "open"))
    assert newer.code == 2
    assert "all chains hold" in newer.out
    assert "BROKEN" not in newer.out
    assert "a newer version of Rootward made the archive" in newer.err


@pytest.mark.parametrize(("content", "said"), [(None, "no such file"), (b"no archive", "no archive of Rootward")])
def test_what_is_no_archive_makes_no_store(cli: Cli, tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "all.tar").write_bytes(content)
    refused = cli.run("import", "--archive", str(tmp_path / "all.tar"))
    assert (refused.code, said in refused.err) == (2, True)
    assert not (cli.data_dir / "rootward.db").exists()


@pytest.mark.req("AD-27")
def test_an_anchor_that_was_kept_elsewhere_shows_a_chain_that_was_written_anew(made: Cli, tmp_path: Path) -> None:
    made.ok("admin", "agent", "Atlas", "--id", "atlas")
    published = tmp_path / "published.jsonl"
    published.write_text(made.ok("anchor"), encoding="utf-8")
    made.ok("export", str(tmp_path / "all"))
    assert made.run("verify", str(tmp_path / "all"), "--published", str(published)).code == 0
    line = json.loads(published.read_text())
    line["hash"] = "0" * 64  # what was published then is not what the store says now
    published.write_text(json.dumps(line), encoding="utf-8")
    assert made.run("verify", str(tmp_path / "all"), "--published", str(published)).code == 1


def test_a_bundle_is_for_auditors_and_is_checked_with_python_alone(sample: Server, tmp_path: Path) -> None:
    refused = sample.cli.run("bundle", "block:by-rail", str(tmp_path / "no"), "--as", "jonas")
    assert refused.code == 4
    assert not (tmp_path / "no").exists()
    sample.cli.ok("bundle", "block:by-rail", str(tmp_path / "yes"), "--as", "noor")
    script = tmp_path / "yes" / "verify_bundle.py"
    assert subprocess.run([sys.executable, "-I", script], capture_output=True, check=False).returncode == 0
    assert sample.cli.run("bundle", "block:by-rail", str(tmp_path / "yes"), "--as", "noor").code == 6


@pytest.mark.req("AD-5")
@pytest.mark.parametrize("what", ["export", "bundle"])
def test_no_token_opens_the_routes_of_the_operator(sample: Server, tmp_path: Path, what: str) -> None:
    for secret in ("", "wrong", sample.cli.token("admin")):
        answer = httpx2.post(
            f"{sample.address}/operator/{what}",
            json={"path": str(tmp_path / "out"), "id": "x"},
            headers={"Rootward-Operator": secret, "Authorization": f"Bearer {sample.cli.token('admin')}"},
        )
        assert answer.status_code == 403
    assert not (tmp_path / "out").exists()
