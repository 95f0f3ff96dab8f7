"""What a model profile may say. Pure. Source: AD-18, DR-6."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from graph.model.errors import BadInput
from graph.model.fields import Json

PROVIDERS = ("anthropic", "google", "openai")
"""``openai`` with a base URL is whatever speaks its language."""
LIGHT = "light"
LIGHT_PROFILE_UNAVAILABLE = "light_profile_unavailable"
"""Why no run of Dreaming starts (DR-6)."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_MODEL = re.compile(r"[^\s\x00-\x1f]{1,200}")
# Only names meant for models: a profile must not be able to send any other secret of the process to its base URL.
_CREDENTIAL = re.compile(r"env:(?:ROOTWARD_MODEL_[A-Z0-9_]{1,64}|[A-Z0-9]{1,32}(?:_[A-Z0-9]{1,32}){0,4}_API_KEY)")


def checked_profile(
    *,
    name: str,
    provider: str,
    model: str,
    base_url: str | None,
    credential: str | None,
    prices: Mapping[str, Json] | None,
) -> None:
    """Refuse a profile that cannot work.

    Raises:
        BadInput: says which field and what it takes.
    """
    _check(_NAME.fullmatch(name), "name", "a name has 1 to 64 of a-z 0-9 . _ -, such as light")
    _check(provider in PROVIDERS, "provider", f"the provider is one of {', '.join(PROVIDERS)}")
    _check(_MODEL.fullmatch(model), "model", "a model has 1 to 200 characters and no white space")
    _check(base_url is None or _is_base_url(base_url), "baseUrl", "a base URL is http(s)://host[:port][/path]")
    _check(
        credential is None or _CREDENTIAL.fullmatch(credential),
        "credential",
        "a credential names a variable of the service: env:ROOTWARD_MODEL_… or env:…_API_KEY; never the key itself",
    )
    _check(prices is None or _are_prices(prices), "prices", "prices are input and output in USD per million tokens")


def _check(fits: object, field: str, advice: str) -> None:
    if not fits:
        raise BadInput(advice, field=field)


def _is_base_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        port_fits = url.port is None or url.port > 0
    except ValueError:
        return False
    plain = not (url.username or url.password or url.query or url.fragment)
    return url.scheme in ("http", "https") and bool(url.hostname) and plain and port_fits and len(text) <= 500


def _are_prices(prices: Mapping[str, Json]) -> bool:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v < 1e6 for v in prices.values())
    return set(prices) == {"input", "output"} and numbers
