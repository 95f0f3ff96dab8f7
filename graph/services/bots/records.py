"""What a bot confided and how inputs were rewritten: written for the chat, read by who may read it.

A record whose entries may no longer be used stays, without what rests on them. Source: BM-168 to BM-173.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from graph.model.errors import Forbidden, InvalidRequest, MissingObject, NotFound
from graph.model.fields import Json
from graph.model.ids import NodeId, local_part
from graph.model.nodes.bots import BotRun, Chat, Confession, Enrichment
from graph.model.nodes.people import Right
from graph.model.nodes.sessions import Turn
from graph.model.time import Millis
from graph.rules.rights import surface_rights
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.services.access.session import Session
from graph.services.bots.chat_access import (
    CHAT_NOT_FOUND,
    CHATS,
    bot_of_chat,
    find_chat,
    find_turn,
    hold_chat,
    rules_of_records,
    text_place,
)
from graph.services.bots.chat_audit import record_chat_step
from graph.services.bots.context import validate_references
from graph.services.bots.readers import reads_in
from graph.services.bots.reading import PoolReads, caller_reads
from graph.services.bots.runs import save_run
from graph.services.bots.switches import switches_of
from graph.services.deps import Deps
from graph.services.idempotency import once, other_request
from graph.store.port import Writer
from graph.store.query import By, Eq, Find
from graph.text.outside import is_storable

MAX_CONFIDED: Final = 8_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Confided:
    """A confide that was saved and waits for its answer.

    Attributes:
        run: the learning run it saved, if it did (BM-70, BM-72, BM-117).
    """

    chat: Chat
    turn: Turn
    confession: Confession
    run: BotRun | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownConfession:
    """A confession as its owner reads it; `answer` is None and nothing is named if it is withheld (BM-173)."""

    id: str
    turn: str
    text: str
    answer: str | None
    entries: tuple[str, ...]
    created_at: Millis
    withheld: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownEnrichment:
    """An enrichment as its owner reads it; `original` is None in records from before it was kept (BM-170)."""

    id: str
    turn: str
    text: str | None
    original: str | None
    entries: tuple[str, ...]
    created_at: Millis
    withheld: bool = False


def check_confided(text: str) -> None:
    """Refuse a text that is no confide.

    Raises:
        InvalidRequest: it is not 1 to 8000 code points, or cannot be kept (BM-73).
    """
    if not 1 <= len(text) <= MAX_CONFIDED or not is_storable(text):
        raise InvalidRequest(f"say 1 to {MAX_CONFIDED} characters", path="text")


async def save_confession(cmd: Command, chat_id: NodeId, turn: str, text: str) -> Confided:
    """Save what a bot confided and, where the organization learns, one learning run a turn, in one transaction.

    Raises:
        InvalidRequest: as `check_confided`.
        Forbidden: the chat is a review, or the caller hosts nothing; nothing is saved (BM-71).
        MissingObject: ``ChatNotFound``, ``TurnNotFound``.
    """
    check_confided(text)
    chat = await hold_chat(cmd, chat_id, with_pool=True)
    if chat.review:
        raise Forbidden("a review has no such tool")
    found = await find_turn(cmd.writer, chat, turn)
    id_ = cmd.deps.new_id(Confession.PREFIX)
    confession = Confession(
        id=id_,
        workspace=chat.workspace,
        pool=chat.pool,
        created_at=cmd.at,
        chat_id=chat.id,
        turn_id=found.id,
        text=cmd.deps.vault.seal(text_place(chat.workspace, id_), text),
    )
    await put_alone(cmd.writer, confession, rules_of_records(chat))
    await record_chat_step(cmd, chat, "bot.confide", confession.id, person=found.person_id)
    switches = await switches_of(cmd.writer, chat.organization_id)
    if found.confided or not switches.on or switches.model is None:
        return Confided(chat=chat, turn=found, confession=confession, run=None)
    await cmd.writer.patch(found.id, {"confided": True})
    return Confided(chat=chat, turn=found, confession=confession, run=await save_run(cmd, chat, found))


async def save_confession_once(cmd: Command, key: str | None, chat_id: NodeId, turn: str, text: str) -> Confided:
    """Save what a bot confided, or with an idempotency key that was used before return what was saved then (AD-17).

    Raises:
        InvalidRequest, Forbidden, MissingObject: as `save_confession`.
        Conflict: the key was used for another request.
        NotFound: what was saved then is gone.
    """

    async def again(answer: Json) -> Confided:
        confided = await _confided(cmd, chat_id, turn, NodeId(answer["confession"]))
        confession = confided.confession
        if cmd.deps.vault.open(text_place(confession.workspace, confession.id), confession.text) != text:
            raise other_request()
        return confided

    check_confided(text)
    asked = {"operation": "confide", "chat": chat_id, "turn": turn, "characters": len(text)}
    return await once(
        cmd,
        key,
        asked,
        lambda: save_confession(cmd, chat_id, turn, text),
        keep=lambda made: {"confession": made.confession.id},
        again=again,
    )


async def _confided(cmd: Command, chat_id: NodeId, turn: str, confession_id: NodeId) -> Confided:
    chat = await hold_chat(cmd, chat_id, with_pool=True)
    found = await find_turn(cmd.writer, chat, turn)
    confession = (await cmd.writer.get(CHATS, [confession_id])).get(confession_id)
    if not isinstance(confession, Confession):
        raise NotFound
    return Confided(chat=chat, turn=found, confession=confession, run=None)


def given_answer(deps: Deps, confession: Confession) -> str | None:
    """Open what a confide was answered; None before its answer was saved."""
    if confession.answer is None:
        return None
    return deps.vault.open(text_place(confession.workspace, confession.id, "answer"), confession.answer)


async def save_answer(cmd: Command, confided: Confided, answer: str, entries: tuple[str, ...]) -> None:
    """Save what a confide was answered, and what the answer rests on; nothing if the record is gone meanwhile."""
    id_ = confided.confession.id
    if id_ not in await cmd.writer.get(CHATS, [id_]):
        return
    sealed = cmd.deps.vault.seal(text_place(confided.chat.workspace, id_, "answer"), answer)
    await cmd.writer.patch(id_, {"answer": sealed, "entries": entries})


async def forget_records_about(writer: Writer, pool: NodeId, entries: Collection[str]) -> None:
    """Take away, for a purge, the texts that rest on one of these entries; the records stay (BM-159, BM-173)."""
    gone, where = frozenset(entries), Eq("pool", pool)
    confessions = (await writer.find(CHATS, Find(kind=Confession, where=where))).nodes
    enrichments = (await writer.find(CHATS, Find(kind=Enrichment, where=where))).nodes
    turns = (await writer.find(CHATS, Find(kind=Turn, where=where))).nodes
    await writer.patch_many({one.id: {"answer": None} for one in confessions if not gone.isdisjoint(one.entries)})
    await writer.patch_many({one.id: {"text": None} for one in enrichments if not gone.isdisjoint(one.entries)})
    await writer.patch_many({one.id: {"rewrite": None} for one in turns if not gone.isdisjoint(one.entries)})


async def list_confessions(session: Session, chat_id: NodeId) -> Sequence[ShownConfession]:
    """Return what was confided in a chat, oldest first.

    Raises:
        MissingObject: ``ChatNotFound``: there is none, or the caller has no `read` on it (BM-171).
    """
    chat = await chat_of(session, chat_id)
    query = Find(kind=Confession, where=Eq("chat_id", chat.id), order=By("created_at"))
    found = (await session.reader.find(session.viewer, query)).nodes
    readers = await readers_of(session, chat)
    return [await _confession(session, readers, one) for one in found]


async def list_enrichments(session: Session, chat_id: NodeId) -> Sequence[ShownEnrichment]:
    """Return how the inputs of a chat were rewritten, oldest first; raises like `list_confessions`."""
    chat = await chat_of(session, chat_id)
    query = Find(kind=Enrichment, where=Eq("chat_id", chat.id), order=By("created_at"))
    found = (await session.reader.find(session.viewer, query)).nodes
    readers = await readers_of(session, chat)
    return [await _enrichment(session, readers, one) for one in found]


async def chat_of(session: Session, chat_id: NodeId) -> Chat:
    """Return a chat that the caller has `read` on.

    Raises:
        MissingObject: ``ChatNotFound`` (BM-171, BM-176).
    """
    chat = await find_chat(session.reader, chat_id)
    if chat is None or chat.workspace != session.caller.workspace:
        raise MissingObject(CHAT_NOT_FOUND)
    if Right.READ not in surface_rights(session.facts, chat.id, person=chat.person_id):
        raise MissingObject(CHAT_NOT_FOUND)
    return chat


async def readers_of(session: Session, chat: Chat) -> Sequence[PoolReads]:
    """Return whose view decides: the chat's own reader, and who asks if he is another one (BM-50, BM-173).

    Raises:
        MissingObject: as `bot_of_chat`.
    """
    bot = await bot_of_chat(session.reader, chat)
    own = await reads_in(session, bot, chat)
    return [own] if session.caller.principal == chat.person_id else [own, caller_reads(session, bot)]


async def may_show(readers: Sequence[PoolReads], entries: tuple[str, ...]) -> bool:
    """Tell whether every entry behind a text may be used by every reader now; no content is read (BM-113)."""
    return all([await validate_references(reader, entries) for reader in readers])


async def _confession(session: Session, readers: Sequence[PoolReads], found: Confession) -> ShownConfession:
    vault, workspace = session.deps.vault, found.workspace
    shown = ShownConfession(
        id=found.id,
        turn=local_part(found.turn_id),
        text=vault.open(text_place(workspace, found.id), found.text),
        answer=None,
        entries=found.entries,
        created_at=found.created_at,
    )
    if not await may_show(readers, found.entries):
        return replace(shown, entries=(), withheld=True)
    if found.answer is None:
        return shown
    return replace(shown, answer=vault.open(text_place(workspace, found.id, "answer"), found.answer))


async def _enrichment(session: Session, readers: Sequence[PoolReads], found: Enrichment) -> ShownEnrichment:
    vault, workspace = session.deps.vault, found.workspace
    sealed = found.original
    original = None if sealed is None else vault.open(text_place(workspace, found.id, "original"), sealed)
    shown = ShownEnrichment(
        id=found.id,
        turn=local_part(found.turn_id),
        text=None,
        original=original,
        entries=found.entries,
        created_at=found.created_at,
    )
    if found.text is None or not await may_show(readers, found.entries):
        return replace(shown, entries=(), withheld=True)
    return replace(shown, text=vault.open(text_place(workspace, found.id), found.text))
