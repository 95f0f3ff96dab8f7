"""Embedders and rerankers behind an address: OpenAI's ``/embeddings`` and the ``/rerank`` of Cohere, Jina and others.

One request a call and no retries: the job, or the search without this route, decides about trying again. What comes
back is checked before it is believed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from graph.model.errors import ModelUnavailable

OPENAI_URL = "https://api.openai.com/v1"
TIMEOUT_S = 60.0
_REFUSED = frozenset({400, 413, 422})
_NUMBERED = frozenset({401, 403, 404, 429})


class _Vector(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    index: int
    embedding: list[float]


class _Vectors(BaseModel):
    model_config = ConfigDict(extra="ignore")
    data: list[_Vector]


class _Score(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    index: int
    relevance_score: float


class _Scores(BaseModel):
    model_config = ConfigDict(extra="ignore")
    results: list[_Score]


@dataclass(kw_only=True, slots=True)
class JsonPoster:
    """Posts JSON to one address and returns what was answered; the connection is kept for the next call."""

    url: str
    key: str | None = field(default=None, repr=False)
    timeout_s: float = TIMEOUT_S
    _client: httpx2.AsyncClient | None = field(default=None, repr=False)

    async def post(self, body: dict[str, Any]) -> bytes:
        """Return the body of a successful answer.

        Raises:
            ModelUnavailable: there is none; says why. ``bad_request`` if what was sent is not taken.
        """
        if self._client is None:
            self._client = httpx2.AsyncClient(timeout=self.timeout_s)
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            answer = await self._client.post(self.url, json=body, headers=headers)
        except httpx2.TimeoutException as error:
            raise ModelUnavailable("timeout") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise ModelUnavailable("network") from error
        if answer.is_success:
            return answer.content
        raise ModelUnavailable(_reason(answer.status_code), retry_after_s=_seconds(answer.headers.get("retry-after")))

    async def aclose(self) -> None:
        """Close the connection; the next call opens another one."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


@dataclass(kw_only=True, slots=True)
class HttpEmbedder:
    """An embedding model behind OpenAI's form of ``/embeddings``, which most providers and local servers speak.

    Attributes:
        dimensions: asked for if given; an answer of another size is refused.
    """

    poster: JsonPoster
    model: str
    dimensions: int | None = None

    async def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """Return one vector a text.

        Raises:
            ModelUnavailable: no vectors came, or not as many, or not of one size.
        """
        del query  # this form does not tell questions from texts
        if not texts:
            return []
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        try:
            found = _Vectors.model_validate_json(await self.poster.post(body)).data
        except ValidationError as error:
            raise ModelUnavailable("bad_response") from error
        ordered = [one.embedding for one in sorted(found, key=lambda one: one.index)]
        sizes = {len(vector) for vector in ordered}
        whole = [one.index for one in sorted(found, key=lambda one: one.index)] == list(range(len(texts)))
        if not whole or len(sizes) != 1 or 0 in sizes or sizes != {self.dimensions or next(iter(sizes))}:
            raise ModelUnavailable("bad_response")
        return ordered


@dataclass(kw_only=True, slots=True)
class HttpReranker:
    """A reranking model behind the ``/rerank`` that Cohere, Jina, Voyage and local servers share."""

    poster: JsonPoster
    model: str

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score a text, in their order, or as many as came; the search checks count and range (RE-18).

        Raises:
            ModelUnavailable: no scores came.
        """
        if not texts:
            return []
        body = {"model": self.model, "query": query, "documents": list(texts), "top_n": len(texts)}
        try:
            found = _Scores.model_validate_json(await self.poster.post(body)).results
        except ValidationError as error:
            raise ModelUnavailable("bad_response") from error
        scores = {one.index: one.relevance_score for one in found}
        if len(scores) != len(texts):
            return list(scores.values())
        return [scores.get(place, math.nan) for place in range(len(texts))]


def _reason(status: int) -> str:
    if status in _REFUSED:
        return "bad_request"
    if status in _NUMBERED:
        return f"http_{status}"
    return "http_5xx" if status >= 500 else "http_4xx"


def _seconds(header: str | None) -> float | None:
    try:
        seconds = float(header) if header is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < math.inf else None
