"""What the reference says of the routes of memory providers and records (RM-1 to RM-43)."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from api.rest.openapi import Operation, Reference
from api.rest.workspace.memory_reference import CHANGE_STATES, LIST_STATES, PAGE, READ_STATES, TAGGED_STATES, Failure
from api.rest.workspace.record_shapes import (
    PROVIDER,
    PROVIDERS,
    RECORD,
    RECORDS,
    SEARCH,
    TEST,
    NewProviderBody,
    ProviderPatch,
    RecordBody,
    RecordQuery,
)


class MemoryProviderView(BaseModel):
    """An account of a record backend; its credential is never shown."""

    id: str
    type: Literal["mem0_platform", "mem0_oss"]
    name: str
    config: dict[str, Any]
    credential_configured: bool
    enabled: bool
    version: int
    created_at: str
    updated_at: str


class ProviderTestView(BaseModel):
    """What a test of a provider found."""

    provider_id: str
    provider_version: int
    status: Literal["succeeded", "failed", "unsupported"]
    message: str


class RecordView(BaseModel):
    """A record."""

    id: str
    text: str
    score: float | None = Field(description="nearness in a search")
    updated_at: str | None


class _Page(BaseModel):
    next_cursor: str | None


class MemoryProviderPage(_Page):
    """Some providers."""

    items: list[MemoryProviderView]


class RecordPageView(_Page):
    """Some records."""

    items: list[RecordView]


_RECORD_STATES: Final = (*LIST_STATES, 409, 422)

REFERENCE: Reference = {
    PROVIDERS: {
        "GET": Operation(
            summary="List memory providers", gives=MemoryProviderPage, failure=Failure, errors=LIST_STATES, query=PAGE
        ),
        "POST": Operation(
            summary="Make a memory provider",
            takes=NewProviderBody,
            gives=MemoryProviderView,
            done=201,
            etag=True,
            failure=Failure,
            errors=CHANGE_STATES,
        ),
    },
    PROVIDER: {
        "GET": Operation(
            summary="Read a memory provider", gives=MemoryProviderView, etag=True, failure=Failure, errors=READ_STATES
        ),
        "PATCH": Operation(
            summary="Change a memory provider, or switch it off; needs If-Match",
            takes=ProviderPatch,
            gives=MemoryProviderView,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
    },
    TEST: {
        "POST": Operation(
            summary="See whether address and key of a provider are right",
            gives=ProviderTestView,
            failure=Failure,
            errors=READ_STATES,
        )
    },
    RECORDS: {
        "GET": Operation(
            summary="List records", gives=RecordPageView, failure=Failure, errors=_RECORD_STATES, query=PAGE
        ),
        "POST": Operation(
            summary="Add a record",
            takes=RecordBody,
            gives=RecordView,
            done=201,
            failure=Failure,
            errors=(*_RECORD_STATES, 413),
        ),
    },
    SEARCH: {
        "POST": Operation(
            summary="Find the records nearest to a query",
            takes=RecordQuery,
            gives=RecordPageView,
            failure=Failure,
            errors=(*_RECORD_STATES, 413),
        )
    },
    RECORD: {
        "PUT": Operation(
            summary="Replace the text of a record",
            takes=RecordBody,
            gives=RecordView,
            failure=Failure,
            errors=(*_RECORD_STATES, 413),
        ),
        "DELETE": Operation(summary="Delete a record", gives=None, done=204, failure=Failure, errors=_RECORD_STATES),
    },
}
