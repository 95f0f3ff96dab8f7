"""Chats of ``bot_9`` as a host drives them in process, and the Memory Bot's work with a scripted model.

What the model is shown is read back from its requests; what came of it from the store and from the readers' views.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dreaming.bots.confide import confide
from dreaming.bots.learner import learn_bot
from dreaming.bots.turns import begin_turn
from dreaming.models.making import OneModel
from dreaming.models.port import ModelAnswer, ModelPort, ModelRequest, Role
from dreaming.models.scripted import ScriptedModel
from dreaming.worker import Worker
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotCall, BotEntry, BotPool, BotRun, BotSpending, Chat, ChatItem
from graph.model.nodes.people import Organization
from graph.model.nodes.sessions import ItemType
from graph.rules.bot_rewrite import PartKind, TurnInput, TurnPart
from graph.services.access.caller import Caller
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.bots.chat_access import text_place
from graph.services.bots.chats import NewChatItem, append_item, create_chat
from graph.services.bots.pool import hold_pool
from graph.services.bots.reading import content_place
from graph.services.bots.records import ShownConfession, ShownEnrichment, list_confessions, list_enrichments
from graph.services.bots.runs import LEARN_BOT, arrange_bot_learning
from graph.services.bots.turns import complete_turn
from graph.services.deps import Deps
from graph.store.port import Writer
from graph.store.query import By, Eq, Find
from tests.support.bot_room import ALL, BotRoom

CONFIDE, REWRITE, LEARN = "bot.confide", "bot.rewrite", "bot.learn"


def notification(text: str, said: str = "") -> TurnInput:
    """Return an input that is a notification, with something the person said before it if given."""
    parts = [TurnPart(kind=PartKind.PERSON, text=said)] if said else []
    return TurnInput(parts=(*parts, TurnPart(kind=PartKind.NOTIFICATION, text=text)))


def costing(answer: Json, micro_usd: int | None, *, reported: bool = True) -> ModelAnswer:
    """Return an answer with what it cost."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return ModelAnswer(text=text, model="scripted", cost_micro_usd=micro_usd, usage_reported=reported)


def fact(content: str, *items: str, chat: str = "chat_61", topics: Sequence[str] = ()) -> Json:
    """Return a change that learns a fact from items."""
    sources = [{"chat": chat, "item": item} for item in items]
    return {"_tag": "Fact", "content": content, "topics": list(topics), "sources": sources}


def observe(content: str, *entries: str, confidence: float = 0.8) -> Json:
    """Return a change that concludes something from entries."""
    sources = [{"entry": entry} for entry in entries]
    return {"_tag": "Observe", "content": content, "topics": [], "sources": sources, "confidence": confidence}


def shown(request: ModelRequest) -> str:
    """Return what a request shows beside its task."""
    return next(message.text for message in request.messages if message.role is Role.USER)


def rows(request: ModelRequest, title: str) -> list[Json]:
    """Return the lines of a section of a request."""
    found: list[Json] = []
    inside = False
    for line in shown(request).splitlines():
        if line.startswith("## "):
            inside = line == f"## {title}"
        elif inside and line.startswith("{"):
            found.append(json.loads(line))
    return found


@dataclass
class BotTalk:
    """What a host does, and what the Memory Bot does then.

    Attributes:
        model: answers calmly, rewrites nothing and learns nothing unless a test says otherwise.
        instead: asked in its place, if given.
        service: the process in which it happens, if not that of the room.
        outcomes: how tries of jobs ended.
    """

    room: BotRoom
    model: ScriptedModel = field(default_factory=lambda: calm_model())  # defined below
    instead: ModelPort | None = None
    service: Deps | None = None
    outcomes: list[str] = field(default_factory=list)

    @property
    def deps(self) -> Deps:
        return self.service or self.room.deps

    @property
    def host(self) -> Caller:
        return self.room.world.caller(self.room.world.host)

    @property
    def models(self) -> OneModel:
        return OneModel(model=self.instead or self.model)

    async def make(self) -> BotTalk:
        """Let the organization learn with the model ``m-mem``."""
        await self.organization(botMemoryModel="m-mem")
        return self

    def elsewhere(self, service: Deps, model: ModelPort | None = None) -> BotTalk:
        """Return the same talk as another process drives it."""
        return BotTalk(room=self.room, model=self.model, instead=model or self.instead, service=service)

    async def organization(self, local: str = "o_4", **settings: Json) -> None:
        """Set settings of an organization, the others staying."""
        id_ = self.room.organization(local)

        async def work(writer: Writer) -> None:
            found = (await writer.get(ALL, [id_]))[id_]
            assert isinstance(found, Organization)
            await writer.patch(id_, {"settings": {**(found.settings or {}), **settings}})

        await self.deps.store.transact(work)

    async def configure(self, **fields: Any) -> None:
        """Set `concurrency` or `budget` of the pool."""

        async def work(writer: Writer) -> None:
            pool = await hold_pool(writer, self.room.bot, self.deps.now())
            await writer.patch(pool.id, fields)

        await self.deps.store.transact(work)

    async def chat(self, local: str, **fields: Any) -> Chat:
        """Make a chat of the bot with ``u_1`` in ``o_4`` unless `fields` say otherwise."""
        given: dict[str, Any] = {"bot_id": self.room.agent("bot_9"), "organization_id": self.room.organization()}
        if "group_id" not in fields:
            given["person_id"] = self.room.person("u_1")
        given |= fields
        return await command(self.deps, self.host, lambda cmd: create_chat(cmd, local_id=local, **given))

    async def begin(
        self,
        turn: str,
        input: str | TurnInput = "Go on.",
        *,
        chat: str = "chat_61",
        operator: str | None = "u_1",
        author: str = "",
        open_to_all: bool = False,
    ) -> str:
        """Begin a turn; return the input for the bot's model."""
        return await begin_turn(
            self.deps,
            self.models,
            self.host,
            chat_id=self.room.chat_id(chat),
            turn=turn,
            operator=None if operator is None else self.room.person(operator),
            author=author,
            input=input,
            open_to_all=open_to_all,
        )

    async def say(
        self,
        item: str,
        text: str = "Said.",
        *,
        turn: str | None = "t1",
        chat: str = "chat_61",
        type: ItemType = ItemType.PERSON_MESSAGE,
        tool: str | None = None,
    ) -> ChatItem:
        """Report an item."""
        new = NewChatItem(local_id=item, type=type, text=text, tool=tool, turn=turn)
        return await command(self.deps, self.host, lambda cmd: append_item(cmd, self.room.chat_id(chat), new))

    async def confide(self, turn: str = "t1", text: str = "I am stuck.", *, chat: str = "chat_61") -> str:
        """Let the bot confide; return what it is answered."""
        place = self.room.chat_id(chat)
        return await confide(self.deps, self.models, self.host, chat_id=place, turn=turn, text=text)

    async def end(self, turn: str = "t1", *, chat: str = "chat_61", failed: bool = False) -> None:
        """End a turn."""
        place = self.room.chat_id(chat)
        await command(self.deps, self.host, lambda cmd: complete_turn(cmd, place, turn, failed))

    async def turn(
        self, turn: str, *said: str, chat: str = "chat_61", operator: str | None = "u_1", **more: Any
    ) -> None:
        """Hold a turn in which the person says something, item by item, and the bot confides."""
        await self.begin(turn, notification("A turn."), chat=chat, operator=operator, **more)
        for number, text in enumerate(said, start=1):
            await self.say(f"{turn}-{number}", text, turn=turn, chat=chat)
        await self.confide(turn, chat=chat)
        await self.end(turn, chat=chat)

    def learns(self, *changes: Json) -> None:
        """Answer the next learning steps with these changes."""
        self.model.on(LEARN, {"changes": list(changes)})

    def worker(self, name: str = "") -> Worker:
        """Return a worker that learns for bots."""
        return Worker(
            deps=self.deps,
            anchor_minutes=0,
            handlers={LEARN_BOT: learn_bot},
            models=self.models,
            on_step=lambda kind, outcome: self.outcomes.append(outcome),
            owner=name,
        )

    async def learn(self) -> int:
        """Do all learning that is due; return how many jobs that were."""
        await arrange_bot_learning(self.deps)
        worker, count = self.worker(), 0
        while await worker.step():
            count += 1
        return count

    async def runs(self) -> list[BotRun]:
        """Return the runs of the bot, oldest first."""
        return await self._all(BotRun, "bot_id", self.room.agent("bot_9"), "created_at")

    async def states(self) -> list[tuple[str, str | None]]:
        """Return state and error of each run, oldest first."""
        return [(run.state, run.error) for run in await self.runs()]

    async def calls(self, purpose: str | None = None) -> list[BotCall]:
        """Return the saved calls, oldest first."""
        found = await self._all(BotCall, "bot_id", self.room.agent("bot_9"), "created_at")
        return [call for call in found if purpose in (None, call.purpose)]

    async def spent(self) -> list[tuple[str, int, int]]:
        """Return day, confirmed cost and calls of unknown cost."""
        found = await self._all(BotSpending, "bot_id", self.room.agent("bot_9"), "day")
        return [(row.day, row.confirmed_micro_usd, row.unknown_calls) for row in found]

    async def entries(self) -> list[BotEntry]:
        """Return all entries, oldest first, whoever may see them."""
        return await self._all(BotEntry, "bot_id", self.room.agent("bot_9"), "created_at")

    async def contents(self) -> dict[str, BotEntry]:
        """Return all entries by their contents."""
        return {self.open(entry): entry for entry in await self.entries()}

    def open(self, entry: BotEntry) -> str:
        return self.deps.vault.open(content_place(entry), entry.content)

    async def items(self, chat: str = "chat_61") -> list[ChatItem]:
        """Return the items of a chat in order."""
        return await self._all(ChatItem, "chat_id", self.room.chat_id(chat), "seq")

    async def history(self, chat: str = "chat_61") -> list[str]:
        """Return the texts of a chat in order."""
        items = await self.items(chat)
        vault = self.deps.vault
        return [vault.open(text_place(i.workspace, i.id), i.text) for i in items if i.text is not None]

    async def read_seq(self, chat: str = "chat_61") -> int:
        """Return the read position of a chat."""
        return int((await self.node(self.room.chat_id(chat), Chat)).read_seq)

    async def version(self) -> int:
        """Return the version of the pool."""
        return int((await self.node(self.room.bot.pool, BotPool)).version)

    async def node(self, id_: NodeId, kind: type[Any]) -> Any:
        """Return a node as it is stored."""
        async with self.deps.store.reading() as reader:
            found = (await reader.get(ALL, [id_]))[id_]
        assert isinstance(found, kind)
        return found

    async def confessions(self, who: str = "u_1", chat: str = "chat_61") -> Sequence[ShownConfession]:
        """Return what a person reads of the confessions of a chat."""
        place = self.room.chat_id(chat)
        return (await read(self.deps, self.room.caller(who), lambda session: list_confessions(session, place)))[0]

    async def enrichments(self, who: str = "u_1", chat: str = "chat_61") -> Sequence[ShownEnrichment]:
        """Return what a person reads of the enrichments of a chat."""
        place = self.room.chat_id(chat)
        return (await read(self.deps, self.room.caller(who), lambda session: list_enrichments(session, place)))[0]

    async def _all(self, kind: type[Any], name: str, value: str, order: str) -> list[Any]:
        async with self.deps.store.reading() as reader:
            page = await reader.find(ALL, Find(kind=kind, where=Eq(name, value), order=By(order)))
        return list(page.nodes)


def calm_model() -> ScriptedModel:
    """Return a model that says something kind, rewrites nothing and learns nothing."""
    made = ScriptedModel()
    made.on(CONFIDE, "That sounds hard.").on(REWRITE, {"text": None, "entries": []}).on(LEARN, {"changes": []})
    return made


def rewriting(text: str, *entries: str) -> Callable[[ModelRequest], Json]:
    """Return the answer that rewrites an input with entries, or with all that are shown."""
    return lambda request: {"text": text, "entries": list(entries) or [row["id"] for row in rows(request, "Notes")]}
