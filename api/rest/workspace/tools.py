"""The route of the tools of a run (MT-31, MT-49 to MT-65)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer
from api.rest.workspace.run_shapes import TOOL, CallBody
from graph.model.nodes.workspace import WorkspaceRun
from graph.rules.run_tool_errors import ToolFailed
from graph.services.access.session import read
from graph.services.workspace.run_finding import named
from graph.services.workspace.tools import ToolCall, call_tool, check_driver


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the route of tools."""
    return {TOOL: {"POST": _call}}


async def _call(call: WCall) -> Response:
    id_ = named(WorkspaceRun, call.id("run_id"))
    run, _ = await read(call.deps, call.caller, lambda reading: check_driver(reading, id_))
    body = await call.body(CallBody)
    made = ToolCall(tool_call_id=body.tool_call_id, arguments=body.arguments)
    try:
        output = await call_tool(call.deps, call.caller, run, call.id("tool_name"), made)
    except ToolFailed as failure:
        return answer({"error": failure.told()})
    return answer({"output": output})
