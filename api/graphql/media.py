"""In which form an answer comes, and with which status.

Who names ``application/graphql-response+json`` in `Accept` gets it, and with it a 4xx or 5xx for an operation that
could not run, such as 503 while the store is away. Everybody else gets ``application/json``: there a status other than
200 would say that the answer may come from somebody in between, so an operation that was well formed answers with 200
and tells in `errors` what kept it from running. Source: GraphQL over HTTP (draft), "Body" and "Status Codes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from api.errors import RETRY_AFTER_S, UNKNOWN

GRAPHQL: Final = "application/graphql-response+json"
JSON: Final = "application/json"
_RANGES: Final = ("*/*", "application/*")


def media_of(accept: str | None) -> str | None:
    """Return the media type of an answer to who accepts this; None: he accepts none that there is.

    >>> media_of("application/graphql-response+json, application/json;q=0.9"), media_of("*/*"), media_of("text/html")
    ('application/graphql-response+json', 'application/json', None)
    """
    if accept is None or not accept.strip():
        return JSON
    weights = _weights(accept)
    ranges = max((weights[name] for name in _RANGES if name in weights), default=0.0)
    plain, named = weights.get(JSON, ranges), weights.get(GRAPHQL, 0.0)
    if named > 0 and named >= plain:
        return GRAPHQL
    return JSON if plain > 0 else None


def status_of(body: Mapping[str, Any], media: str) -> int:
    """Return the status of an answer; one without `data` is that of an operation that could not run."""
    if media == JSON or "data" in body:
        return 200
    errors: Sequence[Mapping[str, Any]] = body["errors"]
    return max(int(error["extensions"]["status"]) for error in errors)


def answer_headers(body: Mapping[str, Any], status: int) -> dict[str, str]:
    """Return the headers of an answer: what `api.errors.headers_of` says of the error that kept it from running."""
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    outcomes = {error["extensions"].get("outcome") for error in body.get("errors", ())}
    return {"Retry-After": str(RETRY_AFTER_S)} if status == 503 and UNKNOWN not in outcomes else {}


def _weights(accept: str) -> dict[str, float]:
    """Return how much each range of a header is liked, from 0 to 1; a weight that is none counts as 0."""
    found: dict[str, float] = {}
    for part in accept.split(","):
        name, *parameters = (text.strip().lower() for text in part.split(";"))
        weight = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        try:
            found[name] = min(max(float(weight), 0.0), 1.0)
        except ValueError:
            found[name] = 0.0
    return found
