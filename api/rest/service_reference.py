"""What the reference says of the routes of the service itself: downloads, health, figures and the reference."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from api.rest.openapi import PATH, Operation, Reference


class Refusal(BaseModel):
    """One reason why nothing is given."""

    message: str
    extensions: dict[str, Any]


class Refusals(BaseModel):
    """What a failure answers with, as under /graphql."""

    errors: list[Refusal]


class Live(BaseModel):
    """The process answers."""

    live: bool


class PartState(BaseModel):
    """Whether a part that the service stands on can be used; an empty reason: it can."""

    ready: bool
    reason: str


class Ready(BaseModel):
    """Whether the service can work."""

    ready: bool
    parts: dict[str, PartState]


class OpenApi(BaseModel):
    """This document."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
    components: dict[str, Any]


REFERENCE: Reference = {
    "/blobs/{id}": {
        "GET": Operation(
            summary="Download a stored original by the global id of its source",
            gives=None,
            media="application/octet-stream",
            failure=Refusals,
            errors=(400, 401, 404, 429, 503),
        )
    },
    "/health/live": {
        "GET": Operation(summary="Tell whether the process answers", gives=Live, errors=(), signed_in=False)
    },
    "/health/ready": {
        "GET": Operation(
            summary="Tell whether the service can work", gives=Ready, failure=Ready, errors=(503,), signed_in=False
        )
    },
    "/metrics": {
        "GET": Operation(
            summary="Read the figures in Prometheus' form", gives=None, media="text/plain", errors=(), signed_in=False
        )
    },
    PATH: {"GET": Operation(summary="Read this document", gives=OpenApi, errors=(), signed_in=False)},
}
