"""Ports that the core needs beside the store; their adapters live outside `graph`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from graph.model.fields import Json
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


class Loss(StrEnum):
    """What the place of a connector answers about a document that it does not give (MA-25)."""

    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedDocument:
    """A document as its place gives it.

    Attributes:
        version: the place's own name of this version; equal names mean equal documents.
        media_type: as declared; the bytes decide.
        modified_at: when it was written there, if known.
    """

    version: str
    body: bytes
    media_type: str | None = None
    filename: str | None = None
    title: str | None = None
    address: str | None = None
    modified_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedDocument:
    """A document that its place lists; `content` if the listing brought it along."""

    external_id: str
    version: str
    content: OpenedDocument | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What a place lists now.

    Attributes:
        ask_for_others: documents that were there before and are not listed can be asked for one by one, and how
            soon again; None: not being listed says nothing about them, such as old items of a feed.
        ask_for_listed: how soon documents whose listed version did not move are asked for again all the same, where
            being listed does not say that they may be read, such as pages behind a feed; None: never.
    """

    documents: tuple[ListedDocument, ...]
    ask_for_others: timedelta | None
    ask_for_listed: timedelta | None = None


class DocumentPlaces(Protocol):
    """Places of documents of one kind, such as folders or feeds: what a connector is to the core (MA-19).

    All methods are safe to repeat. They take the options as `check` returned them.
    """

    def check(self, options: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the options in their full form.

        Raises:
            BadInput: they name no place, or one that is not allowed; the message says what to give.
        """
        ...

    async def look(self, options: Mapping[str, Json], *, max_bytes: int) -> Look:
        """Return what is there now.

        Raises:
            SyncFailed: the place as a whole could not be read; this says nothing about its documents.
        """
        ...

    async def open(self, options: Mapping[str, Json], external_id: str, *, max_bytes: int) -> OpenedDocument | Loss:
        """Return one document, or the explicit answer that it is gone or may not be read.

        Raises:
            SyncFailed: no answer about this document.
        """
        ...


class Randomness(Protocol):
    """Random bytes for salts and secrets; a port, so that tests get the bytes they expect."""

    def bytes(self, count: int) -> bytes:
        """Return `count` unpredictable bytes."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingChoice:
    """Which embedder a workspace uses: ``embedding.provider``, ``embedding.model``, ``embedding.dimensions``."""

    provider: str
    model: str
    dimensions: int | None = None

    @property
    def name(self) -> str:
        """The name that is stored beside every vector; another name means other vectors.

        >>> EmbeddingChoice(provider="openai", model="small", dimensions=256).name
        'openai:small@256'
        """
        size = "" if self.dimensions is None else f"@{self.dimensions}"
        return f"{self.provider}:{self.model}{size}"


class Embedder(Protocol):
    """Makes vectors of texts."""

    async def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """Return one vector a text, all of one size, in the order of the texts.

        Args:
            texts: any number, none empty; many are sent in several requests.
            query: true for a question, false for what is searched: some models tell them apart.

        Raises:
            ModelUnavailable: no vectors came; ``bad_request`` if a text is not taken.
        """
        ...


class EmbedderMaker(Protocol):
    """Gives the embedder of a choice; asked for every query, so it keeps what is dear to make."""

    def __call__(self, choice: EmbeddingChoice) -> Embedder:
        """Return the embedder.

        Raises:
            ProfileUnavailable: there is no such provider or model, or what it needs is missing.
        """
        ...


class Reranker(Protocol):
    """Scores texts against a query, each in [0, 1]."""

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score a text, in their order."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordAccount:
    """An account of a record backend.

    Attributes:
        type: ``mem0_platform`` or ``mem0_oss``.
        base_url: without a trailing ``/``.
        key: None if the backend asks for none.
    """

    type: str
    base_url: str
    key: str | None = dataclass_field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRecord:
    """A record as a backend gives it.

    Attributes:
        namespace: whose it is, the backend's `user_id`; empty if it does not say.
        score: nearness in [0, 1] in a search, None if it does not say.
        updated_at: RFC 3339 in UTC, None if it does not say.
    """

    id: str
    text: str
    namespace: str
    score: float | None = None
    updated_at: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordSlice:
    """Records of a list from an offset on; `more` if there are others behind them."""

    records: Sequence[StoredRecord]
    more: bool


class RecordWire(Protocol):
    """Speaks to record backends; every method is one call but `browse`, and nothing is sent twice (RM-37, RM-61 ff.).

    What is given back may be another namespace's: the caller looks. All methods raise `RecordsFailed`.
    """

    async def browse(self, account: RecordAccount, namespace: str, *, offset: int, limit: int) -> RecordSlice:
        """Return records in the backend's order; one call, or two where pages of the backend lie across."""
        ...

    async def search(self, account: RecordAccount, namespace: str, query: str, *, limit: int) -> Sequence[StoredRecord]:
        """Return the records nearest to a query in the backend's order."""
        ...

    async def find(self, account: RecordAccount, record_id: str) -> StoredRecord | None:
        """Return a record of whatever namespace, None if there is none."""
        ...

    async def add(self, account: RecordAccount, namespace: str, text: str) -> str:
        """Store a text as it is and return the id of the one record that it became."""
        ...

    async def update(self, account: RecordAccount, record_id: str, text: str) -> None:
        """Replace the text of a record."""
        ...

    async def delete(self, account: RecordAccount, record_id: str) -> None:
        """Delete a record."""
        ...

    async def purge(self, account: RecordAccount, namespace: str) -> None:
        """Delete all records of a namespace; done once the backend has accepted it (RM-50)."""
        ...
