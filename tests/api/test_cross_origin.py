"""Pages of other origins: browsers let those ask that `server.allowed_origins` names, and no others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from api.bootstrap import Ports, build
from api.settings import Settings, load
from graph.model.errors import SettingsInvalid
from tests.support.mcp_client import HERE, message
from tests.support.world import TeamWorld

APP = "https://app.example"
STRANGER = "https://evil.test"
DOORS = ("/graphql", "/v1/sessions/s-1", "/api/v1/memories", "/blobs/x", "/mcp/knowledge")
ASKS = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization, content-type"}


@pytest.fixture
async def open_to_app(settings: Settings, ports: Ports, world: TeamWorld) -> AsyncIterator[httpx2.AsyncClient]:
    """The service of the same world, which pages of `APP` may ask."""
    server = settings.server.model_copy(update={"allowed_origins": (APP,)})
    service = build(settings.model_copy(update={"server": server}), ports=ports)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=service.app), base_url=HERE) as client:
        yield client


def told(answer: httpx2.Response) -> str | None:
    """Return the origin whose pages the browser lets read the answer."""
    return answer.headers.get("access-control-allow-origin")


@pytest.mark.parametrize("path", DOORS)
async def test_a_browser_may_send_what_a_page_of_an_allowed_origin_asks(
    open_to_app: httpx2.AsyncClient, path: str
) -> None:
    allowed = await open_to_app.options(path, headers={**ASKS, "Origin": APP})
    assert (allowed.status_code, told(allowed)) == (200, APP)
    assert allowed.headers["access-control-allow-headers"] == ASKS["Access-Control-Request-Headers"]
    assert "access-control-allow-credentials" not in allowed.headers
    foreign = await open_to_app.options(path, headers={**ASKS, "Origin": STRANGER})
    assert (foreign.status_code, told(foreign)) == (400, None)


@pytest.mark.parametrize("path", DOORS)
async def test_without_allowed_origins_no_page_may_ask(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.options(path, headers={**ASKS, "Origin": APP})
    assert told(answer) is None
    assert answer.status_code in (401, 405)


async def test_an_answer_can_be_read_by_pages_of_an_allowed_origin_alone(
    open_to_app: httpx2.AsyncClient, world: TeamWorld
) -> None:
    signed = {"Authorization": f"Bearer {await world.token(world.ana)}"}
    for origin, readable in ((APP, APP), (STRANGER, None), ("null", None)):
        asked = {**signed, "Origin": origin}
        answer = await open_to_app.post("/graphql", json={"query": "{ viewer { displayName } }"}, headers=asked)
        assert (answer.status_code, told(answer)) == (200, readable)
    refused = await open_to_app.get("/v1/nothing", headers={"Origin": APP})
    assert (refused.status_code, told(refused)) == (404, APP)
    assert "Retry-After" in refused.headers["access-control-expose-headers"]


async def test_mcp_answers_pages_of_an_allowed_origin_and_refuses_others(
    open_to_app: httpx2.AsyncClient, world: TeamWorld
) -> None:
    sent = {"Authorization": f"Bearer {await world.token(world.ana)}", "Accept": "application/json"}
    for origin, state in ((APP, 200), (STRANGER, 403)):
        asked = {**sent, "Origin": origin}
        answer = await open_to_app.post("/mcp/knowledge", json=message("tools/list"), headers=asked)
        assert (answer.status_code, told(answer)) == (state, origin if state == 200 else None)


@pytest.mark.req("AD-36")
@pytest.mark.parametrize("value", ["*", "https://app.example/", "app.example", "null"])
def test_an_allowed_origin_is_an_origin(tmp_path: Path, value: str) -> None:
    given = {"ROOTWARD_DATA_DIR": str(tmp_path), "ROOTWARD_SERVER__ALLOWED_ORIGINS": value}
    with pytest.raises(SettingsInvalid, match=r"server\.allowed_origins"):
        load(given)
