"""Making a workspace with its first admin and his token (AD-14)."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.access import Rule, RuleKind
from graph.model.errors import AlreadyExists, BadState, NotFound
from graph.model.ids import NodeId, WorkspaceId, hosted_id
from graph.model.nodes.people import Grant, Principal, PrincipalKind, Right, Workspace
from graph.model.time import DAY_MS, Millis
from graph.rules.admin_chain import AdminOperation, AdminStep
from graph.services.access.admin_log import append_step
from graph.services.access.caller import Caller, workspace_node
from graph.services.access.guards import put_alone
from graph.services.access.people import ADMINISTRATION
from graph.services.access.session import Session
from graph.services.access.tokens import MintedToken, mint_token
from graph.services.admin.keys import first_key
from graph.services.deps import Deps
from graph.store.port import Writer
from graph.store.query import Find

FIRST_TOKEN_DAYS = 365
INIT_LOCK = NodeId("rcp_init")
"""Held while a store is initialised, so that two cannot do it at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewWorkspace:
    """A workspace that was just made; the text of `token` is shown once."""

    workspace: Workspace
    admin: Principal
    token: MintedToken

    @property
    def caller(self) -> Caller:
        """Its admin as a caller."""
        return Caller(workspace=self.workspace.workspace, principal=self.admin.id, kind=PrincipalKind.HUMAN)


async def init_workspace(
    deps: Deps,
    name: str,
    *,
    display_name: str | None = None,
    admin_id: str = "admin",
    admin_name: str = "Administrator",
    token_expires_at: Millis | None = None,
) -> NewWorkspace:
    """Make the first workspace of a store, with its first admin and his token.

    Raises:
        BadState: the store has a workspace.
        BadInput: the name or id has other characters than ids may have.
    """

    async def work(writer: Writer) -> NewWorkspace:
        await writer.lock([INIT_LOCK])
        if (await writer.find(ADMINISTRATION, Find(kind=Workspace, first=1))).nodes:
            raise BadState("the store has a workspace: sign in with the token of its admin")
        return await _make(writer, deps, tx_id, name, display_name, (admin_id, admin_name), token_expires_at)

    tx_id = deps.ids.new()
    return await deps.store.transact(work, tx_id=tx_id)


async def add_workspace(
    deps: Deps,
    name: str,
    *,
    display_name: str | None = None,
    admin_id: str = "admin",
    admin_name: str = "Administrator",
    token_expires_at: Millis | None = None,
) -> NewWorkspace:
    """Make a further workspace; for the operator of the store, never for a caller of the service.

    Raises:
        AlreadyExists: there is one of this name.
        BadInput: the name or id has other characters than ids may have.
    """

    async def work(writer: Writer) -> NewWorkspace:
        return await _make(writer, deps, tx_id, name, display_name, (admin_id, admin_name), token_expires_at)

    tx_id = deps.ids.new()
    return await deps.store.transact(work, tx_id=tx_id)


async def workspace_of(session: Session) -> Workspace:
    """Return the workspace of the caller.

    Raises:
        NotFound: it does not exist any more.
    """
    node = session.caller.workspace_node
    found = (await session.reader.get(ADMINISTRATION, [node])).get(node)
    if not isinstance(found, Workspace):
        raise NotFound
    return found


async def _make(
    writer: Writer,
    deps: Deps,
    tx_id: str,
    name: str,
    display_name: str | None,
    admin_as: tuple[str, str],
    expires_at: Millis | None,
) -> NewWorkspace:
    at = deps.now()
    hosted_id(Workspace.PREFIX, name, name)  # refuses names that no id may have
    scope, node = WorkspaceId(name), workspace_node(WorkspaceId(name))
    await writer.lock([node])
    if await writer.get(ADMINISTRATION, [node]):
        raise AlreadyExists("choose another name: there is a workspace of this one", kind="Workspace")
    key_id = await first_key(deps, scope)
    workspace = Workspace(id=node, workspace=scope, created_at=at, display_name=display_name or name, key_id=key_id)
    await writer.put([workspace])
    admin = await _admin(writer, deps, scope, admin_as, at)
    expiry = Millis(at + FIRST_TOKEN_DAYS * DAY_MS) if expires_at is None else expires_at
    token = await mint_token(writer, deps, admin, expires_at=expiry)
    step = AdminStep(
        workspace=scope,
        actor_id=admin.id,
        tx_id=tx_id,
        at=at,
        operation=AdminOperation.WORKSPACE_CREATE,
        target_id=node,
        codes={"admin": admin.id, "token": token.token.id},
    )
    await append_step(writer, deps, step)
    return NewWorkspace(workspace=workspace, admin=admin, token=token)


async def _admin(
    writer: Writer, deps: Deps, workspace: WorkspaceId, admin_as: tuple[str, str], at: Millis
) -> Principal:
    local, name = admin_as
    admin = Principal(
        id=hosted_id(Principal.PREFIX, workspace, local, container=PrincipalKind.HUMAN),
        workspace=workspace,
        created_at=at,
        kind=PrincipalKind.HUMAN,
        display_name=name,
    )
    await put_alone(writer, admin, frozenset({Rule(RuleKind.WORKSPACE, workspace)}))
    grant = Grant(
        id=deps.new_id(Grant.PREFIX),
        workspace=workspace,
        created_at=at,
        principal_id=admin.id,
        right=Right.ADMIN,
        object_id=workspace_node(workspace),
    )
    await writer.put([grant])
    return admin
