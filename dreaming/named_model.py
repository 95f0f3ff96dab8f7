"""The model that a name stands for: the profile of that name in the workspace. Source: SM-46 to SM-49, AM-24."""

from __future__ import annotations

import asyncio

from dreaming.jobs import ModelMaker
from dreaming.models.making import OneModel
from dreaming.saved_calls import LightModel
from graph.model.errors import ProfileUnavailable
from graph.model.ids import NodeId, WorkspaceId
from graph.services.deps import Deps
from graph.services.learning.profiles import find_profile
from graph.services.settings import load_settings


async def named_model(
    deps: Deps, models: ModelMaker, workspace: WorkspaceId, agent: NodeId, name: str | None
) -> LightModel | None:
    """Return the model of a name with the settings of the agent it works for; None if there is no such model.

    A maker of one model makes it whatever profiles there are, but only where a model is named at all.
    """
    if not name:
        return None
    async with deps.store.reading() as reader:
        settings = await load_settings(reader, workspace, agent)
        profile = await find_profile(reader, workspace, name)
    if isinstance(models, OneModel):
        return LightModel(model=models.model, settings=settings)
    if profile is None:
        return None
    try:
        # The first model of a provider imports its library, which takes seconds: not on the loop that serves requests.
        return LightModel(model=await asyncio.to_thread(models, profile), settings=settings)
    except ProfileUnavailable:
        return None
