"""What a run works with at this moment, for a transport that lists its tools without starting an attempt (MT-54)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.model.nodes.workspace import WorkspaceRun, WorkspaceRunState
from graph.rules.run_mounts import Mount
from graph.rules.run_tools import Offer, offered
from graph.services.access.caller import Caller
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.workspace.attempts import instructions_of, principal_facts, served
from graph.services.workspace.context import find_memories


@dataclass(frozen=True, kw_only=True, slots=True)
class Equipment:
    """The tools of a run, and what its model is told of its memories (MT-48)."""

    tools: Sequence[Offer] = ()
    instructions: str = ""


async def equipment(deps: Deps, caller: Caller, run: WorkspaceRun) -> Equipment:
    """Return what a run that the caller drives is given: the tools of an attempt that started now, once it ended none.

    Raises:
        NotFound: who accepted it is no more.
    """
    if run.state != WorkspaceRunState.ACCEPTED:
        return Equipment()
    mounts = [Mount.of(given) for given in run.mounts or ()]
    facts, _ = await read(deps, caller, lambda reading: principal_facts(reading, run))
    memories = await find_memories(deps, facts, mounts)
    return Equipment(
        tools=offered(served(mounts, memories), run.toolsets or {}),
        instructions=instructions_of(deps, mounts, memories),
    )
