"""The GraphQL schema of the service; `schema.graphql` is exported from it (KN-109)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import strawberry
from graphql import GraphQLArgument, GraphQLError, GraphQLInputField, GraphQLSchema, Undefined
from strawberry.schema.config import StrawberryConfig
from strawberry.tools import merge_types
from strawberry.types import ExecutionContext

from api.graphql.mutations.administration import ProvisioningMutations, RightMutations
from api.graphql.mutations.agents import AgentMutations
from api.graphql.mutations.bots import BotMutations
from api.graphql.mutations.changes import ChangeMutations
from api.graphql.mutations.connectors import ConnectorMutations
from api.graphql.mutations.conversations import ConversationMutations
from api.graphql.mutations.entries import EntryMutations
from api.graphql.mutations.hosting import HostMutations
from api.graphql.mutations.importing import AnchorMutations, ImportMutations
from api.graphql.mutations.learning import LearningMutations
from api.graphql.mutations.materials import MaterialMutations
from api.graphql.mutations.models import ModelMutations
from api.graphql.mutations.operating import OperatingMutations
from api.graphql.mutations.records import RecordMutations
from api.graphql.mutations.restoring import AdminMutations, RestoreMutations
from api.graphql.mutations.runs import RunMutations
from api.graphql.mutations.sandboxes import SandboxMutations
from api.graphql.mutations.sessions import SessionMutations
from api.graphql.mutations.signals import SignalMutations
from api.graphql.mutations.sources import SourceMutations
from api.graphql.mutations.threads import ThreadMutations
from api.graphql.mutations.turns import TurnMutations
from api.graphql.mutations.workspace import WorkspaceMutations
from api.graphql.prepared import UsePrepared
from api.graphql.queries.administration import AdminQueries
from api.graphql.queries.audit import AuditQueries
from api.graphql.queries.bots import BotQueries
from api.graphql.queries.connectors import ConnectorQueries
from api.graphql.queries.dreaming import DreamingQueries
from api.graphql.queries.entries import EntryQueries
from api.graphql.queries.graph import GraphQueries
from api.graphql.queries.learning import LearningQueries
from api.graphql.queries.materials import MaterialQueries
from api.graphql.queries.memory import MemoryQueries
from api.graphql.queries.neighborhood import NeighborhoodQueries
from api.graphql.queries.operating import OperatingQueries
from api.graphql.queries.records import RecordQueries
from api.graphql.queries.runs import RunQueries
from api.graphql.queries.sandboxes import SandboxQueries
from api.graphql.queries.sessions import SessionQueries
from api.graphql.queries.status import StatusQueries
from api.graphql.queries.workspace import WorkspaceQueries
from api.graphql.quick import QuickExecutor
from api.graphql.scalars import SCALARS
from api.graphql.subscriptions import Subscription
from api.graphql.types.inputs import CitationInput
from api.graphql.types.registry import NODE_TYPES

Query = merge_types(
    "Query",
    (
        GraphQueries,
        EntryQueries,
        NeighborhoodQueries,
        AuditQueries,
        MaterialQueries,
        MemoryQueries,
        AdminQueries,
        ConnectorQueries,
        LearningQueries,
        DreamingQueries,
        OperatingQueries,
        StatusQueries,
        SessionQueries,
        BotQueries,
        WorkspaceQueries,
        RecordQueries,
        RunQueries,
        SandboxQueries,
    ),
)
Mutation = merge_types(
    "Mutation",
    (
        ConversationMutations,
        ChangeMutations,
        EntryMutations,
        MaterialMutations,
        RestoreMutations,
        AdminMutations,
        SourceMutations,
        ProvisioningMutations,
        AgentMutations,
        RightMutations,
        ImportMutations,
        AnchorMutations,
        ModelMutations,
        LearningMutations,
        OperatingMutations,
        SignalMutations,
        ConnectorMutations,
        SessionMutations,
        BotMutations,
        HostMutations,
        TurnMutations,
        WorkspaceMutations,
        RecordMutations,
        ThreadMutations,
        RunMutations,
        SandboxMutations,
    ),
)


class QuietSchema(strawberry.Schema):
    """A schema that logs no errors itself: their words quote what was sent; `faults` logs without content."""

    def process_errors(self, errors: Sequence[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Do nothing."""


@cache
def build_schema() -> strawberry.Schema:
    """Return the schema, made at the first call."""
    schema = QuietSchema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        types=(*NODE_TYPES, CitationInput),
        extensions=[UsePrepared],
        execution_context_class=QuickExecutor,
        config=StrawberryConfig(scalar_map=SCALARS, disable_field_suggestions=True),
    )
    _without_null_defaults(schema._schema)
    return schema


def _without_null_defaults(schema: GraphQLSchema) -> None:
    """Let an optional argument have no default instead of null; resolvers get None either way."""
    for type_ in schema.type_map.values():
        for field in (getattr(type_, "fields", None) or {}).values():
            _clear(field)
            for argument in (getattr(field, "args", None) or {}).values():
                _clear(argument)


def _clear(place: object) -> None:
    if isinstance(place, GraphQLArgument | GraphQLInputField) and place.default_value is None:
        place.default_value = Undefined
