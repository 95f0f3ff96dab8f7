"""Model profiles: which model learns (AD-18, AD-45, DR-6)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.scalars import JSON
from api.graphql.types.operating import ModelProfile
from graph.model.errors import BadInput
from graph.services.learning.profiles import delete_model_profile, set_model_profile


@strawberry.type
class ModelMutations:
    """Model profiles; only admins."""

    @strawberry.mutation(description="The profile `light` turns learning on.")
    async def set_model_profile(
        self,
        info: Info[Any, Any],
        name: str,
        provider: str,
        model: str,
        base_url: str | None = None,
        credential: str | None = None,
        prices: JSON | None = None,
        expected_version: int | None = None,
    ) -> ModelProfile:
        if prices is not None and not isinstance(prices, dict):
            raise BadInput("prices are an object", field="prices")
        given: dict[str, Any] | None = prices
        made = await context(info).run(
            info,
            lambda cmd: set_model_profile(
                cmd,
                name,
                provider=provider,
                model=model,
                base_url=base_url,
                credential=credential,
                prices=given,
                expected_version=expected_version,
            ),
        )
        return ModelProfile.from_domain(made)

    @strawberry.mutation(description="Removes a profile; work that needs it waits, and nothing is lost.")
    async def delete_model_profile(self, info: Info[Any, Any], name: str) -> bool:
        await context(info).run(info, lambda cmd: delete_model_profile(cmd, name))
        return True
