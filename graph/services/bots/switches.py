"""What an organization lets the Memory Bot do, and with which model. Source: BM-72, BM-98, BM-107, BM-116 to BM-118."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.access import SystemScope
from graph.model.errors import ProfileUnavailable
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.learning import ModelProfile
from graph.model.nodes.people import Organization
from graph.services.learning.profiles import PROFILES, profile_id
from graph.store.port import Reader

ORGANIZATIONS = SystemScope(reason="settings of an organization")


@dataclass(frozen=True, kw_only=True, slots=True)
class BotSwitches:
    """Settings of the organization that a chat is in.

    Attributes:
        on: `botMemory`; true by default.
        model: `botMemoryModel`, the name of a model profile; None, the default: nothing is asked, nothing learned.
    """

    on: bool = True
    model: str | None = None


async def switches_of(reader: Reader, organization: NodeId) -> BotSwitches:
    """Return the settings in force."""
    found = (await reader.get(ORGANIZATIONS, [organization])).get(organization)
    settings = found.settings if isinstance(found, Organization) and isinstance(found.settings, dict) else {}
    return BotSwitches(on=settings.get("botMemory", True) is not False, model=settings.get("botMemoryModel") or None)


async def model_profile(reader: Reader, workspace: WorkspaceId, name: str) -> ModelProfile:
    """Return the model profile that an organization names.

    Raises:
        ProfileUnavailable: there is none of this name.
    """
    id_ = profile_id(workspace, name)
    found = (await reader.get(PROFILES, [id_])).get(id_)
    if not isinstance(found, ModelProfile):
        raise ProfileUnavailable("make the model profile that botMemoryModel names", reason="profile_missing")
    return found
