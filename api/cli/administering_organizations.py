"""`rootward admin organization`, `organizations` and `set-organization`, through GraphQL (AD-18)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from api.cli.administering import create, value_of
from api.cli.given import Chosen
from api.cli.link import linked
from api.cli.naming import named
from graph.model.errors import BadInput, NotFound

ALL = "{ organizations { id displayName settings version } }"
CHANGE = """
mutation($id: ID!, $seen: Int!, $name: String, $settings: JSON) {
  setOrganization(id: $id, expectedVersion: $seen, displayName: $name, settings: $settings) { id displayName settings }
}"""


async def make(chosen: Chosen, out: Console, *, name: str, local: str | None, settings: Sequence[str]) -> None:
    """Make an organization and print its id."""
    given = _pairs(settings) or None
    await create(chosen, "createOrganization", out, displayName=name, localId=local, settings=given)


async def list_all(chosen: Chosen, out: Console) -> None:
    """Print every organization with its settings."""
    async with linked(chosen) as link:
        found = (await link.run(ALL, token=link.token()))["organizations"]
    out.print("\n".join(map(_line, found)) or "there are none yet: make one with rootward admin organization")


async def change(chosen: Chosen, out: Console, which: str, *, name: str | None, settings: Sequence[str]) -> None:
    """Change an organization as it is now, and print it."""
    given = _pairs(settings)
    async with linked(chosen) as link:
        token, id_ = link.token(), named(which, chosen.settings.workspace)
        found = [one for one in (await link.run(ALL, token=token))["organizations"] if one["id"] == id_]
        if not found:
            raise NotFound("there is no such organization: rootward admin organizations lists them")
        seen = found[0]["version"]
        made = await link.run(CHANGE, token=token, id=id_, seen=seen, name=name, settings=given)
        out.print(_line(made["setOrganization"]))


def _line(one: Mapping[str, Any]) -> str:
    return f"{one['displayName']}: {one['id']} {json.dumps(one['settings'], ensure_ascii=False, sort_keys=True)}"


def _pairs(given: Sequence[str]) -> dict[str, Any]:
    if not all("=" in one for one in given):
        raise BadInput("write --set NAME=VALUE", field="set")
    return {name: value_of(value) for name, _, value in (one.partition("=") for one in given)}
