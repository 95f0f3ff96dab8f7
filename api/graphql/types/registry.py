"""Which GraphQL type shows a node of the graph, for reads that take or meet nodes of any kind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from api.graphql.context import RequestContext
from api.graphql.types.agents import AgentEntry, AgentMemory
from api.graphql.types.audit import AuditRecord
from api.graphql.types.bots import BotEntry, BotPool
from api.graphql.types.chats import Chat, ChatItem, Confession, Enrichment
from api.graphql.types.connectors import Connector, SignalSource
from api.graphql.types.dreaming import DreamBatch, DreamRun
from api.graphql.types.evidence import Channel, Conversation, Episode, Source, Thread
from api.graphql.types.guide import CurationGuide
from api.graphql.types.knowledge import Block, Entry, Relation
from api.graphql.types.learning import Lesson, MemoLine, ResidentMemo, Skill, SkillOverlay
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal
from api.graphql.types.records import MemoryProvider
from api.graphql.types.runs import AgentProfile, RunThread, WorkspaceRun
from api.graphql.types.sandboxes import SandboxFile, SandboxSession, SandboxSnapshot
from api.graphql.types.sessions import Session, SessionFact, SessionItem, Turn
from api.graphql.types.statements import Attribute, BlockVersion
from api.graphql.types.versions import EntryVersion, Facet, RelationVersion
from api.graphql.types.workspace import MemoryFile, MemoryRevision, WorkspaceMemory
from graph.model.ids import NodeId
from graph.model.nodes import bots, evidence, knowledge, learning, people, sandbox, sessions, work, workspace
from graph.services.agents.memory import AgentEntryView
from graph.services.knowledge import views
from graph.services.knowledge.nodes import NodeView
from graph.services.learning import resident_memo as memo_views
from graph.services.learning import skills as skill_views

SHOWN_AS: Mapping[type[Any], Callable[[Any], Node]] = {
    people.Principal: Principal.from_domain,
    knowledge.KnowledgeBase: KnowledgeBase.from_domain,
    knowledge.Facet: Facet.from_domain,
    knowledge.EntryVersion: EntryVersion.from_domain,
    knowledge.RelationVersion: RelationVersion.from_domain,
    knowledge.CurationGuide: CurationGuide.from_domain,
    views.BlockView: Block.from_domain,
    views.BlockVersionView: BlockVersion.from_domain,
    views.AttributeView: Attribute.from_domain,
    views.RelationView: Relation.from_domain,
    evidence.Channel: Channel.from_domain,
    evidence.Conversation: Conversation.from_domain,
    evidence.Thread: Thread.from_domain,
    evidence.Source: Source.from_domain,
    evidence.Episode: Episode.from_domain,
    learning.DreamRun: DreamRun.from_domain,
    learning.DreamBatch: DreamBatch.from_domain,
    learning.Skill: Skill.from_domain,
    skill_views.LessonView: Lesson.from_domain,
    skill_views.OverlayView: SkillOverlay.from_domain,
    memo_views.MemoView: ResidentMemo.from_domain,
    memo_views.MemoLineView: MemoLine.from_domain,
    work.AuditRecord: AuditRecord.from_domain,
    learning.Connector: Connector.from_domain,
    learning.SignalSource: SignalSource.from_domain,
    sessions.Session: Session.from_domain,
    sessions.SessionItem: SessionItem.from_domain,
    sessions.SessionFact: SessionFact.from_domain,
    sessions.Turn: Turn.from_domain,
    sessions.AgentMemory: AgentMemory.from_domain,
    AgentEntryView: AgentEntry.from_domain,
    bots.BotPool: BotPool.from_domain,
    bots.BotEntry: BotEntry.from_domain,
    bots.Chat: Chat.from_domain,
    bots.ChatItem: ChatItem.from_domain,
    bots.Confession: Confession.from_domain,
    bots.Enrichment: Enrichment.from_domain,
    workspace.WorkspaceMemory: WorkspaceMemory.from_domain,
    workspace.MemoryFile: MemoryFile.from_domain,
    workspace.MemoryRevision: MemoryRevision.from_domain,
    workspace.MemoryProvider: MemoryProvider.from_domain,
    workspace.AgentProfile: AgentProfile.from_domain,
    workspace.RunThread: RunThread.from_domain,
    workspace.WorkspaceRun: WorkspaceRun.from_domain,
    sandbox.SandboxSession: SandboxSession.from_domain,
    sandbox.SandboxFile: SandboxFile.from_domain,
    sandbox.SandboxSnapshot: SandboxSnapshot.from_domain,
}
"""Every kind that clients may meet beside entries; what is not here is never shown."""

NODE_TYPES: tuple[type[Node], ...] = (
    Principal,
    KnowledgeBase,
    Entry,
    EntryVersion,
    Facet,
    Block,
    BlockVersion,
    Attribute,
    Relation,
    RelationVersion,
    CurationGuide,
    Channel,
    Conversation,
    Thread,
    Source,
    Episode,
    DreamRun,
    DreamBatch,
    Skill,
    SkillOverlay,
    Lesson,
    ResidentMemo,
    MemoLine,
    AuditRecord,
    Connector,
    SignalSource,
    Session,
    SessionItem,
    SessionFact,
    Turn,
    AgentMemory,
    AgentEntry,
    BotPool,
    BotEntry,
    Chat,
    ChatItem,
    Confession,
    Enrichment,
    WorkspaceMemory,
    MemoryFile,
    MemoryRevision,
    MemoryProvider,
    AgentProfile,
    RunThread,
    WorkspaceRun,
    SandboxSession,
    SandboxFile,
    SandboxSnapshot,
)


async def show(ctx: RequestContext, id_: NodeId) -> Node | None:
    """Return a node as its caller sees it; None for what is missing, hidden or of a kind that is never shown."""
    return as_node(ctx, await ctx.loaders.views.load(id_))


async def show_all(ctx: RequestContext, ids: Iterable[NodeId]) -> list[Node]:
    """Return those of the nodes that are shown, in their order."""
    found = await asyncio.gather(*(show(ctx, id_) for id_ in ids))
    return [node for node in found if node is not None]


def as_node(ctx: RequestContext, view: NodeView | None) -> Node | None:
    """Return what a service read as clients see it."""
    if isinstance(view, views.EntryView):
        return Entry.from_domain(ctx, view)
    make = None if view is None else SHOWN_AS.get(type(view))
    return None if make is None else make(view)
