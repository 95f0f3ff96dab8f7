"""`rootward admin agent`, `set-agent`, `serve` and `delete-agent`, through GraphQL (AD-18, AD-19)."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from api.cli.given import Chosen
from api.cli.link import linked
from api.cli.naming import named, principal

MAKE = """
mutation($name: String!, $local: String, $shared: Boolean, $serves: [ID!], $home: ID) {
  createAgent(displayName: $name, localId: $local, shared: $shared, organizationIds: $serves, homeBotId: $home) {
    id displayName
  }
}"""
CHANGE = """
mutation($id: ID!, $name: String, $shared: Boolean) {
  setAgent(id: $id, displayName: $name, shared: $shared) { id displayName }
}"""
SERVE = "mutation($a: ID!, $o: ID!, $s: Boolean!) { setServing(agentId: $a, organizationId: $o, serves: $s) }"
DELETE = "mutation($id: ID!) { deleteAgent(id: $id) { sessions chats agentEntries botEntries } }"


async def make(
    chosen: Chosen, out: Console, *, name: str, local: str | None, serves: Sequence[str], shared: bool, home: str
) -> None:
    """Make an agent, or with a home a linked bot, and print its id."""
    async with linked(chosen) as link:
        token = link.token()
        made = await link.run(
            MAKE,
            token=token,
            name=name,
            local=local,
            shared=shared,
            serves=[named(one, chosen.settings.workspace) for one in serves] or None,
            home=await principal(link, token, home) if home else None,
        )
        out.print(f"{made['createAgent']['displayName']}: {made['createAgent']['id']}")


async def change(chosen: Chosen, out: Console, agent: str, *, name: str | None, shared: bool | None) -> None:
    """Change an agent and print its name and id; None leaves what it is."""
    async with linked(chosen) as link:
        token = link.token()
        found = await link.run(CHANGE, token=token, id=await principal(link, token, agent), name=name, shared=shared)
        out.print(f"{found['setAgent']['displayName']}: {found['setAgent']['id']}")


async def serve(chosen: Chosen, agent: str, organization: str, *, serves: bool, out: Console) -> None:
    """Let an agent serve an organization, or no more."""
    async with linked(chosen) as link:
        token = link.token()
        place = named(organization, chosen.settings.workspace)
        await link.run(SERVE, token=token, a=await principal(link, token, agent), o=place, s=serves)
        out.print(f"{agent} {'serves' if serves else 'no longer serves'} {organization}")


async def delete(chosen: Chosen, agent: str, out: Console) -> None:
    """Delete an agent and print what went with it."""
    async with linked(chosen) as link:
        token = link.token()
        gone = (await link.run(DELETE, token=token, id=await principal(link, token, agent)))["deleteAgent"]
        conversations = f"{gone['sessions']} sessions and {gone['chats']} chats"
        out.print(f"deleted {agent}: {conversations}, {gone['agentEntries'] + gone['botEntries']} remembered entries")
