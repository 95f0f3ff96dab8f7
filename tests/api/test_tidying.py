"""What a large request leaves behind is found at once."""

from __future__ import annotations

import gc

import pytest

from api.graphql.context import RequestContext
from api.tidying import LARGE
from tests.api.clients import GraphQLClient


@pytest.mark.parametrize("size", [LARGE, 100])
async def test_what_a_large_request_leaves_is_found_at_once(ana: GraphQLClient, size: int) -> None:
    """Small ones do leave something, so that there is something to find."""
    gc.collect()
    gc.disable()
    try:
        before = _contexts()
        for _ in range(3):
            await ana.run("query($id: ID!) { node(id: $id) { id } }", id="n" * size)
        left = _contexts() - before
    finally:
        gc.enable()
    assert left == (0 if size == LARGE else 3)


def _contexts() -> int:
    return sum(isinstance(one, RequestContext) for one in gc.get_objects())
