"""One exchange of the Model Context Protocol, spoken by its reference SDK; imported with the first request.

Each request gets a server and a session manager of its own, stateless and with JSON answers: there are no sessions to
steal, to fill up or to keep on one of several processes, and the task group of the manager ends with the request.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, Final, TypeVar

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.types import Receive, Scope, Send

from api.errors import INTERNAL_ERROR, INVALID_PARAMS, MASKED, row_of
from api.mcp.place import Place, Shelf, Told, ToolOffer, ToolRefused, ToolUse, UnknownTool
from api.observability import note_fault, tracer
from graph.model.errors import BadInput, RootwardError
from graph.services.deps import Figures

CALL_ID: Final = "rootward/tool_call_id"
"""In `_meta` of a call: what tells it from others (MT-64, AD-17)."""

_BRIEFED: Final = frozenset({"initialize", "server/discover"})
_UNKNOWN: Final = "there is no such tool here now: list the tools again"
T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


async def exchange(place: Place, figures: Figures, limit: int, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request about a place.

    Args:
        place: what is offered.
        figures: where calls are counted.
        limit: bytes of the largest body.
        scope: of a request whose caller was signed in.
        receive: gives its body.
        send: takes the answer.
    """
    manager = StreamableHTTPSessionManager(
        app=_Handlers(place, figures).server(), json_response=True, stateless=True, max_request_body_size=limit
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)


class _Handlers:
    """The methods that a place answers."""

    def __init__(self, place: Place, figures: Figures) -> None:
        self._place = place
        self._figures = figures

    def server(self) -> Server[Any]:
        """Return the server of one request. What it says of itself tells nothing of the place."""
        made: Server[Any] = Server(
            "rootward",
            version=_version(),
            get_tool_input_schema=_no_headers,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )
        if self._place.shelf is not None:
            _Resources(self, self._place.shelf).add_to(made)
        # Instead of the SDK's own: that one puts what a client sent into names of spans.
        made.middleware = [self.watched]
        return made

    async def watched(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Trace a message without its content, and brief who begins."""
        name = f"mcp.{self._place.name}"
        with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False):
            result = await call_next(ctx)
            if ctx.method in _BRIEFED and isinstance(result, dict):
                told = await self.guarded(self._place.brief())
                return {**result, "instructions": told} if told else result
            return result

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        del ctx, params
        return types.ListToolsResult(tools=[_tool(offer) for offer in await self.guarded(self._place.tools())])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        told = await self.guarded(self._told(params.name, params.arguments or {}, ctx.params or {}))
        self._figures.count("mcp_calls", place=self._place.name, outcome="failed" if told.failed else "ok")
        body = dict(told.body)
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=body, is_error=told.failed
        )

    async def guarded(self, work: Awaitable[T]) -> T:
        """Return what some work gives; whatever goes wrong becomes an error of the protocol.

        Raises:
            MCPError: worded for the client.
        """
        try:
            return await work
        except MCPError:
            raise
        except UnknownTool:
            raise MCPError(INVALID_PARAMS, _UNKNOWN, {"code": "not_found", "kind": "tool"}) from None
        except ToolRefused as refused:
            raise self._error(refused.error) from None
        except RootwardError as error:
            raise self._error(error) from None
        except Exception as error:  # noqa: BLE001 - the edge of the process: a request
            note_fault(error, self._figures)
            raise MCPError(INTERNAL_ERROR, MASKED) from None

    async def _told(self, name: str, arguments: Mapping[str, Any], params: Mapping[str, Any]) -> Told:
        """Call a tool; an error of the core is told to the model, which may mend what it sent."""
        try:
            return await self._place.use(name, ToolUse(arguments=arguments, id=_call_id(params)))
        except RootwardError as error:
            return Told(body={"error": dict(self._place.failure(error))}, failed=True)

    def _error(self, error: RootwardError) -> MCPError:
        told = dict(self._place.failure(error))
        message = str(told.pop("message"))
        return MCPError(row_of(error).json_rpc, message, {"code": told.pop("error"), **(told.get("details") or {})})


class _Resources:
    """The methods of a place that has resources."""

    def __init__(self, handlers: _Handlers, shelf: Shelf) -> None:
        self._guarded = handlers.guarded
        self._shelf = shelf

    def add_to(self, server: Server[Any]) -> None:
        """Let a server answer them."""
        server.add_request_handler("resources/list", types.PaginatedRequestParams, self.list_resources)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.list_templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read_resource)

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        del ctx
        shown, cursor = await self._guarded(self._shelf.page(params.cursor if params else None))
        listed = [
            types.Resource(uri=one.uri, name=one.name, description=one.description, mime_type="text/markdown")
            for one in shown
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=cursor)

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        del ctx, params
        made = [
            types.ResourceTemplate(
                uri_template=one.uri, name=one.name, description=one.description, mime_type=one.media_type
            )
            for one in self._shelf.templates
        ]
        return types.ListResourceTemplatesResult(resource_templates=made)

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        del ctx
        found = await self._guarded(self._shelf.text(params.uri))
        text = types.TextResourceContents(uri=params.uri, mime_type=found.media_type, text=found.text)
        return types.ReadResourceResult(contents=[text])


@cache
def _version() -> str:
    return version("rootward-server")


def _no_headers(name: str) -> None:
    """No argument is repeated in a header, so that no list of tools must be made before a call."""
    del name


def _tool(offer: ToolOffer) -> types.Tool:
    hints = None
    if offer.reads is not None:
        hints = types.ToolAnnotations(read_only_hint=offer.reads, open_world_hint=False)
    return types.Tool(
        name=offer.name, description=offer.description, input_schema=dict(offer.schema), annotations=hints
    )


def _call_id(params: Mapping[str, Any]) -> str | None:
    """Return how the client tells this call from others; None if it does not.

    Raises:
        BadInput: it is no text of 1 to 256 characters.
    """
    meta = params.get("_meta")
    given = meta.get(CALL_ID) if isinstance(meta, Mapping) else None
    if given is None or (isinstance(given, str) and 1 <= len(given) <= 256):
        return given
    raise BadInput(f"{CALL_ID} has 1 to 256 characters")
