"""Runs the command line: inside this process for the many, as processes of their own for the few."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from api.cli.main import guarded, make_app

ROOT = Path(__file__).parents[3]
PROGRAM = Path(sys.executable).with_name("rootward")
LAST_LINE = "Ctrl+C ends it."
ADDRESS = re.compile(r"running at (http://\S+)")
GRACE_S = 60


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    """Return the variables of a process whose data lies in `data_dir`; nothing of ours comes from outside."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ROOTWARD_")}
    return {**clean, "ROOTWARD_DATA_DIR": str(data_dir), "ROOTWARD_SERVER__PORT": "0", **more}


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str


@dataclass(kw_only=True)
class Cli:
    """Runs commands on one data directory."""

    data_dir: Path
    more: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, **more: str) -> Ran:
        """Run a command inside this process."""
        out, err = io.StringIO(), io.StringIO()
        with (
            in_environment(environment(self.data_dir, **{**self.more, **more})),
            quiet_after(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = guarded(lambda: make_app()(list(arguments), prog_name="rootward"))
        return Ran(code=code, out=out.getvalue(), err=err.getvalue())

    def ok(self, *arguments: str, **more: str) -> str:
        """Run a command that must succeed and return what it printed."""
        ran = self.run(*arguments, **more)
        assert ran.code == 0, ran
        return ran.out

    def process(self, *arguments: str, **more: str) -> Ran:
        """Run a command as a process of its own."""
        done = subprocess.run(
            [PROGRAM, *arguments],
            env=environment(self.data_dir, **{**self.more, **more}),
            capture_output=True,
            text=True,
            check=False,
            timeout=GRACE_S,
        )
        return Ran(code=done.returncode, out=done.stdout, err=done.stderr)

    @property
    def keys(self) -> dict[str, str]:
        """The variables of a process that shares the keys of this data directory."""
        return {
            "ROOTWARD_KEYS__ROOT": f"file:{self.data_dir / 'root.key'}",
            "ROOTWARD_KEYS__KEYRING": str(self.data_dir / "keyring.json"),
        }

    def token(self, key: str) -> str:
        """Return a token of the data directory."""
        return (self.data_dir / f"{key}.token").read_text(encoding="ascii").strip()


@dataclass(kw_only=True)
class Server:
    """A running `rootward serve`."""

    process: subprocess.Popen[str]
    said: str
    cli: Cli

    @property
    def address(self) -> str:
        found = ADDRESS.search(self.said)
        assert found, self.said
        return found[1]

    def end(self, signal: int) -> int:
        """Send a signal, wait for the end and return the exit code."""
        self.process.send_signal(signal)
        self.process.communicate(timeout=GRACE_S)
        return self.process.returncode


@contextlib.contextmanager
def serving(
    cli: Cli, *arguments: str, cwd: Path | None = None, program: Path = PROGRAM, unset: str = "", **more: str
) -> Iterator[Server]:
    """Run a server for the time of the block; it is up when it has said all that it says."""
    variables = environment(cli.data_dir, **{**cli.more, **more})
    variables.pop(unset, None)
    log = cli.data_dir.parent / "server.log"
    with log.open("w") as errors:  # a pipe that nobody reads would fill and stop the server
        process = subprocess.Popen(
            [program, "serve", *arguments],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=cwd,
        )
    try:
        yield Server(process=process, said=_until_up(process, log), cli=cli)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _until_up(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(LAST_LINE):
            return "".join(lines)
    process.wait()
    raise AssertionError(f"the server did not start: {log.read_text()}")


@contextlib.contextmanager
def in_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Let the process have just these variables."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def quiet_after() -> Iterator[None]:
    """Put logging back as it was: a command sets it up for its whole process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers, root.level = handlers, level
        structlog.reset_defaults()
