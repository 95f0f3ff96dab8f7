"""From a verified identity to a caller: who in the workspace signs in with this subject (AD-12).

Tokens are verified outside (`api.adapters.oidc`); what arrives here was said by the issuer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from graph.model.access import Rule, RuleKind
from graph.model.edges import EdgeType
from graph.model.errors import BadInput
from graph.model.ids import NodeId, WorkspaceId, hosted_id
from graph.model.nodes.people import Organization, Principal, PrincipalKind
from graph.rules.admin_chain import AdminOperation, AdminStep
from graph.services.access.admin_log import append_step
from graph.services.access.caller import Caller, workspace_node
from graph.services.access.guards import put_alone
from graph.services.access.tokens import SIGN_IN, refused
from graph.services.deps import Deps
from graph.store.port import Reader, Writer
from graph.store.query import And, Direction, Eq, Find

MAX_NAME = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """What the issuer says of a person.

    Attributes:
        subject: value of the claim that names the principal.
        organization: local id of the organization he signs in for, if any.
        display_name: for a principal that is made at the first sign-in.
    """

    subject: str
    organization: str | None = None
    display_name: str | None = None


async def sign_in(deps: Deps, workspace: WorkspaceId, identity: Identity, *, auto_create: bool = False) -> Caller:
    """Return the caller that an identity stands for.

    A person who is not known is made, without any right, if `auto_create`; else he is refused. An organization counts
    only if he is a member of it.

    Raises:
        Unauthenticated: unknown, disabled, ambiguous, or no member of the organization; all alike.
    """
    async with deps.store.reading() as reader:
        person = await _person(reader, workspace, identity.subject)
    if person is None and auto_create:
        person = await _create(deps, workspace, identity)
    if person is None or person.disabled_at is not None:
        raise refused()
    async with deps.store.reading() as reader:
        organization = await _organization(reader, person, identity.organization)
    return Caller(workspace=workspace, principal=person.id, kind=PrincipalKind(person.kind), organization=organization)


async def _person(reader: Reader, workspace: WorkspaceId, subject: str) -> Principal | None:
    """Return the only person with this subject; None if there is none.

    Raises:
        Unauthenticated: there are two, so that nobody can tell who it is.
    """
    where = And((Eq("workspace", workspace), Eq("oidc_subject", subject), Eq("kind", PrincipalKind.HUMAN)))
    found = (await reader.find(SIGN_IN, Find(kind=Principal, where=where, first=2))).nodes
    if len(found) > 1:
        raise refused()
    return found[0] if found else None


async def _organization(reader: Reader, person: Principal, local_id: str | None) -> NodeId | None:
    if local_id is None:
        return None
    try:
        wanted = hosted_id(Organization.PREFIX, person.workspace, local_id)
    except BadInput as error:
        raise refused() from error
    edges = await reader.edges(SIGN_IN, [person.id], [EdgeType.MEMBER_OF], Direction.OUT)
    if wanted not in {edge.target for edge in edges}:
        raise refused()
    return wanted


async def _create(deps: Deps, workspace: WorkspaceId, identity: Identity) -> Principal:
    """Make a person at his first sign-in; two first sign-ins at once make one."""
    tx_id = deps.ids.new()

    async def work(writer: Writer) -> Principal:
        own = workspace_node(workspace)
        await writer.lock([own])
        if not await writer.get(SIGN_IN, [own]):
            raise refused()
        found = await _person(writer, workspace, identity.subject)
        return found or await _put(writer, deps, workspace, identity, tx_id)

    return await deps.store.transact(work, tx_id=tx_id)


async def _put(writer: Writer, deps: Deps, workspace: WorkspaceId, identity: Identity, tx_id: str) -> Principal:
    at = deps.now()
    local = f"oidc-{hashlib.sha256(identity.subject.encode()).hexdigest()[:32]}"
    person = Principal(
        id=hosted_id(Principal.PREFIX, workspace, local, container=PrincipalKind.HUMAN),
        workspace=workspace,
        created_at=at,
        kind=PrincipalKind.HUMAN,
        display_name=(identity.display_name or "").strip()[:MAX_NAME] or local,
        oidc_subject=identity.subject,
    )
    await put_alone(writer, person, frozenset({Rule(RuleKind.WORKSPACE, workspace)}))
    step = AdminStep(
        workspace=workspace,
        actor_id=person.id,
        tx_id=tx_id,
        at=at,
        operation=AdminOperation.PRINCIPAL_CREATE,
        target_id=person.id,
        codes={"kind": person.kind, "by": "oidc"},
    )
    await append_step(writer, deps, step)
    return person
