"""A real llama.cpp server with a small model, both from the package index, for tests on loopback.

The two packages (pinned in ``tests/support/llama/packages.txt``) are kept under ``.cache/llama`` of the checkout; they
are no dependency of anything, since the model's package would bring a second engine along. Tests that need the server
are left out, with the reason, where it cannot be had; with ``CI=true`` that is a failure.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

HERE = Path(__file__).parent / "llama"
CACHE = Path(__file__).parents[2] / ".cache" / "llama"
PIP_S = 300


@dataclass(kw_only=True)
class LlamaServer:
    """A running server."""

    process: subprocess.Popen[str]
    port: int

    @property
    def base_url(self) -> str:
        """Where it speaks the language of OpenAI."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def begins_to_answer(self) -> None:
        """Wait until a request is being worked on."""
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{self.port}") as http:
            while not any(slot["is_processing"] for slot in (await http.get("/slots")).json()):
                pass

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()


@contextmanager
def llama_server(packages: Path) -> Iterator[LlamaServer]:
    """Run a server for the time of the block.

    Raises:
        RuntimeError: it did not come up.
    """
    port = _free_port()
    command = [sys.executable, str(HERE / "serve.py"), str(packages), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    server = LlamaServer(process=process, port=port)
    assert process.stdout is not None
    try:
        if not any(line.startswith("up ") for line in iter(process.stdout.readline, "")):
            raise RuntimeError(f"the llama.cpp server ended with {process.wait()}")
        yield server
    finally:
        server.kill()
        process.stdout.close()


def packages_or_skip() -> Path:
    """Return the folder of the packages, fetched the first time; skips the test, or fails it in CI, without them."""
    wanted = (HERE / "packages.txt").read_bytes()
    folder = CACHE / hashlib.sha256(wanted + sys.version.encode()).hexdigest()[:16]
    if not folder.is_dir():
        scratch = folder.with_suffix(f".{os.getpid()}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        done = subprocess.run(
            [*pip, "--only-binary", ":all:", "--target", str(scratch), "-r", str(HERE / "packages.txt")],
            capture_output=True,
            text=True,
            check=False,
            timeout=PIP_S,
        )
        if done.returncode != 0:
            shutil.rmtree(scratch, ignore_errors=True)
            leave_out(f"LEFT OUT: tests on a real llama.cpp server; pip says: {done.stderr.strip()[-300:]}")
        try:
            scratch.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(scratch, ignore_errors=True)
    return folder


def leave_out(reason: str) -> None:
    """Skip, or fail where everything must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
