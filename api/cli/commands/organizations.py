"""Commands of administration that make, show and change organizations."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from api.cli import shown
from api.cli.given import chosen

Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Such as botMemory=true.")]


def register(admin: typer.Typer) -> None:
    """Add the commands."""
    admin.command("organization")(organization)
    admin.command("organizations")(organizations)
    admin.command("set-organization")(set_organization)


def organization(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name that people read.")],
    local: Annotated[str | None, typer.Option("--id", help="Its local id; made by the service if not given.")] = None,
    setting: Set = None,
) -> None:
    """Make an organization."""
    from api.cli.administering_organizations import make

    asyncio.run(make(chosen(), shown.out(), name=name, local=local, settings=setting or []))


def organizations() -> None:
    """List the organizations with their settings."""
    from api.cli.administering_organizations import list_all

    asyncio.run(list_all(chosen(), shown.out()))


def set_organization(
    organization: Annotated[str, typer.Argument(metavar="org:ID")],
    name: Annotated[str | None, typer.Option(help="The name that people read.")] = None,
    setting: Set = None,
) -> None:
    """Change settings of an organization, or its name; what is not named stays."""
    from api.cli.administering_organizations import change

    asyncio.run(change(chosen(), shown.out(), organization, name=name, settings=setting or []))
