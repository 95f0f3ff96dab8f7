"""What becomes of the changes that a model proposes to a memory: judged one by one against its newest state. Pure.

The same rules hold for the memory of a session and for that of an agent; what differs is on the `Ground`.
Source: SM-98 to SM-108, SM-112, SM-118, AM-28 to AM-33.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from graph.model.errors import InvalidRequest
from graph.model.nodes.sessions import EntryStatus, FactKind, ItemType
from graph.rules.credentials_in_text import holds_credential
from graph.rules.session_memory import MAX_ACTIVE, checked_content, checked_key

OUTSIDE: Final = frozenset({ItemType.APP_RESULT, ItemType.NOTIFICATION, ItemType.MEMORY_EDIT})
"""Types of items on which alone an agent learns nothing (AM-29)."""
ECHOES: Final = frozenset({ItemType.AGENT_MESSAGE, ItemType.NOTIFICATION})
"""Types of items that add no support to what is known already: the agent may only repeat it (bug case 14)."""


class Tag(StrEnum):
    """What a change does."""

    REMEMBER = "Remember"
    FORGET = "Forget"


class Rejected(StrEnum):
    """Why a proposed change is dropped."""

    MALFORMED = "malformed"
    KEY = "key"
    CONTENT = "content"
    KIND = "kind"
    CREDENTIAL = "credential"
    UNKNOWN_SOURCE = "unknown_source"
    NOT_READ = "not_read"
    """It names none of the items that were read in this step."""
    OUTSIDE_ONLY = "outside_only"
    RETRACTED = "retracted"
    UNKNOWN_KEY = "unknown_key"
    EDITED = "edited"
    """A person edited the key after the step began."""
    TWICE = "twice"
    ECHO = "echo"
    FULL = "full"


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A change as the model put it, in the right shape but believed in nothing.

    Attributes:
        sources: ids of items; any text.
    """

    tag: Tag
    key: str
    content: str = ""
    kind: str = ""
    sources: tuple[str, ...]


class Standing(Protocol):
    """An entry as it stands."""

    @property
    def content(self) -> str:
        """Its text."""
        ...

    @property
    def kind(self) -> str:
        """Its kind."""
        ...

    @property
    def status(self) -> str:
        """Active or retracted."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """What changes are judged on, read in the transaction that applies them.

    Attributes:
        entries: the present memory by key, retracted ones included.
        sources: the items that may be named, with their types, in the order of history.
        read: those of them that were read in this step and by no other.
        edited: keys that a person edited after the step began.
        kinds: that an entry may have.
        outside_only: whether items that are outside data may be all that supports an entry.
    """

    entries: Mapping[str, Standing]
    sources: Mapping[str, str]
    read: frozenset[str]
    edited: frozenset[str] = frozenset()
    kinds: frozenset[FactKind] = frozenset(FactKind)
    outside_only: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """A change to apply: the entry as it is to be, its sources each once and in the order of history."""

    key: str
    content: str
    kind: str
    status: EntryStatus
    sources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What is applied, at most one change a key, and why the others are dropped, in the order of the answer."""

    accepted: tuple[Accepted, ...]
    rejected: tuple[Rejected, ...]


@dataclass(kw_only=True, slots=True)
class _Taken:
    """The changes taken so far and the number of active entries with them."""

    active: int
    by_key: dict[str, Accepted] = field(default_factory=dict)


def decide(proposals: Sequence[Proposal | None], ground: Ground) -> Decision:
    """Judge the changes of an answer in their order; a change that breaks a rule is dropped alone (SM-112).

    Of several changes of one key the first that breaks no other rule counts (SM-101).

    Args:
        proposals: in the order of the answer; None for one that has not the shape of a change.
        ground: the newest state.
    """
    taken = _Taken(active=sum(entry.status == EntryStatus.ACTIVE for entry in ground.entries.values()))
    rejected = []
    for proposal in proposals:
        judged = Rejected.MALFORMED if proposal is None else _judged(proposal, ground, taken)
        if isinstance(judged, Rejected):
            rejected.append(judged)
            continue
        taken.by_key[judged.key] = judged
        taken.active += _moves(judged, ground)
    return Decision(accepted=tuple(taken.by_key.values()), rejected=tuple(rejected))


def _judged(proposal: Proposal, ground: Ground, taken: _Taken) -> Accepted | Rejected:
    key = _key(proposal.key)
    if key is None:
        return Rejected.KEY
    sources = _sources(proposal, ground)
    if isinstance(sources, Rejected):
        return sources
    made = _remembered(key, proposal, sources, ground)
    if proposal.tag is Tag.FORGET:
        made = _forgotten(key, sources, ground)
    if isinstance(made, Rejected):
        return made
    if key in ground.edited:
        return Rejected.EDITED
    if key in taken.by_key:
        return Rejected.TWICE
    return Rejected.FULL if taken.active + _moves(made, ground) > MAX_ACTIVE else made


def _moves(change: Accepted, ground: Ground) -> int:
    """Return by how much a change moves the number of active entries; at most one change of a key is applied."""
    before = ground.entries.get(change.key)
    was_active = before is not None and before.status == EntryStatus.ACTIVE
    return (change.status is EntryStatus.ACTIVE) - was_active


def _key(given: str) -> str | None:
    try:
        return checked_key(given)
    except InvalidRequest:
        return None


def _sources(proposal: Proposal, ground: Ground) -> tuple[str, ...] | Rejected:
    named = frozenset(proposal.sources)
    if not named <= ground.sources.keys():
        return Rejected.UNKNOWN_SOURCE
    if not named & ground.read:
        return Rejected.NOT_READ
    if not ground.outside_only and all(ground.sources[source] in OUTSIDE for source in named):
        return Rejected.OUTSIDE_ONLY
    return tuple(source for source in ground.sources if source in named)


def _forgotten(key: str, sources: tuple[str, ...], ground: Ground) -> Accepted | Rejected:
    before = ground.entries.get(key)
    if before is None:
        return Rejected.UNKNOWN_KEY
    if before.status != EntryStatus.ACTIVE:
        return Rejected.RETRACTED
    return Accepted(key=key, content=before.content, kind=before.kind, status=EntryStatus.RETRACTED, sources=sources)


def _remembered(key: str, proposal: Proposal, sources: tuple[str, ...], ground: Ground) -> Accepted | Rejected:
    before = ground.entries.get(key)
    if before is not None and before.status != EntryStatus.ACTIVE:
        return Rejected.RETRACTED
    if proposal.kind not in ground.kinds:
        return Rejected.KIND
    try:
        content = checked_content(proposal.content)
    except InvalidRequest:
        return Rejected.CONTENT
    if holds_credential(content) or holds_credential(key):
        return Rejected.CREDENTIAL
    if before is not None and _is_echo(content, proposal.kind, sources, before, ground):
        return Rejected.ECHO
    return Accepted(key=key, content=content, kind=proposal.kind, status=EntryStatus.ACTIVE, sources=sources)


def _is_echo(content: str, kind: str, sources: tuple[str, ...], before: Standing, ground: Ground) -> bool:
    """True for what is known already, word by word, and said again by the agent alone."""
    repeated = content == before.content and kind == before.kind
    return repeated and all(ground.sources[source] in ECHOES for source in sources)
