"""Runs one GraphQL operation: parse, measure, validate, execute under one state of rights, word the errors.

Documents that passed are kept by their text, so that a client's known operations are parsed and validated once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    create_source_event_stream,
    get_operation_ast,
    parse,
    validate,
)
from graphql.execution import ExecutionResult as GraphQLResult
from graphql.execution import Executor as GraphQLExecutor
from strawberry import Schema
from strawberry.types import ExecutionResult
from strawberry.types.graphql import OperationType as StrawberryOperationType

from api.graphql.context import Outcome, RequestContext
from api.graphql.documents import asks_for_schema, names_of
from api.graphql.faults import wire_errors, wire_own
from api.graphql.payload import Payload, enter, outcomes_of
from api.graphql.subscriptions import Event
from api.limits import Limits, check_document, check_json, check_text
from api.observability import note_fault, tracer
from dreaming.jobs import ModelMaker, no_models
from dreaming.sandbox.rules import SandboxRules
from graph.model.errors import BadInput, NotFound, QueryTooComplex, RootwardError, StoreUnavailable
from graph.model.ids import NodeId
from graph.services.access.caller import Caller
from graph.services.access.facts import load_facts
from graph.services.access.recorded_reads import record_reads
from graph.services.access.session import MAX_REPEATS, Session, read
from graph.services.access.tokens import refused
from graph.services.deps import Deps

KEPT_DOCUMENTS = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphQLRequest:
    """What a client sent, not yet looked at."""

    query: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    operation_name: str | None = None
    conversation: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A document that may run."""

    document: DocumentNode
    operation: OperationDefinitionNode


@dataclass(kw_only=True, slots=True)
class Executor:
    """Runs operations against a schema.

    Attributes:
        models, sandbox: what operations get that ask models.
        introspection: whether the schema may be asked for itself.
        names: of everything in the schema; error messages may quote these and nothing else.
    """

    schema: Schema
    deps: Deps
    limits: Limits = Limits()
    models: ModelMaker = no_models
    sandbox: SandboxRules = field(default_factory=SandboxRules)
    introspection: bool = False
    names: frozenset[str] = frozenset()
    _kept: OrderedDict[str, DocumentNode] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.names = frozenset(names_of(self.schema))

    def prepare(self, request: GraphQLRequest) -> Prepared:
        """Return the checked document of a request.

        Raises:
            QueryTooComplex: a limit is passed.
            BadInput: no such operation, or introspection while it is off.
            GraphQLError: a syntax error.
            ValidationFailed: it does not fit the schema.
        """
        check_json(dict(request.variables))
        kept = self._kept.get(request.query)
        document = kept if kept is not None else self._parse(request.query)
        operation = get_operation_ast(document, request.operation_name)
        if operation is None:
            raise BadInput("name one operation of the document in operationName", field="operationName")
        check_document(document, operation, self._graphql, request.variables, self.limits)
        if kept is None:
            self._validate(document)
            self._keep(request.query, document)
        return Prepared(document=document, operation=operation)

    async def answer(self, request: GraphQLRequest, caller: Caller) -> dict[str, Any]:
        """Return the answer to a query or mutation, in the form of the specification; no `data` if it did not run."""
        kind = "unknown"
        try:
            prepared = self.prepare(request)
            kind = prepared.operation.operation.value
            with tracer.start_as_current_span(f"graphql.{kind}"):
                result = await self._run(prepared, request, caller)
        except Exception as error:  # noqa: BLE001 - the edge of the process: a request
            self.deps.figures.count("graphql_operations", kind=kind, outcome="refused")
            return {"errors": self.failures(error, caller)}
        self.deps.figures.count("graphql_operations", kind=kind, outcome="errors" if result.errors else "ok")
        return self.body(result, caller)

    async def events(
        self,
        prepared: Prepared,
        request: GraphQLRequest,
        caller: Caller,
        still_valid: Callable[[], Awaitable[object]],
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the answers of a subscription; each event is read and authorised anew when it is sent (KN-123)."""
        ctx = self._context(prepared, caller, still_valid=still_valid)
        source = await self._source(prepared, request, ctx)
        if not isinstance(source, AsyncGenerator):
            yield self._body(None, source, caller)
            return
        recorded: set[NodeId] = set()
        async with aclosing(source):
            try:
                async for event in source:
                    body = await self._event(prepared, request, caller, event, recorded)
                    if body is not None:
                        yield body
            except Exception as error:  # noqa: BLE001 - the edge of the process: a request
                yield {"data": None, "errors": self.failures(error, caller)}

    async def _source(
        self, prepared: Prepared, request: GraphQLRequest, ctx: RequestContext
    ) -> AsyncGenerator[Event, None] | Sequence[GraphQLError]:
        """Return the events that a subscription asks for, or why there are none."""
        made = GraphQLExecutor.build(
            self._graphql,
            prepared.document,
            context_value=ctx,
            raw_variable_values=dict(request.variables),
            operation_name=request.operation_name,
        )
        if not isinstance(made, GraphQLExecutor):
            return made
        stream = create_source_event_stream(made)
        found = await stream if isinstance(stream, Awaitable) else stream
        if isinstance(found, AsyncGenerator):
            return found
        return found.errors or [] if isinstance(found, GraphQLResult) else []

    async def _event(
        self, prepared: Prepared, request: GraphQLRequest, caller: Caller, event: Event, recorded: set[NodeId]
    ) -> dict[str, Any] | None:
        """Return the answer for one event, None if the caller may not see it; a chat's reading is recorded once."""

        async def work(session: Session) -> ExecutionResult | None:
            ctx = self._context(prepared, caller)
            await enter(ctx, session, None)
            loaded = await event.load(ctx)
            return None if loaded is None else await self.execute(ctx, request, root=loaded)

        result, session = await read(self.deps, caller, work)
        await record_reads(self.deps, caller, session.recorded - recorded)
        recorded |= session.recorded
        return None if result is None else self.body(result, caller)

    def body(self, result: ExecutionResult, caller: Caller) -> dict[str, Any]:
        """Return a result in the form of the specification."""
        return self._body(result.data, result.errors or [], caller)

    def _body(self, data: Any, errors: Sequence[GraphQLError], caller: Caller) -> dict[str, Any]:
        ran = data is not None or any(error.path is not None for error in errors)
        body: dict[str, Any] = {"data": data} if ran or not errors else {}
        if errors:
            body["errors"] = wire_errors(errors, caller.workspace, self.names, self.deps.figures)
        return body

    def failures(self, error: Exception, caller: Caller) -> list[dict[str, Any]]:
        """Return what kept an operation from running, as errors of the answer."""
        if isinstance(error, ValidationFailed):
            return wire_errors(error.errors, caller.workspace, self.names, self.deps.figures)
        if isinstance(error, RootwardError):
            self.deps.figures.count("graphql_errors", code=error.wire_code)
            return [wire_own(error, caller.workspace)]
        found = error if isinstance(error, GraphQLError) else GraphQLError("fault", original_error=error, path=[])
        if not isinstance(error, GraphQLError):
            note_fault(error, self.deps.figures)
            return [wire_own(_Masked(), caller.workspace)]
        return wire_errors([found], caller.workspace, self.names, self.deps.figures)

    @property
    def _graphql(self) -> Any:
        return self.schema._schema

    def _parse(self, query: str) -> DocumentNode:
        check_text(query)
        try:
            return parse(query, max_lexical_tokens=self.limits.tokens, max_comments=self.limits.tokens)
        except GraphQLError as error:
            if "more than" in error.message:
                raise QueryTooComplex(
                    f"send a document of at most {self.limits.tokens} tokens", limit=self.limits.tokens
                ) from error
            raise
        except RecursionError as error:
            raise QueryTooComplex("the document is nested too deeply") from error

    def _validate(self, document: DocumentNode) -> None:
        if not self.introspection and asks_for_schema(document):
            raise BadInput("introspection is off: the schema is published as schema.graphql", field="query")
        errors = validate(self._graphql, document, max_errors=20)
        if errors:
            raise ValidationFailed(errors)

    def _keep(self, query: str, document: DocumentNode) -> None:
        self._kept[query] = document
        while len(self._kept) > KEPT_DOCUMENTS:
            self._kept.popitem(last=False)

    async def _run(self, prepared: Prepared, request: GraphQLRequest, caller: Caller) -> ExecutionResult:
        if prepared.operation.operation is OperationType.SUBSCRIPTION:
            raise BadInput("subscribe over a WebSocket (graphql-transport-ws)", field="query")
        try:
            if prepared.operation.operation is OperationType.QUERY:
                return await self._query(prepared, request, caller)
            return await self._mutation(prepared, request, caller)
        except NotFound as error:
            if await self._is_gone(caller):
                raise refused() from error
            raise

    async def _query(self, prepared: Prepared, request: GraphQLRequest, caller: Caller) -> ExecutionResult:
        outcomes: dict[str, Outcome] = {}

        async def work(session: Session) -> tuple[ExecutionResult, RequestContext]:
            ctx = self._context(prepared, caller, outcomes=outcomes, repeats=True)
            await enter(ctx, session, request.conversation)
            return await self.execute(ctx, request), ctx

        for _ in range(MAX_REPEATS):
            (result, ctx), session = await read(self.deps, caller, work)
            if not ctx.pending:
                await record_reads(self.deps, caller, session.recorded)
                for act in ctx.afterwards:
                    await act()
                return result
            outcomes |= await outcomes_of(ctx.pending)
        raise StoreUnavailable("what it asks about is changing too fast: try again")

    async def _mutation(self, prepared: Prepared, request: GraphQLRequest, caller: Caller) -> ExecutionResult:
        ctx = self._context(prepared, caller)
        recorded: set[NodeId] = set()
        for _ in range(MAX_REPEATS):
            payload = Payload(deps=self.deps, ctx=ctx, conversation=request.conversation)
            ctx.open_session, ctx.leave_session = payload.open, payload.leave
            async with payload.stack:
                result = await self.execute(ctx, request)
                steady = await payload.steady()
            recorded |= payload.recorded
            if steady:
                await record_reads(self.deps, caller, recorded)
                return result
        raise StoreUnavailable("the change was made, but rights are changing too fast to read it back")

    def _context(self, prepared: Prepared, caller: Caller, **more: Any) -> RequestContext:
        return RequestContext(
            deps=self.deps,
            models=self.models,
            sandbox=self.sandbox,
            caller=caller,
            document=prepared.document,
            **more,
        )

    async def execute(self, ctx: RequestContext, request: GraphQLRequest, root: Any = None) -> ExecutionResult:
        """Execute a prepared document; `root` is the event of a subscription."""
        return await self.schema.execute(
            request.query,
            variable_values=dict(request.variables),
            context_value=ctx,
            root_value=root,
            operation_name=request.operation_name,
            allowed_operation_types=tuple(StrawberryOperationType),
        )

    async def _is_gone(self, caller: Caller) -> bool:
        async with self.deps.store.reading() as reader:
            try:
                await load_facts(reader, caller)
            except NotFound:
                return True
        return False


class ValidationFailed(Exception):
    """The document does not fit the schema."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__()
        self.errors = errors


class _Masked(RootwardError):
    def __init__(self) -> None:
        super().__init__("an unexpected fault; look it up in the log by the request id")
