"""Listing and setting the settings of knowledge, workspace-wide or for one agent (KN-119, AD-18)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph.model.errors import BadInput, NotFound, VersionConflict
from graph.model.ids import NodeId, node_id
from graph.model.nodes.people import Principal, PrincipalKind, SettingValue
from graph.rules.admin_chain import AdminOperation
from graph.rules.knowledge_settings import SPECS, SettingSpec, SettingType, allowed, checked
from graph.services.access.admin_log import record_admin
from graph.services.access.caller import workspace_node
from graph.services.access.commands import Command
from graph.services.access.people import find_one
from graph.services.access.session import Session
from graph.services.settings import SETTINGS
from graph.store.port import Reader
from graph.store.query import Find, In

DEFAULT, WORKSPACE, AGENT = "default", "workspace", "agent"
"""Where a value in force comes from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingView:
    """A setting as it is in force.

    Attributes:
        allowed: in words, which values it takes.
        origin: ``default``, ``workspace`` or ``agent``.
        version: of the stored value; 0 while it is the default. The `expected_version` of the next write.
        per_agent: whether an agent may have a value of its own.
        spec: the line of the table.
    """

    name: str
    value: Any
    default: Any
    unit: str
    allowed: str
    origin: str
    version: int
    per_agent: bool
    spec: SettingSpec

    @property
    def takes(self) -> SettingType:
        """Which type of value it takes."""
        return SettingType.of(self.spec)


async def list_settings(session: Session, agent_id: NodeId | None = None) -> tuple[SettingView, ...]:
    """Return every setting by name, as in force for the workspace, or for one agent of it.

    Raises:
        NotFound: no such agent for the caller.
    """
    if agent_id is not None:
        agent = await session.open_one(agent_id, Principal)
        if agent.kind != PrincipalKind.AGENT:
            raise NotFound
    own = workspace_node(session.caller.workspace)
    stored = await _stored(session.reader, [own] if agent_id is None else [own, agent_id])
    return tuple(_view(name, spec, stored, own, agent_id) for name, spec in sorted(SPECS.items()))


async def set_setting(
    cmd: Command,
    name: str,
    value: Any,
    *,
    agent_id: NodeId | None = None,
    expected_version: int | None = None,
) -> SettingView:
    """Set a setting for the workspace, or for one agent; it applies to the next run or query.

    Args:
        cmd: of an admin.
        name: one of the table.
        value: what `SettingView.allowed` says; checked before anything is written.
        agent_id: only `dream.*` may differ per agent.
        expected_version: if given, the version that the stored value must have.

    Raises:
        Forbidden: only an admin sets.
        BadInput: there is no such setting, it takes no such value, or none per agent.
        NotFound: no such agent.
        VersionConflict: it was set meanwhile.
    """
    cmd.require_admin()
    kept = checked(name, value)
    scope = await _scope(cmd, name, agent_id)
    found = await _held(cmd, scope, name, expected_version)
    await _write(cmd, found, scope, name, list(kept) if isinstance(kept, tuple) else kept)
    codes = {"name": name, "from": _code(found.value if found else SPECS[name].default), "to": _code(kept)}
    await record_admin(cmd, AdminOperation.SETTINGS_WRITE, scope, codes)
    return await _shown(cmd, name, agent_id)


async def reset_setting(
    cmd: Command, name: str, *, agent_id: NodeId | None = None, expected_version: int | None = None
) -> SettingView:
    """Let a setting be what it is without a value of its own; raises like `set_setting`."""
    cmd.require_admin()
    if name not in SPECS:
        raise BadInput("there is no setting of this name", field="name")
    scope = await _scope(cmd, name, agent_id)
    found = await _held(cmd, scope, name, expected_version)
    if found is not None:
        await cmd.writer.delete([found.id])
        await record_admin(cmd, AdminOperation.SETTINGS_WRITE, scope, {"name": name, "reset": True})
    return await _shown(cmd, name, agent_id)


async def _scope(cmd: Command, name: str, agent_id: NodeId | None) -> NodeId:
    if agent_id is None:
        return cmd.caller.workspace_node
    if not SPECS[name].per_agent:
        raise BadInput("this setting is the same for all agents", field="name", setting=name)
    agent = await find_one(cmd, agent_id, Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    return agent.id


async def _held(cmd: Command, scope: NodeId, name: str, expected: int | None) -> SettingValue | None:
    await cmd.writer.lock(sorted({scope, cmd.caller.workspace_node}))
    found = (await _stored(cmd.writer, [scope])).get((scope, name))
    version = found.version if found else 0
    if expected is not None and expected != version:
        current = {"version": version, "value": found.value if found else SPECS[name].default}
        raise VersionConflict("the setting was changed meanwhile: read it again", current=current)
    return found


async def _write(cmd: Command, found: SettingValue | None, scope: NodeId, name: str, value: Any) -> None:
    if found is not None:
        await cmd.writer.patch(found.id, {"value": value, "version": found.version + 1})
        return
    fresh = SettingValue(
        id=node_id(SettingValue.PREFIX, cmd.deps.ids.new()),
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        scope_id=scope,
        name=name,
        value=value,
    )
    await cmd.writer.put([fresh])


async def _shown(cmd: Command, name: str, agent_id: NodeId | None) -> SettingView:
    own = cmd.caller.workspace_node
    stored = await _stored(cmd.writer, [own] if agent_id is None else [own, agent_id])
    return _view(name, SPECS[name], stored, own, agent_id)


async def _stored(reader: Reader, scopes: list[NodeId]) -> Mapping[tuple[NodeId, str], SettingValue]:
    page = await reader.find(SETTINGS, Find(kind=SettingValue, where=In("scope_id", scopes)))
    return {(found.scope_id, found.name): found for found in page.nodes}


def _view(
    name: str,
    spec: SettingSpec,
    stored: Mapping[tuple[NodeId, str], SettingValue],
    workspace: NodeId,
    agent: NodeId | None,
) -> SettingView:
    general = stored.get((workspace, name))
    own = stored.get((agent, name)) if agent is not None else None
    found = own or general
    asked = general if agent is None else own
    return SettingView(
        name=name,
        value=spec.default if found is None else _read(spec, found.value),
        default=spec.default,
        unit=spec.unit,
        allowed=allowed(spec),
        origin=DEFAULT if found is None else AGENT if found is own else WORKSPACE,
        version=asked.version if asked else 0,
        per_agent=spec.per_agent,
        spec=spec,
    )


def _read(spec: SettingSpec, value: Any) -> Any:
    return tuple(value) if spec.type is tuple and isinstance(value, list) else value


def _code(value: Any) -> Any:
    """Return a value as the audit keeps it: numbers and switches as they are, words only by the fact that they are."""
    return value if isinstance(value, bool | int | float) or value is None else "text"
