"""What a Memory Bot may learn: its answer and fresh state become drafts and changes of entries, or are dropped. Pure.

Nothing in an answer decides who sees an entry: tags come from the items and entries it names, and every change is
judged by the state under the lock of the pool. Source: BM-25, BM-77 to BM-83, BM-91 to BM-95.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph.model.access import Rule
from graph.model.ids import NodeId, local_part
from graph.model.nodes.bots import BotEntry, Chat, ChatItem
from graph.model.nodes.sessions import ItemType, Turn
from graph.model.time import Millis
from graph.rules import bot_entries, bot_tags
from graph.rules.bot_entries import EntryChange, EntryDraft, ItemSource
from graph.rules.guarding import is_held

TIMEOUT, MODEL_ERROR, INVALID_ANSWER = "timeout", "model_error", "invalid_answer"
"""The errors of a run (BM-97)."""

CONTEXT_ENTRIES = 300
"""So many active entries are shown to the model (BM-89)."""

ITEM_CHARACTERS = 120_000
"""So many characters of new items are shown at most; of more of them each is cut alike."""

_EVIDENCE = frozenset({ItemType.PERSON_MESSAGE, ItemType.TOOL_RESULT})
"""One item of these kinds is needed; the bot's own words, apps and notifications prove nothing (BM-77 to BM-80)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LearnFact:
    """Something that came up; `sources` are pairs of local ids of chat and item."""

    content: str
    topics: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Observe:
    """A conclusion from entries."""

    content: str
    topics: tuple[str, ...]
    sources: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Invalidate:
    """An entry no longer holds."""

    id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Retag:
    """Other topics for an entry."""

    id: str
    topics: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RenameTopic:
    """One topic in place of another, everywhere the reader sees it."""

    old: str
    new: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """A wish to show an entry to more people; `tag` is the `for:` tag it asks for."""

    id: str
    tag: str


Proposal = LearnFact | Observe | Invalidate | Retag | RenameTopic | Share


def longest_shown(lengths: Iterable[int], total: int = ITEM_CHARACTERS) -> int:
    """Return how many characters of each text are shown so that all together are at most `total`.

    Short texts leave their share to longer ones; of each at least one character is shown.

    >>> longest_shown([10, 20], 100), longest_shown([10, 100, 200], 100)
    (20, 45)
    """
    left = sorted(lengths)
    while left:
        share = total // len(left)
        if left[-1] <= share:
            return left[-1]
        if left[0] > share:
            return max(share, 1)
        total -= left.pop(0)
    return 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadItem:
    """An item that a run read, as a source of facts."""

    source: ItemSource
    is_evidence: bool


def read_item(item: ChatItem, chat: Chat, turn: Turn | None, home: NodeId) -> ReadItem:
    """Return what an item gives a fact that rests on it.

    Args:
        item: of the chat.
        chat: where it happened.
        turn: the item's; without one, or without its operator, there is no access proof (BM-83).
        home: the bot whose pool it is.
    """
    operator = None if turn is None else turn.person_id
    open_to_all = turn is not None and turn.open_to_all
    return ReadItem(
        source=ItemSource(
            node=item.id,
            chat=local_part(chat.id),
            item=local_part(item.id),
            rule=_rule(chat, operator, open_to_all, home),
            tags=frozenset(_item_tags(item, chat, operator)),
        ),
        is_evidence=item.type in _EVIDENCE,
    )


def _rule(chat: Chat, operator: NodeId | None, open_to_all: bool, home: NodeId) -> Rule | None:
    return bot_tags.item_rule(operator=operator, group=chat.group_id, open_to_all=open_to_all, bot=home)


def _item_tags(item: ChatItem, chat: Chat, operator: NodeId | None) -> Iterable[str]:
    yield f"{bot_tags.ORG}{local_part(chat.organization_id)}"
    yield f"{bot_tags.CHAT}{local_part(chat.id)}"
    if chat.group_id is not None:
        yield f"{bot_tags.CHANNEL}{local_part(chat.group_id)}"
    if operator is not None and item.type != ItemType.NOTIFICATION:  # nobody said that (BM-79)
        yield f"{bot_tags.FROM}{local_part(operator)}"
    if item.type == ItemType.APP_RESULT and item.tool is not None:
        yield f"{bot_tags.APP}{item.tool}"


def fact_draft(change: LearnFact, items: Mapping[tuple[str, str], ReadItem]) -> EntryDraft | None:
    """Return the fact of a proposal; None where it is dropped (BM-77 to BM-83).

    Args:
        change: what the model says.
        items: what the run read, and whose text is still there, by local ids of chat and item.
    """
    if not change.sources or not all(source in items for source in change.sources):
        return None
    named = [items[source] for source in change.sources]
    if not any(item.is_evidence for item in named):
        return None
    return bot_entries.fact(change.content, change.topics, [item.source for item in named])


def observation_draft(change: Observe, shown: Collection[str], known: Mapping[str, BotEntry]) -> EntryDraft | None:
    """Return the conclusion of a proposal; None where it is dropped.

    Args:
        change: what the model says.
        shown: ids of the entries that were in the run's context (BM-94).
        known: entries that the run's reader may see now, as they are now (BM-91).
    """
    if not change.sources or not all(source in shown and source in known for source in change.sources):
        return None
    sources = [known[source] for source in change.sources]
    if not all(map(is_held, sources)):
        return None
    return bot_entries.observation(change.content, change.topics, change.confidence, sources)


@dataclass(kw_only=True, slots=True)
class Learned:
    """What a run will commit, while it grows.

    Attributes:
        at: time of the commit.
        drafts, changes: in the order of the answer.
        left: entries as the changes so far leave them.
        refused: ids of entries that were not shared (BM-53).
        dropped: how many changes came to nothing.
    """

    at: Millis
    drafts: list[EntryDraft] = field(default_factory=list)
    changes: list[EntryChange] = field(default_factory=list)
    left: dict[str, BotEntry] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    dropped: int = 0

    def now(self, entries: Mapping[NodeId, BotEntry]) -> dict[str, BotEntry]:
        """Return entries as the changes so far leave them."""
        return {id_: self.left.get(id_, entry) for id_, entry in entries.items()}

    def add_draft(self, draft: EntryDraft | None) -> None:
        """Take a new entry in, unless it was dropped or is said twice in one answer."""
        if draft is None or any(_says_the_same(draft, other) for other in self.drafts):
            self.dropped += 1
        else:
            self.drafts.append(draft)

    def add_changes(self, changes: Sequence[EntryChange | None]) -> None:
        """Take changes in; none at all counts as dropped."""
        given = [change for change in changes if change is not None]
        self.dropped += not given
        self._take(given)

    def rename(self, old: str, new: str, entries: Iterable[BotEntry]) -> None:
        """Put one topic in place of another in these entries, and in the new ones that the answer named before it."""
        drafts = [bot_entries.renamed_draft(draft, old, new) for draft in self.drafts]
        found = [bot_entries.renamed(entry, old, new) for entry in entries]
        given = [change for change in found if change is not None]
        self.dropped += not given and drafts == self.drafts
        self.drafts = drafts
        self._take(given)

    def _take(self, changes: Iterable[EntryChange]) -> None:
        for change in changes:
            self.changes.append(change)
            self.left[change.before.id] = bot_entries.after(change, self.at)


def _says_the_same(draft: EntryDraft, other: EntryDraft) -> bool:
    return (draft.layer, draft.content, draft.items, draft.entries) == (
        other.layer,
        other.content,
        other.items,
        other.entries,
    )
