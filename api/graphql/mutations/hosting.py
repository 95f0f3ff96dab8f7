"""What hosts report of sessions and chats: places, items, versions, deletions (AD-15 to AD-17, SM-123, BM-189)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.hosting import Kept, is_session, run_once
from api.graphql.types.hosting import (
    ChatReceipt,
    DeletedHistory,
    DeletedSession,
    ItemInput,
    ItemReceipt,
    Promotion,
    SessionReceipt,
    kept_node,
    kept_session,
)
from graph.model.access import SystemScope
from graph.model.errors import InvalidRequest
from graph.model.ids import NodeId
from graph.model.nodes.bots import ChatItem
from graph.model.nodes.sessions import ItemType, SessionItem
from graph.services.access.commands import Command
from graph.services.agents.promotion import promote
from graph.services.bots import chats
from graph.services.idempotency import other_request
from graph.services.sessions import deleting, host

REPEATED = SystemScope(reason="whether a repeated request is the one that was made")


@strawberry.type
class HostMutations:
    """Sessions, chats and what is in them; for hosts."""

    @strawberry.mutation
    async def create_session(
        self,
        info: Info[Any, Any],
        agent_id: strawberry.ID,
        organization_id: strawberry.ID | None = None,
        person_id: strawberry.ID | None = None,
        local_id: str | None = None,
        model: str | None = None,
        review: bool | None = False,
        idempotency_key: str | None = None,
    ) -> SessionReceipt:
        ctx = context(info)
        agent, organization, person = ctx.id(agent_id), ctx.id_or_none(organization_id), ctx.id_or_none(person_id)

        async def work(cmd: Command) -> Kept:
            made = await host.create_session(
                cmd,
                agent_id=agent,
                organization_id=organization,
                person_id=person,
                local_id=local_id,
                model=model,
                review=bool(review),
            )
            return kept_session(made)

        request = {"agent": agent, "organization": organization, "person": person, "id": local_id}
        return _session(ctx, await run_once(info, idempotency_key, {**request, "model": model, "review": review}, work))

    @strawberry.mutation(description="The chat of a bot with a person, or the group chat of a channel group.")
    async def create_chat(
        self,
        info: Info[Any, Any],
        bot_id: strawberry.ID,
        organization_id: strawberry.ID,
        person_id: strawberry.ID | None = None,
        group_id: strawberry.ID | None = None,
        local_id: str | None = None,
        review: bool | None = False,
        idempotency_key: str | None = None,
    ) -> ChatReceipt:
        ctx = context(info)
        bot, organization = ctx.id(bot_id), ctx.id(organization_id)
        person, group = ctx.id_or_none(person_id), ctx.id_or_none(group_id)

        async def work(cmd: Command) -> Kept:
            made = await chats.create_chat(
                cmd,
                bot_id=bot,
                organization_id=organization,
                person_id=person,
                group_id=group,
                local_id=local_id,
                review=bool(review),
            )
            return kept_node(made)

        request = {"bot": bot, "organization": organization, "person": person, "group": group, "id": local_id}
        kept = await run_once(info, idempotency_key, {**request, "review": review}, work)
        return ChatReceipt(id=ctx.out(kept["id"]), local_id=kept["local_id"])

    @strawberry.mutation(description="Add what happened at the end of a session or chat.")
    async def append_item(
        self,
        info: Info[Any, Any],
        item: ItemInput,
        session_id: strawberry.ID | None = None,
        chat_id: strawberry.ID | None = None,
        idempotency_key: str | None = None,
    ) -> ItemReceipt:
        ctx = context(info)
        session, chat, person = ctx.id_or_none(session_id), ctx.id_or_none(chat_id), ctx.id_or_none(item.person_id)

        async def work(cmd: Command) -> Kept:
            if is_session(session_id, chat_id):
                return await _to_session(cmd, ctx.id(str(session_id)), item, person)
            return await _to_chat(cmd, ctx.id(str(chat_id)), item)

        told = {"type": item.type, "id": item.local_id, "turn": item.turn, "characters": len(item.text)}
        request = {"session": session, "chat": chat, "person": person, "tool": item.tool, **told}
        kept = await run_once(info, idempotency_key, request, work, lambda cmd, made: _check_text(cmd, made, item.text))
        return ItemReceipt(id=ctx.out(kept["id"]), local_id=kept["local_id"], head=kept.get("head"))

    @strawberry.mutation(description="A session that goes on from a version of another, with a copy of its memory.")
    async def fork_session(
        self,
        info: Info[Any, Any],
        session_id: strawberry.ID,
        version: str,
        local_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> SessionReceipt:
        ctx = context(info)
        session = ctx.id(session_id)

        async def work(cmd: Command) -> Kept:
            return kept_session(await host.fork_session(cmd, session, version, local_id=local_id))

        request = {"session": session, "version": version, "id": local_id}
        return _session(ctx, await run_once(info, idempotency_key, request, work))

    @strawberry.mutation(description="Return a session to one of its versions, with the memory of that version.")
    async def restore_version(
        self, info: Info[Any, Any], session_id: strawberry.ID, version: str, idempotency_key: str | None = None
    ) -> SessionReceipt:
        ctx = context(info)
        session = ctx.id(session_id)

        async def work(cmd: Command) -> Kept:
            return kept_session(await host.restore_version(cmd, session, version))

        return _session(ctx, await run_once(info, idempotency_key, {"session": session, "version": version}, work))

    @strawberry.mutation(description="The lasting entries of a session's memory become its agent's.")
    async def promote(
        self, info: Info[Any, Any], session_id: strawberry.ID, idempotency_key: str | None = None
    ) -> Promotion:
        ctx = context(info)
        session = ctx.id(session_id)

        async def work(cmd: Command) -> Kept:
            pool = await promote(cmd, session)
            return {"agent": pool.agent_id, "version": pool.version}

        kept = await run_once(info, idempotency_key, {"session": session}, work)
        return Promotion(agent_id=ctx.out(kept["agent"]), version=kept["version"])

    @strawberry.mutation(description="Delete a session for good; what its agent learned from it stays.")
    async def delete_session(
        self, info: Info[Any, Any], session_id: strawberry.ID, idempotency_key: str | None = None
    ) -> DeletedSession:
        ctx = context(info)
        session = ctx.id(session_id)

        async def work(cmd: Command) -> Kept:
            gone = await deleting.delete_session(cmd, session)
            return {"items": gone.items, "facts": gone.facts, "turns": gone.turns}

        kept = await run_once(info, idempotency_key, {"session": session}, work)
        return DeletedSession(id=ctx.out(session), **kept)

    @strawberry.mutation(description="Take the texts of a chat away; entries learned from it stay.")
    async def delete_chat_history(
        self, info: Info[Any, Any], chat_id: strawberry.ID, idempotency_key: str | None = None
    ) -> DeletedHistory:
        ctx = context(info)
        chat = ctx.id(chat_id)

        async def work(cmd: Command) -> Kept:
            return {"items": await chats.delete_chat_history(cmd, chat)}

        kept = await run_once(info, idempotency_key, {"chat": chat}, work)
        return DeletedHistory(id=ctx.out(chat), **kept)


async def _to_session(cmd: Command, session: NodeId, item: ItemInput, person: NodeId | None) -> Kept:
    new = host.NewItem(
        type=item.type,
        text=item.text,
        occurred_at=cmd.at if item.occurred_at is None else item.occurred_at,
        local_id=item.local_id,
        person_id=person,
        turn=item.turn,
    )
    made = await host.append_item(cmd, session, new)
    return {**kept_node(made), "head": made.head}


async def _to_chat(cmd: Command, chat: NodeId, item: ItemInput) -> Kept:
    new = chats.NewChatItem(
        local_id=item.local_id,
        type=_chat_type(item.type),
        text=item.text,
        tool=item.tool,
        turn=item.turn,
        occurred_at=item.occurred_at,
    )
    return kept_node(await chats.append_item(cmd, chat, new))


async def _check_text(cmd: Command, made: Kept, text: str) -> None:
    id_ = NodeId(made["id"])
    found = (await cmd.writer.get(REPEATED, [id_])).get(id_)
    is_other = isinstance(found, SessionItem) and found.text != text
    if is_other or (isinstance(found, ChatItem) and not chats.is_text_of(cmd, found, text)):
        raise other_request()


def _chat_type(given: str) -> ItemType:
    try:
        return ItemType(given)
    except ValueError:
        known = ", ".join(type_ for type_ in ItemType if type_ != ItemType.MEMORY_EDIT)
        raise InvalidRequest(f"the type of an item is one of {known}", path="item.type") from None


def _session(ctx: RequestContext, kept: Kept) -> SessionReceipt:
    return SessionReceipt(
        id=ctx.out(kept["id"]), local_id=kept["local_id"], head=kept["head"], revision=kept["revision"]
    )
