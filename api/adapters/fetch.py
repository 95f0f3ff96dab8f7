"""Fetch a web page without letting its address reach into the server's network: the port `PageFetcher`.

The name is resolved when the connection is made, all its addresses are checked, and the connection goes to
a checked address itself: there is no second look-up that could answer otherwise. Every redirect is a new
request under the same rules. Proxy variables of the environment are not read. Source: MA-13.
"""

import asyncio
import ssl
from dataclasses import dataclass, field

import httpcore2

from api.adapters.addresses import (
    IPNetwork,
    Refusal,
    Target,
    follow,
    parse_target,
    refused,
)
from api.adapters.connecting import PinnedBackend, Resolver, SystemResolver, core_url, header, read_body
from graph.model.time import Clock
from graph.ports import FetchedPage

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_USER_AGENT = b"rootward"


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchLimits:
    """Bounds of one fetch with all its redirects. Source: MA-13."""

    redirects: int = 5
    total_s: float = 30.0
    max_bytes: int = 10 * 1024 * 1024


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
                network_backend=PinnedBackend(self.resolver, self.also_allowed, self.connector),
                max_connections=1,
            ) as pool,
            pool.stream("GET", core_url(target), headers=_headers(target)) as response,
        ):
            if response.status in _REDIRECTS:
                return follow(target, header(response, b"location"))
            if response.status != 200:
                raise refused(Refusal.STATUS, status=response.status)
            body = await read_body(response, self.limits.max_bytes)
            media_type = _media_type(header(response, b"content-type"))
        return FetchedPage(
            final_url=target.url,
            media_type=media_type,
            body=body,
            fetched_at=self.clock.now(),
        )


def _headers(target: Target) -> list[tuple[bytes, bytes]]:
    return [
        (b"Host", target.authority.encode()),
        (b"User-Agent", _USER_AGENT),
        (b"Accept", b"text/html,application/xhtml+xml,text/*;q=0.9,application/*;q=0.8"),
        (b"Accept-Encoding", b"gzip"),
        (b"Connection", b"close"),
    ]


def _media_type(header: str) -> str:
    """Return a Content-Type in its plain form, of its parameters only the charset.

    >>> _media_type('Text/HTML; Level=1; Charset="GBK"')
    'text/html; charset=gbk'
    """
    media_type, _, rest = header.lower().partition(";")
    parameters = (part.partition("=") for part in rest.split(";"))
    charset = next((value.strip(" \"'") for name, _, value in parameters if name.strip() == "charset"), "")
    return (media_type.strip() or "application/octet-stream") + (f"; charset={charset}" if charset else "")
