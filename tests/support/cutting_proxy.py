"""A TCP proxy on loopback that cuts a Bolt connection around a COMMIT."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from enum import StrEnum
from types import TracebackType

_COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""A Bolt COMMIT: a chunk of two bytes, a structure without fields of the signature 0x12."""


class Cut(StrEnum):
    """Where the connection breaks."""

    BEFORE = "before"
    """The server never gets the COMMIT."""
    SENT = "sent"
    """The server gets it; nobody waits for the answer."""
    ANSWERED = "answered"
    """The server has answered; the answer does not arrive."""


class CuttingProxy:
    """Passes everything on until it is armed; then it cuts the next connection that commits.

    Attributes:
        cuts: how many connections were cut.
    """

    def __init__(self, target_port: int) -> None:
        self._target = target_port
        self._armed: list[Cut] = []
        self._server: asyncio.Server | None = None
        self._pumps: set[asyncio.Task[None]] = set()
        self.cuts = 0

    @property
    def uri(self) -> str:
        assert self._server is not None
        return f"bolt://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def arm(self, cut: Cut) -> None:
        """Cut the next connection that sends a COMMIT."""
        self._armed.append(cut)

    async def __aenter__(self) -> CuttingProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    async def _serve(self, client_in: asyncio.StreamReader, client_out: asyncio.StreamWriter) -> None:
        server_in, server_out = await asyncio.open_connection("127.0.0.1", self._target)
        wires = _Wires(client_out, server_out)
        for pump in (self._pump_up(client_in, wires), self._pump_down(server_in, wires)):
            task = asyncio.create_task(pump)
            self._pumps.add(task)
            task.add_done_callback(self._pumps.discard)

    async def _pump_up(self, source: asyncio.StreamReader, wires: _Wires) -> None:
        with wires.closing():
            while data := await source.read(65_536):
                cut = self._armed.pop(0) if _COMMIT in data and self._armed else None
                self.cuts += cut is not None
                if cut is Cut.BEFORE:
                    return
                wires.drop_answer = cut is Cut.ANSWERED
                wires.up.write(data)
                await wires.up.drain()
                if cut is Cut.SENT:
                    return

    async def _pump_down(self, source: asyncio.StreamReader, wires: _Wires) -> None:
        with wires.closing():
            while data := await source.read(65_536):
                if wires.drop_answer:
                    return
                wires.down.write(data)
                await wires.down.drain()


class _Wires:
    """Both ends of one connection; `drop_answer` lets the next answer of the server get lost."""

    def __init__(self, down: asyncio.StreamWriter, up: asyncio.StreamWriter) -> None:
        self.down = down
        self.up = up
        self.drop_answer = False

    @contextlib.contextmanager
    def closing(self) -> Iterator[None]:
        try:
            with contextlib.suppress(OSError):
                yield
        finally:
            self.up.close()
            self.down.close()
