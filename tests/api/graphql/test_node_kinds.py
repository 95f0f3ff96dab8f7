"""Whatever the law shows has a type in GraphQL, so that `node` and the reads beside it answer about it (KN-121)."""

from __future__ import annotations

import pytest

from api.graphql.types.registry import NODE_TYPES
from graph.model.nodes.evidence import MessageVector, WindowVector
from graph.model.nodes.workspace import ThreadMount
from graph.model.schema import kinds

NEVER_SHOWN = {
    MessageVector: "the numbers of a message, which is a node",
    WindowVector: "the numbers of messages in a row, which are nodes",
    ThreadMount: "a thread shows its mounts",
}


@pytest.mark.req("KN-121", "KN-7")
def test_every_kind_that_the_law_shows_is_a_node() -> None:
    guarded = {spec.name for spec in kinds().values() if spec.guarded}
    hidden = {kind.__name__ for kind in NEVER_SHOWN}
    assert hidden <= guarded
    assert guarded - hidden == {kind.__name__ for kind in NODE_TYPES}
