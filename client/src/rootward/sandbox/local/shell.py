"""Commands in a local workspace. The directory is where they start, not a wall: they run with the user's own rights."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from rootward.sandbox.session import CommandResult
from rootward.sandbox.truncation import BYTES_PER_TOKEN, keep_ends

_OUTPUT_LIMIT_TOKENS = 8_000
_KEPT_BYTES = 2 * _OUTPUT_LIMIT_TOKENS * BYTES_PER_TOKEN
_PIECE = 1 << 16
_DRAIN_S = 1.0


async def execute(command: str, *, folder: Path, timeout_s: float) -> CommandResult:
    """Run a command and everything it starts; what still runs when it ends, or when the time is over, is stopped."""
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            cwd=folder,
            env=_environment(folder),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writing,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    async with _reading(reading) as output:
        timed_out = await _wait(process, timeout_s)
        await asyncio.wait([output], timeout=_DRAIN_S)  # a process that left the group may hold the pipe
        text = output.result() if output.done() else ""
    return CommandResult(exit_code=process.returncode or 0, output=text, timed_out=timed_out)


async def _wait(process: asyncio.subprocess.Process, timeout_s: float) -> bool:
    """Wait for a process and stop its group; tell whether its time was over."""
    try:
        async with asyncio.timeout(timeout_s):
            await process.wait()
    except TimeoutError:
        return True
    finally:
        _stop(process.pid)
        await process.wait()
    return False


@asynccontextmanager
async def _reading(pipe: int) -> AsyncIterator[asyncio.Task[str]]:
    """Read a pipe of our own: asyncio's own ones hold back the end of a process until nobody else has them open."""
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(pipe, "rb", 0))
    output = asyncio.create_task(_collect(reader))
    try:
        yield output
    finally:
        output.cancel()
        transport.close()


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
