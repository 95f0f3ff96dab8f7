"""The routes of memory providers (RM-1 to RM-15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer, collection
from api.rest.workspace.memories import place_of
from api.rest.workspace.record_shapes import (
    PROVIDER,
    PROVIDERS,
    TEST,
    NewProviderBody,
    ProviderPatch,
    probe_json,
    provider_json,
)
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryProvider
from graph.services.access.commands import command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.workspace.finding import require_verb
from graph.services.workspace.providers import (
    NewProvider,
    change_provider,
    create_provider,
    list_providers,
    open_provider,
    probe_provider,
    provider_tag,
)


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of providers; none deletes one (RM-12)."""
    return {
        PROVIDERS: {"GET": _list, "POST": _create},
        PROVIDER: {"GET": _get, "PATCH": _patch},
        TEST: {"POST": _test},
    }


async def _list(call: WCall) -> Response:
    async def look(reading: Reading) -> Any:
        require_verb(reading.facts, None, Right.READ)
        asked = call.page("memory-providers")
        return await list_providers(reading, first=asked.limit, after=asked.after)

    page, _ = await read(call.deps, call.caller, look)
    place = place_of(page.places[-1]) if page.more and page.places else None
    return collection([provider_json(provider) for provider in page.items], place, "memory-providers")


async def _create(call: WCall) -> Response:
    async def may(reading: Reading) -> None:
        require_verb(reading.facts, None, Right.WRITE)

    await read(call.deps, call.caller, may)
    body = await call.body(NewProviderBody)
    new = NewProvider(
        type=body.type,
        name=body.name,
        config=body.config,
        key=body.credential.api_key if body.credential else None,
        enabled=body.enabled,
    )
    return _shown(await command(call.deps, call.caller, lambda cmd: create_provider(cmd, new)), 201)


async def _get(call: WCall) -> Response:
    return _shown(await _opened(call, Right.READ))


async def _patch(call: WCall) -> Response:
    provider = await _opened(call, Right.WRITE)
    tags = call.if_match()
    body = await call.body(ProviderPatch)
    given = {name: getattr(body, name) for name in body.model_fields_set - {"credential"}}
    if "credential" in body.model_fields_set:
        given["key"] = body.credential.api_key if body.credential else None
    return _shown(await command(call.deps, call.caller, lambda cmd: change_provider(cmd, provider.id, tags, given)))


async def _test(call: WCall) -> Response:
    return answer(probe_json(await probe_provider(call.deps, await _opened(call, Right.RUN))))


async def _opened(call: WCall, verb: Right) -> MemoryProvider:
    given = call.id("provider_id")
    found, _ = await read(call.deps, call.caller, lambda reading: open_provider(reading, given, verb))
    return found


def _shown(provider: MemoryProvider, status: int = 200) -> Response:
    return answer(provider_json(provider), status, tag=provider_tag(provider))
