"""Keeps anchors at an address outside the store: each is posted as JSON, in the form of the file of anchors (AD-27)."""

from __future__ import annotations

import json
from typing import Final

import httpx2

from graph.model.errors import StoreUnavailable
from graph.rules.audit_anchors import SealedAnchor

_TIMEOUT_S: Final = 10.0


class AnchorAddress:
    """Posts each anchor; the newest ones come again when a process starts, under the same ``Idempotency-Key``.

    Args:
        url: of what keeps them; it answers 2xx once an anchor is kept.
        transport: stands in for the network in tests.
    """

    def __init__(self, url: str, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._url, self._transport = url, transport

    async def publish(self, anchor: SealedAnchor) -> None:
        """Post an anchor.

        Raises:
            StoreUnavailable: it was not taken.
        """
        body = json.dumps(anchor.to_export(), ensure_ascii=False, sort_keys=True).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": anchor.hash}
        try:
            async with (
                httpx2.AsyncClient(transport=self._transport, timeout=_TIMEOUT_S, trust_env=False) as http,
                http.stream("POST", self._url, content=body, headers=headers) as answer,
            ):
                status, kept = answer.status_code, answer.is_success  # what else it says is not waited for
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise StoreUnavailable("the address of anchors does not answer") from error
        if not kept:
            raise StoreUnavailable(f"the address of anchors answered {status}")
