"""What a host reports of sessions: new ones, items, forks and returns to older versions (SM-123, AD-15, AD-16)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph.model.access import SystemScope
from graph.model.errors import AlreadyExists, BadInput, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.people import Organization
from graph.model.nodes.sessions import ItemType, Session, SessionItem, Turn, TurnState
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.services.access.commands import Command
from graph.services.access.people import find_one
from graph.services.access.provisioning import new_hosted_id
from graph.services.sessions.changing import SessionStep, actor_of, next_item, note_step, put_in, write_step
from graph.services.sessions.finding import SESSIONS, check_agent, check_host, check_person, hold_hosted
from graph.services.sessions.history import copy_version, go_to, load_version
from graph.services.sessions.state import item_id
from graph.services.sessions.turns import turn_id
from graph.store.query import And, By, Eq, Find

CHAINS = SystemScope(reason="whether a session of this id ever was")


@dataclass(frozen=True, kw_only=True, slots=True)
class NewItem:
    """An item as a host reports it.

    Attributes:
        local_id: its id in the session; None: the service makes one.
        type: all of `ItemType` but ``memory_edit``, which only commands make.
        person_id: who said it, if a person did.
        turn: local id of the turn that it belongs to; None: the one that runs, if one does.
    """

    type: str
    text: str
    occurred_at: Millis
    local_id: str | None = None
    person_id: NodeId | None = None
    turn: str | None = None


async def create_session(
    cmd: Command,
    *,
    agent_id: NodeId,
    local_id: str | None = None,
    person_id: NodeId | None = None,
    organization_id: NodeId | None = None,
    model: str | None = None,
    review: bool = False,
) -> Session:
    """Make a session of an agent.

    Args:
        cmd: of a host of the workspace, or of the organization.
        agent_id: whose session.
        local_id: as the host calls it; None: the service makes one.
        person_id: whose it is: he may read and write it without a grant.
        organization_id: whose settings and which default of the switches it follows.
        model: name of the model profile it runs with; None: no model.
        review: nothing is learned for the agent from it.

    Raises:
        Forbidden: the caller is no host.
        NotFound: the agent, person or organization is unknown or outside the host's object, all alike.
        BadInput, AlreadyExists: the local id cannot be taken; it is taken, or was by a deleted session.
    """
    check_host(cmd, organization_id, NotFound())
    if organization_id is not None:
        await find_one(cmd, organization_id, Organization)
    await check_agent(cmd, agent_id, organization_id)
    if person_id is not None:
        await check_person(cmd, person_id, organization_id)
    root = f"v-{cmd.deps.ids.new()}"
    id_ = await _new_id(cmd, local_id)
    made = Session(
        id=id_,
        workspace=cmd.caller.workspace,
        pool=id_,
        created_at=cmd.at,
        agent_id=agent_id,
        organization_id=organization_id,
        person_id=person_id,
        model=model,
        review=review,
        head=root,
        root_head=root,
        updated_at=cmd.at,
    )
    return await _put_session(cmd, made, SessionStep(operation="session.create", by=actor_of(cmd, person_id)))


async def append_item(cmd: Command, session_id: NodeId, item: NewItem) -> SessionItem:
    """Add what happened to the history of a session: a new version, revision + 1.

    Raises:
        Forbidden, MissingObject: the caller is no host; the session is unknown or outside his object.
        NotFound: the person, or the turn, is.
        BadInput, AlreadyExists: a type or id that cannot be taken; the id is taken.
    """
    session = await hold_hosted(cmd, session_id)
    made = await _item(cmd, session, item)
    step = SessionStep(
        operation="session.append",
        by=actor_of(cmd, item.person_id),
        codes={"type": made.type},
        items=(made,),
        target=made.id,
    )
    await write_step(cmd.writer, cmd.deps, session, step, tx_id=cmd.tx_id, at=cmd.at)
    return made


async def fork_session(cmd: Command, session_id: NodeId, version: str, *, local_id: str | None = None) -> Session:
    """Make a session that goes on from a version of another: a copy of its history and memory up to there.

    Item ids, heads and the overrides in force now are kept; the copies are independent from then on (SM-70 to SM-72).

    Raises:
        Forbidden, MissingObject: as for `append_item`; ``VersionNotFound``: the session has no such version.
        BadInput, AlreadyExists: as for `create_session`.
    """
    source = await hold_hosted(cmd, session_id)
    found = await load_version(cmd.writer, source, version)
    id_ = await _new_id(cmd, local_id)
    fresh = replace(
        source,
        id=id_,
        pool=id_,
        created_at=cmd.at,
        updated_at=cmd.at,
        head=found.head,
        depth=found.depth,
        revision=0,
        forked_from=source.id,
        access_version=1,
        audit_seq=0,
        audit_head="",
    )
    step = SessionStep(operation="session.fork", by=actor_of(cmd), codes={"from": source.id})
    made = await _put_session(cmd, fresh, step)
    await copy_version(cmd.writer, cmd.deps, source, made, found)
    return made


async def restore_version(cmd: Command, session_id: NodeId, version: str) -> Session:
    """Return a session to one of its versions, with the memory that was stored with it; overrides stay (SM-73).

    Raises:
        Forbidden, MissingObject: as for `fork_session`.
    """
    session = await hold_hosted(cmd, session_id)
    found = await load_version(cmd.writer, session, version)
    await go_to(cmd.writer, session, found)
    step = SessionStep(operation="session.restore", by=actor_of(cmd), fields={"head": found.head, "depth": found.depth})
    return await write_step(cmd.writer, cmd.deps, session, step, tx_id=cmd.tx_id, at=cmd.at)


async def _put_session(cmd: Command, made: Session, step: SessionStep) -> Session:
    await put_in(cmd.writer, made, [made])
    return await note_step(cmd.writer, cmd.deps, made, step, tx_id=cmd.tx_id, at=cmd.at)


async def _new_id(cmd: Command, local_id: str | None) -> NodeId:
    """Return the id of a new session; the chain of a deleted one goes on to name it, so its id is never used again.

    Raises:
        BadInput, AlreadyExists: the local id cannot be taken; it is or was taken.
    """
    made = await new_hosted_id(cmd, Session.PREFIX, local_id)
    chain = Find(kind=AuditRecord, where=And((Eq("pool", made), Eq("seq", 1))), first=1)
    if local_id is not None and (await cmd.writer.find(CHAINS, chain)).nodes:
        raise AlreadyExists("choose another id: this one was taken", kind=Session.__name__, key_fields=("localId",))
    return made


async def _item(cmd: Command, session: Session, item: NewItem) -> SessionItem:
    if item.type not in set(ItemType) - {ItemType.MEMORY_EDIT}:
        known = ", ".join(type_ for type_ in ItemType if type_ != ItemType.MEMORY_EDIT)
        raise BadInput(f"the type of an item is one of {known}", field="type")
    if item.person_id is not None:
        await check_person(cmd, item.person_id, session.organization_id)
    given = {} if item.local_id is None else {"id": item_id(session, item.local_id)}
    if given and await cmd.writer.get(SESSIONS, list(given.values())):
        raise AlreadyExists("choose another id: this one is taken", kind=SessionItem.__name__, key_fields=("id",))
    return next_item(
        cmd.deps,
        session,
        cmd.at,
        type=str(ItemType(item.type)),
        person_id=item.person_id,
        text=item.text,
        turn_id=await _turn_of(cmd, session, item.turn),
        occurred_at=item.occurred_at,
        **given,
    )


async def _turn_of(cmd: Command, session: Session, local: str | None) -> NodeId | None:
    """Return the turn that an item belongs to: the named one, or the last that runs."""
    if local is not None:
        return (await find_one(cmd, turn_id(session, local), Turn)).id
    where = And((Eq("place_id", session.id), Eq("state", TurnState.RUNNING)))
    query = Find(kind=Turn, where=where, order=By("seq", descending=True), first=1)
    return next((turn.id for turn in (await cmd.writer.find(SESSIONS, query)).nodes), None)
