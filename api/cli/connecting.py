"""`rootward admin signals …` and `rootward admin connector …`: what brings material by itself (AD-18, MA-15, MA-19)."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from api.cli.given import Chosen
from api.cli.link import Link, linked
from api.cli.naming import named, principal
from api.cli.shown import columns
from graph.model.errors import BadInput

SIGNALS = """
mutation($agentId: ID!, $displayName: String!, $base: KbKind!, $channelId: ID, $volatile: Boolean, $localId: String) {
  made: createSignalSource(agentId: $agentId, displayName: $displayName, base: $base, channelId: $channelId,
    volatile: $volatile, localId: $localId) { id displayName }
}"""
CONNECTOR = """
mutation($agentId: ID!, $displayName: String!, $kind: String!, $options: JSON!, $base: KbKind!, $channelId: ID,
    $localId: String) {
  made: createConnector(agentId: $agentId, displayName: $displayName, kind: $kind, options: $options, base: $base,
    channelId: $channelId, localId: $localId) { id displayName }
}"""
LISTED = """
query($id: ID!) {
  connectors(ownerId: $id) { id displayName kind state lastSyncAt lastError advice options }
  signalSources(ownerId: $id) { id displayName volatile }
}"""
DOCUMENTS = """
query($id: ID!, $problems: Boolean) {
  connectors(ownerId: $id) { displayName documents(problemsOnly: $problems) { externalId state misses reason } }
}"""
STATE = "mutation($id: ID!, $state: ConnectorState!) { set: setConnectorState(id: $id, state: $state) { state } }"
NOTICE = "mutation($id: ID!) { syncConnector(id: $id) { displayName } }"


async def make_signals(chosen: Chosen, out: Console, *, agent: str, base: str, channel: str, **given: Any) -> None:
    """Make a signal source; print its id."""
    async with linked(chosen) as link:
        await _make(link, out, SIGNALS, agent=agent, base=base, channel=channel, **given)


async def make_connector(chosen: Chosen, out: Console, *, agent: str, base: str, channel: str, **given: Any) -> None:
    """Install a connector; print its id."""
    async with linked(chosen) as link:
        await _make(link, out, CONNECTOR, agent=agent, base=base, channel=channel, **given)


async def listed(chosen: Chosen, agent: str, out: Console) -> None:
    """Print the connectors and signal sources of an agent, and what helps those that have a problem."""
    async with linked(chosen) as link:
        token = link.token()
        found = await link.run(LISTED, token=token, id=await principal(link, token, agent))
    rows = [
        (
            one["displayName"],
            one["kind"],
            one["state"].lower(),
            (one["lastSyncAt"] or "never")[:19],
            one["lastError"] or "",
            one["id"],
        )
        for one in found["connectors"]
    ]
    rows += [
        (one["displayName"], "signals", "volatile" if one["volatile"] else "kept", "", "", one["id"])
        for one in found["signalSources"]
    ]
    out.print(columns(rows, ("Name", "Kind", "State", "Last sync", "Problem", "Id")))
    for one in found["connectors"]:
        if one["advice"]:
            out.print(f"{one['displayName']}: {one['advice']}")


async def documents(chosen: Chosen, agent: str, problems: bool, out: Console) -> None:
    """Print the documents of an agent's connectors, or those that have a problem."""
    async with linked(chosen) as link:
        token = link.token()
        found = await link.run(DOCUMENTS, token=token, id=await principal(link, token, agent), problems=problems)
    rows = [
        (connector["displayName"], one["externalId"], one["state"], str(one["misses"]), one["reason"] or "")
        for connector in found["connectors"]
        for one in connector["documents"]
    ]
    out.print(columns(rows, ("Connector", "Document", "State", "Misses", "Problem")))


async def set_state(chosen: Chosen, id_: str, state: str, out: Console) -> None:
    """Pause a connector, let it go on, or remove it."""
    async with linked(chosen) as link:
        found = await link.run(STATE, token=link.token(), id=id_, state=state.upper())
    out.print(found["set"]["state"].lower())


async def notice(chosen: Chosen, id_: str, out: Console) -> None:
    """Let a connector be looked at at once."""
    async with linked(chosen) as link:
        found = await link.run(NOTICE, token=link.token(), id=id_)
    out.print(f"{found['syncConnector']['displayName']} is looked at as soon as a worker is free")


async def _make(link: Link, out: Console, document: str, *, agent: str, base: str, channel: str, **given: Any) -> None:
    if (base == "channel") is not bool(channel):
        raise BadInput("name the --channel of --base channel, and of no other", field="channel")
    token, workspace = link.token(), link.chosen.settings.workspace
    found = await link.run(
        document,
        token=token,
        agentId=await principal(link, token, agent),
        base=base.upper(),
        channelId=named(f"channel:{agent.rpartition(':')[2]}/{channel}", workspace) if channel else None,
        **given,
    )
    out.print(f"{found['made']['displayName']}: {found['made']['id']}")
