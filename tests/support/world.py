"""A small workspace in a store: the agent Atlas, people with different rights, a channel, a private chat.

`TeamWorld` belongs to one test; what it writes goes through the services wherever there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import uuid4

from graph.model.access import Rule, RuleKind, SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, WorkspaceId, hosted_id, node_id
from graph.model.nodes.evidence import Channel, ChannelKind, Conversation
from graph.model.nodes.people import Grant, Principal, PrincipalKind, Right, Workspace
from graph.model.time import Millis, parse_said
from graph.rules.guarding import guard_of, own_audience
from graph.rules.ingest import IncomingMessage
from graph.services.access.caller import Caller, workspace_node
from graph.services.access.commands import command
from graph.services.access.tokens import mint_token
from graph.services.deps import Deps
from graph.services.knowledge.conversations import open_conversation
from graph.services.knowledge.ingest import ingest_messages
from graph.store.port import Writer

T = TypeVar("T")

TOKEN_LIFE_MS = 365 * 86_400_000


@dataclass
class TeamWorld:
    """One workspace: who is in it and what they may do.

    Attributes:
        ana: curator of Atlas and partner of the private chat.
        ben: reader of Atlas, member of the channel, no part of the private chat.
        cleo: auditor of the workspace.
        dan: admin of the workspace.
        eve: nothing at all.
        host: a service that reports for others.
    """

    deps: Deps
    name: str = field(default_factory=lambda: f"w{uuid4().hex[:12]}")
    _messages: int = 0

    @property
    def workspace(self) -> WorkspaceId:
        return WorkspaceId(self.name)

    @property
    def node(self) -> NodeId:
        return workspace_node(self.workspace)

    def person(self, name: str) -> NodeId:
        return hosted_id(Principal.PREFIX, self.name, name, container="human")

    @property
    def ana(self) -> NodeId:
        return self.person("ana")

    @property
    def ben(self) -> NodeId:
        return self.person("ben")

    @property
    def cleo(self) -> NodeId:
        return self.person("cleo")

    @property
    def dan(self) -> NodeId:
        return self.person("dan")

    @property
    def eve(self) -> NodeId:
        return self.person("eve")

    @property
    def host(self) -> NodeId:
        return hosted_id(Principal.PREFIX, self.name, "chat", container="service")

    @property
    def atlas(self) -> NodeId:
        return hosted_id(Principal.PREFIX, self.name, "atlas", container="agent")

    @property
    def ops(self) -> NodeId:
        """The shared channel of Atlas."""
        return hosted_id(Channel.PREFIX, self.name, "ops", container="atlas")

    @property
    def chat(self) -> NodeId:
        """The private chat of Ana with Atlas."""
        return hosted_id(Channel.PREFIX, self.name, "ana-private", container="atlas")

    def caller(self, principal: NodeId) -> Caller:
        kinds = {self.host: PrincipalKind.SERVICE, self.atlas: PrincipalKind.AGENT}
        return Caller(workspace=self.workspace, principal=principal, kind=kinds.get(principal, PrincipalKind.HUMAN))

    async def make(self) -> TeamWorld:
        """Write the workspace, its people, the agent, the channels and the grants."""
        await self.deps.store.transact(self._write)
        return self

    async def token(self, principal: NodeId, *, expires_at: Millis | None = None) -> str:
        """Return a new bearer token of a principal."""
        later = Millis(self.deps.now() + TOKEN_LIFE_MS) if expires_at is None else expires_at

        async def work(writer: Writer) -> str:
            node = self._principals().get(principal) or await self._stored(principal)
            return (await mint_token(writer, self.deps, node, expires_at=later)).text

        return await self.deps.store.transact(work)

    async def _stored(self, principal: NodeId) -> Principal:
        async with self.deps.store.reading() as reader:
            node = (await reader.get(SystemScope(reason="the principal of a token"), [principal]))[principal]
        assert isinstance(node, Principal)
        return node

    async def open(self, channel: NodeId) -> Conversation:
        """Open a conversation of a channel as the host."""
        return await command(self.deps, self.caller(self.host), lambda cmd: open_conversation(cmd, channel))

    async def say(
        self,
        channel: NodeId,
        text: str,
        *,
        speaker: NodeId | None = None,
        by_agent: bool = False,
        name: str | None = None,
        external_id: str | None = None,
        sent_at: str | None = None,
    ) -> NodeId:
        """Report one message in a channel and return the id of its source; the n-th is called ``m<n>`` by default."""
        at, offset = (self.deps.now(), None) if sent_at is None else parse_said(sent_at)
        conversation = await self.open(channel)
        self._messages += 1
        message = IncomingMessage(
            external_id=external_id or f"m{self._messages}",
            sent_at=at,
            sent_offset=offset,
            text=text,
            speaker_id=speaker or (self.atlas if by_agent else self.ana),
            speaker=name or ("Ana" if speaker is None else ""),
            speaker_is_agent=by_agent,
        )
        receipt = await command(
            self.deps, self.caller(self.host), lambda cmd: ingest_messages(cmd, conversation.id, [message])
        )
        return receipt.source_ids[0]

    async def grant(self, principal: NodeId, right: Right, object_id: NodeId) -> NodeId:
        """Give a right."""
        grant = self._grant(principal, right, object_id)

        async def work(writer: Writer) -> None:
            await writer.put([grant])
            await writer.increment(principal, "access_version")

        await self.deps.store.transact(work)
        return grant.id

    async def revoke(self, grant: NodeId, principal: NodeId) -> None:
        """Take a right away."""

        async def work(writer: Writer) -> None:
            await writer.delete([grant])
            await writer.increment(principal, "access_version")

        await self.deps.store.transact(work)

    async def _write(self, writer: Writer) -> None:
        now = self.deps.now()
        people = list(self._principals().values())
        channels = self._channels()
        await writer.put([Workspace(id=self.node, workspace=self.workspace, created_at=now, display_name=self.name)])
        await writer.put([*people, *channels])
        await writer.put(self._grants())
        await writer.link(
            [
                Edge(type=EdgeType.MEMBER_OF, source=self.ana, target=self.ops),
                Edge(type=EdgeType.MEMBER_OF, source=self.ben, target=self.ops),
                Edge(type=EdgeType.MEMBER_OF, source=self.ana, target=self.chat),
            ]
        )
        rule = frozenset({Rule(RuleKind.WORKSPACE, self.workspace)})
        guards = [guard_of(node, rule) for node in (*people, *channels)]
        await writer.guard(guards)
        await writer.admit([own_audience(guard) for guard in guards])

    def _principals(self) -> dict[NodeId, Principal]:
        rows: Sequence[tuple[NodeId, PrincipalKind, str]] = (
            (self.ana, PrincipalKind.HUMAN, "Ana"),
            (self.ben, PrincipalKind.HUMAN, "Ben"),
            (self.cleo, PrincipalKind.HUMAN, "Cleo"),
            (self.dan, PrincipalKind.HUMAN, "Dan"),
            (self.eve, PrincipalKind.HUMAN, "Eve"),
            (self.host, PrincipalKind.SERVICE, "Chat"),
            (self.atlas, PrincipalKind.AGENT, "Atlas"),
        )
        now = self.deps.now()
        return {
            id_: Principal(id=id_, workspace=self.workspace, created_at=now, kind=kind, display_name=name)
            for id_, kind, name in rows
        }

    def _channels(self) -> list[Channel]:
        now = self.deps.now()
        return [
            Channel(id=id_, workspace=self.workspace, created_at=now, kind=kind, owner_id=self.atlas, display_name=name)
            for id_, kind, name in (
                (self.ops, ChannelKind.SHARED_CHANNEL, "ops"),
                (self.chat, ChannelKind.PRIVATE_CHAT, "Ana and Atlas"),
            )
        ]

    def _grants(self) -> list[Grant]:
        return [
            self._grant(self.ana, Right.CURATOR, self.atlas),
            self._grant(self.ben, Right.READER, self.atlas),
            self._grant(self.cleo, Right.AUDITOR, self.node),
            self._grant(self.dan, Right.ADMIN, self.node),
            self._grant(self.host, Right.HOST, self.node),
        ]

    def _grant(self, principal: NodeId, right: Right, object_id: NodeId) -> Grant:
        return Grant(
            id=node_id(Grant.PREFIX, self.deps.ids.new()),
            workspace=self.workspace,
            created_at=self.deps.now(),
            principal_id=principal,
            right=right,
            object_id=object_id,
        )
