"""Stored originals, unchanged (MA-4): GET /blobs/{id} with the id of their Source."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from api.graphql.http import Authenticates, failure
from api.graphql.ids import to_node
from api.incoming import address_of
from graph.model.errors import NotFound, RootwardError
from graph.model.nodes.evidence import Source
from graph.services.access.recorded_reads import record_reads
from graph.services.access.session import read
from graph.services.deps import Deps


@dataclass(frozen=True, kw_only=True, slots=True)
class BlobEndpoint:
    """Serves the bytes of a Source to who may see it."""

    deps: Deps
    auth: Authenticates

    async def __call__(self, request: Request) -> Response:
        """Return the bytes, as a download whatever they are."""
        try:
            caller = await self.auth.caller(request.headers.get("authorization"), address_of(request))
            node = to_node(request.path_params["id"], caller.workspace)
            source, session = await read(self.deps, caller, lambda s: s.open_one(node, Source))
            if source.blob_ref is None or not await self.deps.blobs.exists(source.blob_ref):
                raise NotFound
            await record_reads(self.deps, caller, session.recorded)
        except RootwardError as error:
            return failure(error)
        return StreamingResponse(self._bytes(source.blob_ref), headers=_headers(source))

    async def _bytes(self, sha256: str) -> AsyncIterator[bytes]:
        async for part in self.deps.blobs.open(sha256):
            yield part


def _headers(source: Source) -> dict[str, str]:
    name = quote(source.title or "original", safe="")
    return {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "private, no-store",
        "ETag": f'"{source.blob_ref}"',
    }
