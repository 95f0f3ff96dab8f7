"""What bots confided in a chat, and how inputs were rewritten. Source: BM-168 to BM-173."""

from __future__ import annotations

from dataclasses import dataclass

from rootward.service.calls import Ask, reads_all
from rootward.service.operations import AsyncSurface, SyncSurface, operation

_CHAT = "/v1/chats/{chatId}"


@dataclass(frozen=True, kw_only=True)
class Confession:
    """What a bot confided, and what it was answered; `withheld` if its entries allow the caller neither."""

    id: str
    turn: str
    text: str
    answer: str | None
    created_at: int
    entries: tuple[str, ...] = ()
    withheld: bool = False


@dataclass(frozen=True, kw_only=True)
class Enrichment:
    """How the input of a turn was rewritten; `original` is None in older records."""

    id: str
    turn: str
    text: str | None
    entries: tuple[str, ...]
    created_at: int
    original: str | None = None
    withheld: bool = False


@operation("GET", f"{_CHAT}/confessions")
def read_confessions(chat_id: str) -> Ask[tuple[Confession, ...]]:
    """Read what a bot confided in a chat; others are shown it as ``docs/how-to/bot-learning.md`` says (BM-172)."""
    return Ask(ids=[chat_id], read=reads_all(Confession, "confessions"))


@operation("GET", f"{_CHAT}/enrichments")
def read_enrichments(chat_id: str) -> Ask[tuple[Enrichment, ...]]:
    """Read how inputs of a chat were rewritten."""
    return Ask(ids=[chat_id], read=reads_all(Enrichment, "enrichments"))


class ChatOperations:
    """What can be read of chats."""

    confessions = read_confessions
    enrichments = read_enrichments


class Chats(ChatOperations, SyncSurface):
    """Chats, waiting in the thread."""


class AsyncChats(ChatOperations, AsyncSurface):
    """Chats, waiting in the task."""
