"""The shapes of memory providers and records, as the contract writes them (RM-10, RM-14, RM-34)."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from api.rest.said import NO_BLANK, Name, one_of, said
from api.rest.workspace.memory_shapes import Shape
from graph.model.nodes.workspace import MemoryProvider
from graph.model.time import render
from graph.rules.record_providers import TYPES
from graph.rules.record_texts import DEFAULT_NEAREST
from graph.rules.workspace_ids import outside
from graph.services.workspace.providers import Probe
from graph.services.workspace.records_port import Record

PROVIDERS: Final = "/memory-providers"
PROVIDER: Final = "/memory-providers/{provider_id}"
TEST: Final = "/memory-providers/{provider_id}/test"
RECORDS: Final = "/memories/{memory_id}/records"
SEARCH: Final = "/memories/{memory_id}/records/search"
RECORD: Final = "/memories/{memory_id}/records/{record_id}"


class CredentialBody(Shape):
    """The key of an account; it is never shown again."""

    api_key: str = Field(repr=False)


class NewProviderBody(Shape):
    """What a provider is made of."""

    type: Annotated[str, one_of(TYPES)] = Field(description="never changes")
    name: Name
    config: dict[str, Any] = Field(default_factory=dict, description="base_url; the Platform has one of its own")
    credential: CredentialBody | None = None
    enabled: bool = True


class ProviderPatch(Shape):
    """What changes; what is left out stays."""

    name: Name = Field(default_factory=str)
    config: dict[str, Any] = Field(default_factory=dict, description="replaced whole; give credential with it")
    credential: CredentialBody | None = Field(default=None, description="null removes it")
    enabled: bool = True


class RecordBody(Shape):
    """The text of a record."""

    text: Annotated[str, said(minLength=1, pattern=NO_BLANK)]


class RecordQuery(Shape):
    """What is searched for."""

    query: Annotated[str, said(minLength=1, pattern=NO_BLANK)]
    limit: Annotated[int, said(minimum=1, maximum=100)] = DEFAULT_NEAREST


def provider_json(provider: MemoryProvider) -> dict[str, Any]:
    """Return the view of a provider (RM-10)."""
    return {
        "id": outside(provider.id),
        "type": provider.type,
        "name": provider.name,
        "config": provider.config,
        "credential_configured": provider.credential is not None,
        "enabled": provider.enabled,
        "version": provider.version,
        "created_at": render(provider.created_at),
        "updated_at": render(provider.updated_at),
    }


def probe_json(probe: Probe) -> dict[str, Any]:
    """Return what a test found (RM-14)."""
    return {
        "provider_id": outside(probe.provider.id),
        "provider_version": probe.provider.version,
        "status": probe.status,
        "message": probe.message,
    }


def record_json(record: Record) -> dict[str, Any]:
    """Return the view of a record (RM-34)."""
    return {"id": record.id, "text": record.text, "score": record.score, "updated_at": record.updated_at}
