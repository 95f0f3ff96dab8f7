"""`rootward dream run`: one run of Stage B now, followed until it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from api.cli import shown
from api.cli.asking import Asker, asker_of
from api.cli.given import Chosen
from api.cli.link import linked
from api.cli.words import brought, counted
from graph.model.errors import BadState

RUN = "mutation($agent: ID!) { runDreaming(agentId: $agent) { id state } }"
PROGRESS = """
query($id: ID!, $agent: ID!) {
  node(id: $id) { ... on DreamRun {
    state materialsProcessed operations skillUpdates rejected error
    batches { state }
    rejections(first: 50) { edges { node { op code reason } } }
  } }
  status(ownerId: $agent) { stageB { unavailable pendingTotal } alerts { code } }
}"""
LOOK_S = 0.5
ENDED = ("SUCCEEDED", "FAILED")


async def run_now(chosen: Chosen, *, who: str | None, agent: str, wait: bool, out: Console) -> None:
    """Ask for a run of an agent and, unless told otherwise, follow it and print what it did.

    Raises:
        BadState: it cannot begin: the agent has no model, or nobody works.
    """
    async with linked(chosen) as link:
        asker = await asker_of(link, who, agent)
        asked = (await link.run(RUN, token=asker.token, agent=asker.owner))["runDreaming"]
        out.print(f"A run of {asker.owner_name} is asked for: {asked['id']}")
        if link.here is not None:
            out.print("No server runs, so nobody does it yet: start rootward serve, or rootward worker --once.")
        elif wait:
            run = await _follow(asker, str(asked["id"]))
            out.print("\n".join(_told(run)))


async def _follow(asker: Asker, run_id: str) -> Mapping[str, Any]:
    with shown.bar("Dreaming") as bar:
        while True:
            found = await asker.link.run(PROGRESS, token=asker.token, id=run_id, agent=asker.owner)
            run = found["node"]
            ended = sum(batch["state"] in ENDED for batch in run["batches"])
            bar(ended, len(run["batches"]))
            if run["state"] in ENDED:
                return dict(run)
            if run["state"] == "QUEUED":
                _check_can_begin(found["status"])
            await asyncio.sleep(LOOK_S)


def _check_can_begin(status: Mapping[str, Any]) -> None:
    stage_b = status["stageB"]
    if stage_b["unavailable"] and stage_b["pendingTotal"]:  # with nothing to read no model is needed (DR-32)
        raise BadState(f"the run waits, for none can start: {stage_b['unavailable']}")
    if any(alert["code"] == "worker_absent" for alert in status["alerts"]):
        raise BadState("the run waits, for no worker shows itself: start one with rootward worker")


def _told(run: Mapping[str, Any]) -> list[str]:
    read = counted(run["materialsProcessed"], "item")
    lines = [f"{run['state'].lower()}: {read} read, {brought(run)}, {run['rejected']} refused"]
    if run["error"]:
        lines.append(f"a batch failed and is tried again later [{run['error']}]")
    refused = [edge["node"] for edge in run["rejections"]["edges"]]
    return [*lines, *(f"refused {one['op']} [{one['code']}]: {one['reason']}" for one in refused)]
