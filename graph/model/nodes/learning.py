"""What background learning keeps: runs, batches, progress, model calls, Skills with lessons, memos, connectors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.sealed import Sealed
from graph.model.time import Millis


class Stage(StrEnum):
    """The two stages of Dreaming."""

    A = "a"
    B = "b"


class RunState(StrEnum):
    """Life of a run and of a batch."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Trigger(StrEnum):
    """Why a run began: its time had come, a person asked for it, or a material was handed in."""

    SCHEDULED = "scheduled"
    MANUAL = "manual"
    MATERIAL = "material"


class PendingState(StrEnum):
    """Life of an item that waits for Stage B."""

    PENDING = "pending"
    CONSUMED = "consumed"
    PARKED = "parked"


class LessonOrigin(StrEnum):
    """What a lesson was learned from (SK-15)."""

    HUMAN_CORRECTION = "human_correction"
    FAILURE_RECOVERY = "failure_recovery"
    NONOBVIOUS_SUCCESS = "nonobvious_success"
    AGENT_ADDED = "agent_added"
    HUMAN_EDIT = "human_edit"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelProfile(Node):
    """A model by the name that settings use, such as `light` (AD-18).

    Attributes:
        credential: where the key is read from, such as ``env:NAME``; never the key itself.
        prices: USD per million tokens, ``{"input": …, "output": …}``, where they are not known elsewhere.
    """

    PREFIX: ClassVar[str] = "mpr"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("workspace", "name"),)
    name: str = indexed()
    provider: str
    model: str
    base_url: str | None = None
    credential: str | None = None
    prices: Json = None
    version: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCall(Node):
    """One call of a model with its attempts and its answer, saved before the answer is used; both are sealed (BM-186).

    Attributes:
        call_key: names the call within its run and what was asked, so that a restart finds it instead of calling again.
        state: ``asked``, ``answered``, ``failed`` or ``erased``.
        finish: why the model stopped.
        request: what the model was shown, as JSON: ``[[role, text], …]``.
        source_ids: sources and statements whose text was in the prompt; erasure blanks `request` and `answer` by them.
        attempts: one object a try: `at`, `by` (fence of the job), `outcome` (``asked`` until it ended), `inputTokens`,
            `outputTokens`, `seconds`.
    """

    PREFIX: ClassVar[str] = "mcl"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("call_key",),)
    call_key: str
    job_id: NodeId | None = indexed(None)
    run_id: NodeId | None = indexed(None)
    agent_id: NodeId | None = indexed(None)
    purpose: str = indexed()
    prompt: str
    model: str
    state: str = indexed()
    request: Sealed | None = None
    answer: Sealed | None = None
    finish: str | None = None
    attempts: Json = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int = 0
    day: str = indexed("")
    source_ids: tuple[str, ...] = ()
    ended_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpending(Node):
    """What an agent's work of one kind asked of models on one UTC day; its id is made of the three."""

    PREFIX: ClassVar[str] = "msp"
    GUARDED: ClassVar[bool] = False
    agent_id: NodeId = indexed()
    kind: str
    day: str = indexed()
    calls: int = 0
    failed_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DreamRun(Node):
    """A run of Stage A for a channel or of Stage B for an agent, or a learning task's (DR-80, DR-81)."""

    PREFIX: ClassVar[str] = "drn"
    stage: str = indexed()
    agent_id: NodeId = indexed()
    trigger: str
    state: str = indexed()
    channel_id: NodeId | None = None
    started_at: Millis = indexed()
    ended_at: Millis | None = None
    model: str | None = None
    materials_processed: int = 0
    operations: int = 0
    skill_updates: int = 0
    rejected: int = 0
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DreamBatch(Node):
    """One batch of a run: what it consumed, how it ended, what was rejected (index, op, code, reason).

    Attributes:
        operations: accepted ones but for those on Skills; `skill_updates` those; `rejected` the rest (DR-81).
    """

    PREFIX: ClassVar[str] = "drb"
    run_id: NodeId = indexed()
    agent_id: NodeId = indexed()
    channel_id: NodeId | None = None
    state: str = indexed()
    attempts: int = 0
    tx_id: str | None = None
    item_ids: tuple[str, ...] = ()
    rejections: Json = None
    operations: int = 0
    skill_updates: int = 0
    rejected: int = 0
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress(Node):
    """How far a stage has come for a key (a channel and base, or an agent).

    Attributes:
        cursor: arrivals up to this number were read.
        carried: messages left open by the last batch, offered again (DR-18).
        returned: messages to read once more, though the cursor is past them: their episode is hidden (KN-67), or they
            were edited (DR-4).
        failures: failed batches in a row.
        version: moves with every batch that ended, well or not.
    """

    PREFIX: ClassVar[str] = "prg"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("stage", "key"),)
    stage: str
    key: str
    cursor: int = 0
    carried: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    failures: int = 0
    due_at: Millis | None = None
    last_run_at: Millis | None = None
    version: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingItem(Node):
    """Evidence that waits for Stage B (DR-31); made in the transaction that made the item."""

    PREFIX: ClassVar[str] = "pit"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("item_id",),)
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("agent_id", "state", "created_at"),)
    agent_id: NodeId = indexed()
    item_id: NodeId
    item_kind: str
    state: str = PendingState.PENDING
    failures: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Skill(Node):
    """A built-in Skill: its base text, which nothing here ever changes (SK-3). Enabled by ENABLES edges."""

    PREFIX: ClassVar[str] = "skl"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("workspace", "slug"),)
    slug: str = indexed()
    name: str
    base_text: str
    base_version: int = 1
    base_hash: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillOverlay(Node):
    """What one agent learned about one Skill (SK-2)."""

    PREFIX: ClassVar[str] = "sko"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("agent_id", "skill_slug"),)
    agent_id: NodeId = indexed()
    skill_slug: str
    version: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson(Node):
    """One version of a lesson; it lives in the base of its evidence (SK-8). `series` joins its versions."""

    PREFIX: ClassVar[str] = "lsn"
    overlay_id: NodeId = indexed()
    series: NodeId = indexed()
    text: str
    origin: str
    version: int = 1
    recorded_at: Millis
    invalidated_at: Millis | None = indexed(None)
    modifier_id: NodeId
    modifier_kind: str
    reason: str | None = None
    dream_run_id: NodeId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ResidentMemo(Node):
    """The memo of one knowledge base, carried by every turn (RE-1 to RE-5).

    Its id is the path of its base; an id without a path is a bot's entry, whose public form the contract fixes (BM-19).
    """

    PREFIX: ClassVar[str] = "mem"
    SHARES_PREFIX: ClassVar[bool] = True
    version: int = 0
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoLine(Node):
    """One line of a memo with its evidence, while it was believed."""

    PREFIX: ClassVar[str] = "mln"
    memo_id: NodeId = indexed()
    text: str
    position: int
    recorded_at: Millis
    invalidated_at: Millis | None = indexed(None)
    modifier_id: NodeId
    modifier_kind: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalSource(Node):
    """A system whose events reach an agent; its `pool` is where they go from now on (MA-15 to MA-18).

    Attributes:
        volatile: its values change often and are asked of their system when a task needs them: nothing is kept.
    """

    PREFIX: ClassVar[str] = "sig"
    agent_id: NodeId = indexed()
    display_name: str
    volatile: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Connector(Node):
    """A synchronised place of documents, which land in its `pool` (MA-19 to MA-25).

    Attributes:
        kind: which adapter reads it, such as ``folder`` or ``feed``.
        options: where the place is, as its adapter takes it; never a credential.
        cursor: what the adapter wants to be told at the next look.
        failures: failed syncs in a row; `last_error` is the code of the last one.
    """

    PREFIX: ClassVar[str] = "con"
    kind: str
    display_name: str = ""
    actor_id: NodeId | None = None
    owner_id: NodeId = indexed()
    state: str = "active"
    options: Json = None
    cursor: Json = None
    last_sync_at: Millis | None = None
    last_error: str | None = None
    failures: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Mirror(Node):
    """What is known of one document of a connector.

    Attributes:
        external_id: as the place names it, unique in the connector.
        entry_id: the read-only entry that mirrors it; none before it was read once.
        series: of the versions of its source.
        source_version: the place's own name of the version that was mirrored or refused last.
        state: ``live``, ``withdrawn`` or ``refused`` (it was never read).
        misses: explicit answers in a row that it is gone or may not be read (MA-25).
        problem: code of why its newest version could not be read; the mirror stayed as it was.
        asked_at: when its place was last asked for it.
    """

    PREFIX: ClassVar[str] = "mir"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("connector_id", "external_id"),)
    connector_id: NodeId = indexed()
    external_id: str
    entry_id: NodeId | None = indexed(None)
    series: NodeId | None = None
    source_version: str
    state: str = indexed("live")
    misses: int = 0
    problem: str | None = None
    asked_at: Millis
