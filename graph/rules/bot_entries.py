"""Entries of bot memory as drafts and changes: what is asked for becomes values, or nothing where a rule drops it.

Pure: a service hands in what it read under the lock of the pool, and writes what comes back
(`graph.services.bots.write`). Source: BM-9 to BM-23, BM-30 to BM-37, BM-58, BM-59, BM-92 to BM-95, BM-145 to BM-153.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from graph.model.access import Rule
from graph.model.errors import InvalidRequest
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId, local_part
from graph.model.nodes.bots import BotEntry, Layer
from graph.model.nodes.sessions import EntryStatus
from graph.model.time import Millis
from graph.rules import bot_tags
from graph.rules.guarding import is_held
from graph.text.outside import is_storable

MAX_CONTENT: Final = 4_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemSource:
    """An item that a fact rests on.

    Attributes:
        node: id of the `ChatItem`.
        chat, item: their local ids.
        rule: whom the item admits (`bot_tags.item_rule`); None is a missing proof.
        tags: what it gives the fact: `from:` its operator, `org:`, `chat:`, `channel:` where it happened, `app:`.
    """

    node: NodeId
    chat: str
    item: str
    rule: Rule | None
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryDraft:
    """A new entry, all but its id, time and seal.

    Attributes:
        tags: all of them, in order.
        items: of a fact; entries: ids that an observation rests on.
    """

    layer: Layer
    content: str
    tags: tuple[str, ...]
    items: tuple[ItemSource, ...] = ()
    entries: tuple[NodeId, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryChange:
    """A change of an entry that is there; its content never changes (BM-20).

    Attributes:
        before: as it was read under the lock.
        fields: the fields that change: `status`, `tags`, `removed_tags`.
        invalidated: set `invalidated_at` to the time of the commit.
        excluded: who leaves it and does not see it any more (BM-150).
    """

    before: BotEntry
    fields: Mapping[str, Any] = field(default_factory=dict)
    invalidated: bool = False
    excluded: frozenset[NodeId] = frozenset()


def after(change: EntryChange, at: Millis) -> BotEntry:
    """Return the entry as a change leaves it; a further change of the same set is made from this one."""
    fields = {**change.fields, "updated_at": at}
    if change.invalidated:
        fields["invalidated_at"] = at
    return replace(change.before, **fields)


def check_content(content: str, *, path: str = "content") -> str:
    """Return a content that may be kept, unchanged.

    Raises:
        InvalidRequest: it is not 1 to 4000 code points with one that is not white space, or holds U+0000 or a lone
            surrogate (BM-21).
    """
    if not fits(content):
        told = f"send 1 to {MAX_CONTENT} characters, not only white space, without U+0000 and lone surrogates"
        raise InvalidRequest(told, path=path)
    return content


def fits(content: str) -> bool:
    """True for what may be the content of an entry (BM-21)."""
    return 1 <= len(content) <= MAX_CONTENT and bool(content.strip()) and is_storable(content)


def check_topics(tags: Iterable[str], *, path: str = "tags") -> tuple[str, ...]:
    """Return the topics that a person gives, each once.

    Raises:
        InvalidRequest: one is no topic, or there are more than twenty (BM-147).
    """
    topics = tuple(dict.fromkeys(tags))
    if not all(map(bot_tags.is_topic, topics)):
        raise InvalidRequest("a tag has 1 to 64 characters of a-z, 0-9 and -", path=path)
    if len(topics) > bot_tags.MAX_TOPICS:
        raise InvalidRequest(f"give at most {bot_tags.MAX_TOPICS} tags", path=path)
    return topics


def check_purge_tag(tag: str, *, path: str = "tag") -> str:
    """Return a tag that a purge takes.

    Raises:
        InvalidRequest: another kind of tag, an empty value, or several tags as a read takes them (BM-158).
    """
    kind = next((kind for kind in bot_tags.PURGED_BY if tag.startswith(kind)), None)
    if kind is None or tag == kind or "," in tag:
        raise InvalidRequest("give one tag of the kind from:, chat:, org: or channel:, with its value", path=path)
    return tag


def pinned(content: str, topics: Iterable[str], *, person: NodeId, organization: NodeId) -> EntryDraft:
    """Return what a person told the service to remember; only he sees it (BM-13, BM-145, BM-146)."""
    local = local_part(person)
    service = (
        f"{bot_tags.FROM}{local}",
        f"{bot_tags.FOR_PERSON}{local}",
        f"{bot_tags.ORG}{local_part(organization)}",
    )
    return EntryDraft(layer=Layer.PINNED, content=content, tags=bot_tags.in_order((*service, *topics)))


def fact(content: str, topics: Iterable[str], items: Sequence[ItemSource]) -> EntryDraft | None:
    """Return a fact that rests on items; None where the change is dropped.

    That is: the content does not fit, there is no item, an item gives no access proof, or no `for:` tag is common to
    all (BM-21, BM-35, BM-46, BM-58, BM-83). Which items may support a fact at all is the learner's to say.
    """
    distinct = tuple({item.node: item for item in items}.values())
    audience = bot_tags.audience_of_items(item.rule for item in distinct)
    if not fits(content) or not audience:
        return None
    service = bot_tags.carried(item.tags for item in distinct)
    if len(bot_tags.organizations_of(service)) != 1:
        return None
    tags = bot_tags.in_order((*service, *audience, *bot_tags.kept_topics(topics)))
    return EntryDraft(layer=Layer.FACT, content=content, tags=tags, items=distinct)


def observation(
    content: str, topics: Iterable[str], confidence: float, sources: Sequence[BotEntry]
) -> EntryDraft | None:
    """Return a conclusion from entries; None where the change is dropped.

    That is: the content or the confidence does not fit, a source no longer counts, or no `for:` tag or organization
    is common to all (BM-12, BM-21, BM-54, BM-59).
    """
    distinct = tuple({entry.id: entry for entry in sources}.values())
    each = [entry.tags for entry in distinct]
    audience = bot_tags.common_audience(each)
    if not fits(content) or not 0 <= confidence <= 1 or not audience or not all(map(is_held, distinct)):
        return None
    tags = bot_tags.in_order((*bot_tags.carried(each), *audience, *bot_tags.kept_topics(topics)))
    return EntryDraft(
        layer=Layer.OBSERVATION,
        content=content,
        tags=tags,
        entries=tuple(entry.id for entry in distinct),
        confidence=float(confidence),
    )


def invalidated(entry: BotEntry) -> EntryChange | None:
    """Return the change that says an entry no longer holds; None for one of a person, or already so (BM-16, BM-95)."""
    if entry.layer == Layer.PINNED or not is_held(entry):
        return None
    return EntryChange(before=entry, invalidated=True)


def retagged(entry: BotEntry, topics: Iterable[str]) -> EntryChange | None:
    """Return the change that gives an entry other topics; None if they are the same."""
    return _with_tags(entry, (*bot_tags.service_of(entry.tags), *bot_tags.kept_topics(topics)))


def renamed(entry: BotEntry, old: str, new: str) -> EntryChange | None:
    """Return the change that puts one topic in place of another; None if the entry has not got it (BM-92)."""
    tags = bot_tags.renamed(entry.tags, old, new)
    return None if tags is None else _with_tags(entry, tags)


def renamed_draft(draft: EntryDraft, old: str, new: str) -> EntryDraft:
    """Return a new entry with one topic in place of another; as it is if it has not got it (BM-92)."""
    tags = bot_tags.renamed(draft.tags, old, new)
    return draft if tags is None else replace(draft, tags=tags)


def shared(entry: BotEntry, tag: str) -> EntryChange | None:
    """Return the change that adds a `for:` tag, once `bot_tags.may_widen` allows it; None if it is there already."""
    return _with_tags(entry, (*entry.tags, tag))


def concerns_only(entry: BotEntry, person: NodeId) -> bool:
    """True if an entry is one person's alone: its only `for:` tag is his (BM-149)."""
    return bot_tags.audience_of(entry.tags) == {f"{bot_tags.FOR_PERSON}{local_part(person)}"}


def forgotten(entry: BotEntry, person: NodeId) -> EntryChange | None:
    """Return the change by which a person takes back his part of an entry that is his (BM-149, BM-150).

    What concerns him alone is retracted, None if it is already (BM-152). Else he leaves it: his `from:` and `for:`
    tags go, and he is excluded; the removed `from:` stays with the entry for a purge.
    """
    if concerns_only(entry, person):
        done = entry.status == EntryStatus.RETRACTED
        return None if done else EntryChange(before=entry, fields={"status": str(EntryStatus.RETRACTED)})
    local = local_part(person)
    said, shown = f"{bot_tags.FROM}{local}", f"{bot_tags.FOR_PERSON}{local}"
    fields: dict[str, Any] = {"tags": tuple(tag for tag in entry.tags if tag not in (said, shown))}
    if said in entry.tags:
        fields["removed_tags"] = (*entry.removed_tags, said)
    return EntryChange(before=entry, fields=fields, excluded=frozenset({person}))


def source_list(draft: EntryDraft) -> Json:
    """Return the sources of a new entry as the contract writes them (BM-10, BM-11, BM-13)."""
    if draft.layer is Layer.OBSERVATION:
        return [{"entry": entry} for entry in draft.entries]
    return [{"chat": item.chat, "item": item.item} for item in draft.items]


def public_entry(entry: BotEntry, content: str) -> dict[str, Json]:
    """Return an entry as clients see it; access records are no part of it (BM-14)."""
    shown: dict[str, Json] = {
        "id": entry.id,
        "layer": entry.layer,
        "content": content,
        "tags": list(entry.tags),
        "sources": entry.sources or [],
        "status": entry.status,
        "createdAt": entry.created_at,
        "updatedAt": entry.updated_at,
    }
    if entry.confidence is not None:
        shown["confidence"] = entry.confidence
    if entry.invalidated_at is not None:
        shown["invalidatedAt"] = entry.invalidated_at
    return shown


def pool_of(workspace: WorkspaceId, bot: NodeId) -> NodeId:
    """Return the id of the pool of a bot (of a linked one: ask for its home's).

    >>> pool_of(WorkspaceId("w"), NodeId("prn_w/agent/bot_9"))
    'bpl_w/bot_9'
    """
    return NodeId(f"bpl_{workspace}/{local_part(bot)}")


def _with_tags(entry: BotEntry, tags: Iterable[str]) -> EntryChange | None:
    wanted = bot_tags.in_order(tags)
    return None if wanted == entry.tags else EntryChange(before=entry, fields={"tags": wanted})
