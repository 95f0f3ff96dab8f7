"""A model that answers with what another model once answered to the same request; for the sample and for tests.

Recordings are JSON: fingerprint of the request → answer. A request that was never recorded gets no answer, never one
that belongs to another request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dreaming.models.port import Finish, ModelAnswer, ModelPort, ModelRequest
from graph.model.errors import ModelUnavailable
from graph.model.fields import Json

NOT_RECORDED = "not_recorded"


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedModel:
    """Answers from recordings by the fingerprint of the request."""

    answers: Mapping[str, ModelAnswer]
    name: str = "recorded"

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the recorded answer.

        Raises:
            ModelUnavailable: ``not_recorded``.
        """
        found = self.answers.get(request.fingerprint)
        if found is None:
            raise ModelUnavailable(NOT_RECORDED)
        return found


@dataclass(kw_only=True, slots=True)
class RecordingModel:
    """Passes everything on and keeps what was answered; `save` writes the recordings."""

    inner: ModelPort
    answers: dict[str, ModelAnswer] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the model within."""
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer and keep it; raises like the model within."""
        answer = await self.inner.complete(request)
        self.answers[request.fingerprint] = answer
        return answer

    def save(self, file: Path) -> None:
        """Write the recordings, sorted, so that a change of one shows as the change of one."""
        rows = {key: asdict(answer) for key, answer in self.answers.items()}
        file.write_text(json.dumps(rows, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def load_recordings(text: str) -> dict[str, ModelAnswer]:
    """Return the recordings that `RecordingModel.save` wrote."""
    rows: Mapping[str, Json] = json.loads(text)
    return {key: ModelAnswer(**{**row, "finish": Finish(row["finish"])}) for key, row in rows.items()}
