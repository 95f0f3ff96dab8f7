"""Consolidates one session under the lease of a job: what it says is worth keeping becomes its memory.

Select the unread items, ask the model of the turn, decide against the newest memory, commit changes, read marks and the
end of the record in one transaction. Two never overlap: the job is one for each session, and every commit checks its
lease. Source: SM-95 to SM-122, AD-34.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dreaming.consolidation import ask_for_changes, count_dropped, new_record, people_called, proposals, recorded
from dreaming.jobs import WorkContext, guarded_command
from dreaming.models.port import ModelRequest
from dreaming.named_model import named_model
from dreaming.sessions.prompt import PURPOSE, fitting_items, session_request
from graph.model.errors import BadInput, MissingObject, ProfileUnavailable
from graph.model.fields import Json
from graph.model.ids import NodeId, local_part
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import PrincipalKind
from graph.model.nodes.sessions import Consolidation, Outcome, Session, SessionFact, SessionItem
from graph.rules.consolidation import Ground, Proposal, decide
from graph.services.access.caller import Caller
from graph.services.access.commands import Command
from graph.services.sessions.changing import Actor, FactState, apply_change
from graph.services.sessions.consolidations import OF_SESSION, Ending, end_record
from graph.services.sessions.finding import find_session, hold_session
from graph.services.sessions.state import MEMORY, current_facts, item_id, items_of, switches_of, unread_items
from graph.store.port import Reader
from graph.store.query import And, Eq, Find, Range


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """One consolidation.

    Attributes:
        session: as it was when the step began.
        items: what is read, in history order.
    """

    work: WorkContext
    session: Session
    items: Sequence[SessionItem]
    request: ModelRequest
    record: Consolidation


async def learn_session(work: WorkContext) -> Json:
    """Consolidate the session of a job; return how that ended, or nothing if there was nothing to read.

    Raises:
        ModelError: the model failed; nothing was applied and the record says so.
    """
    step = await _selected(work)
    if step is None:
        return {}
    changes = await recorded(work, step.record, lambda: _asked(step))
    with suppress(MissingObject):  # it was deleted meanwhile, with its record
        outcome = await guarded_command(work, _caller(step.session), lambda cmd: _commit(cmd, step, changes))
        return {"outcome": str(outcome)}
    return {}


async def _selected(work: WorkContext) -> _Step | None:
    """Return what is to be read; None if nothing is, or the session does not learn (any more)."""
    async with work.deps.store.reading() as reader:
        session = await find_session(reader, work.job.subject_id)
        if session is None or not (await switches_of(reader, session)).generate:
            return None
        items = fitting_items(await unread_items(reader, session.id))
        if not items:
            return None
        facts = list((await current_facts(reader, session.id)).values())
        named = sorted({item.person_id for item in items if item.person_id is not None})
        people = people_called((await reader.get(MEMORY, named)).values() if named else ())
    return _Step(
        work=work,
        session=session,
        items=items,
        request=session_request(facts, items, people),
        record=new_record(work, OF_SESSION, session),
    )


def _argument(work: WorkContext, name: str) -> NodeId | None:
    return (work.job.arguments or {}).get(name)


async def _asked(step: _Step) -> Sequence[Proposal | None]:
    """Return what the model of the turn proposes (SM-96).

    Raises:
        ModelError: there is no such model, or it failed.
    """
    work, session = step.work, step.session
    name = _argument(work, "model")
    light = await named_model(work.deps, work.models, session.workspace, session.agent_id, name)
    if light is None:
        raise ProfileUnavailable("make the model profile that the turn names", reason="profile_missing")
    changes = await ask_for_changes(work, light, step.record.id, step.request)
    return proposals(changes, lambda source: _named(session, source))


def _named(session: Session, source: Json) -> str:
    """Return the id of the item that a source names; any other text for what names none."""
    try:
        return item_id(session, source) if isinstance(source, str) else ""
    except BadInput:
        return ""


def _caller(session: Session) -> Caller:
    """Return the agent, in whose name its sessions are consolidated."""
    return Caller(workspace=session.workspace, principal=session.agent_id, kind=PrincipalKind.AGENT)


async def _commit(cmd: Command, step: _Step, changes: Sequence[Proposal | None]) -> Outcome:
    """Write what came of a step in one transaction: changes, read marks, and the end of the record (SM-114).

    Raises:
        MissingObject: the session was deleted meanwhile.
    """
    session = await hold_session(cmd.writer, step.session.id)
    outcome = await _applied(cmd, step, session, changes)
    await end_record(cmd.writer, step.record.id, cmd.at, Ending(outcome=outcome))
    return outcome


async def _applied(cmd: Command, step: _Step, session: Session, changes: Sequence[Proposal | None]) -> Outcome:
    if not (await switches_of(cmd.writer, session)).generate:
        return Outcome.DISCARDED
    ground = await _ground(cmd.writer, step, session, changes)
    decision = decide(changes, ground)
    count_dropped(cmd.deps.figures, PURPOSE, decision)
    states = [
        FactState(
            key=change.key,
            content=change.content,
            kind=change.kind,
            sources=tuple(local_part(source) for source in change.sources),
            status=change.status,
        )
        for change in decision.accepted
    ]
    read = [local_part(item.id) for item in step.items if item.id in ground.read]
    actor = Actor(id=session.agent_id, kind=ModifierKind.DREAMING)
    await apply_change(cmd.writer, cmd.deps, session, actor, facts=states, processed=read, tx_id=cmd.tx_id, at=cmd.at)
    return Outcome.APPLIED if states else Outcome.NOTHING


async def _ground(reader: Reader, step: _Step, session: Session, changes: Iterable[Proposal | None]) -> Ground:
    """Return the newest state: edits made and items gone while the model worked count (SM-103, SM-118)."""
    named = {source for change in changes if change is not None for source in change.sources if source}
    wanted = {local_part(id_) for id_ in named} | {local_part(item.id) for item in step.items}
    there = await items_of(reader, session, wanted)
    shown = {item.id for item in step.items}
    return Ground(
        entries=await current_facts(reader, session.id),
        sources={item.id: item.type for item in there},
        read=frozenset(item.id for item in there if item.id in shown and not item.processed),
        edited=await _edited(reader, step),
    )


async def _edited(reader: Reader, step: _Step) -> frozenset[str]:
    """Return the keys that a person edited after the step began (SM-104)."""
    since = Range("change", step.session.change_seq + 1, None)
    where = And((Eq("session_id", step.session.id), Eq("by_person", True), since))
    facts: Collection[SessionFact] = (await reader.find(MEMORY, Find(kind=SessionFact, where=where))).nodes
    return frozenset(fact.key for fact in facts)
