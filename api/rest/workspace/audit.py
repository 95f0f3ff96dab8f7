"""The route of what was done in workspace memory (FM-19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, collection
from api.rest.workspace.memories import place_of
from api.rest.workspace.memory_shapes import AUDIT, audit_json
from graph.model.ids import NodeId, node_id
from graph.rules.workspace_ids import OUTSIDE, inside
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.workspace.audit import audit_events

_PREFIXES: Final[Mapping[str, str]] = {shown: prefix for prefix, shown in OUTSIDE.items()}
_NOTHING: Final = node_id("nil", "")


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the route of audit events."""
    return {AUDIT: {"GET": _list}}


async def _list(call: WCall) -> Response:
    given = call.query("target_id")
    target = None if given is None else _target(given)
    bound = ("audit-events", given)

    async def look(reading: Reading) -> Any:
        asked = call.page(*bound)
        return await audit_events(reading, target, first=asked.limit, after=asked.after)

    page, _ = await read(call.deps, call.caller, look)
    items = [audit_json(record) for record in page.items]
    return collection(items, place_of(page.places[-1]) if page.more and page.places else None, *bound)


def _target(given: str) -> NodeId:
    """Return the internal id that a client names; what names nothing is the id of nothing."""
    prefix = _PREFIXES.get(given.partition("_")[0])
    return _NOTHING if prefix is None else inside(prefix, given) or _NOTHING
