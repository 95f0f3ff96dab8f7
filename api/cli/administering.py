"""`rootward admin …` and `rootward token …`: provisioning, rights, tokens and settings, through GraphQL (AD-18)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console

from api.cli import places
from api.cli.given import Chosen
from api.cli.link import Link, linked
from api.cli.naming import named, principal
from api.cli.shown import columns
from graph.model.errors import BadInput

SETTING = "{ name value default allowed unit origin version }"
MEMBERS = "query($id: ID!) { members(id: $id) { id displayName } }"
MODEL = """
mutation($name: String!, $provider: String!, $model: String!, $baseUrl: String, $credential: String, $prices: JSON) {
  setModelProfile(name: $name, provider: $provider, model: $model, baseUrl: $baseUrl, credential: $credential,
    prices: $prices) { name provider model version }
}"""
TOKENS = "query($id: ID) { tokens(principalId: $id) { id createdAt expiresAt lastUsedDay revokedAt rights } }"


async def create(chosen: Chosen, field: str, out: Console, **arguments: Any) -> None:
    """Make something by the mutation of this name; print its id."""
    given = {name: value for name, value in arguments.items() if value not in (None, (), [])}
    types = {"settings": "JSON", "kind": "ChannelKind!", "agentId": "ID!", "groupId": "ID", "memberIds": "[ID!]"}
    declared = ", ".join(f"${name}: {types.get(name, 'String!')}" for name in given)
    passed = ", ".join(f"{name}: ${name}" for name in given)
    async with linked(chosen) as link:
        found = await link.run(
            f"mutation({declared}) {{ made: {field}({passed}) {{ id displayName }} }}", token=link.token(), **given
        )
        out.print(f"{found['made']['displayName'] or field}: {found['made']['id']}")


async def create_channel(
    chosen: Chosen, out: Console, *, agent: str, members: Sequence[str], memory: str, isolated: bool, **given: Any
) -> None:
    """Make a channel with its members and, where asked, the memory that it uses."""
    async with linked(chosen) as link:
        token = link.token()
        agent_id = await principal(link, token, agent)
        people = [await principal(link, token, member) for member in members]
    await create(chosen, "createChannel", out, agentId=agent_id, memberIds=people, **given)
    if memory:
        local = given.get("localId")
        if not local:
            raise BadInput("give the channel an id with --id, so that its memory can be set", field="id")
        channel = named(f"channel:{agent.partition(':')[2] or agent}/{local}", chosen.settings.workspace)
        await change(
            chosen,
            "mutation($id: ID!, $scope: MemoryScope!, $isolated: Boolean) "
            "{ setRoutingRule(channelId: $id, memoryScope: $scope, isolated: $isolated) { id } }",
            id=channel,
            scope=memory.upper(),
            isolated=isolated,
        )


async def create_group(chosen: Chosen, out: Console, *, members: Sequence[str], **given: Any) -> None:
    """Make a group with its members."""
    async with linked(chosen) as link:
        people = [await principal(link, link.token(), member) for member in members]
    await create(chosen, "createGroup", out, memberIds=people, **given)


async def change(chosen: Chosen, document: str, **variables: Any) -> Any:
    """Run one mutation as the admin and return its data."""
    async with linked(chosen) as link:
        return await link.run(document, token=link.token(), **variables)


async def members(chosen: Chosen, place: str, *, add: Sequence[str], remove: Sequence[str], out: Console) -> None:
    """Print who belongs to a place, after adding and removing some."""
    async with linked(chosen) as link:
        token, place_id = link.token(), named(place, chosen.settings.workspace)
        present = [one["id"] for one in (await link.run(MEMBERS, token=token, id=place_id))["members"]]
        if add or remove:
            gone = {await principal(link, token, one) for one in remove}
            come = [await principal(link, token, one) for one in add]
            wanted = [one for one in dict.fromkeys([*present, *come]) if one not in gone]
            await link.run(
                "mutation($id: ID!, $members: [ID!]!) { setMembers(id: $id, memberIds: $members) { added } }",
                token=token,
                id=place_id,
                members=wanted,
            )
        for one in (await link.run(MEMBERS, token=token, id=place_id))["members"]:
            out.print(f"{one['displayName']}: {one['id']}")


async def grant(chosen: Chosen, who: str, right: str, on: str, *, granted: bool, out: Console) -> None:
    """Give or take a right."""
    field = "grantRight" if granted else "revokeRight"
    async with linked(chosen) as link:
        token = link.token()
        arguments = "principalId: $who, right: $right, objectId: $on"
        document = f"mutation($who: ID!, $right: Right!, $on: ID!) {{ {field}({arguments}) }}"
        done = await link.run(
            document,
            token=token,
            who=await principal(link, token, who),
            right=right.upper(),
            on=await _object(link, token, on),
        )
        changed = granted or done[field]
        out.print(
            f"{who} {'has' if granted else 'no longer has'} {right} on {on}" if changed else "there was no such grant"
        )


async def disable(chosen: Chosen, who: str, *, disabled: bool, out: Console) -> None:
    """Take a principal's rights and credentials out of force, or back into it."""
    async with linked(chosen) as link:
        token = link.token()
        document = (
            "mutation($id: ID!, $off: Boolean!) { setDisabled(principalId: $id, disabled: $off) { displayName } }"
        )
        found = await link.run(document, token=token, id=await principal(link, token, who), off=disabled)
        out.print(f"{found['setDisabled']['displayName']} is {'disabled' if disabled else 'enabled'}")


async def settings_get(chosen: Chosen, name: str, agent: str, out: Console) -> None:
    """Print the settings of knowledge in force, or one of them."""
    async with linked(chosen) as link:
        token = link.token()
        if agent:
            found = await link.run(
                f"query($id: ID!) {{ all: agentSettings(agentId: $id) {SETTING} }}",
                token=token,
                id=await principal(link, token, agent),
            )
        else:
            found = await link.run(f"{{ all: settings {SETTING} }}", token=token)
    rows = [one for one in found["all"] if not name or one["name"] == name]
    if not rows:
        raise BadInput("there is no setting of this name: rootward admin settings get lists them", field="name")
    fields = ("value", "default")
    lines = [
        (one["name"], *(_shown(one[field]) for field in fields), one["unit"], one["origin"], one["allowed"])
        for one in rows
    ]
    out.print(columns(lines, ("Setting", "Value", "Default", "Unit", "From", "Allowed")))


async def settings_set(chosen: Chosen, name: str, value: str | None, agent: str, out: Console) -> None:
    """Set a setting of knowledge, or with None let it have no value of its own."""
    async with linked(chosen) as link:
        token = link.token()
        agent_id = await principal(link, token, agent) if agent else None
        if value is None:
            document = f"mutation($n: String!, $a: ID) {{ set: resetSetting(name: $n, agentId: $a) {SETTING} }}"
            found = await link.run(document, token=token, n=name, a=agent_id)
        else:
            field = "setSetting(name: $n, value: $v, agentId: $a)"
            document = f"mutation($n: String!, $v: JSON, $a: ID) {{ set: {field} {SETTING} }}"
            found = await link.run(document, token=token, n=name, v=value_of(value), a=agent_id)
        out.print(f"{found['set']['name']} = {_shown(found['set']['value'])} ({found['set']['origin']})")


async def model(chosen: Chosen, out: Console, *, prices: str | None, **given: Any) -> None:
    """Set a model profile."""
    known = None if prices is None else value_of(prices)
    made = (await change(chosen, MODEL, prices=known, **given))["setModelProfile"]
    out.print(f"{made['name']}: {made['provider']} {made['model']} (version {made['version']})")


async def token_create(
    chosen: Chosen, who: str, *, days: int, rights: Sequence[str], organization: str | None, save: bool, out: Console
) -> None:
    """Make a token and print it once, or write it to a file of mode 0600."""
    place = None if organization is None else named(organization, chosen.settings.workspace)
    async with linked(chosen) as link:
        text = await mint(link, who, days=days, rights=rights, organization=place)
    if not save:
        out.print(text)
        return
    file = places.token_file(chosen.settings.data_dir, who.rpartition(":")[2])
    places.write_private(file, text + "\n")
    out.print(f"the token is in {file}")


async def mint(link: Link, who: str, *, days: int, rights: Sequence[str] = (), organization: str | None = None) -> str:
    """Return the text of a new token of somebody, for one organization if its id is given."""
    token = link.token()
    expires = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    found = await link.run(
        "mutation($id: ID!, $until: DateTime!, $rights: [Right!], $org: ID) "
        "{ createToken(principalId: $id, expiresAt: $until, rights: $rights, organizationId: $org) { text } }",
        token=token,
        id=await principal(link, token, who),
        until=expires,
        rights=[right.upper() for right in rights] or None,
        org=organization,
    )
    return str(found["createToken"]["text"])


async def token_list(chosen: Chosen, who: str, out: Console) -> None:
    """Print the tokens of somebody, without their secrets."""
    async with linked(chosen) as link:
        token = link.token()
        found = await link.run(TOKENS, token=token, id=await principal(link, token, who) if who else None)
    lines = [
        (
            one["id"],
            one["createdAt"][:10],
            one["expiresAt"][:10],
            one["lastUsedDay"] or "never",
            "revoked" if one["revokedAt"] else "valid" if one["expiresAt"] > _now() else "expired",
            "all" if one["rights"] is None else ", ".join(one["rights"]).lower(),
        )
        for one in found["tokens"]
    ]
    out.print(columns(lines, ("Id", "Made", "Until", "Last used", "State", "Rights")))


async def token_revoke(chosen: Chosen, id_: str, out: Console) -> None:
    """Make a token worthless from the next request on."""
    await change(chosen, "mutation($id: ID!) { revokeToken(id: $id) { id } }", id=id_)
    out.print("revoked")


async def log(chosen: Chosen, first: int, out: Console) -> None:
    """Print the last steps of administration."""
    async with linked(chosen) as link:
        document = "query($n: Int) { adminLog(first: $n) { seq recordedAt operation actorId targetId codes } }"
        found = await link.run(document, token=link.token(), n=first)
    for one in found["adminLog"]:
        out.print(f"{one['seq']:>6}  {one['recordedAt'][:19]}  {one['operation']:<20} {_shown(one['codes'])}")


async def _object(link: Link, token: str, text: str) -> str:
    """Return the id of what a right is on."""
    workspace = link.chosen.settings.workspace
    return named(text, workspace) if text == "workspace" or ":" in text else await principal(link, token, text)


def value_of(text: str) -> Any:
    """Return what was typed as JSON if it is JSON, else as a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(value: Any) -> str:
    if isinstance(value, Mapping | list):
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) <= 60 else f"{text[:59]}…"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
