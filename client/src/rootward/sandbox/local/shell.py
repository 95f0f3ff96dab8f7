"""Commands in a local workspace. The directory is where they start, not a wall: they run with the user's own rights."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from rootward.sandbox.session import CommandResult
from rootward.sandbox.truncation import BYTES_PER_TOKEN, keep_ends

_OUTPUT_LIMIT_TOKENS = 8_000
_KEPT_BYTES = 2 * _OUTPUT_LIMIT_TOKENS * BYTES_PER_TOKEN
_PIECE = 1 << 16
_DRAIN_S = 1.0


async def execute(command: str, *, folder: Path, timeout_s: float) -> CommandResult:
    """Run a command and everything it starts; what still runs when it ends, or when the time is over, is stopped."""
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        command,
        cwd=folder,
        env=_environment(folder),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None  # a pipe was asked for
    output = asyncio.create_task(_collect(process.stdout))
    timed_out = False
    try:
        async with asyncio.timeout(timeout_s):
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        _stop(process.pid)
        await process.wait()
        await asyncio.wait([output], timeout=_DRAIN_S)  # a process that left the group may hold the pipe
        output.cancel()
    text = output.result() if output.done() and not output.cancelled() else ""
    return CommandResult(exit_code=process.returncode or 0, output=text, timed_out=timed_out)


def _stop(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _environment(folder: Path) -> Mapping[str, str]:
    """Return what a command finds: no keys or tokens of the program that runs the agent."""
    kept = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
    return {"HOME": str(folder), "PWD": str(folder)} | {name: os.environ[name] for name in kept if name in os.environ}


async def _collect(stream: asyncio.StreamReader) -> str:
    """Read to the end; keep the beginning and the end of what is too long."""
    head, tail, left_out = bytearray(), bytearray(), 0
    while piece := await stream.read(_PIECE):
        room = _KEPT_BYTES - len(head)
        head += piece[:room]
        tail += piece[room:]
        if len(tail) > 2 * _KEPT_BYTES:
            left_out += len(tail) - _KEPT_BYTES
            del tail[:-_KEPT_BYTES]
    gap = f"\n[... {left_out} bytes left out ...]\n".encode() if left_out else b""
    return keep_ends((bytes(head) + gap + bytes(tail)).decode(errors="replace"), _OUTPUT_LIMIT_TOKENS)
