"""`rootward dreams`: what Dreaming did for an agent, what was refused and why; with `--run`, one more run now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from api.cli.asking import asker_of
from api.cli.given import Chosen
from api.cli.link import linked
from api.cli.words import brought, day

RUNS = """
query($agent: ID!, $most: Int) {
  dreamRuns(agentId: $agent, first: $most) {
    edges { node {
      stage trigger state startedAt model materialsProcessed operations skillUpdates rejected error advice
      channel { displayName }
      rejections(first: 50) { edges { node { op code reason } } }
    } }
  }
}"""
RUN = "mutation($agent: ID!) { runDreaming(agentId: $agent) { id state } }"


async def dreams(chosen: Chosen, *, who: str | None, agent: str, run: bool, most: int, out: Console) -> None:
    """Print the newest runs of an agent as somebody sees them; with `run` ask for one more first."""
    async with linked(chosen) as link:
        asker = await asker_of(link, who, agent)
        if run:
            asked = await link.run(RUN, token=asker.token, agent=asker.owner)
            out.print(f"A run of Stage B is asked for ({asked['runDreaming']['state'].lower()}).\n")
        found = await link.run(RUNS, token=asker.token, agent=asker.owner, most=most)
        runs = [edge["node"] for edge in found["dreamRuns"]["edges"]]
        out.print(f"What {asker.owner_name} dreamed, newest first, as {asker.name} sees it:")
        for one in runs:
            out.print("\n".join(["", *_told(one)]))
        if not runs:
            out.print("nothing yet")


def _told(run: Mapping[str, Any]) -> list[str]:
    """Return a run in words: what it read and brought, and each thing that was refused."""
    about = f" of {run['channel']['displayName']}" if run["channel"] else ""
    head = f"{day(run['startedAt'])}  stage {run['stage']}{about}, {run['trigger'].lower()}, {run['state'].lower()}"
    lines = [head, f"  read {run['materialsProcessed']}, {brought(run)}"]
    if run["model"]:
        lines.append(f"  asked {run['model']}")
    if run["error"]:
        lines.append(f"  {run['error']}: {run['advice'] or 'it is tried again later'}")
    for edge in run["rejections"]["edges"]:
        refused = edge["node"]
        lines.append(f"  refused {refused['op']} [{refused['code']}]: {refused['reason']}")
    return lines
