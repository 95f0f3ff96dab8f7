"""A mem0 server on loopback, in the Platform's and the self-hosted form, that misbehaves on demand (RM-61 to RM-70)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID, uuid5

from graph.rules.record_providers import PLATFORM, SELF_HOSTED

Json = dict[str, Any]
_ACTOR = {"actor_id": None, "role": "user"}
_SPACE = UUID(int=7)
_MOST = {PLATFORM: 200, SELF_HOSTED: 1_000}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    @property
    def line(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How the server misbehaves.

    Attributes:
        status: it answers so, and does nothing.
        stores: it does what it was asked and answers in the way of `status`, `raw` or `drops` nevertheless.
        drops: it breaks the connection off before it answers.
        hangs: it waits for this before it does anything.
        location: of a redirect.
        raw: the body that it sends instead of its own.
    """

    status: int = 0
    stores: bool = False
    drops: bool = False
    hangs: asyncio.Event | None = None
    location: str = ""
    raw: bytes | None = None


@dataclass
class Mem0Server:
    """Keeps records in memory and answers like mem0.

    Attributes:
        form: ``mem0_platform`` or ``mem0_oss``.
        key: asked for, unless it is empty; `admin` says whether it may purge.
        records: in the order of lists.
        asked: all requests.
        fault: what the next requests meet: a function of the request, None for no fault.
        is_asked: set by every request.
    """

    form: str = SELF_HOSTED
    key: str = ""
    admin: bool = True
    address: str = "127.0.0.1"
    records: list[Json] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    fault: Callable[[Asked], Fault | None] = lambda asked: None
    is_asked: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _open: set[asyncio.StreamWriter] = field(default_factory=set)
    _made: int = 0

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def lines(self) -> list[str]:
        """Method and path of all requests."""
        return [asked.line for asked in self.asked]

    def store(self, user: str, text: str) -> str:
        """Store a record behind everybody's back and return its id."""
        self._made += 1
        at = f"2025-05-10T00:{self._made // 60 % 60:02}:{self._made % 60:02}.123456-07:00"
        made = {"id": str(uuid5(_SPACE, str(self._made))), "memory": text, "user_id": user, "metadata": None}
        self.records.append({**made, "created_at": at, "updated_at": at, "hash": "h", "categories": ["x"]})
        return str(made["id"])

    def texts(self, user: str) -> list[str]:
        """Return what a user has."""
        return [record["memory"] for record in self.records if record["user_id"] == user]

    async def __aenter__(self) -> Mem0Server:
        self._server = await asyncio.start_server(self._serve, self.address, 0, limit=16 * 1_048_576)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Refuse connections from now on."""
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            asked = await _request(reader)
            self.asked.append(asked)
            self.is_asked.set()
            await self._reply(asked, self.fault(asked), writer)
        with contextlib.suppress(ConnectionError):
            writer.close()
        self._open.discard(writer)

    async def _reply(self, asked: Asked, fault: Fault | None, writer: asyncio.StreamWriter) -> None:
        if fault and fault.hangs:
            await fault.hangs.wait()
        plain = fault is None or fault.stores or not (fault.status or fault.drops or fault.location)
        status, body = self._answer(asked) if plain else (200, None)
        sent = json.dumps(body).encode()
        headers = {}
        if fault and fault.drops:
            writer.transport.abort()
            return
        if fault and fault.location:
            status, headers = 307, {"location": fault.location}
        elif fault and fault.status:
            status, sent = fault.status, json.dumps({"detail": "canary", "code": "x", "request_id": "r"}).encode()
        sent = fault.raw if fault and fault.raw is not None else sent
        writer.write(_response(status, headers, sent))
        await writer.drain()

    def _answer(self, asked: Asked) -> tuple[int, Any]:
        given = asked.headers.get("x-api-key", asked.headers.get("authorization", ""))
        wanted = f"Token {self.key}" if self.form == PLATFORM else self.key
        if self.key and given != wanted:
            return 401, {"detail": "Authentication required"}
        return self._platform(asked) if self.form == PLATFORM else self._self_hosted(asked)

    def _platform(self, asked: Asked) -> tuple[int, Any]:
        match asked.method, asked.path:
            case "POST", "/v3/memories/add/":
                if asked.body.get("infer", True):
                    return 200, {"status": "PENDING", "event_id": "e"}
                made = self.store(asked.body["user_id"], asked.body["messages"][0]["content"])
                result = {"id": made, "data": {"memory": asked.body["messages"][0]["content"]}, "event": "ADD"}
                return 200, {"status": "SUCCEEDED", "event_id": "e", "results": [result]}
            case "POST", "/v3/memories/":
                return self._pages(asked)
            case "POST", "/v3/memories/search/":
                return self._nearest(asked, 10)
            case "DELETE", "/v1/memories/":
                return self._purged(asked, {"message": "Memories deleted successfully!", "event_id": "e"})
        id_ = unquote(asked.path.removeprefix("/v1/memories/").removesuffix("/"))
        return self._one(asked, id_, 404, {"error": "Memory not found!"})

    def _self_hosted(self, asked: Asked) -> tuple[int, Any]:
        match asked.method, asked.path:
            case "POST", "/memories":
                text = asked.body["messages"][0]["content"]
                made = self.store(asked.body["user_id"], text)
                return 200, {
                    "results": [{"id": made, "memory": text, "event": "ADD", "actor_id": None, "role": "user"}]
                }
            case "GET", "/memories":
                most = int(asked.query.get("top_k", 20))
                if most > _MOST[self.form]:
                    return 422, {"detail": "top_k"}
                if "user_id" not in asked.query:
                    return 403, {"detail": "Admin role required"}
                return 200, {"results": self._of(asked.query["user_id"])[:most]}
            case "POST", "/search":
                return self._nearest(asked, 20)
            case "DELETE", "/memories":
                if not self.admin:
                    return 403, {"detail": "Admin role required"}
                return self._purged(asked, {"message": "All relevant memories deleted"})
        id_ = unquote(asked.path.removeprefix("/memories/"))
        if asked.method == "GET":
            return 200, self._found(id_)
        return self._one(asked, id_, 404, {"detail": "Memory not found"})

    def _one(self, asked: Asked, id_: str, missing: int, error: Json) -> tuple[int, Any]:
        if self.form == PLATFORM and not _is_uuid(id_):
            return 400, {"error": "Invalid memory id"}
        found = self._found(id_)
        if found is None:
            return missing, error
        if asked.method == "PUT":
            found |= {"memory": asked.body["text"]}
            return 200, found if self.form == PLATFORM else {"message": "Memory updated successfully!"}
        if asked.method == "DELETE":
            self.records.remove(found)
            return 200, {"message": "Memory deleted successfully!"}
        return 200, found

    def _pages(self, asked: Asked) -> tuple[int, Any]:
        page, size = int(asked.query.get("page", 1)), int(asked.query.get("page_size", 100))
        if "user_id" in asked.body or not 1 <= size <= _MOST[self.form]:
            return 400, {"error": "bad request"}
        own = self._of(asked.body["filters"]["user_id"])
        start = (page - 1) * size
        following = "http://next" if len(own) > start + size else None
        return 200, {"count": len(own), "next": following, "previous": None, "results": own[start : start + size]}

    def _nearest(self, asked: Asked, most: int) -> tuple[int, Any]:
        body = asked.body
        scored = [{**r, "score": _near(body["query"], r["memory"])} for r in self._of(body["filters"]["user_id"])]
        near = [record for record in scored if record["score"] >= body.get("threshold", 0.1)]
        near.sort(key=lambda record: -record["score"])
        return 200, {"results": near[: body.get("top_k", most)]}

    def _purged(self, asked: Asked, answer: Json) -> tuple[int, Any]:
        gone = self._of(asked.query["user_id"])
        self.records = [record for record in self.records if record not in gone]
        return 200, answer

    def _of(self, user: str) -> list[Json]:
        return [record for record in self.records if user in ("*", record["user_id"])]

    def _found(self, id_: str) -> Json | None:
        return next((record for record in self.records if record["id"] == id_), None)


def _near(query: str, text: str) -> float:
    """Return the share of common words."""
    one, two = set(query.lower().split()), set(text.lower().split())
    return len(one & two) / len(one | two) if one | two else 0.0


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    method, target, _ = first.split()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    parts = urlsplit(target)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    body = json.loads(raw) if raw else None
    return Asked(method=method, path=parts.path, query=query, headers=headers, body=body)


def _response(status: int, headers: dict[str, str], body: bytes) -> bytes:
    own = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in {**own, **headers}.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body
