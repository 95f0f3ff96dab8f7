"""Ports that the core needs beside the store; their adapters live outside `graph`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.model.time import Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class BlobRef:
    """Bytes by their SHA-256 (hex)."""

    sha256: str
    size_bytes: int


class BlobStore(Protocol):
    """Content-addressed bytes (AD-32)."""

    async def put(self, data: bytes | AsyncIterator[bytes]) -> BlobRef:
        """Store bytes durably and return their address; storing equal bytes again is a no-op."""
        ...

    async def read(self, sha256: str) -> bytes:
        """Return the bytes.

        Raises:
            NotFound: there are none.
        """
        ...

    def open(self, sha256: str) -> AsyncIterator[bytes]:
        """Yield the bytes in pieces; raises like `read`."""
        ...

    async def exists(self, sha256: str) -> bool:
        """True if the bytes are there."""
        ...

    async def delete(self, sha256: str) -> None:
        """Remove the bytes; nothing happens if there are none."""
        ...

    def list(self) -> AsyncIterator[tuple[str, Millis]]:
        """Yield every address with the time it was last written (for the collection of unreferenced blobs)."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchedPage:
    """A web page as it was fetched."""

    final_url: str
    media_type: str
    body: bytes
    fetched_at: Millis


class PageFetcher(Protocol):
    """Fetches web pages under the limits of MA-13."""

    async def fetch(self, url: str) -> FetchedPage:
        """Return the page.

        Raises:
            FetchRefused: the address, size, time or kind is not allowed; the message says which.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Extracted:
    """Text of a file and, if it has one, its title."""

    text: str
    title: str | None = None


class TextExtractor(Protocol):
    """Reads text out of files (MA-5)."""

    def extract(self, data: bytes, *, media_type: str | None, filename: str | None) -> Extracted:
        """Return the text; the type is sniffed, not believed.

        Raises:
            UnsupportedType: no text can be read from it.
        """
        ...


class Randomness(Protocol):
    """Random bytes for salts and secrets; a port, so that tests get the bytes they expect."""

    def bytes(self, count: int) -> bytes:
        """Return `count` unpredictable bytes."""
        ...


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def model(self) -> str:
        """Name stored beside each vector."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """Return one vector a text."""
        ...


class Reranker(Protocol):
    """Scores texts against a query, each in [0, 1]."""

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score a text, in their order."""
        ...
