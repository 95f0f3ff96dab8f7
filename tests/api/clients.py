"""A small client, so that one behaviour can be run through several transports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2


@dataclass(kw_only=True)
class Answer:
    """The answer to one operation."""

    status: int
    data: Any
    errors: list[dict[str, Any]]
    headers: Mapping[str, str]

    @property
    def codes(self) -> list[str]:
        """The codes of the errors, in order."""
        return [error["extensions"]["code"] for error in self.errors]


@dataclass(kw_only=True)
class GraphQLClient:
    """Speaks GraphQL over HTTP, to a real server or to the application in this process.

    Attributes:
        http: knows the address.
        token: of who asks; None for nobody.
        headers: sent with each request.
    """

    http: httpx2.AsyncClient
    token: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def as_(self, token: str | None) -> GraphQLClient:
        """Return the same client for another person."""
        return GraphQLClient(http=self.http, token=token, headers=self.headers)

    async def run(self, query: str, operation_name: str | None = None, /, **variables: Any) -> Answer:
        """Run an operation and return its answer, errors included."""
        body = {"query": query, "variables": variables, "operationName": operation_name}
        response = await self.http.post("/graphql", json=body, headers=self._headers())
        return answer_of(response)

    async def upload(self, query: str, name: str, data: bytes, /, **variables: Any) -> Answer:
        """Run an operation whose variable `file` is a file, as a GraphQL multipart request."""
        operations = json.dumps({"query": query, "variables": {**variables, "file": None}})
        files: dict[str, tuple[str | None, str | bytes]] = {
            "operations": (None, operations),
            "map": (None, json.dumps({"0": ["variables.file"]})),
            "0": (name, data),
        }
        headers = {**self._headers(), "Rootward-Upload": "1"}
        return answer_of(await self.http.post("/graphql", files=files, headers=headers))

    async def ok(self, query: str, /, **variables: Any) -> Any:
        """Run an operation that must succeed and return its data."""
        answer = await self.run(query, **variables)
        assert not answer.errors, answer.errors
        return answer.data

    async def it(self, query: str, /, **variables: Any) -> Any:
        """Run an operation that must succeed and return what its field named `it` holds."""
        return (await self.ok(query, **variables))["it"]

    async def refused(self, query: str, /, **variables: Any) -> dict[str, Any]:
        """Run an operation that must fail with one error, and return what the error tells beside its message."""
        answer = await self.run(query, **variables)
        assert len(answer.errors) == 1, (answer.data, answer.errors)
        return dict(answer.errors[0]["extensions"])

    async def code(self, query: str, /, **variables: Any) -> str:
        """Run an operation that must fail with one code, and return it."""
        answer = await self.run(query, **variables)
        assert answer.errors, answer.data
        assert len(set(answer.codes)) == 1, answer.errors
        return answer.codes[0]

    def _headers(self) -> dict[str, str]:
        return {**self.headers, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}


def answer_of(response: httpx2.Response) -> Answer:
    """Return the answer that a response holds."""
    body = response.json() if response.content else {}
    return Answer(
        status=response.status_code,
        data=body.get("data"),
        errors=body.get("errors", []),
        headers=response.headers,
    )
