"""Connections that go to checked addresses only, and bodies that are read up to a limit.

A name is resolved when the connection is made, all its addresses are checked, and the connection goes to a checked
address itself: there is no second look-up that could answer otherwise. Source: MA-13, RM-8, RM-15.
"""

import asyncio
import socket
import zlib
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Protocol

import httpcore2

from api.adapters.addresses import IPNetwork, Refusal, Target, check_addresses, refused

_PIECE = 65_536


class Resolver(Protocol):
    """Finds the addresses of a host name."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Return literal addresses, best first; empty if the name is unknown."""
        ...


class SystemResolver:
    """Asks the operating system."""

    async def resolve(self, host: str) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return ()
        return tuple(dict.fromkeys(str(info[4][0]) for info in found))


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves, checks and connects in one step, so that what was checked is what is connected to."""

    def __init__(
        self,
        resolver: Resolver,
        also_allowed: tuple[IPNetwork, ...],
        connector: httpcore2.AsyncNetworkBackend,
    ) -> None:
        self._resolver = resolver
        self._also_allowed = also_allowed
        self._connector = connector

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is the library's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that answers."""
        addresses = check_addresses(await self._addresses(host), also_allowed=self._also_allowed)
        for address in addresses[:-1]:
            try:
                return await self._connector.connect_tcp(str(address), port, timeout)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._connector.connect_tcp(str(addresses[-1]), port, timeout)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is the library's
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse: no page lives on a socket file."""
        raise refused(Refusal.ADDRESS)

    async def sleep(self, seconds: float) -> None:
        await self._connector.sleep(seconds)

    async def _addresses(self, host: str) -> Sequence[str]:
        literal = host.strip("[]")
        try:
            socket.inet_pton(socket.AF_INET6 if ":" in literal else socket.AF_INET, literal)
        except OSError:
            return await self._resolver.resolve(host)
        return (literal,)


def core_url(target: Target) -> httpcore2.URL:
    """Return a target as the library takes it."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    return httpcore2.URL(
        scheme=target.scheme.encode(), host=host.encode(), port=target.port, target=target.path.encode()
    )


def header(response: httpcore2.Response, name: bytes) -> str:
    """Return a header's text, empty if it is missing."""
    values = [value for key, value in response.headers if key.lower() == name]
    return values[-1].decode("latin-1").strip() if values else ""


async def read_body(response: httpcore2.Response, limit: int) -> bytes:
    """Read and decode a body, never holding more than the limit and one network chunk."""
    length = header(response, b"content-length")
    if length.isdigit() and int(length) > limit:
        raise refused(Refusal.TOO_LARGE, limit_bytes=limit)
    body = bytearray()
    async for piece in _decoded(_within(response.aiter_stream(), limit), _coding(response)):
        body += piece
        if len(body) > limit:
            raise refused(Refusal.TOO_LARGE, limit_bytes=limit)
    return bytes(body)


async def _within(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """Pass chunks on until they are more than the limit: the body as sent is bounded as well."""
    total = 0
    async for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise refused(Refusal.TOO_LARGE, limit_bytes=limit)
        yield chunk


def _coding(response: httpcore2.Response) -> str:
    coding = header(response, b"content-encoding").lower()
    if coding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        raise refused(Refusal.ENCODING)
    return coding


async def _decoded(chunks: AsyncIterator[bytes], coding: str) -> AsyncIterator[bytes]:
    """Undo gzip or zlib in pieces of at most 64 KiB, so that a bomb is cut while it unfolds."""
    if coding in {"", "identity"}:
        async for chunk in chunks:
            yield chunk
        return
    inflater, begun = _inflater(), False
    try:
        async for chunk in chunks:
            data = chunk
            while data or inflater.unconsumed_tail:
                begun = True
                yield inflater.decompress(inflater.unconsumed_tail + data, _PIECE)
                data = b""
                if inflater.eof:  # gzip allows several members, one after the other
                    data, inflater, begun = inflater.unused_data, _inflater(), False
    except zlib.error as error:
        raise refused(Refusal.ENCODING) from error
    if begun:
        raise refused(Refusal.ENCODING)


def _inflater() -> "zlib._Decompress":
    return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
