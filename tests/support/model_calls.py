"""What stands in the call log of models, opened."""

from __future__ import annotations

from graph.model.nodes.learning import ModelCall
from graph.services.deps import Deps
from graph.services.learning.model_calls import answer_place, request_place


def answer_of(deps: Deps, call: ModelCall) -> str | None:
    """Return what a model answered; None if no answer is kept."""
    return None if call.answer is None else deps.vault.open(answer_place(call), call.answer)


def request_of(deps: Deps, call: ModelCall) -> str | None:
    """Return what a model was shown; None if it is not kept."""
    return None if call.request is None else deps.vault.open(request_place(call), call.request)
