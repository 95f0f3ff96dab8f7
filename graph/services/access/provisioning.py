"""Making organizations, people, services, groups and channels, and disabling principals (AD-2, AD-6, AD-18).

Every step is audited with ids and codes (AD-26). Agents are made by `agents`; members are set by `members`, rights by
`grants`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from graph.model.access import Rule, RuleKind
from graph.model.edges import EdgeType
from graph.model.errors import AlreadyExists, BadInput, LimitExceeded, NotFound
from graph.model.fields import Json
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes.evidence import Channel, ChannelKind
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Group, Organization, Principal, PrincipalKind
from graph.model.schema import kind_of
from graph.rules.admin_chain import AdminOperation
from graph.rules.explicit import explicit_id
from graph.rules.scopes import KbScope, pool_clause
from graph.rules.session_memory import SWITCHES
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.grants import keep_an_admin
from graph.services.access.guards import put_alone
from graph.services.access.members import set_members
from graph.services.access.people import ADMINISTRATION, find_one, hold_one, move_access
from graph.store.query import And, Direction, Eq, Find

MAX_NAME = 200
ORGANIZATION_SETTINGS: Mapping[str, type] = {
    "memory": dict,
    "agentMemory": bool,
    "agentMemoryModel": str,
    "botMemory": bool,
    "botMemoryModel": str,
}
"""Settings of an organization; a model may also be null: then nothing is learned; `memory` takes ``{"use": bool,
"generate": bool}`` with either one optional. Source: AD-18, SM-79."""


async def create_organization(
    cmd: Command, display_name: str, *, local_id: str | None = None, settings: Mapping[str, Json] | None = None
) -> Organization:
    """Make an organization.

    Raises:
        Forbidden, BadInput, AlreadyExists: no admin; a name or setting that cannot be taken; the id is taken.
    """
    cmd.require_admin()
    made = Organization(
        id=await new_hosted_id(cmd, Organization.PREFIX, local_id),
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        display_name=checked_name(display_name),
        settings=dict(_settings(settings or {})),
    )
    await cmd.writer.put([made])
    await record_admin(cmd, AdminOperation.ORGANIZATION_CREATE, made.id)
    return made


async def set_organization(
    cmd: Command,
    organization_id: NodeId,
    *,
    expected_version: int,
    settings: Mapping[str, Json] | None = None,
    display_name: str | None = None,
) -> Organization:
    """Change the name or some settings of an organization; settings that are not named stay.

    Raises:
        Forbidden, BadInput, NotFound: no admin; a setting that cannot be taken; no such organization.
        VersionConflict: somebody changed it meanwhile.
    """
    cmd.require_admin()
    found = await hold_one(cmd, explicit_id(organization_id, "id"), Organization)
    changed = replace(
        found,
        display_name=found.display_name if display_name is None else checked_name(display_name),
        settings={**(found.settings or {}), **_settings(settings or {})},
        version=found.version + 1,
    )
    fields = {"display_name": changed.display_name, "settings": changed.settings, "version": changed.version}
    await cmd.writer.patch(found.id, fields, expected={"version": expected_version})
    await record_admin(cmd, AdminOperation.ORGANIZATION_SET, found.id, {"settings": sorted(settings or {})})
    return changed


async def create_person(
    cmd: Command,
    display_name: str,
    *,
    local_id: str | None = None,
    oidc_subject: str | None = None,
    profile: Mapping[str, Json] | None = None,
) -> Principal:
    """Make a person, who has no rights yet; with `oidc_subject` he may sign in by OIDC. Raises like an agent."""
    cmd.require_admin()
    await check_subject_free(cmd, oidc_subject)
    person = await new_principal(cmd, PrincipalKind.HUMAN, display_name, local_id, profile)
    return await put_principal(cmd, replace(person, oidc_subject=oidc_subject))


async def create_service(cmd: Command, display_name: str, *, local_id: str | None = None) -> Principal:
    """Make a service account, such as a host; it has no rights yet. Raises like an agent."""
    cmd.require_admin()
    return await put_principal(cmd, await new_principal(cmd, PrincipalKind.SERVICE, display_name, local_id, None))


async def create_group(
    cmd: Command, display_name: str, *, local_id: str | None = None, members: Collection[NodeId] = ()
) -> Group:
    """Make a group of people. Raises like an agent, and NotFound for an unknown member."""
    cmd.require_admin()
    made = Group(
        id=await new_hosted_id(cmd, Group.PREFIX, local_id),
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        display_name=checked_name(display_name),
    )
    await cmd.writer.put([made])
    await record_admin(cmd, AdminOperation.GROUP_CREATE, made.id)
    await set_members(cmd, made.id, members)
    return made


async def create_channel(
    cmd: Command,
    agent_id: NodeId,
    kind: ChannelKind,
    display_name: str = "",
    *,
    local_id: str | None = None,
    group_id: NodeId | None = None,
    members: Collection[NodeId] = (),
) -> Channel:
    """Make an agent's view of a group, or of a private chat with its participants (KN-57).

    Raises:
        NotFound: no such agent, group or person.
        Forbidden, BadInput, AlreadyExists: as for an agent.
    """
    cmd.require_admin()
    agent = await find_one(cmd, explicit_id(agent_id, "agentId"), Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    if group_id is not None:
        await find_one(cmd, group_id, Group)
    made = Channel(
        id=await new_hosted_id(cmd, Channel.PREFIX, local_id, container=local_part(agent.id)),
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        kind=kind,
        owner_id=agent.id,
        group_id=group_id,
        display_name=checked_name(display_name) if display_name else "",
    )
    base = KbKind.PRIVATE if kind is ChannelKind.PRIVATE_CHAT else KbKind.CHANNEL
    await put_alone(cmd.writer, made, pool_clause(KbScope(kind=base, owner=agent.id, channel=made.id)))
    codes = {"agent": agent.id, "kind": str(kind), "group": group_id}
    await record_admin(cmd, AdminOperation.CHANNEL_CREATE, made.id, codes)
    if group_id is not None:  # its people gain a place: reads under way begin again
        edges = await cmd.writer.edges(ADMINISTRATION, [group_id], [EdgeType.MEMBER_OF], Direction.IN)
        await move_access(cmd, [edge.source for edge in edges])
    await set_members(cmd, made.id, members)
    return made


async def link_oidc(cmd: Command, principal_id: NodeId, subject: str | None) -> Principal:
    """Let a person sign in by OIDC with this subject, or with None no more.

    Raises:
        Forbidden, NotFound: no admin; no such person.
        AlreadyExists: somebody else signs in with it.
    """
    cmd.require_admin()
    found = await hold_one(cmd, explicit_id(principal_id, "id"), Principal)
    if found.kind != PrincipalKind.HUMAN:
        raise NotFound
    if subject != found.oidc_subject:
        await check_subject_free(cmd, subject)
        await cmd.writer.patch(found.id, {"oidc_subject": subject})
        await move_access(cmd, [found.id])
        await record_admin(cmd, AdminOperation.PRINCIPAL_SET, found.id, {"oidc": subject is not None})
    return replace(found, oidc_subject=subject)


async def set_disabled(cmd: Command, principal_id: NodeId, disabled: bool) -> Principal:
    """Take all rights and every credential of a principal out of force, or back into it; at once (AD-7).

    Raises:
        Forbidden, NotFound: no admin; no such principal.
        BadState: he is the last admin.
    """
    cmd.require_admin()
    found = await hold_one(cmd, explicit_id(principal_id, "id"), Principal)
    if (found.disabled_at is not None) is disabled:
        return found
    if disabled:
        await keep_an_admin(cmd, found.id)
    at = cmd.at if disabled else None
    await cmd.writer.patch(found.id, {"disabled_at": at})
    await move_access(cmd, [found.id])
    operation = AdminOperation.PRINCIPAL_DISABLE if disabled else AdminOperation.PRINCIPAL_ENABLE
    await record_admin(cmd, operation, found.id)
    return replace(found, disabled_at=at)


async def put_principal(cmd: Command, principal: Principal) -> Principal:
    """Write a principal, whom everyone of the workspace may see, and the record of it."""
    await put_alone(cmd.writer, principal, frozenset({Rule(RuleKind.WORKSPACE, principal.workspace)}))
    await record_admin(cmd, AdminOperation.PRINCIPAL_CREATE, principal.id, {"kind": principal.kind})
    return principal


async def check_subject_free(cmd: Command, subject: str | None) -> None:
    """Refuse a second principal with the same OIDC subject.

    Raises:
        AlreadyExists: somebody of the workspace has it.
    """
    if subject is None:
        return
    await cmd.writer.lock([cmd.caller.workspace_node])
    where = And((Eq("workspace", cmd.caller.workspace), Eq("oidc_subject", subject)))
    if (await cmd.writer.find(ADMINISTRATION, Find(kind=Principal, where=where, first=1))).nodes:
        raise AlreadyExists("another principal signs in with this subject", kind="Principal", key_fields=("subject",))


async def new_principal(
    cmd: Command, kind: PrincipalKind, display_name: str, local_id: str | None, profile: Mapping[str, Json] | None
) -> Principal:
    """Return a principal that is not written yet.

    Raises:
        BadInput, AlreadyExists: a name or id that cannot be taken; the id is taken.
    """
    return Principal(
        id=await new_hosted_id(cmd, Principal.PREFIX, local_id, container=kind),
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        kind=kind,
        display_name=checked_name(display_name),
        profile=None if profile is None else dict(profile),
    )


async def new_hosted_id(cmd: Command, prefix: str, local_id: str | None, *, container: str = "") -> NodeId:
    """Return the id of a new object: the local id that the host chose in its container, or a made one (AD-2).

    Raises:
        BadInput, AlreadyExists: the local id cannot be taken; it is taken.
    """
    local = cmd.deps.ids.new() if local_id is None else local_id
    try:
        made = hosted_id(prefix, cmd.caller.workspace, local, container=container)
    except BadInput as error:
        raise BadInput(error.message, field="localId") from None
    if await cmd.writer.get(ADMINISTRATION, [made]):
        spec = kind_of(made)
        kind = prefix if spec is None else spec.name
        raise AlreadyExists("choose another id: this one is taken", kind=kind, key_fields=("localId",))
    return made


def checked_name(given: str) -> str:
    """Return a name that people read, trimmed.

    Raises:
        BadInput, LimitExceeded: it is empty; it is too long.
    """
    name = given.strip()
    if not name:
        raise BadInput("give a name", field="displayName")
    if len(name) > MAX_NAME:
        raise LimitExceeded(f"a name has at most {MAX_NAME} characters", field="displayName", limit=MAX_NAME)
    return name


def _settings(given: Mapping[str, Json]) -> Mapping[str, Json]:
    for name, value in given.items():
        wanted = ORGANIZATION_SETTINGS.get(name)
        if wanted is None:
            raise BadInput(f"settings of an organization are {', '.join(ORGANIZATION_SETTINGS)}", field="settings")
        if not _is_taken(value, wanted):
            raise BadInput(f"{name} takes {_TAKES[wanted]}", field="settings")
    return given


def _is_taken(value: Json, wanted: type) -> bool:
    if wanted is dict:
        return (
            isinstance(value, dict) and value.keys() <= set(SWITCHES) and all(type(v) is bool for v in value.values())
        )
    return isinstance(value, wanted) or (value is None and wanted is str)


_TAKES: Mapping[type, str] = {
    bool: "true or false",
    str: "a text or null",
    dict: "use and generate, true or false each",
}
