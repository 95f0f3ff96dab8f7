"""One step of an agent's learning under the lease of a job: what its last turns teach becomes its memory.

Select what the agent has not read in its sessions of one organization, ask the model of that organization, decide
against the newest memory, commit one version with the read marks and the end of the record. Steps of several sessions
may be asked side by side; their commits follow one another under the lock of the memory. Source: AM-20 to AM-37, AD-34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dreaming.agents.prompt import PURPOSE, agent_request
from dreaming.consolidation import ask_for_changes, count_dropped, new_record, people_called, proposals, recorded
from dreaming.jobs import WorkContext, guarded_command
from dreaming.models.port import ModelRequest
from dreaming.named_model import named_model
from dreaming.sessions.prompt import fitting_items
from graph.model.errors import ProfileUnavailable
from graph.model.fields import Json
from graph.model.ids import NodeId, local_part
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import PrincipalKind
from graph.model.nodes.sessions import (
    AgentChange,
    AgentMemory,
    ChangeCause,
    Consolidation,
    Outcome,
    Session,
    SessionItem,
    Turn,
)
from graph.rules.agent_learning import learning_model, teaches, worth_asking
from graph.rules.agent_memory import KINDS, EntryState, named_source
from graph.rules.consolidation import Accepted, Ground, Proposal, decide
from graph.services.access.caller import Caller
from graph.services.access.commands import Command
from graph.services.agents.state import (
    AGENTS,
    VersionStep,
    entries_of,
    find_memory,
    hold_memory,
    memory_id,
    write_version,
)
from graph.services.agents.unread import unread_for_agent
from graph.services.sessions.consolidations import OF_AGENT, Ending, end_record
from graph.services.sessions.finding import find_session
from graph.services.sessions.state import organization_settings
from graph.store.port import Reader
from graph.store.query import And, Eq, Find, Range


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """One step.

    Attributes:
        trigger: the session whose turn made it due.
        model: name of the model of its organization.
        version: of the memory when the step began.
        items: what is read, oldest first; `sessions` they are of, by id.
    """

    work: WorkContext
    trigger: Session
    model: str
    version: int
    items: Sequence[SessionItem]
    sessions: Mapping[NodeId, Session]
    request: ModelRequest
    record: Consolidation


async def learn_agent(work: WorkContext) -> Json:
    """Do the step of a job; return how that ended, or nothing if there was nothing to read.

    Raises:
        ModelError: the model failed; nothing was applied and the record says so.
    """
    step = await _selected(work)
    if step is None:
        return {}
    changes = await recorded(work, step.record, lambda: _asked(step))
    caller = Caller(workspace=work.job.workspace, principal=work.agent, kind=PrincipalKind.AGENT)
    outcome = await guarded_command(work, caller, lambda cmd: _commit(cmd, step, changes))
    return {"outcome": str(outcome)}


async def _selected(work: WorkContext) -> _Step | None:
    """Return what is to be read; None if nothing is, or the organization lets its agents learn nothing (any more)."""
    async with work.deps.store.reading() as reader:
        trigger = await find_session(reader, work.job.subject_id)
        if trigger is None:
            return None
        settings = await organization_settings(reader, trigger)
        model = learning_model(settings)
        pool = await find_memory(reader, trigger.agent_id)
        unread = await unread_for_agent(reader, trigger, settings)
        items = fitting_items(unread.items)
        if model is None or not worth_asking(items):
            return None
        request = await _request(reader, trigger.agent_id, items, unread.sessions)
    return _Step(
        work=work,
        trigger=trigger,
        model=model,
        version=0 if pool is None else pool.version,
        items=items,
        sessions=unread.sessions,
        request=request,
        record=new_record(work, OF_AGENT, trigger),
    )


async def _request(
    reader: Reader, agent: NodeId, items: Sequence[SessionItem], sessions: Mapping[NodeId, Session]
) -> ModelRequest:
    turns = await reader.get(AGENTS, sorted({item.turn_id for item in items if item.turn_id is not None}))
    partners = {item.id: _partner(item, turns, sessions) for item in items}
    named = {*partners.values(), *(item.person_id for item in items)}
    people = people_called((await reader.get(AGENTS, sorted(who for who in named if who is not None))).values())
    return agent_request(list((await entries_of(reader, agent)).values()), items, partners, people)


def _partner(item: SessionItem, turns: Mapping[NodeId, object], sessions: Mapping[NodeId, Session]) -> NodeId | None:
    """Return with whom the agent worked: the person of the turn, else whose session it is (AM-31)."""
    turn = turns.get(item.turn_id) if item.turn_id is not None else None
    return turn.person_id if isinstance(turn, Turn) and turn.person_id else sessions[item.session_id].person_id


async def _asked(step: _Step) -> Sequence[Proposal | None]:
    """Return what the agent memory model proposes (AM-24).

    Raises:
        ModelError: there is no such model, or it failed.
    """
    work, workspace = step.work, step.trigger.workspace
    light = await named_model(work.deps, work.models, workspace, step.trigger.agent_id, step.model)
    if light is None:
        raise ProfileUnavailable("make the model profile that agentMemoryModel names", reason="profile_missing")
    changes = await ask_for_changes(work, light, step.record.id, step.request)
    sessions = [local_part(session) for session in step.sessions]
    return proposals(changes, lambda source: named_source(workspace, source, sessions))


async def _commit(cmd: Command, step: _Step, changes: Sequence[Proposal | None]) -> Outcome:
    """Write what came of a step in one transaction: a version, read marks, and the end of the record."""
    pool = await hold_memory(cmd, step.trigger.agent_id)
    outcome = await _applied(cmd, step, pool, changes)
    await end_record(cmd.writer, step.record.id, cmd.at, Ending(outcome=outcome))
    return outcome


async def _applied(cmd: Command, step: _Step, pool: AgentMemory, changes: Sequence[Proposal | None]) -> Outcome:
    sessions = await _sessions(cmd.writer, step.sessions)
    settings = await organization_settings(cmd.writer, step.trigger)
    if learning_model(settings) is None or not all(teaches(session, settings) for session in sessions.values()):
        return Outcome.DISCARDED
    ground, origins = await _ground(cmd.writer, step, changes)
    decision = decide(changes, ground)
    count_dropped(cmd.deps.figures, PURPOSE, decision)
    await cmd.writer.patch_many({NodeId(item): {"agent_read": True} for item in ground.read})
    if not decision.accepted:
        return Outcome.NOTHING
    people = {local_part(session.id): session.person_id for session in origins.values()}
    version = VersionStep(
        cause=ChangeCause.CONSOLIDATION,
        operation="agent.learn",
        actor=pool.agent_id,
        actor_kind=ModifierKind.DREAMING,
        entries=[_state(cmd, change, people) for change in decision.accepted],
    )
    await write_version(cmd, pool, version)
    return Outcome.APPLIED


def _state(cmd: Command, change: Accepted, people: Mapping[str, NodeId | None]) -> EntryState:
    return EntryState(
        key=change.key,
        content=change.content,
        kind=change.kind,
        status=change.status,
        updated_at=cmd.at,
        sources=tuple(NodeId(source) for source in change.sources),
        people=people,
    )


async def _ground(
    reader: Reader, step: _Step, changes: Iterable[Proposal | None]
) -> tuple[Ground, Mapping[NodeId, Session]]:
    """Return the newest state and the sessions of all items that were read or named."""
    shown = {item.id for item in step.items}
    named = {NodeId(source) for change in changes if change is not None for source in change.sources if source}
    nodes = (await reader.get(AGENTS, sorted(shown | named))).values()
    items = [node for node in nodes if isinstance(node, SessionItem)]
    sessions = await _sessions(reader, {item.session_id for item in items})
    own = [item for item in items if _is_own(sessions.get(item.session_id), step.trigger)]
    ordered = sorted(own, key=lambda item: (item.session_id, item.depth, item.id))
    ground = Ground(
        entries=await entries_of(reader, step.trigger.agent_id),
        sources={item.id: item.type for item in ordered},
        read=frozenset(item.id for item in own if item.id in shown and item.current and not item.agent_read),
        edited=await _edited(reader, step),
        kinds=KINDS,
        outside_only=False,
    )
    return ground, sessions


def _is_own(session: Session | None, trigger: Session) -> bool:
    """True if items of a session may support what the agent learns: its own, and of the same organization (AM-20)."""
    if session is None or session.review:
        return False
    return (session.agent_id, session.organization_id) == (trigger.agent_id, trigger.organization_id)


async def _sessions(reader: Reader, ids: Iterable[NodeId]) -> dict[NodeId, Session]:
    found = await reader.get(AGENTS, sorted(set(ids)))
    return {id_: node for id_, node in found.items() if isinstance(node, Session)}


async def _edited(reader: Reader, step: _Step) -> frozenset[str]:
    """Return the keys that a person edited after the step began (SM-104)."""
    since = Range("version", step.version + 1, None)
    where = And((Eq("pool", memory_id(step.trigger.agent_id)), Eq("cause", ChangeCause.PERSON), since))
    changes = (await reader.find(AGENTS, Find(kind=AgentChange, where=where))).nodes
    return frozenset(key for change in changes for key in change.keys)
