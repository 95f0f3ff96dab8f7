"""Short words for the acceptance examples; each is one GraphQL request over a real socket.

Provisioning (people, rights, channels) is done beforehand through the services; everything that an example is about
goes through HTTP: what is said, what is written, what is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.knowledge import KbKind
from graph.model.schema import kind_of
from graph.model.time import Millis, parse, render
from graph.rules.pools import base_id
from tests.api.clients import Answer, GraphQLClient
from tests.support.clock import FakeClock
from tests.support.operations import Json
from tests.support.world import TeamWorld

OPEN = "mutation($channel: ID!) { openConversation(channelId: $channel) { id memoryScope } }"
INGEST = """
mutation($conversation: ID!, $messages: [MessageInput!]!) {
  ingestMessages(conversationId: $conversation, messages: $messages) { sourceIds arrivals }
}
"""
APPLY = """
mutation($conversation: ID, $operations: [JSON!]!, $reason: String!, $dryRun: Boolean) {
  applyOperations(conversationId: $conversation, operations: $operations, reason: $reason, dryRun: $dryRun) {
    applied results { index op outcome code reason createdIds } records { id operation }
  }
}
"""
BLOCKS = """
query($id: ID!, $asOf: AsOf) {
  entry(id: $id) { blocks(asOf: $asOf) { current { text standing validFrom validTo } } }
}
"""
ENTRY = """
query($id: ID!) {
  entry(id: $id) { id name type aliases summary version projection
    blocks { id current { id text } }
    relations { totalCount edges { node { id type subject { id } object { id } evidence { quote source { id } } } } }
    audit(first: 50) { edges { node { id seq operation restores { id } } } }
  }
}
"""
NODE = "query($id: ID!) { node(id: $id) { id __typename } }"
PROVENANCE = "query($id: ID!) { provenance(id: $id, depth: 16) { nodes { id } } }"
SEARCH = """
query($input: MemorySearchInput!) {
  memorySearch(input: $input) {
    totalTokens rerank { applied provider reason } routesSkipped { route reason }
    items { ref kind score text tokens truncated routes { route rank } }
  }
}
"""
SET = "mutation($name: String!, $value: JSON) { setSetting(name: $name, value: $value) { name value } }"


class ScriptedReranker:
    """Answers what it was told to, or never."""

    def __init__(self) -> None:
        self.scores: Sequence[float] | None = None
        self.asked: list[int] = []

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append(len(texts))
        if self.scores is None:
            await asyncio.Event().wait()
        assert self.scores is not None
        return self.scores


@dataclass(kw_only=True)
class Stage:
    """Who is there, and the words that a test says in their names."""

    world: TeamWorld
    clock: FakeClock
    client: GraphQLClient
    people: dict[NodeId, GraphQLClient] = field(default_factory=dict)
    said: int = 0

    async def make(self) -> Stage:
        """Give everybody a token."""
        for who in (self.world.ana, self.world.ben, self.world.cleo, self.world.dan, self.world.host, self.world.atlas):
            self.people[who] = self.client.as_(await self.world.token(who, expires_at=parse("2099-01-01T00:00:00Z")))
        return self

    @property
    def ana(self) -> GraphQLClient:
        """The curator."""
        return self.people[self.world.ana]

    @property
    def ben(self) -> GraphQLClient:
        """The reader."""
        return self.people[self.world.ben]

    @property
    def dan(self) -> GraphQLClient:
        """The admin."""
        return self.people[self.world.dan]

    @property
    def host(self) -> GraphQLClient:
        """The chat application."""
        return self.people[self.world.host]

    def agent(self, conversation: str) -> GraphQLClient:
        """Atlas, speaking in a conversation."""
        return replace(self.people[self.world.atlas], headers={"Rootward-Conversation": conversation})

    def gid(self, node: NodeId) -> str:
        """Return what a client sees of an id."""
        spec = kind_of(node)
        assert spec is not None
        return GlobalId(kind=spec.name, workspace=self.world.workspace, node=node).encode()

    def kb(self, kind: KbKind, channel: NodeId | None = None) -> str:
        """Return the id of a knowledge base of Atlas."""
        return self.gid(base_id(self.world.name, self.world.atlas, kind, channel))

    async def open(self, channel: NodeId | None = None) -> str:
        """Return the open conversation of a channel."""
        opened = await self.host.ok(OPEN, channel=self.gid(channel or self.world.ops))
        return str(opened["openConversation"]["id"])

    async def say(self, text: str, **more: Any) -> str:
        """Let a person say something in a channel; return the id of the source."""
        return (await self.talk([text], **more))[0]

    async def talk(
        self,
        lines: Sequence[str],
        *,
        channel: NodeId | None = None,
        speaker: NodeId | None = None,
        by_agent: bool = False,
        thread: str | None = None,
        external_id: str | None = None,
    ) -> list[str]:
        """Report lines, a minute apart, and return the ids of their sources."""
        who = self.world.atlas if by_agent else (speaker or self.world.ana)
        messages: list[Json] = []
        for number, line in enumerate(lines):
            self.said += 1
            sent = self.clock.now() + number * (timedelta(minutes=1) // timedelta(milliseconds=1))
            messages.append(
                {
                    "externalId": external_id or f"m{self.said}",
                    "sentAt": render(Millis(sent)),
                    "text": line,
                    "speakerId": self.gid(who),
                    "speakerIsAgent": by_agent,
                    "thread": thread,
                }
            )
        told = await self.host.ok(INGEST, conversation=await self.open(channel), messages=messages)
        return list(told["ingestMessages"]["sourceIds"])

    async def send(
        self, *operations: Json, by: GraphQLClient | None = None, channel: NodeId | None = None, dry_run: bool = False
    ) -> Answer:
        """Hand in an operation list, as Atlas in a conversation unless a person does it."""
        conversation = await self.open(channel)
        given = {"conversation": conversation, "operations": list(operations), "reason": "noted", "dryRun": dry_run}
        return await (by or self.agent(conversation)).run(APPLY, **given)

    async def write(self, *operations: Json, **more: Any) -> Json:
        """Hand in an operation list that must be taken; return the payload."""
        answer = await self.send(*operations, **more)
        assert not answer.errors, answer.errors
        payload: Json = answer.data["applyOperations"]
        assert payload["applied"] is (not more.get("dry_run", False))
        return payload

    async def refused(self, *operations: Json, **more: Any) -> str:
        """Hand in an operation list that must be refused; return the code."""
        answer = await self.send(*operations, **more)
        assert len(answer.codes) == 1, answer
        return answer.codes[0]

    async def texts(self, entry: str, *, by: GraphQLClient | None = None, **as_of: str) -> list[str]:
        """Return the texts of the blocks of an entry."""
        found = await (by or self.ana).ok(BLOCKS, id=entry, asOf=as_of or None)
        return [block["current"]["text"] for block in found["entry"]["blocks"] if block["current"]]

    async def entry(self, id_: str, *, by: GraphQLClient | None = None) -> Any:
        """Return an entry with everything on it, or None."""
        return (await (by or self.ana).ok(ENTRY, id=id_))["entry"]

    async def sources(self, id_: str, *, by: GraphQLClient | None = None) -> set[str]:
        """Return the ids of all nodes that something rests on."""
        found = await (by or self.ana).ok(PROVENANCE, id=id_)
        return {node["id"] for node in found["provenance"]["nodes"]}

    async def search(self, query: str, *, by: GraphQLClient | None = None, **more: Any) -> Json:
        """Search as Ana over all that she may read of Atlas, or as told."""
        where = {} if "conversationId" in more else {"ownerId": self.gid(self.world.atlas)}
        found = await (by or self.ana).ok(SEARCH, input={"query": query, **where, **more})
        answer: Json = found["memorySearch"]
        return answer

    async def set_to(self, **values: Any) -> None:
        """Set settings, as the admin; ``search__rrf_k`` is ``search.rrf_k``."""
        for name, value in values.items():
            await self.dan.ok(SET, name=name.replace("__", "."), value=value)


def made(payload: Json, index: int = 0, place: int = 0) -> str:
    """Return the id of what an operation made: its main object first."""
    return str(payload["results"][index]["createdIds"][place])


def outcomes(payload: Json) -> list[str]:
    """Return the code of each rejection, else the outcome."""
    return [verdict["code"] or verdict["outcome"] for verdict in payload["results"]]


def operations_of(payload: Json) -> list[str]:
    """Return what the audit says was done."""
    return [record["operation"] for record in payload["records"]]
