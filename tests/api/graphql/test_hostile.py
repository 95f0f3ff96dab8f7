"""Hostile documents are refused before they run; the service answers others as before."""

from __future__ import annotations

import time
from typing import Any

import pytest

from api.bootstrap import Service
from api.graphql.execution import Executor
from api.graphql.schema import build_schema
from graph.services.access.caller import Caller
from tests.api.clients import GraphQLClient
from tests.api.graphql.hostile import corpus
from tests.support.profile import is_soak
from tests.support.world import TeamWorld

CORPUS = corpus()
REFUSALS = {"QUERY_TOO_COMPLEX", "BAD_INPUT", "LIMIT_EXCEEDED"}
MAX_CPU_S = 0.25


@pytest.mark.req("KN-115", "KN-110")
def test_the_corpus_has_at_least_a_hundred_documents() -> None:
    assert len(CORPUS) >= 100


@pytest.mark.req("KN-115", "KN-110")
@pytest.mark.parametrize(("text", "variables"), [pytest.param(t, v, id=n) for n, t, v in CORPUS])
async def test_a_hostile_document_is_refused_with_a_type(
    text: str, variables: dict[str, Any], ana: GraphQLClient
) -> None:
    answer = await ana.run(text, **variables)
    assert answer.errors
    assert set(answer.codes) <= REFUSALS
    assert answer.data is None
    assert all("Traceback" not in error["message"] for error in answer.errors)
    assert await ana.ok("{ viewer { displayName } }") == {"viewer": {"displayName": "Ana"}}


@pytest.mark.skipif(not is_soak(), reason="measures time: `make soak` runs it")
async def test_no_hostile_document_costs_a_quarter_of_a_second(service: Service, world: TeamWorld) -> None:
    from api.graphql.execution import GraphQLRequest

    executor = Executor(schema=build_schema(), deps=service.deps)
    caller: Caller = world.caller(world.ana)
    for name, text, variables in CORPUS:
        begun = time.process_time()
        await executor.answer(GraphQLRequest(query=text, variables=variables), caller)
        assert time.process_time() - begun <= MAX_CPU_S, name
