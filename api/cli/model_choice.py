"""The model that the environment names at a first start; it becomes the profile `light`.

A key counts only under a name that is meant for Rootward: a start must not send anything to a provider, or cost
anything, because some other program left its key in the shell. Source: AD-45, ADR 31.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from api.adapters.credentials import from_environment
from dreaming.models.making import ProfileModels
from graph.model.nodes.learning import ModelProfile
from graph.rules.model_profiles import LIGHT
from graph.services.access.caller import Caller
from graph.services.access.commands import command
from graph.services.deps import Deps
from graph.services.learning.profiles import PROFILES, set_model_profile
from graph.store.query import Eq, Find

KEYS: Mapping[str, tuple[str, str]] = {
    "ROOTWARD_MODEL_OPENAI_KEY": ("openai", "gpt-5-mini"),
    "ROOTWARD_MODEL_ANTHROPIC_KEY": ("anthropic", "claude-haiku-4-5"),
    "ROOTWARD_MODEL_GOOGLE_KEY": ("google", "gemini-2.5-flash"),
}
"""Variables of keys, each with its provider and the model that is taken unless ROOTWARD_MODEL_NAME gives another."""
NAME = "ROOTWARD_MODEL_NAME"
URL = "ROOTWARD_MODEL_URL"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelChoice:
    """A model by what its profile says."""

    provider: str
    model: str
    base_url: str | None = None
    credential: str | None = None

    @property
    def name(self) -> str:
        """What runs call it."""
        return f"{self.provider}:{self.model}"


def model_choice(environ: Mapping[str, str]) -> ModelChoice | None:
    """Return the model that the environment names, the first of several; None if it names none.

    >>> model_choice({"ROOTWARD_MODEL_ANTHROPIC_KEY": "k"}).name
    'anthropic:claude-haiku-4-5'
    >>> model_choice({"ROOTWARD_MODEL_URL": "http://127.0.0.1:8080/v1"}).name
    'openai:local'
    >>> model_choice({"OPENAI_API_KEY": "k"})
    """
    url = environ.get(URL) or None
    for variable, (provider, usual) in KEYS.items():
        if environ.get(variable):
            named = environ.get(NAME) or usual
            return ModelChoice(provider=provider, model=named, base_url=url, credential=f"env:{variable}")
    return ModelChoice(provider="openai", model=environ.get(NAME) or "local", base_url=url) if url else None


async def set_light(deps: Deps, admin: Caller, choice: ModelChoice) -> None:
    """Make the profile `light` of a choice.

    Raises:
        BadInput: a variable holds what no profile takes; says which field.
    """
    set_it = partial(
        set_model_profile,
        name=LIGHT,
        provider=choice.provider,
        model=choice.model,
        base_url=choice.base_url,
        credential=choice.credential,
    )
    await command(deps, admin, set_it)


async def light_name(deps: Deps) -> str | None:
    """Return what runs call the model of the profile `light`; None if no workspace has one."""
    where = Eq("name", LIGHT)
    async with deps.store.reading() as reader:
        found = (await reader.find(PROFILES, Find(kind=ModelProfile, where=where, first=1))).nodes
    return f"{found[0].provider}:{found[0].model}" if found else None


def real_models(deps: Deps, environ: Mapping[str, str]) -> ProfileModels:
    """Return what makes the models of profiles."""
    return ProfileModels(credentials=from_environment(environ), figures=deps.figures)
