"""What an answer cost: by the prices of the profile, else by the public price list, else unknown.

Costs are whole millionths of a USD, rounded up. Source: AD-18 (prices if unknown), BM-134 (confirmed usage alone).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal

from dreaming.models.port import ModelAnswer
from graph.model.nodes.learning import ModelProfile


def priced_by(profile: ModelProfile) -> Callable[[ModelAnswer], int | None]:
    """Return the function that prices answers of a profile's model."""
    own = profile.prices
    if isinstance(own, dict):
        rates = (Decimal(str(own.get("input", 0))), Decimal(str(own.get("output", 0))))
        return lambda answer: _by_rates(answer, *rates)
    if profile.base_url is not None:  # whoever answers there, it is not the provider of the list
        return lambda answer: None
    return lambda answer: _by_list(answer, profile)


def _by_rates(answer: ModelAnswer, input_: Decimal, output: Decimal) -> int:
    """USD per million tokens are millionths of a USD per token."""
    return _whole(answer.input_tokens * input_ + answer.output_tokens * output)


def _by_list(answer: ModelAnswer, profile: ModelProfile) -> int | None:
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    usage = Usage(input_tokens=answer.input_tokens, output_tokens=answer.output_tokens)
    try:
        found = calc_price(usage, profile.model, provider_id=profile.provider)
    except LookupError:
        return None
    return _whole(found.total_price * 1_000_000)


def _whole(micro_usd: Decimal) -> int:
    return int(micro_usd.to_integral_value(ROUND_CEILING))
