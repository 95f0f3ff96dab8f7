"""What administration shows: organizations, groups, tokens without their secret, settings, its own audit."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.ids import outward, to_global
from api.graphql.scalars import JSON
from api.graphql.types import enums
from api.graphql.types.people import rights_of
from graph.model.ids import WorkspaceId
from graph.model.nodes import people, work
from graph.model.time import Millis
from graph.services.access.settings_write import SettingView
from graph.services.access.tokens import TokenInfo as FoundToken


@strawberry.type
class Workspace:
    """The tenant; its id is the object of rights that hold in all of it."""

    id: strawberry.ID
    name: str
    display_name: str

    @classmethod
    def from_domain(cls, node: people.Workspace) -> Workspace:
        return cls(id=to_global(node.id, node.workspace), name=node.workspace, display_name=node.display_name)

    @strawberry.field(description="What the caller may do in all of it, with all that these rights imply.")
    async def viewer_rights(self, info: Info[Any, Any]) -> list[enums.Right]:
        return rights_of(info, self.id)


@strawberry.type
class Organization:
    """A group of people with settings."""

    id: strawberry.ID
    display_name: str
    settings: JSON
    version: int

    @classmethod
    def from_domain(cls, node: people.Organization) -> Organization:
        return cls(
            id=to_global(node.id, node.workspace),
            display_name=node.display_name,
            settings=JSON(node.settings or {}),
            version=node.version,
        )


@strawberry.type
class Group:
    """A set of people."""

    id: strawberry.ID
    display_name: str

    @classmethod
    def from_domain(cls, node: people.Group) -> Group:
        return cls(id=to_global(node.id, node.workspace), display_name=node.display_name)


@strawberry.type
class MembersChange:
    """Who came and who went."""

    added: list[strawberry.ID]
    removed: list[strawberry.ID]


@strawberry.type
class TokenInfo:
    """A token without its secret."""

    id: strawberry.ID
    principal_id: strawberry.ID
    created_at: Millis
    expires_at: Millis
    last_used_day: str | None
    revoked_at: Millis | None
    rights: list[enums.Right] | None
    organization_id: strawberry.ID | None

    @classmethod
    def from_domain(cls, found: FoundToken, workspace: WorkspaceId) -> TokenInfo:
        organization = found.organization_id
        return cls(
            id=to_global(found.id, workspace),
            principal_id=to_global(found.principal_id, workspace),
            created_at=found.created_at,
            expires_at=found.expires_at,
            last_used_day=found.last_used_day,
            revoked_at=found.revoked_at,
            rights=None if found.rights is None else list(found.rights),
            organization_id=None if organization is None else to_global(organization, workspace),
        )


@strawberry.type
class NewToken:
    """A token that was just made; its text is shown this once."""

    text: str
    info: TokenInfo


@strawberry.type
class Setting:
    """A setting of knowledge: its value, where it comes from, its default and what it takes."""

    name: str
    value: JSON | None
    default: JSON | None
    allowed: str = strawberry.field(description="In words, which values it takes.")
    takes: enums.SettingType
    nullable: bool
    low: float | None = strawberry.field(description="Least number that it takes; null is open.")
    high: float | None = strawberry.field(description="Greatest number that it takes; null is open.")
    above: bool = strawberry.field(description="True if `low` itself is not taken.")
    unit: str
    per_agent: bool
    origin: str
    version: int

    @classmethod
    def from_domain(cls, view: SettingView) -> Setting:
        return cls(
            name=view.name,
            value=JSON(view.value),
            default=JSON(view.default),
            allowed=view.allowed,
            takes=view.takes,
            nullable=view.spec.nullable,
            low=view.spec.low,
            high=view.spec.high,
            above=view.spec.above,
            unit=view.unit,
            per_agent=view.per_agent,
            origin=view.origin,
            version=view.version,
        )


@strawberry.type
class AdminRecord:
    """One audited step of administration: ids and codes, never content; it is no node and cannot be restored."""

    id: strawberry.ID
    seq: int
    recorded_at: Millis
    actor_id: strawberry.ID
    operation: str
    target_id: strawberry.ID
    codes: JSON | None
    hash: str
    prev_hash: str

    @classmethod
    def from_domain(cls, node: work.AdminRecord) -> AdminRecord:
        return cls(
            id=to_global(node.id, node.workspace),
            seq=node.seq,
            recorded_at=node.created_at,
            actor_id=to_global(node.actor_id, node.workspace),
            operation=node.operation,
            target_id=to_global(node.target_id, node.workspace),
            codes=JSON(outward(node.codes, node.workspace)),
            hash=node.hash,
            prev_hash=node.prev_hash,
        )


@strawberry.type
class Anchor:
    """Heads of all knowledge bases of the workspace, bound in a chain of its own (AD-27)."""

    seq: int
    recorded_at: Millis
    heads: JSON
    hash: str
    prev_hash: str


@strawberry.type
class ImportedSpeaker:
    """Who a speaker of another program is here."""

    name: str
    principal_id: strawberry.ID


@strawberry.type
class ImportedChannel:
    """A channel that is ready to take messages in."""

    channel_id: strawberry.ID
    speakers: list[ImportedSpeaker]


@strawberry.type
class ImportCounts:
    """What became of the messages of a call."""

    stored: int
    unchanged: int
    new_versions: int
