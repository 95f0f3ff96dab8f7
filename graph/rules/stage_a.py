"""Stage A's rules: when a channel is due, what a batch holds, whether an answer accounts for it, what is written. Pure.

A message waits if it is the live, latest version of itself and was read by no batch yet: its number of arrival is over
the cursor, or it was given back (its episode is hidden, or it was edited after it was read). Source: DR-11 to DR-29.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.learning import Progress, Stage
from graph.model.time import HOUR_MS, Millis
from graph.rules.backoff import batch_size
from graph.rules.changes import Changes
from graph.rules.ingest import in_talk_order
from graph.rules.knowledge_settings import Settings

STAGE_A = "stage_a"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class StageAKey:
    """A channel and one of the bases that its messages live in: Stage A works on one such pair at a time (DR-15)."""

    channel: NodeId
    kb: NodeId

    @property
    def name(self) -> str:
        """What the progress of the pair is called."""
        return f"{self.channel}:{self.kb}"

    @property
    def unique_key(self) -> str:
        """What makes its job the only one (DR-8)."""
        return f"{STAGE_A}:{self.name}"

    @property
    def progress_id(self) -> NodeId:
        """Id of its row of progress."""
        return node_id(Progress.PREFIX, self.unique_key)

    def new_progress(self, workspace: WorkspaceId, at: Millis) -> Progress:
        """Return the row as it is before anything was read."""
        return Progress(id=self.progress_id, workspace=workspace, created_at=at, stage=str(Stage.A), key=self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """When work is due; see KN-119."""

    quiet_seconds: float
    batch_messages: int
    open_max_hours: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much one batch holds at most."""

    messages: int
    tokens: int


def pace_of(settings: Settings) -> Pace:
    """Return when work is due under these settings."""
    return Pace(
        quiet_seconds=settings["stage_a.quiet_seconds"],
        batch_messages=settings["stage_a.batch_messages"],
        open_max_hours=settings["stage_a.open_max_hours"],
    )


def limits_of(settings: Settings, *, halvings: int = 0, failures: int = 0, failed_size: int = 0) -> Limits:
    """Return how much a batch of a pair holds under these settings; the rest as `batch_size` (DR-13, DR-79)."""
    return Limits(
        messages=batch_size(
            settings["stage_a.max_messages"], halvings=halvings, failures=failures, failed_size=failed_size
        ),
        tokens=max(settings["stage_a.max_tokens"] >> halvings, 1),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """What waits of a pair.

    Attributes:
        pending: messages that no batch has read.
        arrived_at: when the last of them arrived.
        carried_at: when the last of the carried ones arrived; None if none is carried.
    """

    pending: int = 0
    arrived_at: Millis | None = None
    carried_at: Millis | None = None


def is_due(waiting: Waiting, pace: Pace, now: Millis) -> bool:
    """Return whether a batch is due (DR-12, DR-19).

    >>> pace = Pace(quiet_seconds=60, batch_messages=2, open_max_hours=1)
    >>> [is_due(Waiting(pending=n, arrived_at=Millis(0)), pace, Millis(59_999)) for n in (0, 1, 2)]
    [False, False, True]
    """
    if waiting.pending >= pace.batch_messages:
        return True
    quiet = waiting.arrived_at is not None and now - waiting.arrived_at >= pace.quiet_seconds * 1_000
    return (waiting.pending > 0 and quiet) or is_overdue(waiting.carried_at, pace, now)


def is_overdue(carried_at: Millis | None, pace: Pace, now: Millis) -> bool:
    """Return whether carried messages have waited so long that they must be settled now (DR-19)."""
    return carried_at is not None and now - carried_at >= pace.open_max_hours * HOUR_MS


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """What one prompt shows.

    Attributes:
        messages: as the model sees them: by time, then by arrival (DR-14).
        carried: those of them that an earlier batch left open.
        may_stay_open: whether the model may leave messages for the next batch.
    """

    messages: tuple[Source, ...]
    carried: frozenset[NodeId]
    may_stay_open: bool

    @property
    def ids(self) -> tuple[NodeId, ...]:
        """Ids of the messages in the order shown."""
        return tuple(message.id for message in self.messages)

    @property
    def names(self) -> Mapping[str, NodeId]:
        """Short names that the model calls the messages by, each with the id it stands for."""
        return {f"m{number}": id_ for number, id_ in enumerate(self.ids, 1)}


def choose(
    carried: Sequence[Source],
    pending: Sequence[Source],
    costs: Mapping[NodeId, int],
    limits: Limits,
    *,
    overdue: bool,
) -> Batch | None:
    """Return the next batch: carried messages first, then the oldest pending, as many as fit (DR-13).

    The first message is always taken: if it is too long by itself, the prompt shows a part of it. Messages may stay
    open only if that moves something on: not in a batch that has room for carried ones alone.

    Args:
        carried: in order of arrival.
        pending: in order of arrival.
        costs: tokens of each message in the prompt.
        limits: of the batch.
        overdue: whether carried messages must be settled now.
    """
    taken: list[Source] = []
    left = limits.tokens
    for message in (*carried, *pending):
        cost = costs[message.id]
        if taken and (cost > left or len(taken) >= limits.messages):
            break
        taken.append(message)
        left -= cost
    if not taken:
        return None
    fresh = len(taken) > len(carried)
    old = frozenset(message.id for message in taken[: len(carried)])
    return Batch(messages=tuple(in_talk_order(taken)), carried=old, may_stay_open=fresh and not overdue)


def halved(batch: Batch) -> Batch:
    """Return a batch of the first half, for a model that could not finish; nothing may stay open in it for now."""
    by_arrival = sorted(batch.messages, key=lambda m: (m.id not in batch.carried, m.seq, m.id))
    kept = by_arrival[: max(len(by_arrival) // 2, 1)]
    fresh = any(message.id not in batch.carried for message in kept)
    return Batch(
        messages=tuple(in_talk_order(kept)),
        carried=batch.carried & {message.id for message in kept},
        may_stay_open=batch.may_stay_open and fresh,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Conclusion:
    """What was concluded, and the names of the messages behind it."""

    text: str
    messages: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeDraft:
    """One episode of an answer; messages by their short names."""

    topic: str
    summary: str
    questions: tuple[str, ...]
    conclusions: tuple[Conclusion, ...]
    systems: tuple[str, ...]
    side_topic: bool
    messages: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """An answer of the right form: how it splits the batch; messages by their short names."""

    episodes: tuple[EpisodeDraft, ...] = ()
    skipped: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


def faults_of(split: Split, names: Iterable[str], *, may_stay_open: bool) -> tuple[str, ...]:
    """Return what is wrong with the messages of an answer, for its next try; nothing if it accounts for each (DR-22).

    The faults name messages by their short names and hold none of their content; names made up by the model are
    counted, not repeated.
    """
    given = list(names)
    used = Counter([*(name for e in split.episodes for name in e.messages), *split.skipped, *split.open])
    faults = []
    if missing := [name for name in given if not used[name]]:
        faults.append(f"these messages are in no episode, not skipped and not open: {', '.join(missing)}")
    if twice := [name for name in given if used[name] > 1]:
        faults.append(f"these messages are named more than once: {', '.join(twice)}")
    if unknown := len(set(used) - set(given)):
        faults.append(f"{unknown} ids are not ids of messages of this batch")
    if split.open and not may_stay_open:
        faults.append("no message may stay open this time: put each into an episode or skip it")
    for number, episode in enumerate(split.episodes):
        own = set(episode.messages)
        wrong = [i for i, c in enumerate(episode.conclusions) if not c.messages or not own.issuperset(c.messages)]
        faults += [
            f"conclusion {i} of episode {number} must name messages of that episode, and only those" for i in wrong
        ]
    return tuple(faults)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a valid answer makes of a batch.

    Attributes:
        changes: episodes with their links.
        episodes: the same, in the order of the answer.
        progress: what changes in the row of progress.
    """

    changes: Changes = field(default_factory=Changes)
    episodes: tuple[Episode, ...] = ()
    progress: Mapping[str, object] = field(default_factory=dict)


def decide(
    split: Split,
    batch: Batch,
    progress: Progress,
    key: StageAKey,
    *,
    run_id: NodeId,
    new_ids: Sequence[NodeId],
    at: Millis,
) -> Outcome:
    """Return what a valid answer writes: its episodes, and how far the pair has come (DR-16 to DR-20, DR-25).

    Args:
        split: without faults.
        batch: what it is about.
        progress: the row as it is now.
        key: whose batch it was.
        run_id: of the run that asked.
        new_ids: one for each episode.
        at: time of the commit.
    """
    sources = dict(zip(batch.names, batch.messages, strict=True))
    changes, episodes = Changes(), []
    for draft, id_ in zip(split.episodes, new_ids, strict=True):
        episode = _episode(draft, id_, [sources[name] for name in draft.messages], key, run_id, at)
        episodes.append(episode)
        changes.puts.append(episode)
        changes.links += _links(draft, episode, sources, key)
    moved = _moved_on(progress, batch, [sources[name] for name in split.open], at)
    return Outcome(changes=changes, episodes=tuple(episodes), progress=moved)


def set_aside(progress: Progress, message: Source) -> dict[str, object]:
    """Return what changes in a row when a message is parked: the pair goes on without it (DR-79)."""
    batch = Batch(messages=(message,), carried=frozenset(), may_stay_open=False)
    return _moved_on(progress, batch, (), progress.last_run_at)


def _episode(
    draft: EpisodeDraft, id_: NodeId, messages: Sequence[Source], key: StageAKey, run_id: NodeId, at: Millis
) -> Episode:
    return Episode(
        id=id_,
        workspace=messages[0].workspace,
        pool=key.kb,
        created_at=at,
        channel_id=key.channel,
        topic=draft.topic,
        summary=draft.summary,
        questions=draft.questions,
        conclusions=[conclusion.text for conclusion in draft.conclusions],
        systems=draft.systems,
        side_topic=draft.side_topic,
        from_at=min(message.occurred_at for message in messages),
        to_at=max(message.occurred_at for message in messages),
        dream_run_id=run_id,
    )


def _links(draft: EpisodeDraft, episode: Episode, sources: Mapping[str, Source], key: StageAKey) -> list[Edge]:
    links = [Edge(type=EdgeType.SCOPED_TO, source=episode.id, target=key.kb)]
    links += [
        Edge(type=EdgeType.SUMMARIZES, source=episode.id, target=sources[name].id, props={"seq": sources[name].seq})
        for name in draft.messages
    ]
    links += [
        Edge(
            type=EdgeType.CONCLUDES_FROM,
            source=episode.id,
            target=sources[name].id,
            key=str(index),
            props={"conclusionIndex": index},
        )
        for index, conclusion in enumerate(draft.conclusions)
        for name in dict.fromkeys(conclusion.messages)
    ]
    return links


def _moved_on(progress: Progress, batch: Batch, still_open: Sequence[Source], at: Millis | None) -> dict[str, object]:
    """Return the new cursor and what is carried: what this batch had no room for, then what stays open."""
    read = set(batch.ids)
    waits = [id_ for id_ in progress.carried if id_ not in read]
    stays: list[str] = [message.id for message in sorted(still_open, key=lambda m: (m.seq, m.id))]
    return {
        "cursor": max([progress.cursor, *(message.seq for message in batch.messages)]),
        "carried": tuple(waits + stays),
        "returned": tuple(id_ for id_ in progress.returned if id_ not in read),
        "failures": 0,
        "last_run_at": at,
        "version": progress.version + 1,
    }
