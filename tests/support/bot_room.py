"""The bot of the examples: ``bot_9`` in ``o_4``, two people and its owner, a private chat and the chat of a channel.

Provisioning and what the Memory Bot learned are written here through the services; what a test is about (reading,
Remember, Forget, purge) goes through the service's own routes.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2

from api.importers.bot_memory import read_bot_memory
from graph.model.access import Rule, RuleKind, SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId, hosted_id
from graph.model.nodes.bots import BotEntry, Chat, ChatItem
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import Group, Organization, Principal, PrincipalKind, Right
from graph.model.time import parse
from graph.rules import bot_entries, bot_tags
from graph.rules.bot_entries import EntryChange, EntryDraft, ItemSource
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.guards import put_alone
from graph.services.access.tokens import mint_token
from graph.services.bots.chat_access import rules_of_chat
from graph.services.bots.importing import ImportCounts, import_memory
from graph.services.bots.pool import Bot, hold_pool
from graph.services.bots.reading import PoolReads, group_reads, person_reads
from graph.services.bots.write import ChangeSet, Maker, Step, Written, write_changes
from graph.services.deps import Deps
from graph.store.port import Writer
from graph.store.query import Direction
from tests.support.world import TeamWorld

T = TypeVar("T")
ALL = SystemScope(reason="test")
FOREVER = parse("2099-01-01T00:00:00Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """An answer of a REST route."""

    status: int
    body: Any
    headers: httpx2.Headers

    @property
    def tag(self) -> str:
        """The name of the error."""
        return str(self.body["_tag"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Rest:
    """Somebody who speaks to the routes of one bot.

    Attributes:
        token: of who asks; empty for nobody.
        bot: local id of the bot, as it stands in the path.
    """

    http: httpx2.AsyncClient
    token: str = ""
    bot: str = "bot_9"

    async def send(self, method: str, path: str = "", body: Any = None, **more: Any) -> Reply:
        """Send a request to ``/v1/bots/<bot>/memory<path>``."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None:
            more["json"] = body
        url = f"/v1/bots/{self.bot}/memory{path}"
        answer = await self.http.request(method, url, headers={**headers, **more.pop("headers", {})}, **more)
        return Reply(status=answer.status_code, body=_body(answer), headers=answer.headers)

    async def memory(self, query: str = "") -> list[dict[str, Any]]:
        """Return the caller's entries."""
        reply = await self.send("GET", f"?{query}" if query else "")
        assert reply.status == 200, reply
        return list(reply.body["entries"])

    async def ids(self, query: str = "") -> list[str]:
        """Return the ids of the caller's entries, in order."""
        return [entry["id"] for entry in await self.memory(query)]

    async def log(self, query: str = "") -> list[dict[str, Any]]:
        """Return the caller's log."""
        reply = await self.send("GET", f"/log?{query}")
        assert reply.status == 200, reply
        return list(reply.body["changes"])

    async def remember(self, content: str, *tags: str) -> Reply:
        """Send Remember."""
        given = {"tags": list(tags)} if tags else {}
        return await self.send("POST", body={"command": {"_tag": "Remember", "content": content, **given}})

    async def forget(self, id_: str) -> Reply:
        """Send Forget."""
        return await self.send("POST", body={"command": {"_tag": "Forget", "id": id_}})

    async def purge(self, tag: Any) -> Reply:
        """Send a purge."""
        return await self.send("POST", "/purge", {"tag": tag})


@dataclass
class BotRoom:
    """Who and what is there; `make` writes it.

    Attributes:
        extra_bot: a linked bot, ``bot_link``, whose home is ``bot_9``; `u_9` may write both, `u_1` may read both.
    """

    world: TeamWorld
    tick: Callable[[], None] = lambda: None
    _numbers: int = field(default=0)

    @property
    def deps(self) -> Deps:
        return self.world.deps

    @property
    def workspace(self) -> WorkspaceId:
        return self.world.workspace

    @property
    def bot(self) -> Bot:
        """The bot, as services name it."""
        return Bot(id=self.agent("bot_9"), home=self.agent("bot_9"), workspace=self.workspace)

    def agent(self, local: str) -> NodeId:
        return hosted_id(Principal.PREFIX, self.workspace, local, container="agent")

    def person(self, local: str) -> NodeId:
        return bot_tags.person_id(self.workspace, local)

    def group(self, local: str = "ch_5") -> NodeId:
        return bot_tags.group_id(self.workspace, local)

    def organization(self, local: str = "o_4") -> NodeId:
        return bot_tags.organization_id(self.workspace, local)

    def chat_id(self, local: str) -> NodeId:
        return hosted_id(Chat.PREFIX, self.workspace, local)

    async def make(self) -> BotRoom:
        """Write people, organizations, the bot, the channel and the two chats."""
        await self.deps.store.transact(self._write)
        await self.world.grant(self.person("u_9"), Right.WRITE, self.agent("bot_9"))
        await self.world.grant(self.person("u_9"), Right.WRITE, self.agent("bot_link"))
        for who in ("u_1", "u_2"):
            await self.world.grant(self.person(who), Right.READ, self.agent("bot_9"))
        await self.world.grant(self.person("u_1"), Right.READ, self.agent("bot_link"))
        return self

    async def token(self, who: str, *, organization: str = "o_4", rights: Collection[Right] | None = None) -> str:
        """Return a token of a person in an organization."""

        async def work(writer: Writer) -> str:
            node = (await writer.get(ALL, [self.person(who)]))[self.person(who)]
            assert isinstance(node, Principal)
            place = self.organization(organization)
            made = await mint_token(writer, self.deps, node, expires_at=FOREVER, organization=place, rights=rights)
            return made.text

        return await self.deps.store.transact(work)

    def caller(self, who: str, *, organization: str = "o_4") -> Caller:
        return Caller(
            workspace=self.workspace,
            principal=self.person(who),
            kind=PrincipalKind.HUMAN,
            organization=self.organization(organization),
        )

    async def members(self, *people: str) -> None:
        """Make these all the members of ``ch_5``, at once."""

        async def work(writer: Writer) -> None:
            edges = await writer.edges(ALL, [self.group()], [EdgeType.MEMBER_OF], Direction.IN)
            await writer.unlink(edges)
            await writer.link([_member(self.person(who), self.group()) for who in people])
            for person in {edge.source for edge in edges} | {self.person(who) for who in people}:
                await writer.increment(person, "access_version")

        await self.deps.store.transact(work)

    async def item(
        self,
        chat: str,
        local: str,
        operator: str | None = "u_1",
        *,
        open_to_all: bool = False,
        app: str | None = None,
        organization: str = "o_4",
    ) -> ItemSource:
        """Write an item of a chat and return it as the source of a fact."""
        group = self.group() if chat == "chat_70" else None
        rule = bot_tags.item_rule(
            operator=None if operator is None else self.person(operator),
            group=group,
            open_to_all=open_to_all,
            bot=self.agent("bot_9"),
        )
        tags = {f"chat:{chat}", f"org:{organization}", *([f"from:{operator}"] if operator else [])}
        tags |= {"channel:ch_5"} if group else set()
        tags |= {f"app:{app}"} if app else set()
        node = hosted_id(ChatItem.PREFIX, self.workspace, local, container=chat)
        await self.deps.store.transact(lambda writer: self._put_item(writer, node, chat, app))
        return ItemSource(node=node, chat=chat, item=local, rule=rule, tags=frozenset(tags))

    async def fact(self, content: str, *items: ItemSource, topics: Collection[str] = ()) -> str:
        """Let the Memory Bot learn a fact; without items from a new one of ``u_1`` in ``chat_61``."""
        given = items or (await self.item("chat_61", self._local()),)
        draft = bot_entries.fact(content, topics, given)
        assert draft is not None
        return (await self.learn(draft))[0]

    async def group_fact(self, content: str, *, operator: str = "u_1") -> str:
        """Let the Memory Bot learn a fact in the group chat."""
        return await self.fact(content, await self.item("chat_70", self._local(), operator))

    async def observe(self, content: str, *sources: str, confidence: float = 0.8, topics: Collection[str] = ()) -> str:
        """Let the Memory Bot conclude something from entries."""
        draft = bot_entries.observation(content, topics, confidence, [await self.entry(id_) for id_ in sources])
        assert draft is not None
        return (await self.learn(draft))[0]

    async def learn(self, *drafts: EntryDraft, changes: Sequence[EntryChange] = ()) -> list[str]:
        """Commit one change set of the Memory Bot; return the ids of the new entries."""
        self.tick()
        written = await self.write(ChangeSet(drafts=drafts, changes=tuple(changes)))
        return [entry.id for entry in written.made]

    async def change(self, id_: str, make: Callable[[BotEntry], EntryChange | None]) -> None:
        """Commit one change of an entry by the Memory Bot."""
        made = make(await self.entry(id_))
        assert made is not None
        await self.learn(changes=[made])

    async def write(self, changes: ChangeSet) -> Written:
        """Commit a change set of the Memory Bot."""
        step = Step(
            operation="bot.learn",
            by=Maker.MEMORY_BOT,
            actor=self.agent("bot_9"),
            actor_kind=ModifierKind.AGENT,
        )

        async def work(writer: Writer) -> Written:
            at = self.deps.now()
            pool = await hold_pool(writer, self.bot, at)
            return await write_changes(writer, self.deps, pool, changes, step, tx_id="tx", at=at)

        return await self.deps.store.transact(work)

    async def entry(self, id_: str) -> BotEntry:
        """Return an entry as it is stored, whoever may see it."""
        async with self.deps.store.reading() as reader:
            node = (await reader.get(ALL, [NodeId(id_)]))[NodeId(id_)]
        assert isinstance(node, BotEntry)
        return node

    async def take_in(self, *lines: Any, bot: str = "bot_9") -> ImportCounts:
        """Import lines of old memory, as the admin."""
        old = read_bot_memory([json.dumps(line) for line in lines], file="old.jsonl")
        return await self.as_admin(lambda cmd: import_memory(cmd, self.agent(bot), old))

    async def as_admin(self, work: Callable[[Command], Awaitable[T]]) -> T:
        """Run a command of the workspace's admin."""
        return await command(self.deps, self.world.caller(self.world.dan), work)

    @asynccontextmanager
    async def reads(
        self, who: str | None = None, *, organization: str = "o_4", group: str = "ch_5"
    ) -> AsyncIterator[PoolReads]:
        """Give the reads of a person, or of the channel group, for a server call."""
        place = self.organization(organization)
        async with self.deps.store.reading() as reader:
            if who is None:
                yield group_reads(self.deps, reader, self.bot, self.group(group), place)
            else:
                yield await person_reads(self.deps, reader, self.bot, self.person(who), place)

    def _local(self) -> str:
        self._numbers += 1
        return f"n-{self._numbers}"

    async def _put_item(self, writer: Writer, node: NodeId, chat: str, app: str | None) -> None:
        if node in await writer.get(ALL, [node]):
            return
        at = self.deps.now()
        made = ChatItem(
            id=node,
            workspace=self.workspace,
            pool=self.bot.pool,
            created_at=at,
            chat_id=self.chat_id(chat),
            seq=1,
            type="app_result" if app else "person_message",
            tool=app,
            occurred_at=at,
        )
        found = (await writer.get(ALL, [self.chat_id(chat)]))[self.chat_id(chat)]
        assert isinstance(found, Chat)
        await put_alone(writer, made, rules_of_chat(found))

    async def _write(self, writer: Writer) -> None:
        at = self.deps.now()
        common: dict[str, Any] = {"workspace": self.workspace, "created_at": at}
        people = [
            Principal(id=self.person(who), kind=PrincipalKind.HUMAN, display_name=who, **common)
            for who in ("u_1", "u_2", "u_9")
        ]
        bot = Principal(id=self.agent("bot_9"), kind=PrincipalKind.AGENT, display_name="Bot", **common)
        link = Principal(
            id=self.agent("bot_link"), kind=PrincipalKind.AGENT, display_name="Link", home_id=bot.id, **common
        )
        places: list[Node] = [
            Organization(id=self.organization(org), display_name=org, **common) for org in ("o_4", "o_5")
        ]
        places += [Group(id=self.group(name), display_name=name, **common) for name in ("ch_5", "ch_6")]
        for node in (*people, bot, link):
            await put_alone(writer, node, frozenset({Rule(RuleKind.WORKSPACE, self.workspace)}))
        await writer.put(places)
        await writer.link([_member(person.id, self.organization(org)) for person in people for org in ("o_4", "o_5")])
        await writer.link([_member(self.person(who), self.group()) for who in ("u_1", "u_2")])
        for chat in self._chats(at):
            await put_alone(writer, chat, rules_of_chat(chat))

    def _chats(self, at: Any) -> list[Chat]:
        common: dict[str, Any] = {
            "workspace": self.workspace,
            "pool": self.bot.pool,
            "created_at": at,
            "bot_id": self.agent("bot_9"),
            "organization_id": self.organization(),
        }
        return [
            Chat(id=self.chat_id("chat_61"), person_id=self.person("u_1"), **common),
            Chat(id=self.chat_id("chat_70"), group_id=self.group(), **common),
        ]


def _member(person: NodeId, place: NodeId) -> Edge:
    return Edge(type=EdgeType.MEMBER_OF, source=person, target=place)


def _body(answer: httpx2.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return answer.text
