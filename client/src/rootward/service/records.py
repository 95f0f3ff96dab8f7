"""Memory providers and the records of record memories. Source: RM-1 to RM-43, MT-66."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rootward.service.calls import KEEP, Ask, Unset, given, nothing, present, reads
from rootward.service.operations import AsyncSurface, SyncSurface, operation
from rootward.service.pages import Page, if_match, reads_page
from rootward.service.versions import Versioned

_PROVIDERS = "/api/v1/memory-providers"
_PROVIDER = f"{_PROVIDERS}/{{provider_id}}"
_RECORDS = "/api/v1/memories/{memory_id}/records"
_RECORD = f"{_RECORDS}/{{record_id}}"


@dataclass(frozen=True, kw_only=True)
class MemoryProvider(Versioned):
    """An account of a record backend; its credential is never shown."""

    type: str
    name: str
    config: Mapping[str, object]
    credential_configured: bool
    enabled: bool


@dataclass(frozen=True, kw_only=True)
class ProviderTest:
    """What a test of a provider found; `status` is ``succeeded``, ``failed`` or ``unsupported``."""

    provider_id: str
    provider_version: int
    status: str
    message: str


@dataclass(frozen=True, kw_only=True)
class MemoryRecord:
    """A record; `score` is its nearness in a search."""

    id: str
    text: str
    score: float | None
    updated_at: str | None


@operation("GET", _PROVIDERS)
def list_providers(*, limit: int | None = None, cursor: str | None = None) -> Ask[Page[MemoryProvider]]:
    """List memory providers."""
    return Ask(query={"limit": limit, "cursor": cursor}, read=reads_page(MemoryProvider))


@operation("POST", _PROVIDERS)
def create_provider(
    type: str,
    name: str,
    *,
    config: Mapping[str, Any] | None = None,
    api_key: str | None = None,
    enabled: bool = True,
) -> Ask[MemoryProvider]:
    """Make a provider; `type` is ``mem0_platform`` or ``mem0_oss``."""
    credential = None if api_key is None else {"api_key": api_key}
    body = present(type=type, name=name, config=config, credential=credential, enabled=enabled)
    return Ask(body=body, read=reads(MemoryProvider))


@operation("GET", _PROVIDER)
def read_provider(provider_id: str) -> Ask[MemoryProvider]:
    """Read a provider."""
    return Ask(ids=[provider_id], read=reads(MemoryProvider))


@operation("PATCH", _PROVIDER)
def update_provider(
    provider_id: str,
    *,
    etag: str,
    name: str | Unset = KEEP,
    config: Mapping[str, Any] | Unset = KEEP,
    api_key: str | Unset | None = KEEP,
    enabled: bool | Unset = KEEP,
) -> Ask[MemoryProvider]:
    """Change what is named, or switch it off; `api_key` None removes the key, and goes with a new `config`."""
    credential = {"api_key": api_key} if isinstance(api_key, str) else api_key
    body = given(name=name, config=config, credential=credential, enabled=enabled)
    return Ask(ids=[provider_id], body=body, headers=if_match(etag), read=reads(MemoryProvider))


@operation("POST", f"{_PROVIDER}/test")
def probe_provider(provider_id: str) -> Ask[ProviderTest]:
    """See whether address and key of a provider are right; nothing changes."""
    return Ask(ids=[provider_id], read=reads(ProviderTest))


@operation("GET", _RECORDS)
def list_records(memory_id: str, *, limit: int | None = None, cursor: str | None = None) -> Ask[Page[MemoryRecord]]:
    """List records in the backend's order."""
    return Ask(ids=[memory_id], query={"limit": limit, "cursor": cursor}, read=reads_page(MemoryRecord))


@operation("POST", _RECORDS)
def add_record(memory_id: str, text: str) -> Ask[MemoryRecord]:
    """Add a record.

    Raises:
        Conflict: reason ``write_unconfirmed``: list or search before you send it again.
    """
    return Ask(ids=[memory_id], body={"text": text}, read=reads(MemoryRecord))


@operation("POST", f"{_RECORDS}/search")
def search_records(memory_id: str, query: str, *, limit: int | None = None) -> Ask[Page[MemoryRecord]]:
    """Find the records nearest in meaning, nearest first."""
    body = present(query=query, limit=limit)
    return Ask(ids=[memory_id], body=body, read=reads_page(MemoryRecord), repeatable=True)


@operation("PUT", _RECORD)
def update_record(memory_id: str, record_id: str, text: str) -> Ask[MemoryRecord]:
    """Replace the whole text of a record; the last write wins."""
    return Ask(ids=[memory_id, record_id], body={"text": text}, read=reads(MemoryRecord))


@operation("DELETE", _RECORD)
def delete_record(memory_id: str, record_id: str) -> Ask[None]:
    """Delete a record."""
    return Ask(ids=[memory_id, record_id], read=nothing)


class ProviderOperations:
    """What can be done with memory providers."""

    list = list_providers
    create = create_provider
    read = read_provider
    update = update_provider
    test = probe_provider


class RecordOperations:
    """What can be done with records."""

    list = list_records
    add = add_record
    search = search_records
    update = update_record
    delete = delete_record


class Providers(ProviderOperations, SyncSurface):
    """Memory providers, waiting in the thread."""


class AsyncProviders(ProviderOperations, AsyncSurface):
    """Memory providers, waiting in the task."""


class Records(RecordOperations, SyncSurface):
    """Records, waiting in the thread."""


class AsyncRecords(RecordOperations, AsyncSurface):
    """Records, waiting in the task."""
