"""`rootward jobs`: background work as operators see it; ids and codes, never content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from api.cli.given import Chosen
from api.cli.link import linked
from api.cli.naming import principal
from api.cli.shown import columns
from api.cli.words import day

FIELDS = "id kind state attempts reason nextTryAt"
JOBS = f"query($agent: ID, $states: [JobState!]) {{ jobs(agentId: $agent, states: $states) {{ {FIELDS} }} }}"
CANCEL = f"mutation($id: ID!, $reason: String!) {{ job: cancelJob(id: $id, reason: $reason) {{ {FIELDS} }} }}"
RELEASE = f"mutation($id: ID!) {{ job: releaseJob(id: $id) {{ {FIELDS} }} }}"
PROFILES = "{ modelProfiles { name provider model baseUrl credential version } }"
REMOVE = "mutation($name: String!) { deleteModelProfile(name: $name) }"
HEAD = ("Kind", "State", "Attempts", "Reason", "Next try", "Id")


async def jobs(chosen: Chosen, *, who: str | None, agent: str, states: Sequence[str], out: Console) -> None:
    """Print the background work that somebody may operate; finished work only if it is asked for by its state."""
    async with linked(chosen) as link:
        token = link.token(who)
        of = await principal(link, token, agent) if agent else None
        found = (await link.run(JOBS, token=token, agent=of, states=list(states)))["jobs"]
    out.print(columns([_row(job) for job in found], HEAD) if found else "nothing")


async def change(chosen: Chosen, mutation: str, *, who: str | None, out: Console, **arguments: Any) -> None:
    """Cancel or release a job and print it as it is then."""
    async with linked(chosen) as link:
        found = await link.run(mutation, token=link.token(who), **arguments)
    out.print(columns([_row(found["job"])], HEAD))


async def profiles(chosen: Chosen, out: Console) -> None:
    """Print the models that learn, by the names that settings use."""
    async with linked(chosen) as link:
        found = (await link.run(PROFILES, token=link.token()))["modelProfiles"]
    rows = [
        (one["name"], one["provider"], one["model"], one["baseUrl"] or "", one["credential"] or "", str(one["version"]))
        for one in found
    ]
    out.print(columns(rows, ("Name", "Provider", "Model", "Address", "Key from", "Version")) if rows else "none")


async def remove_profile(chosen: Chosen, name: str, out: Console) -> None:
    """Remove a model; work that needs it waits, and nothing is lost."""
    async with linked(chosen) as link:
        await link.run(REMOVE, token=link.token(), name=name)
    out.print(f"{name}: removed; what needs it waits until it is set again")


def _row(job: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        str(job["kind"]),
        str(job["state"]).lower(),
        str(job["attempts"]),
        str(job["reason"] or ""),
        day(job["nextTryAt"] or ""),
        str(job["id"]),
    )
