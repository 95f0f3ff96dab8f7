"""Every operation of every interface has a row in the table of rights (AD-8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.routing import Route, WebSocketRoute

from api.bootstrap import Service, build
from api.graphql.schema import build_schema
from api.mcp import knowledge
from api.rights import MUTATIONS, QUERIES, ROUTES, SUBSCRIPTIONS, TOOLS
from api.settings import Settings
from dreaming.bots import confide_tool
from graph.rules import run_tools


@pytest.mark.req("AD-8")
def test_the_table_and_the_schema_name_the_same_operations() -> None:
    schema = build_schema()._schema
    for kind, table in (
        (schema.query_type, QUERIES),
        (schema.mutation_type, MUTATIONS),
        (schema.subscription_type, SUBSCRIPTIONS),
    ):
        assert kind is not None
        assert set(kind.fields) == set(table)


@pytest.mark.req("AD-8")
def test_the_table_and_the_application_name_the_same_routes(tmp_path: Path) -> None:
    settings = Settings.model_validate({"data_dir": tmp_path, "store": {"url": "memory:"}})
    assert routes(build(settings)) == set(ROUTES)


@pytest.mark.req("AD-8")
def test_the_table_and_the_endpoints_of_mcp_name_the_same_tools() -> None:
    ours = {offer.name for offer in knowledge.TOOLS}
    assert ours | {tool.name for tool in run_tools.TOOLS} | {confide_tool.NAME} == set(TOOLS)


def routes(service: Service) -> set[str]:
    found = set()
    for route in service.app.routes:
        if isinstance(route, WebSocketRoute):
            found.add(f"WEBSOCKET {route.path}")
        elif isinstance(route, Route):
            methods = {"POST"} if route.path == "/graphql" else (route.methods or set()) - {"HEAD"}
            found |= {f"{method} {route.path}" for method in methods}
    return found
