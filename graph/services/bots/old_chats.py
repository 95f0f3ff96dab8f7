"""Chats, items, confessions and enrichments of an import of old bot memory (AD-21, BM-168 to BM-170).

What is there already stays as it is; what is there in another pool stops the import.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.access import Clause, SystemScope
from graph.model.errors import AlreadyExists, NotFound
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId, hosted_id, node_id
from graph.model.nodes.bots import BotPool, Chat, ChatItem, Confession, Enrichment
from graph.model.nodes.people import Group, Organization, Principal
from graph.model.sealed import Sealed
from graph.rules import bot_tags
from graph.rules.bot_old_memory import OldConfession, OldEnrichment, OldItem, OldMemory, item_id
from graph.rules.guarding import guard_of, own_audience
from graph.services.bots.chat_access import rules_of_chat, rules_of_records, text_place, turn_id
from graph.services.deps import Deps
from graph.store.port import Writer

IMPORT: Final = SystemScope(reason="what an import of old bot memory finds")


@dataclass(frozen=True, kw_only=True, slots=True)
class OldChats:
    """Takes in the chats of a pool that the caller holds, and what belongs to them."""

    deps: Deps
    writer: Writer
    pool: BotPool

    async def chats(self, old: OldMemory) -> int:
        """Take in chats; return how many were new.

        Raises:
            NotFound: one names an organization, person or channel that is not there.
            AlreadyExists: an id is taken in another pool.
        """
        wanted = [
            Chat(
                id=self._chat_id(chat.id),
                workspace=self._workspace,
                pool=self.pool.id,
                created_at=chat.created_at,
                bot_id=self.pool.bot_id,
                organization_id=bot_tags.organization_id(self._workspace, chat.organization),
                person_id=None if chat.person is None else bot_tags.person_id(self._workspace, chat.person),
                group_id=None if chat.channel is None else bot_tags.group_id(self._workspace, chat.channel),
            )
            for chat in old.chats
        ]
        await self._check_named(wanted)
        return await self._put_fresh([(chat, rules_of_chat(chat)) for chat in wanted])

    async def items(self, old: OldMemory) -> int:
        """Take in items, without their texts; return how many were new.

        Raises:
            NotFound: one names a chat that is in neither the file nor the pool.
        """
        of_chat: dict[NodeId, list[OldItem]] = {}
        for item in old.items:
            of_chat.setdefault(self._chat_id(item.chat), []).append(item)
        chats = await self._held(of_chat)
        return sum([await self._items_of(chat, of_chat[chat.id]) for chat in chats.values()])

    async def records(self, old: OldMemory) -> int:
        """Take in confessions and enrichments; return how many were new. Raises like `items`."""
        every: tuple[OldConfession | OldEnrichment, ...] = (*old.confessions, *old.enrichments)
        chats = await self._held({self._chat_id(one.chat) for one in every})
        in_chat = [(one, chats[self._chat_id(one.chat)]) for one in every]
        return await self._put_fresh([(self._record(one, chat), rules_of_records(chat)) for one, chat in in_chat])

    @property
    def _workspace(self) -> WorkspaceId:
        return self.pool.workspace

    def _chat_id(self, local: str) -> NodeId:
        return hosted_id(Chat.PREFIX, self._workspace, local)

    async def _check_named(self, chats: Iterable[Chat]) -> None:
        named: dict[NodeId, type[Node]] = {}
        for chat in chats:
            named[chat.organization_id] = Organization
            named |= {chat.person_id: Principal} if chat.person_id else {}
            named |= {chat.group_id: Group} if chat.group_id else {}
        found = await self.writer.get(IMPORT, sorted(named))
        if any(not isinstance(found.get(id_), kind) for id_, kind in named.items()):
            raise NotFound("a chat names an organization, person or channel that is not there: make it first")

    async def _held(self, ids: Collection[NodeId]) -> Mapping[NodeId, Chat]:
        """Return chats of the pool, locked."""
        if not ids:
            return {}
        await self.writer.lock(sorted(ids))
        found = await self.writer.get(IMPORT, sorted(ids))
        chats = {id_: node for id_, node in found.items() if isinstance(node, Chat) and node.pool == self.pool.id}
        if len(chats) != len(ids):
            raise NotFound("an item, confession or enrichment names a chat that is not there: give the chat too")
        return chats

    async def _items_of(self, chat: Chat, items: Sequence[OldItem]) -> int:
        """Take in the items of one chat; what was read of it stays read, for these have no text to learn from."""
        wanted = [self._item(chat, item, chat.item_seq + place) for place, item in enumerate(items, 1)]
        added = await self._put_fresh([(one, rules_of_chat(chat)) for one in wanted])
        if added:
            last = chat.item_seq + len(wanted)
            read = {"read_seq": last} if chat.read_seq == chat.item_seq else {}
            await self.writer.patch_many({chat.id: {"item_seq": last, **read}})
        return added

    def _item(self, chat: Chat, item: OldItem, seq: int) -> ChatItem:
        return ChatItem(
            id=item_id(self._workspace, item.chat, item.id),
            workspace=self._workspace,
            pool=self.pool.id,
            created_at=item.occurred_at,
            chat_id=chat.id,
            seq=seq,
            type=item.type,
            tool=item.tool,
            occurred_at=item.occurred_at,
        )

    def _record(self, old: OldConfession | OldEnrichment, chat: Chat) -> Confession | Enrichment:
        if isinstance(old, OldConfession):
            return self._confession(old, chat)
        id_ = _record_id(Enrichment, chat, old)
        return Enrichment(
            id=id_,
            workspace=self._workspace,
            pool=self.pool.id,
            created_at=old.created_at,
            chat_id=chat.id,
            turn_id=turn_id(chat, old.turn),
            text=self._sealed(id_, "text", old.text),
            original=None if old.original is None else self._sealed(id_, "original", old.original),
            entries=old.entries,
        )

    def _confession(self, old: OldConfession, chat: Chat) -> Confession:
        id_ = _record_id(Confession, chat, old)
        return Confession(
            id=id_,
            workspace=self._workspace,
            pool=self.pool.id,
            created_at=old.created_at,
            chat_id=chat.id,
            turn_id=turn_id(chat, old.turn),
            text=self._sealed(id_, "text", old.text),
            answer=None if old.answer is None else self._sealed(id_, "answer", old.answer),
            entries=old.entries,
        )

    async def _put_fresh(self, wanted: Sequence[tuple[Node, Clause]]) -> int:
        """Write the nodes that are not there yet, each with the rules of who may read it; return how many."""
        found = await self.writer.get(IMPORT, [node.id for node, _ in wanted])
        if any(node.pool != self.pool.id for node in found.values()):
            raise AlreadyExists("the id of a chat is taken elsewhere", kind=Chat.__name__, key_fields=("id",))
        fresh = {node.id: (node, rules) for node, rules in wanted if node.id not in found}
        guards = [guard_of(node, rules) for node, rules in fresh.values()]
        await self.writer.put([node for node, _ in fresh.values()])
        await self.writer.guard(guards)
        await self.writer.admit([own_audience(guard) for guard in guards])
        return len(fresh)

    def _sealed(self, node: NodeId, field: str, text: str) -> Sealed:
        return self.deps.vault.seal(text_place(self._workspace, node, field), text)


def _record_id(kind: type[Node], chat: Chat, old: OldConfession | OldEnrichment) -> NodeId:
    """Return the id of a record, made of where and when it was, so that an import may be repeated."""
    named = "\x00".join((chat.id, old.turn, str(old.created_at)))
    return node_id(kind.PREFIX, hashlib.sha256(named.encode("utf-8")).hexdigest()[:26])
