"""The resident memo that every turn of a conversation carries (RE-1 to RE-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import MemoLine, ResidentMemo
from graph.rules.operations.memo import memo_id, memo_text
from graph.rules.pools import base_id
from graph.rules.scopes import ConversationFacts, write_target
from graph.services.access.session import Session
from graph.services.knowledge.support import supports_of
from graph.services.knowledge.views import SupportView
from graph.services.search.scope import searched
from graph.services.settings import load_settings
from graph.store.query import And, Eq, Find, In


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoLineView:
    """A line of a memo with what it rests on."""

    node: MemoLine
    support: SupportView


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoView:
    """The memo of one knowledge base, as far as the caller sees it.

    Attributes:
        lines: those believed now, in order.
        tokens: what they cost; `budget` is what they may cost.
    """

    node: ResidentMemo
    lines: tuple[MemoLineView, ...]
    text: str
    tokens: int
    budget: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ResidentMemoText:
    """What a turn carries: the memos of the read set, in the order `agent`, `shared`, `channel` or `private`."""

    text: str
    tokens: int
    memos: tuple[MemoView, ...]


async def resident_memo(session: Session, conversation_id: NodeId) -> ResidentMemoText:
    """Return what the turns of a conversation carry; of knowledge that was only granted nothing (RE-4).

    Raises:
        NotFound: no such conversation for the caller.
    """
    settings = await load_settings(session.reader, session.caller.workspace)
    await searched(session, settings, conversation_id=conversation_id, owner_id=None, kb_ids=None)
    assert session.conversation is not None
    wanted = [memo_id(pool) for pool in memo_bases(session.conversation)]
    shown = await session.open(wanted)
    memos = [memo for id_ in wanted if isinstance(memo := shown.get(id_), ResidentMemo)]
    views = await memo_views(session, memos, session.conversation.channel.owner)
    text = memo_text([view.text for view in views if view.text])
    return ResidentMemoText(text=text, tokens=session.deps.tokenizer.count(text), memos=tuple(views))


def memo_bases(conversation: ConversationFacts) -> list[NodeId]:
    """Return the bases whose memos a turn carries, in their order, each once (RE-4)."""
    owner, target = conversation.channel.owner, write_target(conversation)
    bases = [base_id(conversation.workspace, owner, kind) for kind in (KbKind.AGENT, KbKind.SHARED)]
    own = base_id(conversation.workspace, target.owner, target.kind, target.channel)
    return list(dict.fromkeys([*bases, own]))


async def memo_views_by_id(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, MemoView]:
    """Return those of the memos that the caller sees."""
    memos = [node for node in (await session.open(ids)).values() if isinstance(node, ResidentMemo)]
    by_owner: dict[NodeId, list[ResidentMemo]] = {}
    for memo in memos:
        base = await session.base(memo.pool) if memo.pool else None
        if base is not None:
            by_owner.setdefault(base.owner_id, []).append(memo)
    views = [view for owner, own in by_owner.items() for view in await memo_views(session, own, owner)]
    return {view.node.id: view for view in views}


async def memo_line_views(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, MemoLineView]:
    """Return those of the lines that the caller sees, believed now or once."""
    nodes = [node for node in (await session.open(ids)).values() if isinstance(node, MemoLine)]
    supports = await supports_of(session, nodes)
    return {node.id: MemoLineView(node=node, support=supports[node.id]) for node in nodes}


async def memo_views(session: Session, memos: Sequence[ResidentMemo], owner: NodeId) -> list[MemoView]:
    """Return memos of one owner that the caller was found to see, with their visible lines; in the same order."""
    if not memos:
        return []
    settings = await load_settings(session.reader, session.caller.workspace, owner)
    where = And((In("memo_id", [memo.id for memo in memos]), Eq("invalidated_at", None)))
    nodes = (await session.page(Find(kind=MemoLine, where=where))).nodes
    supports = await supports_of(session, nodes)
    made = []
    for memo in memos:
        own = sorted((line for line in nodes if line.memo_id == memo.id), key=lambda line: line.position)
        text = memo_text([line.text for line in own])
        made.append(
            MemoView(
                node=memo,
                lines=tuple(MemoLineView(node=line, support=supports[line.id]) for line in own),
                text=text,
                tokens=session.deps.tokenizer.count(text),
                budget=settings["memo.kb_token_budget"],
            )
        )
    return made
