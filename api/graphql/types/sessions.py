"""Sessions of agents: their items and turns, and what is remembered of one (session memory)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection, Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.scalars import JSON
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes import sessions
from graph.model.time import Millis
from graph.rules.session_memory import Switches
from graph.services.bots.nodes import turn_input
from graph.services.knowledge.listing import find_listing
from graph.services.sessions.memory import SessionMemoryView
from graph.store.query import And, By, Eq, Find


@strawberry.type
class Turn(Node):
    """One run of an agent in a session or chat."""

    local_id: str
    state: str = strawberry.field(description="queued, running, suspended, completed or cancelled.")
    author: str = strawberry.field(description="Who is shown as its author; never read as an id.")
    model: str | None
    queued_at: Millis
    began_at: Millis | None
    ended_at: Millis | None
    node: strawberry.Private[sessions.Turn]

    @classmethod
    def from_domain(cls, node: sessions.Turn) -> Turn:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=local_part(node.id),
            state=node.state,
            author=node.author,
            model=node.model,
            queued_at=node.created_at,
            began_at=node.began_at,
            ended_at=node.ended_at,
            node=node,
        )

    @strawberry.field(description="Whom it runs for; null: nobody was named.")
    async def person(self, info: Info[Any, Any]) -> Principal | None:
        return await principal_of(info, self.node.person_id) if self.node.person_id else None

    @strawberry.field
    async def agent(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.agent_id)

    @strawberry.field(description="Of a chat: what the person said; null once the history is deleted.")
    async def input(self, info: Info[Any, Any]) -> str | None:
        return turn_input(context(info).deps, self.node)


@strawberry.type
class SessionItem(Node):
    """Something that happened in a session: a source."""

    local_id: str
    type: str
    text: str
    edit: JSON | None = strawberry.field(description="Of a memory_edit: its command, key, content and kind.")
    occurred_at: Millis
    created_at: Millis
    version: str = strawberry.field(description="The version of the session that it made.")
    current: bool = strawberry.field(description="It is part of the present history.")
    processed: bool = strawberry.field(description="It was read for memory.")
    node: strawberry.Private[sessions.SessionItem]

    @classmethod
    def from_domain(cls, node: sessions.SessionItem) -> SessionItem:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=local_part(node.id),
            type=node.type,
            text=node.text,
            edit=node.edit,
            occurred_at=node.occurred_at,
            created_at=node.created_at,
            version=node.head,
            current=node.current,
            processed=node.processed,
            node=node,
        )

    @strawberry.field
    async def person(self, info: Info[Any, Any]) -> Principal | None:
        return await principal_of(info, self.node.person_id) if self.node.person_id else None

    @strawberry.field
    async def turn(self, info: Info[Any, Any]) -> Turn | None:
        found = await context(info).loaders.nodes.load(self.node.turn_id) if self.node.turn_id else None
        return Turn.from_domain(found) if isinstance(found, sessions.Turn) else None


@strawberry.type
class SessionItemConnection(Connection[SessionItem]):
    """A page of items."""


@strawberry.type
class SessionFact(Node):
    """One state of one remembered fact of a session."""

    key: str
    content: str
    kind: str
    status: str
    sources: list[str] = strawberry.field(description="Local ids of the items that support it, in history order.")
    updated_at: Millis
    current: bool = strawberry.field(description="It is the state of its key at the present version.")
    node: strawberry.Private[sessions.SessionFact]

    @classmethod
    def from_domain(cls, node: sessions.SessionFact) -> SessionFact:
        return cls(
            id=to_global(node.id, node.workspace),
            key=node.key,
            content=node.content,
            kind=node.kind,
            status=node.status,
            sources=list(node.sources),
            updated_at=node.updated_at,
            current=node.current,
            node=node,
        )

    @strawberry.field(description="The items behind it.")
    async def items(self, info: Info[Any, Any]) -> list[SessionItem]:
        container = local_part(self.node.session_id)
        ids = [
            hosted_id(sessions.SessionItem.PREFIX, self.node.workspace, local, container=container)
            for local in self.node.sources
        ]
        return await items_of(info, ids)


@strawberry.type
class MemorySwitches:
    """Whether facts are used in turns, and whether they are learned; null follows the organization."""

    use: bool | None
    generate: bool | None

    @classmethod
    def from_domain(cls, switches: Switches) -> MemorySwitches:
        return cls(use=switches.use, generate=switches.generate)


@strawberry.type
class Session(Node):
    """A conversation of an agent."""

    local_id: str
    head: str = strawberry.field(description="The present version.")
    revision: int
    review: bool
    model: str | None
    created_at: Millis
    updated_at: Millis
    overrides: MemorySwitches
    node: strawberry.Private[sessions.Session]

    @classmethod
    def from_domain(cls, node: sessions.Session) -> Session:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=local_part(node.id),
            head=node.head,
            revision=node.revision,
            review=node.review,
            model=node.model,
            created_at=node.created_at,
            updated_at=node.updated_at,
            overrides=MemorySwitches(use=node.use, generate=node.generate),
            node=node,
        )

    @strawberry.field
    async def agent(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.agent_id)

    @strawberry.field
    async def person(self, info: Info[Any, Any]) -> Principal | None:
        return await principal_of(info, self.node.person_id) if self.node.person_id else None

    @strawberry.field
    def organization_id(self, info: Info[Any, Any]) -> strawberry.ID | None:
        return context(info).out(self.node.organization_id) if self.node.organization_id else None

    @strawberry.field(description="The present history, oldest first.")
    async def items(
        self, info: Info[Any, Any], first: int | None = 20, after: str | None = None
    ) -> SessionItemConnection:
        cursors = Cursors.of("Session.items", {"session": self.node.id})
        query = Find(
            kind=sessions.SessionItem,
            where=And((Eq("session_id", self.node.id), Eq("current", True))),
            order=By("depth"),
            first=check_first(first),
            after=cursors.decode(after),
        )
        listing = await find_listing(context(info).session, query)
        return connection_of(SessionItemConnection, listing, SessionItem.from_domain, cursors, after)


@strawberry.type
class SessionMemory:
    """The memory of a session at its present version; entries by key, retracted ones included."""

    session: Session
    entries: list[SessionFact]
    processed: list[str] = strawberry.field(description="Local ids of the items read for memory, in history order.")
    settings: MemorySwitches
    overrides: MemorySwitches

    @classmethod
    def from_domain(cls, view: SessionMemoryView) -> SessionMemory:
        shown = Session.from_domain(view.session)
        return cls(
            session=shown,
            entries=[SessionFact.from_domain(fact) for fact in view.entries.values()],
            processed=list(view.processed),
            settings=MemorySwitches.from_domain(view.settings),
            overrides=shown.overrides,
        )


async def items_of(info: Info[Any, Any], ids: Sequence[NodeId]) -> list[SessionItem]:
    """Return those of the items that the caller may see, in their order."""
    found = await context(info).loaders.nodes.load_many(ids)
    return [SessionItem.from_domain(node) for node in found if isinstance(node, sessions.SessionItem)]
