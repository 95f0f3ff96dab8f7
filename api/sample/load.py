"""Tells the sample story to a service: people, channels, messages, documents and statements, at their own times.

Everything goes through the same commands that clients use, so that the sample obeys every rule. Source: AD-43.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from api.importers.model import ImportedMessage
from api.sample.story import (
    Batch,
    Channel,
    Document,
    EditBlock,
    Operation,
    Person,
    SetSummary,
    Skill,
    Story,
    load_messages,
    load_story,
    read_file,
    resolve,
)
from api.sample.story import labels as labels_of
from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.knowledge import Block, Entry, KbKind
from graph.model.nodes.people import PrincipalKind, Right
from graph.model.time import Millis, from_datetime
from graph.rules.ingest import IncomingMessage
from graph.rules.pools import base_id
from graph.rules.scopes import MemoryScope
from graph.services.access.agents import create_agent
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.grants import grant
from graph.services.access.members import set_members
from graph.services.access.provisioning import create_channel, create_person
from graph.services.access.workspaces import NewWorkspace
from graph.services.deps import Deps
from graph.services.knowledge.conversations import open_conversation, set_routing_rule
from graph.services.knowledge.ingest import ingest_messages
from graph.services.knowledge.materials import prepare_file, submit_file
from graph.services.knowledge.operations import apply_operations
from graph.services.learning.skill_provisioning import provision_skill, set_skill_enabled

T = TypeVar("T")

SAMPLE = SystemScope(reason="versions while the sample is loaded")
Progress = Callable[[int, int], None]
"""Told how many of how many steps are done."""


class StoryClock:
    """Stands where the story stands."""

    def __init__(self, at: Millis) -> None:
        self.at = at

    def now(self) -> Millis:
        """Return the time of the story."""
        return self.at

    async def sleep(self, seconds: float) -> None:
        """Do not wait: the story jumps."""
        del seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class _Talk:
    """A stretch of messages of one conversation."""

    channel: str
    messages: tuple[ImportedMessage, ...]

    @property
    def at(self) -> Millis:
        return self.messages[0].sent_at


@dataclass(kw_only=True)
class SampleLoader:
    """Loads the story into a workspace that was just made.

    Attributes:
        ids: real ids by the symbolic names of the story, filled while it is told.
    """

    deps: Deps
    made: NewWorkspace
    story: Story = field(default_factory=load_story)
    ids: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Let the story's clock stand at its beginning."""
        self._clock = StoryClock(self.deps.now())
        self._deps = replace(self.deps, clock=self._clock)

    async def load(self, progress: Progress | None = None) -> dict[str, str]:
        """Tell the whole story and return the ids by name."""
        events = self._events()
        self._clock.at = min(at for at, _ in events)
        await self._people()
        for number, (at, event) in enumerate(events, start=1):
            self._clock.at = at
            await self._tell(event)
            if progress is not None:
                progress(number, len(events))
        return self.ids

    def principal(self, key: str) -> NodeId:
        """Return the id of a person or agent of the story."""
        return NodeId(self.ids[f"person:{key}"])

    def _events(self) -> list[tuple[Millis, _Talk | Document | Batch]]:
        told = sorted(load_messages(self.story), key=lambda m: (m.sent_at, m.external_id))
        by_talk = sorted(told, key=lambda m: (m.conversation_key, m.sent_at, m.external_id))
        talks = [
            _Talk(channel=messages[0].channel, messages=messages)
            for messages in (tuple(group) for _, group in groupby(by_talk, key=lambda m: m.conversation_key))
        ]
        events: list[tuple[Millis, _Talk | Document | Batch]] = [(talk.at, talk) for talk in talks]
        events += [(from_datetime(d.submitted_at), d) for d in self.story.documents]
        events += [(from_datetime(b.at), b) for b in self.story.batches]
        return sorted(events, key=lambda event: event[0])

    async def _people(self) -> None:
        for person in self.story.people:
            await self._as_admin(partial(self._person, person=person))
        for person in self.story.people:
            if person.role is not None:
                await self._as_admin(partial(self._grant, person=person))
        for channel in self.story.channels:
            await self._as_admin(partial(self._channel, channel=channel))
        for skill in self.story.skills:
            await self._as_admin(partial(self._skill, skill=skill))

    async def _person(self, cmd: Command, person: Person) -> None:
        create = create_agent if person.kind == "agent" else create_person
        made = await create(cmd, person.name, local_id=person.key)
        self.ids[f"person:{person.key}"] = made.id

    async def _grant(self, cmd: Command, person: Person) -> None:
        right = Right(person.role or "reader")
        await grant(cmd, self.principal(person.key), right, self.principal(self.story.agent.key))

    async def _channel(self, cmd: Command, channel: Channel) -> None:
        agent = self.principal(self.story.agent.key)
        made = await create_channel(cmd, agent, ChannelKind(channel.kind), channel.key, local_id=channel.key)
        self.ids[f"channel:{channel.key}"] = made.id
        await set_members(cmd, made.id, [self.principal(key) for key in channel.members])
        if channel.memory_scope is not None:
            await set_routing_rule(cmd, made.id, MemoryScope(channel.memory_scope), isolated=channel.isolated)

    async def _skill(self, cmd: Command, skill: Skill) -> None:
        await provision_skill(cmd, skill.key, skill.name, skill.text)
        await set_skill_enabled(cmd, self.principal(self.story.agent.key), skill.key, True)

    async def _tell(self, event: _Talk | Document | Batch) -> None:
        if isinstance(event, _Talk):
            await self._talk(event)
        elif isinstance(event, Document):
            await self._document(event)
        else:
            await self._batch(event)

    async def _talk(self, talk: _Talk) -> None:
        channel = NodeId(self.ids[f"channel:{talk.channel}"])
        conversation = await self._as_admin(lambda cmd: open_conversation(cmd, channel))
        self._clock.at = talk.messages[-1].sent_at
        said = [self._incoming(message) for message in talk.messages]
        receipt = await self._as_admin(lambda cmd: ingest_messages(cmd, conversation.id, said))
        for message, source in zip(talk.messages, receipt.source_ids, strict=True):
            self.ids[f"message:{message.external_id}"] = source

    def _incoming(self, message: ImportedMessage) -> IncomingMessage:
        return IncomingMessage(
            external_id=message.external_id,
            sent_at=message.sent_at,
            text=message.text,
            speaker_id=self.principal(message.speaker),
            thread=message.thread,
        )

    async def _document(self, document: Document) -> None:
        data, caller = read_file(document.file), self.made.caller
        base = self._base(document.pool)
        file = await prepare_file(
            self._deps, caller, base, data, filename=document.file, media_type=document.media_type
        )
        source = await self._as_admin(lambda cmd: submit_file(cmd, base, file, title=document.title))
        self.ids[f"document:{document.key}"] = source.id

    def _base(self, pool: str) -> NodeId:
        agent = self.principal(self.story.agent.key)
        workspace = self.made.workspace.workspace
        channel = next((c for c in self.story.channels if c.key == pool), None)
        if channel is None:
            return base_id(workspace, agent, KbKind.SHARED)
        kind = KbKind.PRIVATE if channel.kind == "private_chat" else KbKind.CHANNEL
        return base_id(workspace, agent, kind, NodeId(self.ids[f"channel:{pool}"]))

    async def _batch(self, batch: Batch) -> None:
        versions = await self._versions(batch.operations)
        operations = [resolve(operation, self.ids, versions) for operation in batch.operations]
        if batch.actor == self.story.agent.key:
            channel = next(c for c in self.story.channels if c.pool == batch.pool)
            channel_id = NodeId(self.ids[f"channel:{channel.key}"])
            conversation = await self._as_admin(lambda cmd: open_conversation(cmd, channel_id))
            await self._apply(batch, operations, conversation_id=conversation.id)
        else:
            await self._apply(batch, operations, kb_id=self._base(batch.pool))

    async def _apply(
        self,
        batch: Batch,
        operations: list[dict[str, Any]],
        *,
        conversation_id: NodeId | None = None,
        kb_id: NodeId | None = None,
    ) -> None:
        caller = self._caller(batch.actor)
        result = await command(
            self._deps,
            caller,
            lambda cmd: apply_operations(
                cmd, operations=operations, reason=batch.reason, conversation_id=conversation_id, kb_id=kb_id
            ),
        )
        for operation, verdict in zip(batch.operations, result.verdicts, strict=True):
            self.ids.update(zip(labels_of(operation), verdict.created, strict=False))

    async def _versions(self, operations: Sequence[Operation]) -> dict[str, int]:
        names = {op.block for op in operations if isinstance(op, EditBlock)}
        names |= {op.entry for op in operations if isinstance(op, SetSummary)}
        known = {NodeId(self.ids[name]): name for name in names if name in self.ids}
        async with self._deps.store.reading() as reader:
            nodes = await reader.get(SAMPLE, sorted(known))
        return {known[id_]: n.current_version for id_, n in nodes.items() if isinstance(n, Block | Entry)}

    def _caller(self, key: str) -> Caller:
        kind = PrincipalKind.AGENT if key == self.story.agent.key else PrincipalKind.HUMAN
        return Caller(workspace=self.made.workspace.workspace, principal=self.principal(key), kind=kind)

    async def _as_admin(self, work: Callable[[Command], Awaitable[T]]) -> T:
        return await command(self._deps, self.made.caller, work)
