"""The settings of knowledge in force in the workspace (KN-119)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.scalars import JSON
from graph.rules.knowledge_settings import SPECS, allowed
from graph.services.settings import load_settings


@strawberry.type
class Setting:
    """A setting: its value, its default and what it takes."""

    name: str
    value: JSON | None
    default: JSON | None
    allowed: str
    unit: str
    per_agent: bool


@strawberry.type
class SettingQueries:
    """The settings of knowledge."""

    @strawberry.field
    async def settings(self, info: Info[Any, Any]) -> list[Setting]:
        session = context(info).session
        values = await load_settings(session.reader, session.caller.workspace)
        return [
            Setting(
                name=name,
                value=JSON(values[name]),
                default=JSON(spec.default),
                allowed=allowed(spec),
                unit=spec.unit,
                per_agent=spec.per_agent,
            )
            for name, spec in SPECS.items()
        ]
