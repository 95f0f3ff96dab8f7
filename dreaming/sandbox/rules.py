"""What is set for sandbox memory: its limits, what a runtime leaves out, and the models by name. Source: SB-121."""

from __future__ import annotations

from dataclasses import dataclass, field

from graph.services.deps import Figures
from rootward.models import Model, ModelBook, ModelRef, ModelRequest, ModelResponse, ask, find_model
from rootward.sandbox.memory import MemoryGenerateConfig, MemoryLimits


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxRules:
    """What is in force.

    Attributes:
        limits: of reading and generating.
        generate: what counts where a runtime names no model or number of its own.
        models: names to models; their secrets are shown nowhere.
    """

    limits: MemoryLimits = field(default_factory=MemoryLimits)
    generate: MemoryGenerateConfig = field(default_factory=MemoryGenerateConfig)
    models: ModelBook = field(default_factory=dict, repr=False)

    def model(self, ref: ModelRef, figures: Figures) -> Model:
        """Return a model by its name, counted.

        Raises:
            rootward.errors.ModelUnavailable: none has the name (SB-120).
        """
        return CountedModel(inner=find_model(ref, self.models), figures=figures)


@dataclass(frozen=True, kw_only=True, slots=True)
class CountedModel:
    """Counts answers and failures by phase, without content."""

    inner: Model
    figures: Figures

    async def generate(self, request: ModelRequest) -> ModelResponse:
        """Return the answer; raises like the model within."""
        purpose = "sandbox.extract" if request.output_schema is not None else "sandbox.consolidate"
        try:
            answer = await ask(self.inner, request)
        except Exception:
            self.figures.count("model_calls", purpose=purpose, outcome="failed")
            raise
        self.figures.count("model_calls", purpose=purpose, outcome="stop")
        return answer
