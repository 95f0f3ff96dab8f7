"""Hands Strawberry the document that was parsed, measured and validated before (`execution.Executor.prepare`)."""

from __future__ import annotations

from collections.abc import Iterator

from strawberry.extensions import SchemaExtension

from api.graphql.context import RequestContext


class UsePrepared(SchemaExtension):
    """Skips parsing and validation of a prepared document; what comes unprepared is parsed and validated as usual."""

    def on_parse(self) -> Iterator[None]:
        """Give the document."""
        ctx = self.execution_context.context
        if isinstance(ctx, RequestContext) and ctx.document is not None:
            self.execution_context.graphql_document = ctx.document
        yield

    def on_validate(self) -> Iterator[None]:
        """Say that validation is done."""
        ctx = self.execution_context.context
        if isinstance(ctx, RequestContext) and ctx.document is not None:
            self.execution_context.pre_execution_errors = []
        yield
