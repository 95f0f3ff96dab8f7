"""`/mcp/runs/{run}`: exactly the file and record tools of one run, as long as it goes (MT-31, MT-48 to MT-64)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from api.errors import workspace_code
from api.mcp.place import Told, ToolOffer, ToolUse, UnknownTool, Visit
from graph.model.errors import RootwardError, WorkspaceRefused
from graph.model.nodes.workspace import WorkspaceRun
from graph.rules.run_tool_errors import ToolFailed
from graph.rules.run_tools import Offer
from graph.services.access.session import read
from graph.services.workspace.equipment import equipment
from graph.services.workspace.run_finding import named
from graph.services.workspace.tools import ToolCall, call_tool, check_driver

_REASONS: Final[Mapping[str, str]] = {
    "run_ended": "the run has ended, and its tools with it",
    "already_begun": "this very call was begun before: look what became of it before you write again",
}
"""What a model is told of a conflict that is none of a file or record, by its reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPlace:
    """The tools of one run for somebody who drives it."""

    name: ClassVar[str] = "run"
    shelf: ClassVar[None] = None
    visit: Visit
    run: WorkspaceRun

    async def brief(self) -> str:
        """Return what a model is told of the memories of the run."""
        return (await equipment(self.visit.deps, self.visit.caller, self.run)).instructions

    async def tools(self) -> Sequence[ToolOffer]:
        """Return the tools of the run; none once it ended."""
        given = await equipment(self.visit.deps, self.visit.caller, self.run)
        return [_shown(offer) for offer in given.tools]

    async def use(self, name: str, use: ToolUse) -> Told:
        """Call a tool; a call that the client did not name gets an id that no other has (MT-64)."""
        deps = self.visit.deps
        call = ToolCall(tool_call_id=deps.ids.new() if use.id is None else use.id, arguments=use.arguments)
        try:
            return Told(body={"output": await call_tool(deps, self.visit.caller, self.run, name, call)})
        except ToolFailed as failure:
            return Told(body={"error": failure.told()}, failed=True)
        except WorkspaceRefused as refusal:
            if refusal.refusal == "not_found" and refusal.details.get("kind") == "tool":
                raise UnknownTool from None
            raise

    def failure(self, error: RootwardError) -> Mapping[str, Any]:
        """Return the code of workspace memory, with its details (FM-6, FM-7)."""
        details = error.details if isinstance(error, WorkspaceRefused) else {}
        message = _REASONS.get(str(details.get("reason")), error.message)
        return {"error": workspace_code(error), "message": message, "details": dict(details)}


async def open_run(visit: Visit) -> RunPlace:
    """Open the tools of a run.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    id_ = named(WorkspaceRun, visit.ids["run"])
    run, _ = await read(visit.deps, visit.caller, lambda reading: check_driver(reading, id_))
    return RunPlace(visit=visit, run=run)


def _shown(offer: Offer) -> ToolOffer:
    tool = offer.tool
    return ToolOffer(name=tool.name, description=tool.description, schema=offer.schema(), reads=not tool.writes)
