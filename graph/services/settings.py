"""The settings in force: defaults, overlaid by the workspace's values, overlaid by those of one agent (KN-119)."""

from __future__ import annotations

from typing import Any

from graph.model.access import SystemScope
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.people import SettingValue
from graph.rules.knowledge_settings import Settings, with_values
from graph.services.access.caller import workspace_node
from graph.store.port import Reader
from graph.store.query import Find, In

SETTINGS = SystemScope(reason="settings in force")


async def load_settings(reader: Reader, workspace: WorkspaceId, agent: NodeId | None = None) -> Settings:
    """Return the settings of a workspace, and where an agent is named, with its own on top."""
    scopes = [workspace_node(workspace), *([agent] if agent else [])]
    page = await reader.find(SETTINGS, Find(kind=SettingValue, where=In("scope_id", scopes)))
    layers: dict[NodeId, dict[str, Any]] = {scope: {} for scope in scopes}
    for value in page.nodes:
        layers[value.scope_id][value.name] = value.value
    return with_values(*(layers[scope] for scope in scopes))
