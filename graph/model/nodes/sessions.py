"""Conversations of agents as sessions: their turns and items, what is remembered of one, and what an agent learned.

The history of a session is a tree of items: each item made one version, whose name is its `head`; `parent` is the
version before it. What was believed at a version is what the changes of all versions from the root to it add up to
(`SessionChange`), so that going back, forking and consolidating never rewrite anything. The marks `current` and
`processed` repeat this for the present version. Source: SM-1 to SM-127, AM-1 to AM-53.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.sealed import Sealed
from graph.model.time import Millis


class ItemType(StrEnum):
    """Kinds of items of sessions and chats (SM-126)."""

    PERSON_MESSAGE = "person_message"
    AGENT_MESSAGE = "agent_message"
    TOOL_RESULT = "tool_result"
    APP_RESULT = "app_result"
    NOTIFICATION = "notification"
    MEMORY_EDIT = "memory_edit"


class FactKind(StrEnum):
    """Kinds of remembered facts; an agent keeps only those that last (SM-6, AM-3)."""

    FACT = "fact"
    DECISION = "decision"
    PREFERENCE = "preference"
    PROCEDURE = "procedure"
    HYPOTHESIS = "hypothesis"


class EntryStatus(StrEnum):
    """Whether a remembered fact still counts."""

    ACTIVE = "active"
    RETRACTED = "retracted"


class TurnState(StrEnum):
    """Life of a turn of a session or chat."""

    QUEUED = "queued"
    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class ChangeCause(StrEnum):
    """What made a version of an agent's memory (AM-18)."""

    CONSOLIDATION = "consolidation"
    PERSON = "person"
    PROMOTION = "promotion"


class Outcome(StrEnum):
    """How a consolidation ended (SM-122)."""

    APPLIED = "applied"
    NOTHING = "nothing"
    DISCARDED = "discarded"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Session(Node):
    """A conversation of an agent with its memory; a pool: its own id is its `pool`.

    Attributes:
        person_id: whose session it is; he may read and write it (AD-6).
        model: name of the model profile it runs with; None: no model.
        head: name of the present version, `depth` items from the root; `root_head`: the version before the first item.
        revision: moves with each committed change of the session (SM-25).
        use, generate: the switches set here; None follows the organization (SM-12).
        change_seq: number of the last `SessionChange`.
    """

    PREFIX: ClassVar[str] = "ses"
    agent_id: NodeId = indexed()
    organization_id: NodeId | None = None
    person_id: NodeId | None = indexed(None)
    model: str | None = None
    review: bool = False
    head: str
    root_head: str
    depth: int = 0
    revision: int = 0
    use: bool | None = None
    generate: bool | None = None
    change_seq: int = 0
    forked_from: NodeId | None = None
    updated_at: Millis
    access_version: int = 1
    audit_seq: int = 0
    audit_head: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn(Node):
    """One run of an agent in a session or chat; its id is hosted in the place (AD-2).

    Attributes:
        place_id: the session or chat.
        person_id: whom it runs for (the operator of a chat's turn, saved with it: BM-82); None: nobody was named.
        author: who is shown as its author; never read as a user id.
        open_to_all: the host declared it open to all users of the bot (BM-40).
        confided: a confide was made in it (BM-70).
        text: the input as the person gave it; `rewrite` what the model got instead, if it did (BM-104, BM-115).
        entries: ids of the bot entries that the rewrite rests on.
        seq: order of arrival in its place.
    """

    PREFIX: ClassVar[str] = "trn"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("agent_id", "state"), ("place_id", "seq"))
    place_id: NodeId = indexed()
    agent_id: NodeId
    person_id: NodeId | None = None
    author: str = ""
    state: str
    model: str | None = None
    open_to_all: bool = False
    confided: bool = False
    text: Sealed | None = None
    rewrite: Sealed | None = None
    entries: tuple[str, ...] = ()
    seq: int = 0
    began_at: Millis | None = None
    ended_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionItem(Node):
    """Something that happened in a session: a source. Its id is hosted in the session, so forks keep it (AD-3).

    Attributes:
        person_id: who said it or edited, if a person did.
        head: the version it made; `parent` the version before; `depth` how far it is from the root, 1 for the first.
        change_seq: number of the last `SessionChange` before it: later ones of earlier versions are none of its past.
        current: it is part of the present history; `processed`: it was read for memory in that history.
        agent_read: it was read for the agent's memory (AM-33), whatever becomes of the history.
        edit: of a `memory_edit`: ``{"command", "key"}`` and for Remember ``content`` and ``kind`` (SM-38).
    """

    PREFIX: ClassVar[str] = "sit"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("session_id", "current", "depth"), ("session_id", "agent_read"))
    session_id: NodeId = indexed()
    type: str
    person_id: NodeId | None = None
    text: str = ""
    edit: Json = None
    turn_id: NodeId | None = indexed(None)
    occurred_at: Millis
    head: str = indexed()
    parent: str
    depth: int
    change_seq: int = 0
    current: bool = True
    processed: bool = False
    agent_read: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionFact(Node):
    """One state of one remembered fact of a session; a later state of the key is another node.

    Attributes:
        sources: local ids of the items that support it, in history order (CITES edges say the same).
        change: number of the `SessionChange` that made it.
        by_person: a person's command made it, not learning.
        current: it is the state of its key at the present version.
    """

    PREFIX: ClassVar[str] = "sft"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("session_id", "current"),)
    session_id: NodeId = indexed()
    key: str
    content: str
    kind: str
    status: str
    sources: tuple[str, ...] = ()
    updated_at: Millis
    change: int
    by_person: bool = False
    current: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionChange(Node):
    """One change of a session's memory, kept with the version that was the head then.

    Attributes:
        seq: order within the session.
        head: the version it belongs to.
        facts: ids of the `SessionFact`s it made.
        processed: local ids of the items it marked as read.
    """

    PREFIX: ClassVar[str] = "sch"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("session_id", "seq"),)
    session_id: NodeId = indexed()
    seq: int
    head: str
    facts: tuple[str, ...] = ()
    processed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentMemory(Node):
    """The pool of what an agent learned in all its sessions; its id is made from the agent's, and is its `pool`.

    Attributes:
        version: moves by one with each committed change set (AM-7).
    """

    PREFIX: ClassVar[str] = "amm"
    agent_id: NodeId = indexed()
    version: int = 0
    access_version: int = 1
    audit_seq: int = 0
    audit_head: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentEntry(Node):
    """One entry of an agent's memory, by its key.

    Attributes:
        sources: ``[{"session": local id, "item": local id}]``; [] if a person wrote it (AM-5, AM-6).
        changed_in: the version of the memory that changed it last.
        by_person: a person's command changed it last.
    """

    PREFIX: ClassVar[str] = "aen"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("pool", "key"),)
    agent_id: NodeId = indexed()
    key: str
    content: str
    kind: str
    status: str
    sources: Json = None
    updated_at: Millis
    changed_in: int
    by_person: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentChange(Node):
    """One version of an agent's memory: when, why and which keys; no contents (AM-18, AM-19)."""

    PREFIX: ClassVar[str] = "ach"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("pool", "version"),)
    version: int
    at: Millis
    cause: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Consolidation(Node):
    """The record of one consolidation of a session's or an agent's memory; `error` is a code (SM-122).

    Attributes:
        of: ``session`` or ``agent``.
        session_id: of an agent's: the session whose turn made it due.
        turn_id: the turn that made it due; None: somebody asked for it.
        outcome: "" while it runs.
    """

    PREFIX: ClassVar[str] = "cns"
    GUARDED: ClassVar[bool] = False
    of: str
    session_id: NodeId | None = indexed(None)
    agent_id: NodeId = indexed()
    turn_id: NodeId | None = None
    started_at: Millis
    ended_at: Millis | None = None
    outcome: str = ""
    error: str | None = None
