"""Loading chats that another program kept: channels and people as needed, messages with their own times (KN-65).

Doing it again changes nothing: channels and people have ids made of their names, conversations of theirs, and a message
that is known is passed over.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from graph.model.errors import BadInput, LimitExceeded, NotFound
from graph.model.ids import NodeId, hosted_id, local_part, node_id
from graph.model.nodes.evidence import Channel, ChannelKind, Conversation
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.ingest import Arrival, IncomingMessage
from graph.services.access.commands import Command
from graph.services.access.members import members_of, set_members
from graph.services.access.people import ADMINISTRATION, find_one
from graph.services.access.provisioning import create_channel, create_person
from graph.services.knowledge.conversations import begin_conversation, hold_channel, may_report
from graph.services.knowledge.ingest import MAX_MESSAGES, ingest_into
from graph.services.ledger import COMMIT_GUARD

MAX_SPEAKERS = 500
_NOT_LOCAL = re.compile(r"[^a-z0-9._:-]+")
_MAX_SLUG = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedPlace:
    """A channel that is ready to take messages in, and who its speakers are here."""

    channel_id: NodeId
    speakers: Mapping[str, NodeId]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedTalk:
    """A message of a stretch of talk: those with one key form a conversation."""

    conversation: str
    message: IncomingMessage


async def import_channel(
    cmd: Command, agent_id: NodeId, kind: ChannelKind, name: str, speakers: Sequence[str]
) -> ImportedPlace:
    """Make a channel and the people who speak in it, unless they are there; nobody leaves.

    Raises:
        Forbidden: only an admin does.
        NotFound: no such agent.
        BadInput, LimitExceeded: a name is empty; too many speakers.
    """
    cmd.require_admin()
    if len(speakers) > MAX_SPEAKERS:
        raise LimitExceeded(f"a channel has at most {MAX_SPEAKERS} speakers", field="speakers", limit=MAX_SPEAKERS)
    people = {speaker: await _person(cmd, speaker) for speaker in dict.fromkeys(speakers)}
    channel_id = await _channel(cmd, agent_id, kind, name)
    present = await members_of(cmd.writer, channel_id)
    await set_members(cmd, channel_id, present | set(people.values()))
    return ImportedPlace(channel_id=channel_id, speakers=people)


async def import_messages(cmd: Command, channel_id: NodeId, talk: Sequence[ImportedTalk]) -> Counter[Arrival]:
    """Take messages in, each into the conversation of its key; return how many came to what.

    Raises:
        NotFound: no such channel or speaker for the caller.
        LimitExceeded: too many messages, or a text too long; nothing was stored.
    """
    if len(talk) > MAX_MESSAGES:
        raise LimitExceeded(f"send at most {MAX_MESSAGES} messages a call", field="messages", limit=MAX_MESSAGES)
    arrivals: Counter[Arrival] = Counter()
    for key, said in groupby(talk, key=lambda one: one.conversation):
        messages = [one.message for one in said]
        conversation = await _conversation(cmd, channel_id, key, messages)
        receipt = await ingest_into(cmd, channel_id, conversation, messages)
        arrivals.update(receipt.arrivals)
    return arrivals


def local_id_of(name: str) -> str:
    """Return the local id made of a name: readable where the name has Latin letters, else by its hash.

    >>> local_id_of("Ana María"), local_id_of("#tea-room"), local_id_of("梅")
    ('ana-maria', 'tea-room', 'n.db2442c675')
    """
    folded = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in folded if not unicodedata.combining(c)).casefold()
    slug = _NOT_LOCAL.sub("-", plain).strip("-.:_")
    lossless = not any(ord(c) > 127 for c in plain)
    return slug if lossless and 1 <= len(slug) <= _MAX_SLUG else f"n.{_hash(name)}"


async def _person(cmd: Command, name: str) -> NodeId:
    """Return the person of this name, made if needed; another person who has the id already keeps it."""
    if not name.strip():
        raise BadInput("a speaker has a name", field="speakers")
    for local in (local_id_of(name), f"n.{_hash(name)}"):
        id_ = hosted_id(Principal.PREFIX, cmd.caller.workspace, local, container=PrincipalKind.HUMAN)
        found = (await cmd.writer.get(ADMINISTRATION, [id_])).get(id_)
        if found is None:
            return (await create_person(cmd, name, local_id=local)).id
        if isinstance(found, Principal) and found.display_name == name.strip():
            return found.id
    return id_


async def _channel(cmd: Command, agent_id: NodeId, kind: ChannelKind, name: str) -> NodeId:
    """Return the channel of this name and kind, made if needed."""
    agent = await find_one(cmd, agent_id, Principal)
    for local in (local_id_of(name), f"n.{_hash(f'{kind}/{name}')}"):
        id_ = hosted_id(Channel.PREFIX, cmd.caller.workspace, local, container=local_part(agent.id))
        found = (await cmd.writer.get(ADMINISTRATION, [id_])).get(id_)
        if found is None:
            return (await create_channel(cmd, agent.id, kind, name, local_id=local)).id
        if isinstance(found, Channel) and found.kind == kind and found.display_name == name.strip():
            return found.id
    raise NotFound


async def _conversation(
    cmd: Command, channel_id: NodeId, key: str, messages: Sequence[IncomingMessage]
) -> Conversation:
    """Return the conversation of this key, made if needed: closed, and opened when its first message was sent."""
    channel = await hold_channel(cmd.writer, channel_id)
    may_report(cmd, channel)
    id_ = node_id(Conversation.PREFIX, f"imported.{_hash(f'{channel_id}/{key}', 32)}")
    found = (await cmd.writer.get(COMMIT_GUARD, [id_])).get(id_)
    if isinstance(found, Conversation):
        return found
    opened_at = min(message.sent_at for message in messages)
    return await begin_conversation(cmd, channel, id_, opened_at=opened_at, closed=True)


def _hash(text: str, characters: int = 10) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:characters]
