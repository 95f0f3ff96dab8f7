"""Subscriptions over WebSocket, in the protocol graphql-transport-ws, spoken by Strawberry's own handler.

The token comes in `connection_init` as ``{"Authorization": "Bearer …"}``. Pages of other origins are refused before
the handshake. Only subscriptions are taken; a frame that is none of the protocol's messages ends the connection with
4400. Source: E5, KN-123.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from json import JSONDecodeError
from typing import Any, cast

from graphql import GraphQLError, OperationType
from starlette.requests import Request
from starlette.websockets import WebSocket
from strawberry import Schema
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler
from strawberry.types import ExecutionResult
from strawberry.types.execution import PreExecutionError
from strawberry.types.unset import UNSET, UnsetType

from api.graphql.execution import Executor, GraphQLRequest
from api.graphql.http import Authenticates
from api.incoming import address_of
from graph.model.errors import BadInput, RootwardError
from graph.services.access.caller import Caller

INIT_TIMEOUT = timedelta(seconds=10)
MAX_ID = 64
"""Characters of the id of an operation."""


@dataclass(kw_only=True, slots=True)
class SocketContext:
    """What one connection knows: its peer and, after `connection_init`, its caller and the credential it sent."""

    address: str
    connection_params: Mapping[str, Any] | None = None
    caller: Caller | None = None
    authorization: str | None = None


class _Handler(BaseGraphQLTransportWSHandler[Any, Any]):
    """Strawberry's handler behind a check of every frame: it takes their shape for granted."""

    async def handle_message(self, message: Any) -> None:
        """Hand on what is a message of the protocol; anything else ends the connection (4400)."""
        if _is_message(message):
            await super().handle_message(message)
        else:
            await self.handle_invalid_message("this is no message of graphql-transport-ws")


def _is_message(found: Any) -> bool:
    """Tell whether a frame has the fields that the protocol gives its type."""
    if not isinstance(found, dict):
        return False
    match found.get("type"):
        case "connection_init" | "ping" | "pong":
            return isinstance(found.get("payload"), dict | None)
        case "complete":
            return _is_id(found.get("id"))
        case "subscribe":
            payload = found.get("payload")
            return _is_id(found.get("id")) and isinstance(payload, dict) and isinstance(payload.get("query"), str)
        case _:
            return False


def _is_id(found: Any) -> bool:
    """Tell whether this names an operation; the reason of a closing frame, which may quote it, has 123 bytes."""
    return isinstance(found, str) and 0 < len(found) <= MAX_ID and found.isascii()


class SubscriptionEndpoint(GraphQL[Any, Any]):
    """Answers WebSocket /graphql."""

    graphql_transport_ws_handler_class = _Handler

    def __init__(self, executor: Executor, auth: Authenticates, *, allowed_origins: tuple[str, ...], most: int) -> None:
        super().__init__(
            _Streaming(executor, auth),
            graphql_ide=None,
            subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL,),
            connection_init_wait_timeout=INIT_TIMEOUT,
            max_subscriptions_per_connection=most,
            allowed_origins=allowed_origins,
        )
        self._auth = auth

    def decode_json(self, data: str | bytes) -> object:
        """Return what a frame holds.

        Raises:
            JSONDecodeError: it is no JSON, or such that Python does not read it: too deep, or too long a number.
        """
        try:
            return super().decode_json(data)
        except (ValueError, RecursionError) as error:
            raise JSONDecodeError("no JSON that can be read", "", 0) from error

    async def get_context(self, request: Request | WebSocket, response: Any) -> Any:
        """Return the context of a connection."""
        return SocketContext(address=address_of(request))

    async def on_ws_connect(self, context: Any) -> UnsetType | dict[str, object] | None:
        """Find out who connected; anything but a valid token ends the connection (4403)."""
        params = context.connection_params or {}
        given = params.get("Authorization") or params.get("authorization")
        try:
            context.caller = await self._auth.caller(given if isinstance(given, str) else None, context.address)
        except RootwardError as error:
            raise ConnectionRejectionError from error
        context.authorization = given
        return cast(UnsetType, UNSET)


class _Streaming(Schema):
    """The schema as the handler sees it: it streams results whose errors are worded for clients."""

    def __init__(self, executor: Executor, auth: Authenticates) -> None:
        # Not a schema of its own: only `stream` is called, and it hands on to the executor's.
        self.executor = executor
        self.auth = auth

    async def stream(  # type: ignore[override]
        self, query: str | None, variable_values: dict[str, Any] | None = None, context_value: Any = None, **kwargs: Any
    ) -> AsyncGenerator[ExecutionResult | PreExecutionError, None]:
        return self._worded_results(query, variable_values, context_value, kwargs.get("operation_name"))

    async def _worded_results(
        self, query: Any, variables: Any, socket: SocketContext, name: Any
    ) -> AsyncGenerator[ExecutionResult | PreExecutionError, None]:
        caller = socket.caller
        assert caller is not None
        try:
            request = _request(query, variables, name)
            prepared = self.executor.prepare(request)
            if prepared.operation.operation is not OperationType.SUBSCRIPTION:
                raise BadInput("a WebSocket carries subscriptions only; POST queries and mutations", field="query")
        except Exception as error:  # noqa: BLE001 - the edge of the process: a request
            yield PreExecutionError(data=None, errors=_worded(self.executor.failures(error, caller)))
            return
        still_valid = functools.partial(self.auth.caller, socket.authorization, socket.address)
        async with aclosing(self.executor.events(prepared, request, caller, still_valid)) as bodies:
            async for body in bodies:
                errors = _worded(body.get("errors", [])) or None
                yield ExecutionResult(data=body.get("data"), errors=errors)


def _request(query: Any, variables: Any, name: Any) -> GraphQLRequest:
    if not isinstance(query, str) or not isinstance(variables, dict | None) or not isinstance(name, str | None):
        raise BadInput("send query, variables and operationName as the protocol says", field="payload")
    return GraphQLRequest(query=query, variables=variables or {}, operation_name=name)


def _worded(errors: list[dict[str, Any]]) -> list[GraphQLError]:
    return [GraphQLError(error["message"], path=error.get("path"), extensions=error["extensions"]) for error in errors]
