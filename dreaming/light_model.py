"""The model of an agent: the profile its settings name (`light`), or why no run starts. Source: DR-6, DR-7."""

from __future__ import annotations

import asyncio

from dreaming.jobs import PutOff, WorkContext
from dreaming.models.making import OneModel
from dreaming.saved_calls import LightModel
from graph.model.errors import ProfileUnavailable
from graph.model.time import Millis
from graph.rules.model_profiles import LIGHT_PROFILE_UNAVAILABLE
from graph.services.learning.profiles import agent_profile
from graph.services.settings import load_settings

DREAMING_DISABLED = "DREAMING_DISABLED"
LOOK_AGAIN_MS = 15 * 60_000
"""Work that waits for a profile or for Dreaming to be enabled looks again so much later; setting either may wake it
before."""


async def light_model(work: WorkContext) -> LightModel:
    """Return the model for a run of the job's agent; call it before anything of the run is written.

    Raises:
        PutOff: Dreaming is disabled (``DREAMING_DISABLED``), or the profile is missing or unusable
            (``light_profile_unavailable``); the material stays, no run starts and the job waits.
    """
    later = Millis(work.deps.now() + LOOK_AGAIN_MS)
    try:
        async with work.deps.store.reading() as reader:
            settings = await load_settings(reader, work.job.workspace, work.agent)
            if not settings["dream.enabled"]:
                raise PutOff(DREAMING_DISABLED, later)
            if isinstance(work.models, OneModel):
                return LightModel(model=work.models.model, settings=settings)
            profile = await agent_profile(reader, work.job.workspace, work.agent)
        # The first model of a provider imports its library, which takes seconds: not on the loop that serves requests.
        return LightModel(model=await asyncio.to_thread(work.models, profile), settings=settings)
    except ProfileUnavailable as error:
        raise PutOff(LIGHT_PROFILE_UNAVAILABLE, later) from error
