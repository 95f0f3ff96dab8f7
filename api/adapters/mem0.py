"""The two wire forms of mem0, over the outbound policy: the port `RecordWire` (RM-61 to RM-77).

Every call is one request on a connection of its own; a redirect is a failure. Nothing of an answer but records is kept.
"""

from __future__ import annotations

import asyncio
import json
import math
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import httpcore2

from api.adapters.addresses import Refusal, Target
from api.adapters.connecting import PinnedBackend, Resolver, SystemResolver, core_url, read_body
from api.adapters.outbound import OutboundPolicy
from graph.model.errors import FetchRefused, RecordsFailed
from graph.model.time import from_datetime, render
from graph.ports import RecordAccount, RecordSlice, StoredRecord
from graph.rules.record_providers import PLATFORM
from graph.text.outside import has_surrogate, whole

MAX_ANSWER_BYTES: Final = 8 * 1_048_576
PAGE: Final = 200
"""The largest page of the Platform."""
TOP: Final = 1_000
"""So many records a self-hosted server lists at most (RM-42)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0:
    """Speaks to mem0, the Platform's and the self-hosted server's form.

    Attributes:
        operation_s: one call takes no longer.
        ssl_context: trusts more than the usual authorities; for networks with their own.
        connector: opens the connections, to literal addresses only.
    """

    policy: OutboundPolicy = field(default_factory=OutboundPolicy)
    operation_s: float = 10.0
    resolver: Resolver = field(default_factory=SystemResolver)
    ssl_context: ssl.SSLContext | None = None
    connector: httpcore2.AsyncNetworkBackend = field(default_factory=httpcore2.AnyIOBackend)

    async def browse(self, account: RecordAccount, namespace: str, *, offset: int, limit: int) -> RecordSlice:
        """Return records from an offset on."""
        if account.type != PLATFORM:
            path = f"/memories?user_id={_quoted(namespace)}&top_k={TOP}"
            found = _records(await self._call(account, "GET", path))
            return RecordSlice(records=found[offset : offset + limit], more=len(found) > offset + limit)
        if offset % limit == 0:
            page, more = await self._page(account, namespace, offset // limit, limit)
            return RecordSlice(records=page, more=more)
        number, skipped = divmod(offset, PAGE)
        page, more = await self._page(account, namespace, number, PAGE)
        found = page[skipped:]
        if len(found) < limit and more:
            page, more = await self._page(account, namespace, number + 1, PAGE)
            found = [*found, *page]
        return RecordSlice(records=found[:limit], more=more or len(found) > limit)

    async def search(self, account: RecordAccount, namespace: str, query: str, *, limit: int) -> Sequence[StoredRecord]:
        """Return the records nearest to a query; the backend's threshold is off (RM-71)."""
        path = "/v3/memories/search/" if account.type == PLATFORM else "/search"
        body = {"query": query, "filters": {"user_id": namespace}, "top_k": limit, "threshold": 0.0}
        return _records(await self._call(account, "POST", path, body))

    async def find(self, account: RecordAccount, record_id: str) -> StoredRecord | None:
        """Return a record; a missing one is 404 or 400 on the Platform and ``null`` on a server of one's own."""
        try:
            found = await self._call(account, "GET", _path(account, record_id))
        except RecordsFailed as error:
            unknown = (400, 404) if account.type == PLATFORM else (404,)
            if error.status in unknown:
                return None
            raise
        return None if found is None and account.type != PLATFORM else _record(found)

    async def add(self, account: RecordAccount, namespace: str, text: str) -> str:
        """Store a text verbatim: `infer` is off (RM-71)."""
        path = "/v3/memories/add/" if account.type == PLATFORM else "/memories"
        message = {"role": "user", "content": text}
        body = {"messages": [message], "user_id": namespace, "infer": False}
        answer = await self._call(account, "POST", path, body)
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list) or len(results) != 1 or not isinstance(results[0], dict):
            raise RecordsFailed("unreadable")
        made = results[0].get("id")
        if results[0].get("event") != "ADD" or not isinstance(made, str) or not made:
            raise RecordsFailed("unreadable")
        return made

    async def update(self, account: RecordAccount, record_id: str, text: str) -> None:
        """Replace the text of a record."""
        await self._call(account, "PUT", _path(account, record_id), {"text": text})

    async def delete(self, account: RecordAccount, record_id: str) -> None:
        """Delete a record."""
        await self._call(account, "DELETE", _path(account, record_id))

    async def purge(self, account: RecordAccount, namespace: str) -> None:
        """Delete all records of a namespace (RM-68)."""
        path = "/v1/memories/" if account.type == PLATFORM else "/memories"
        await self._call(account, "DELETE", f"{path}?user_id={_quoted(namespace)}")

    async def _page(
        self, account: RecordAccount, namespace: str, number: int, size: int
    ) -> tuple[list[StoredRecord], bool]:
        """Return a page of the Platform, counted from 0, and whether others follow."""
        path = f"/v3/memories/?page={number + 1}&page_size={size}"
        answer = await self._call(account, "POST", path, {"filters": {"user_id": namespace}})
        return _records(answer), answer.get("next") is not None

    async def _call(self, account: RecordAccount, method: str, path: str, body: Any = None) -> Any:
        """Send one request and return the JSON of its answer."""
        target = self.policy.target(account.base_url + path)
        content = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        try:
            async with asyncio.timeout(self.operation_s):
                return _json(await self._request(target, method, _headers(account, target, content), content))
        except FetchRefused as error:
            raise RecordsFailed(_REASONS.get(error.details["reason"], "transport")) from None
        except (TimeoutError, httpcore2.TimeoutException, httpcore2.NetworkError, OSError) as error:
            raise RecordsFailed("transport") from error
        except httpcore2.ProtocolError:  # its message quotes what the server sent
            raise RecordsFailed("transport") from None

    async def _request(self, target: Target, method: str, headers: list[tuple[bytes, bytes]], content: bytes) -> bytes:
        backend = PinnedBackend(self.resolver, self.policy.networks(target), self.connector)
        async with (
            httpcore2.AsyncConnectionPool(
                ssl_context=self.ssl_context, network_backend=backend, max_connections=1, retries=0
            ) as pool,
            pool.stream(method, core_url(target), headers=headers, content=content) as response,
        ):
            if not 200 <= response.status < 300:
                raise RecordsFailed("status", response.status)
            return await read_body(response, MAX_ANSWER_BYTES)


_REASONS: Final[Mapping[str, str]] = {
    Refusal.ADDRESS: "denied",
    Refusal.TOO_LARGE: "unreadable",
    Refusal.ENCODING: "unreadable",
}


def _headers(account: RecordAccount, target: Target, content: bytes) -> list[tuple[bytes, bytes]]:
    name, scheme = (b"Authorization", "Token ") if account.type == PLATFORM else (b"X-API-Key", "")
    return [
        (b"Host", target.authority.encode()),
        (b"User-Agent", b"rootward"),
        (b"Accept", b"application/json"),
        (b"Accept-Encoding", b"gzip"),
        (b"Connection", b"close"),
        *([(b"Content-Type", b"application/json")] if content else []),
        (b"Content-Length", str(len(content)).encode()),
        *([] if account.key is None else [(name, f"{scheme}{account.key}".encode())]),
    ]


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _path(account: RecordAccount, record_id: str) -> str:
    form = "/v1/memories/{}/" if account.type == PLATFORM else "/memories/{}"
    return form.format(_quoted(record_id))


def _json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RecordsFailed("unreadable") from None


def _records(answer: Any) -> list[StoredRecord]:
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise RecordsFailed("unreadable")
    return [_record(result) for result in results]


def _record(found: Any) -> StoredRecord:
    """Return a record as the port gives it; unknown fields are passed over (RM-70)."""
    id_, text = (found.get("id"), found.get("memory")) if isinstance(found, dict) else (None, None)
    if not isinstance(id_, str) or not id_ or has_surrogate(id_) or not isinstance(text, str):
        raise RecordsFailed("unreadable")
    owner = found.get("user_id")
    return StoredRecord(
        id=id_,
        text=whole(text),
        namespace=owner if isinstance(owner, str) else "",
        score=_score(found.get("score")),
        updated_at=_time(found.get("updated_at")),
    )


def _score(given: Any) -> float | None:
    # What JSON calls true is a number to Python, and an integer may be larger than any float.
    known = type(given) is int or (type(given) is float and not math.isnan(given))
    return float(min(max(given, 0), 1)) if known else None


def _time(given: Any) -> str | None:
    """Return a time of the backend in RFC 3339 and UTC (FM-18); one without a zone is taken for UTC."""
    try:
        at = datetime.fromisoformat(given)
        return render(from_datetime(at if at.tzinfo else at.replace(tzinfo=UTC)))
    except (TypeError, ValueError, OverflowError):
        return None
