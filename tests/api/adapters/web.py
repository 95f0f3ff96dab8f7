"""Small servers for the tests of fetching: raw answers by path, and a sentinel that counts visits."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

import httpcore2

Answer = bytes | Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def http(status: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> bytes:
    """A whole answer; Content-Length is added unless given."""
    lines = {"Content-Length": str(len(body)), **(headers or {})}
    head = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return http(status, {"Location": location})


class Site:
    """Answers each path with fixed bytes or a function, and counts connections."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.connections = 0
        self.hosts: list[str] = []
        self.port = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.hosts += [line[6:] for line in head.split("\r\n") if line.lower().startswith("host: ")]
            answer = self.pages.get(head.split()[1], http("404 Not Found"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer)
        with contextlib.suppress(ConnectionError):
            writer.close()


@contextlib.asynccontextmanager
async def serving(site: Site, address: str, port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    server = await asyncio.start_server(site._serve, address, port, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


class Names:
    """A resolver of fixed answers; several answers of one name are given one after the other."""

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._answers = {name: list(rounds) for name, rounds in answers.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        rounds = self._answers.get(host, [])
        if len(rounds) > 1:
            return rounds.pop(0)
        return rounds[0] if rounds else ()


class Recorder(httpcore2.AnyIOBackend):
    """Opens connections to loopback only and remembers where each should have gone."""

    def __init__(self) -> None:
        super().__init__()
        self.attempts: list[str] = []

    async def connect_tcp(self, host, port, *args, **kwargs):  # type: ignore[no-untyped-def]
        self.attempts.append(host)
        if not host.startswith("127.") and host != "::1":
            raise httpcore2.ConnectError("not in a test")
        return await super().connect_tcp(host, port, *args, **kwargs)
