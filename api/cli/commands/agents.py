"""Commands of administration that make, change and delete agents and bots."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from api.cli import shown
from api.cli.given import chosen

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name that people read.")]
Local = Annotated[str | None, typer.Option("--id", help="Its local id; made by the service if not given.")]


def register(admin: typer.Typer) -> None:
    """Add the commands."""
    admin.command("agent")(agent)
    admin.command("set-agent")(set_agent)
    admin.command("serve")(serve)
    admin.command("delete-agent")(delete_agent)


def agent(
    name: Name,
    local: Local = None,
    serves: Annotated[
        list[str] | None, typer.Option(metavar="org:ID", help="Its members may read its memory; may be repeated.")
    ] = None,
    shared: Annotated[bool, typer.Option("--shared", help="Several members use it.")] = False,
    home: Annotated[str, typer.Option(metavar="AGENT", help="A linked bot: it has the memory of this one.")] = "",
) -> None:
    """Make an agent or bot with its knowledge bases."""
    from api.cli.administering_agents import make

    asyncio.run(make(chosen(), shown.out(), name=name, local=local, serves=serves or [], shared=shared, home=home))


def set_agent(
    agent: Annotated[str, typer.Argument(metavar="AGENT")],
    name: Annotated[str | None, typer.Option(help="The name that people read.")] = None,
    shared: Annotated[bool | None, typer.Option("--shared/--own", help="Whether several members use it.")] = None,
) -> None:
    """Change the name of an agent, or whether several members use it."""
    from api.cli.administering_agents import change

    asyncio.run(change(chosen(), shown.out(), agent, name=name, shared=shared))


def serve(
    agent: Annotated[str, typer.Argument(metavar="AGENT")],
    organization: Annotated[str, typer.Argument(metavar="org:ID", help="Whose members may read its memory.")],
    stop: Annotated[bool, typer.Option("--stop", help="No more.")] = False,
) -> None:
    """Let an agent serve an organization: its members may read the agent's memory, at once."""
    from api.cli.administering_agents import serve as run

    asyncio.run(run(chosen(), agent, organization, serves=not stop, out=shown.out()))


def delete_agent(
    agent: Annotated[str, typer.Argument(metavar="AGENT")],
    sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete an agent with its sessions, chats and memories, for good; its knowledge stays for auditors."""
    from api.cli.administering_agents import delete

    if not sure:
        typer.confirm(f"Delete {agent} with all that it remembers, for good?", abort=True)
    asyncio.run(delete(chosen(), agent, shown.out()))
