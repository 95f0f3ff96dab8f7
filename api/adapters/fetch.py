"""Fetch a web page without letting its address reach into the server's network: the port `PageFetcher`.

The name is resolved when the connection is made, all its addresses are checked, and the connection goes to
a checked address itself: there is no second look-up that could answer otherwise. Every redirect is a new
request under the same rules. Proxy variables of the environment are not read. Source: MA-13.
"""

import asyncio
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import httpcore2

from api.adapters.addresses import (
    IPNetwork,
    Refusal,
    Target,
    check_addresses,
    follow,
    parse_target,
    refused,
)
from graph.model.time import Clock
from graph.ports import FetchedPage

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_USER_AGENT = b"rootward"
_PIECE = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchLimits:
    """Bounds of one fetch with all its redirects. Source: MA-13."""

    redirects: int = 5
    total_s: float = 30.0
    max_bytes: int = 10 * 1024 * 1024


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


@dataclass(frozen=True, kw_only=True, slots=True)
class SafeFetcher:
    """Fetches pages of the public internet and nothing else.

    Attributes:
        clock: dates the fetch.
        also_allowed: networks to allow although they are not public; for tests, empty everywhere else.
        ssl_context: trusts more than the usual authorities; for tests and networks with their own.
        connector: opens the connections, to literal addresses only.
    """

    clock: Clock
    resolver: Resolver = field(default_factory=SystemResolver)
    limits: FetchLimits = field(default_factory=FetchLimits)
    also_allowed: tuple[IPNetwork, ...] = ()
    ssl_context: ssl.SSLContext | None = None
    connector: httpcore2.AsyncNetworkBackend = field(default_factory=httpcore2.AnyIOBackend)

    async def fetch(self, url: str) -> FetchedPage:
        """Return the page behind a URL, after at most `limits.redirects` redirects.

        The media type keeps a charset that the server states, such as `text/html; charset=gbk`; the body
        has no content coding any more and is not yet text.

        Raises:
            FetchRefused: `details["reason"]` is one of `Refusal`. Nothing of the page is kept.
        """
        target = parse_target(url)
        try:
            async with asyncio.timeout(self.limits.total_s):
                return await self._follow(target)
        except TimeoutError as error:
            raise refused(Refusal.TIMEOUT) from error
        except httpcore2.TimeoutException as error:
            raise refused(Refusal.TIMEOUT) from error
        except (httpcore2.NetworkError, OSError) as error:
            raise refused(Refusal.NETWORK) from error
        except httpcore2.ProtocolError:  # its message quotes what the server sent
            raise refused(Refusal.NETWORK) from None

    async def _follow(self, target: Target) -> FetchedPage:
        for _ in range(self.limits.redirects + 1):
            answer = await self._request(target)
            if isinstance(answer, FetchedPage):
                return answer
            target = answer
        raise refused(Refusal.REDIRECTS)

    async def _request(self, target: Target) -> FetchedPage | Target:
        """Return the page, or where it redirects to. Each request has a connection of its own."""
        async with (
            httpcore2.AsyncConnectionPool(
                ssl_context=self.ssl_context,
                network_backend=_PinnedBackend(self.resolver, self.also_allowed, self.connector),
                max_connections=1,
            ) as pool,
            pool.stream("GET", _core_url(target), headers=_headers(target)) as response,
        ):
            if response.status in _REDIRECTS:
                return follow(target, _header(response, b"location"))
            if response.status != 200:
                raise refused(Refusal.STATUS, status=response.status)
            body = await _read_body(response, self.limits.max_bytes)
            media_type = _media_type(_header(response, b"content-type"))
        return FetchedPage(
            final_url=target.url,
            media_type=media_type,
            body=body,
            fetched_at=self.clock.now(),
        )


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
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


def _core_url(target: Target) -> httpcore2.URL:
    host = f"[{target.host}]" if ":" in target.host else target.host
    return httpcore2.URL(
        scheme=target.scheme.encode(), host=host.encode(), port=target.port, target=target.path.encode()
    )


def _headers(target: Target) -> list[tuple[bytes, bytes]]:
    return [
        (b"Host", target.authority.encode()),
        (b"User-Agent", _USER_AGENT),
        (b"Accept", b"text/html,application/xhtml+xml,text/*;q=0.9,application/*;q=0.8"),
        (b"Accept-Encoding", b"gzip"),
        (b"Connection", b"close"),
    ]


def _header(response: httpcore2.Response, name: bytes) -> str:
    """Return a header's text, empty if it is missing."""
    values = [value for key, value in response.headers if key.lower() == name]
    return values[-1].decode("latin-1").strip() if values else ""


def _media_type(header: str) -> str:
    """Return a Content-Type in its plain form, of its parameters only the charset.

    >>> _media_type('Text/HTML; Level=1; Charset="GBK"')
    'text/html; charset=gbk'
    """
    media_type, _, rest = header.lower().partition(";")
    parameters = (part.partition("=") for part in rest.split(";"))
    charset = next((value.strip(" \"'") for name, _, value in parameters if name.strip() == "charset"), "")
    return (media_type.strip() or "application/octet-stream") + (f"; charset={charset}" if charset else "")


async def _read_body(response: httpcore2.Response, limit: int) -> bytes:
    """Read and decode a body, never holding more than the limit and one network chunk."""
    length = _header(response, b"content-length")
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
    coding = _header(response, b"content-encoding").lower()
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
