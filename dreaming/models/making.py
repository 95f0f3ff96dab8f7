"""Makes the models that profiles name, each once a version of its profile: metered, and not too many calls at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from dreaming.models.port import ModelPort
from dreaming.models.prices import priced_by
from dreaming.models.provider import Credentials, provider_model
from dreaming.models.wrappers import LimitedModel, MeteredModel
from graph.model.ids import NodeId
from graph.model.nodes.learning import ModelProfile
from graph.services.deps import Figures

AT_ONCE = 4
"""So many calls of one process are under way at once, over all profiles."""
KEPT = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class OneModel:
    """A `ModelMaker` that makes the same model of every profile; it is asked even where there is no profile at all."""

    model: ModelPort

    def __call__(self, profile: ModelProfile) -> ModelPort:
        """Return the model."""
        return self.model


@dataclass(kw_only=True, slots=True)
class ProfileModels:
    """A `ModelMaker`: call it with a profile.

    Attributes:
        credentials: where secrets are looked up.
        at_once: calls of this process under way at once.
    """

    credentials: Credentials
    figures: Figures
    at_once: int = AT_ONCE
    _turns: asyncio.Semaphore | None = None
    _made: dict[tuple[NodeId, int], ModelPort] = field(default_factory=dict)

    def __call__(self, profile: ModelProfile) -> ModelPort:
        """Return the model; raises `ProfileUnavailable` if it cannot be made."""
        key = (profile.id, profile.version)
        if key not in self._made:
            made = self._make(profile)
            while len(self._made) >= KEPT:
                del self._made[next(iter(self._made))]
            self._made[key] = made
        return self._made[key]

    def _make(self, profile: ModelProfile) -> ModelPort:
        self._turns = self._turns or asyncio.Semaphore(self.at_once)
        metered = MeteredModel(
            inner=provider_model(profile, self.credentials), figures=self.figures, priced=priced_by(profile)
        )
        return LimitedModel(inner=metered, turns=self._turns)
