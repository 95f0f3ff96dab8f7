"""What the codes of failed work mean and what helps, in words for people. Pure. Source: bug cases 17 and 20."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from graph.model.errors import SYNC_REASONS, ModelUnavailable, SyncFailed
from graph.rules.model_profiles import LIGHT_PROFILE_UNAVAILABLE

_REASONS = (
    "timeout",
    "network",
    "bad_response",
    "bad_request",
    "http_401",
    "http_403",
    "http_404",
    "http_429",
    "http_4xx",
    "http_5xx",
)
_AGAIN = "it is asked again later; if that goes on, choose another model"

ADVICE: Mapping[str, str] = MappingProxyType(
    {
        **{f"MODEL_{reason.upper()}": str(ModelUnavailable(reason)) for reason in _REASONS},
        "MODEL_NOT_RECORDED": "there is no recorded answer to this question: make a model profile",
        "MODEL_ANSWER_EMPTY": f"the model said nothing: {_AGAIN}",
        "MODEL_ANSWER_CUT": "the model's answer ended before it was complete: the next try asks for less",
        "MODEL_ANSWER_NO_JSON": f"the model answered in prose where a JSON object was asked for: {_AGAIN}",
        "MODEL_ANSWER_SCHEMA_ECHO": f"the model repeated the form instead of filling it: {_AGAIN}",
        "MODEL_ANSWER_INVALID": f"the model's answer has not the form asked for, or names what is not there: {_AGAIN}",
        "MODEL_ANSWER_REFUSED": f"the model refused to answer: {_AGAIN}",
        "MODEL_ANSWER_ALL_REJECTED": f"everything that the model proposed broke a rule, as the run tells: {_AGAIN}",
        "MODEL_ANSWER_TOO_LONG": f"the model's answer is far too long: {_AGAIN}",
        "MODEL_BUDGET_SPENT": "the calls or tokens of the day are used up: it goes on tomorrow; or raise dream.daily_…",
        "VERSION_CONFLICT": "what it was to change was changed meanwhile, time and again: it is tried again later",
        LIGHT_PROFILE_UNAVAILABLE: "the agent has no usable model: set the profile that dream.model_profile names",
        "EMBEDDING_SIZE_CHANGED": "the embedding model gives vectors of another size than those kept under its name: "
        "set embedding.dimensions, or name another model",
        "DREAMING_DISABLED": "Dreaming is switched off: set dream.enabled",
        "WORKER_DIED": "the work ended its worker several times: look at the log of the worker, then release it",
        "TIMED_OUT": "the work took longer than its kind may take: it is tried again later",
        "INTERNAL": "an unexpected fault: look at the log of the worker",
    }
)
"""By code, as jobs and runs give it."""

SYNC_ADVICE: Mapping[str, str] = MappingProxyType(
    {error.wire_code: str(error) for error in map(SyncFailed, SYNC_REASONS)}
)
"""By code, as connectors give it (MA-25)."""


def advice_on(code: str | None) -> str | None:
    """Return what a code means and what helps; None for one that says itself.

    >>> advice_on("MODEL_HTTP_401")
    "the model's provider does not accept the credential: check the model profile"
    """
    return ADVICE.get(code, SYNC_ADVICE.get(code)) if code else None
