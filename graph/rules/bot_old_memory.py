"""Bot memory that older versions kept, as values, and what of it may be taken in (AD-21, BM-162 to BM-170).

An entry comes as it was: nothing is made of it that its records do not prove. Whatever is missing when it is taken
in stays missing: what a later import or a chat brings does not show an old entry (BM-165).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from graph.model.access import Rule
from graph.model.errors import BadInput
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId, hosted_id
from graph.model.nodes.bots import BotEntry, ChatItem, Layer
from graph.model.time import Millis
from graph.rules import bot_tags
from graph.text.outside import is_storable

MAX_OLD_CONTENT: Final = 100_000
"""Older versions kept longer contents than are made now."""

AccessRecord: TypeAlias = tuple[str, ...] | None
"""The rules on a link from an entry, encoded; all of them must pass. None is a missing proof."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OldChat:
    """A chat that old facts come from: with one person, or of a channel group; all ids are local."""

    id: str
    organization: str
    person: str | None
    channel: str | None
    created_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class OldItem:
    """An item that old facts rest on; its text is not taken in."""

    chat: str
    id: str
    type: str
    tool: str | None
    occurred_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class OldSource:
    """A source of an old entry: an item of a chat, with its access record if there is one, or an entry.

    Attributes:
        access: ``person:<id>``, ``channel:<id>`` or ``bot``; None: nothing was saved.
    """

    chat: str = ""
    item: str = ""
    entry: str = ""
    access: str | None = None

    @property
    def shown(self) -> Json:
        """The source as clients see it."""
        return {"entry": self.entry} if self.entry else {"chat": self.chat, "item": self.item}


@dataclass(frozen=True, kw_only=True, slots=True)
class OldEntry:
    """An old entry; `removed_tags` and `excluded` (local ids of people) tell of those who left it."""

    id: str
    layer: Layer
    content: str
    tags: tuple[str, ...]
    sources: tuple[OldSource, ...]
    status: str
    confidence: float | None
    created_at: Millis
    updated_at: Millis
    invalidated_at: Millis | None
    removed_tags: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class OldChange:
    """A version of the old log: `by` is ``memory_bot``, ``person`` or ``promotion`` (BM-142)."""

    version: int
    at: Millis
    by: str
    entries: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OldConfession:
    """What a bot confided once, and what it was answered."""

    chat: str
    turn: str
    text: str
    answer: str | None
    entries: tuple[str, ...]
    created_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class OldEnrichment:
    """How the input of a turn was rewritten once; older records have no `original` (BM-170)."""

    chat: str
    turn: str
    text: str
    original: str | None
    entries: tuple[str, ...]
    created_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class OldMemory:
    """All of one import; the order within each kind does not matter."""

    chats: tuple[OldChat, ...] = ()
    items: tuple[OldItem, ...] = ()
    entries: tuple[OldEntry, ...] = ()
    log: tuple[OldChange, ...] = ()
    confessions: tuple[OldConfession, ...] = ()
    enrichments: tuple[OldEnrichment, ...] = ()


def check_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of an old entry in order.

    Raises:
        BadInput: one is neither a topic nor a service tag of a known kind, or names what cannot be an id.
    """
    ordered = bot_tags.in_order(tags)
    if not all(map(bot_tags.is_known, ordered)):
        raise BadInput("a tag is a topic, or a service tag of a known kind with its value", field="tags")
    bot_tags.own_rules(WorkspaceId("w"), NodeId("prn_w/agent/b"), [*ordered, bot_tags.FOR_BOT])
    return ordered


def check_old_content(content: str) -> str:
    """Return a content that may be taken in.

    Raises:
        BadInput: it is empty, too long, or cannot be kept.
    """
    if not content.strip() or len(content) > MAX_OLD_CONTENT or not is_storable(content):
        raise BadInput(f"a content has 1 to {MAX_OLD_CONTENT} characters, not only white space", field="content")
    return content


def access_rule(workspace: WorkspaceId, bot: NodeId, access: str) -> Rule:
    """Return the rule of an access record.

    Raises:
        BadInput: it is no ``person:<id>``, ``channel:<id>`` or ``bot``.
    """
    known = access == "bot" or access.startswith(("person:", "channel:"))
    if not known:
        raise BadInput("an access record is person:<id>, channel:<id> or bot", field="access")
    return bot_tags.audience_rule(workspace, bot, f"for:{access}")


def item_id(workspace: WorkspaceId, chat: str, item: str) -> NodeId:
    """Return the id of an item of a chat by their local ids.

    Raises:
        BadInput: one cannot be an id.
    """
    hosted_id("cht", workspace, chat)
    return hosted_id(ChatItem.PREFIX, workspace, item, container=chat)


def is_entry_id(text: str) -> bool:
    """True for what may be the id of an entry.

    >>> is_entry_id("mem_7c1e90ab34d25f68"), is_entry_id("mem_"), is_entry_id("ent_1")
    (True, False, False)
    """
    head, _, body = text.partition("_")
    return head == BotEntry.PREFIX and 1 <= len(body) <= 64 and body.isascii() and body.replace("-", "a").isalnum()


def record_of(rule: Rule | None, *, is_there: bool) -> AccessRecord:
    """Return the access record of a link from an old fact; None, a missing proof, if the item was not there."""
    return (rule.encode(),) if rule is not None and is_there else None


def record_of_entry(source: str, present: Collection[str]) -> AccessRecord:
    """Return the record of a link from an old conclusion: nothing of its own, or a missing proof for a gap."""
    return () if source in present else None


def record_of_all(records: Iterable[AccessRecord]) -> AccessRecord:
    """Return the record of a source that an entry names once or several times: every one of its rules must pass.

    One missing proof among them is a missing proof (BM-42, BM-163).

    >>> record_of_all([("a",), ("b",), ("a",)]), record_of_all([("a",), None])
    (('a', 'b'), None)
    """
    given = list(records)
    known = [record for record in given if record is not None]
    return tuple(dict.fromkeys(rule for record in known for rule in record)) if len(known) == len(given) else None
