"""The REST routes of what a bot confided and how inputs were rewritten, exactly as the contract writes them.

Before they are shown to anybody else, read ``docs/how-to/bot-learning.md`` on showing confessions (BM-172).
Source: BM-168 to BM-173.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.rest.kit import Call, Handler
from graph.model.errors import BadInput, MissingObject
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.bots import Chat
from graph.services.access.session import read
from graph.services.bots.chat_access import CHAT_NOT_FOUND
from graph.services.bots.records import ShownConfession, ShownEnrichment, list_confessions, list_enrichments


def table() -> Mapping[str, Mapping[str, Handler]]:
    """Return the routes."""
    chat = "/v1/chats/{chatId}"
    return {f"{chat}/confessions": {"GET": _confessions}, f"{chat}/enrichments": {"GET": _enrichments}}


async def _confessions(call: Call) -> Any:
    chat = _chat(call)
    found, _ = await read(call.deps, call.caller, lambda session: list_confessions(session, chat))
    return {"confessions": [confession_body(one) for one in found]}


async def _enrichments(call: Call) -> Any:
    chat = _chat(call)
    found, _ = await read(call.deps, call.caller, lambda session: list_enrichments(session, chat))
    return {"enrichments": [enrichment_body(one) for one in found]}


def confession_body(shown: ShownConfession) -> dict[str, Any]:
    """Return a confession as clients see it; its entries are named where the answer rests on some (BM-168, BM-173)."""
    body: dict[str, Any] = {
        "id": shown.id,
        "turn": shown.turn,
        "text": shown.text,
        "answer": shown.answer,
        "createdAt": shown.created_at,
    }
    if shown.withheld:
        return {**body, "entries": [], "withheld": True}
    return {**body, "entries": list(shown.entries)} if shown.entries else body


def enrichment_body(shown: ShownEnrichment) -> dict[str, Any]:
    """Return an enrichment as clients see it; `original` is absent in older records (BM-169, BM-170, BM-173)."""
    body: dict[str, Any] = {
        "id": shown.id,
        "turn": shown.turn,
        "text": shown.text,
        "entries": list(shown.entries),
        "createdAt": shown.created_at,
    }
    if shown.original is not None:
        body["original"] = shown.original
    return {**body, "withheld": True} if shown.withheld else body


def _chat(call: Call) -> NodeId:
    """Return the id that the path names; what can be none answers like an unknown one (BM-176, BM-183)."""
    try:
        return hosted_id(Chat.PREFIX, call.caller.workspace, call.id("chatId"))
    except BadInput:
        raise MissingObject(CHAT_NOT_FOUND) from None
