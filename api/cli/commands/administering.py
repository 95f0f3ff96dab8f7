"""Commands of administration: admin and token."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

import typer

from api.cli import shown
from api.cli.commands import agents, connecting, organizations, skills, watching
from api.cli.given import chosen
from graph.model.nodes.people import Right

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name that people read.")]
Local = Annotated[str | None, typer.Option("--id", help="Its local id; made by the service if not given.")]
Members = Annotated[list[str] | None, typer.Option("--member", metavar="WHO", help="May be given more than once.")]
Who = Annotated[str, typer.Argument(metavar="WHO", help="A local id such as mei, or person:mei, agent:kettle.")]
OnAgent = Annotated[str, typer.Option("--agent", metavar="AGENT", help="Of one agent, not of the workspace.")]


class Kind(StrEnum):
    """Kinds of channels."""

    SHARED = "shared"
    PRIVATE = "private"


class Memory(StrEnum):
    """Memory that a shared channel may use."""

    SHARED = "shared"
    CHANNEL = "channel"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    admin = typer.Typer(no_args_is_help=True, help="Make people and places, give rights, set settings.")
    for made in (
        person,
        service,
        group,
        channel,
        members,
        grant,
        revoke,
        disable,
        enable,
        model,
        log,
    ):
        admin.command(made.__name__)(made)
    settings = typer.Typer(no_args_is_help=True, help="The settings of knowledge.")
    settings.command("get")(settings_get)
    settings.command("set")(settings_set)
    settings.command("reset")(settings_reset)
    admin.add_typer(settings, name="settings")
    organizations.register(admin)
    agents.register(admin)
    skills.register(admin)
    connecting.register(admin)
    watching.register_profiles(admin)
    token = typer.Typer(no_args_is_help=True, help="Make, list and revoke tokens.")
    token.command("create")(token_create)
    token.command("list")(token_list)
    token.command("revoke")(token_revoke)
    app.add_typer(admin, name="admin")
    app.add_typer(token, name="token")


def person(
    name: Name,
    local: Local = None,
    oidc: Annotated[str | None, typer.Option(help="The subject under which he signs in by OIDC.")] = None,
) -> None:
    """Make a person, who has no rights yet."""
    from api.cli.administering import create

    asyncio.run(create(chosen(), "createPerson", shown.out(), displayName=name, localId=local, oidcSubject=oidc))


def service(name: Name, local: Local = None) -> None:
    """Make a service account, such as a host; it has no rights yet."""
    from api.cli.administering import create

    asyncio.run(create(chosen(), "createService", shown.out(), displayName=name, localId=local))


def group(name: Name, local: Local = None, member: Members = None) -> None:
    """Make a group of people."""
    from api.cli.administering import create_group

    asyncio.run(create_group(chosen(), shown.out(), members=member or [], displayName=name, localId=local))


def channel(
    name: Name,
    agent: Annotated[str, typer.Option(metavar="AGENT", help="Whose view it is.")],
    kind: Annotated[Kind, typer.Option(help="Open to its members, or a private chat.")] = Kind.SHARED,
    local: Local = None,
    member: Members = None,
    memory: Annotated[Memory | None, typer.Option(help="Which memory its conversations use.")] = None,
    isolated: Annotated[bool, typer.Option("--isolated", help="It may not use shared memory.")] = False,
) -> None:
    """Make a channel: an agent's view of a group, or a private chat."""
    from api.cli.administering import create_channel

    kinds = {Kind.SHARED: "SHARED_CHANNEL", Kind.PRIVATE: "PRIVATE_CHAT"}
    asyncio.run(
        create_channel(
            chosen(),
            shown.out(),
            agent=agent,
            members=member or [],
            memory=memory.value if memory else "",
            isolated=isolated,
            displayName=name,
            localId=local,
            kind=kinds[kind],
        )
    )


def members(
    place: Annotated[str, typer.Argument(help="channel:AGENT/ID, group:ID, org:ID or an id.")],
    add: Annotated[list[str] | None, typer.Option(metavar="WHO", help="May be given more than once.")] = None,
    remove: Annotated[list[str] | None, typer.Option(metavar="WHO", help="May be given more than once.")] = None,
) -> None:
    """Show who belongs to a place, after adding and removing some."""
    from api.cli.administering import members as run

    asyncio.run(run(chosen(), place, add=add or [], remove=remove or [], out=shown.out()))


def grant(
    who: Who,
    right: Right,
    on: Annotated[str, typer.Argument(help="An agent, workspace, org:ID, session:ID or chat:ID.")],
) -> None:
    """Give a right; it takes effect at the next read."""
    from api.cli.administering import grant as run

    asyncio.run(run(chosen(), who, right.value, on, granted=True, out=shown.out()))


def revoke(
    who: Who,
    right: Right,
    on: Annotated[str, typer.Argument(help="An agent, workspace, org:ID, session:ID or chat:ID.")],
) -> None:
    """Take a right away; it takes effect at the next read."""
    from api.cli.administering import grant as run

    asyncio.run(run(chosen(), who, right.value, on, granted=False, out=shown.out()))


def disable(who: Who) -> None:
    """Take all rights and every credential of somebody out of force."""
    from api.cli.administering import disable as run

    asyncio.run(run(chosen(), who, disabled=True, out=shown.out()))


def enable(who: Who) -> None:
    """Let somebody who was disabled in again."""
    from api.cli.administering import disable as run

    asyncio.run(run(chosen(), who, disabled=False, out=shown.out()))


def model(
    name: Annotated[str, typer.Argument(help="light turns learning on; settings may name others.")],
    provider: Annotated[str, typer.Option(help="openai, anthropic or google.")],
    model: Annotated[str, typer.Option(metavar="NAME", help="The provider's name of the model.")],
    base_url: Annotated[str | None, typer.Option(help="Another address that speaks the same language.")] = None,
    credential: Annotated[
        str | None, typer.Option(metavar="env:VARIABLE", help="Where the server reads the key from; never the key.")
    ] = None,
    prices: Annotated[
        str | None, typer.Option(metavar="JSON", help="USD per million tokens where no list has it: input and output.")
    ] = None,
) -> None:
    """Say which model learns from messages and documents."""
    from api.cli.administering import model as run

    given = {"name": name, "provider": provider, "model": model, "baseUrl": base_url, "credential": credential}
    asyncio.run(run(chosen(), shown.out(), prices=prices, **given))


def log(first: Annotated[int, typer.Option(min=1, max=100, help="So many steps.")] = 20) -> None:
    """Show the last steps of administration."""
    from api.cli.administering import log as run

    asyncio.run(run(chosen(), first, shown.out()))


def settings_get(
    name: Annotated[str, typer.Argument(help="One setting; all if not given.")] = "", agent: OnAgent = ""
) -> None:
    """Show the settings of knowledge in force."""
    from api.cli.administering import settings_get as run

    asyncio.run(run(chosen(), name, agent, shown.out()))


def settings_set(
    name: str,
    value: Annotated[str, typer.Argument(help="A number, true, false, null, a list or a text.")],
    agent: OnAgent = "",
) -> None:
    """Set a setting of knowledge."""
    from api.cli.administering import settings_set as run

    asyncio.run(run(chosen(), name, value, agent, shown.out()))


def settings_reset(name: str, agent: OnAgent = "") -> None:
    """Let a setting of knowledge be its default again."""
    from api.cli.administering import settings_set as run

    asyncio.run(run(chosen(), name, None, agent, shown.out()))


def token_create(
    who: Who,
    days: Annotated[int, typer.Option(min=1, max=3_650, help="It is valid so long.")] = 365,
    right: Annotated[
        list[Right] | None, typer.Option(help="It carries only this; may be given more than once.")
    ] = None,
    organization: Annotated[
        str | None, typer.Option(metavar="ORG", help="The one it acts in, such as org:heron, for who is in several.")
    ] = None,
    save: Annotated[bool, typer.Option("--save", help="Write it to WHO.token in the data directory.")] = False,
) -> None:
    """Make a token and print it, this once."""
    from api.cli.administering import token_create as run

    rights = [one.value for one in right or []]
    asyncio.run(run(chosen(), who, days=days, rights=rights, organization=organization, save=save, out=shown.out()))


def token_list(who: Annotated[str, typer.Argument(metavar="WHO", help="Yourself, if not given.")] = "") -> None:
    """List somebody's tokens without their secrets."""
    from api.cli.administering import token_list as run

    asyncio.run(run(chosen(), who, shown.out()))


def token_revoke(id_: Annotated[str, typer.Argument(metavar="ID", help="As token list shows it.")]) -> None:
    """Make a token worthless, at once."""
    from api.cli.administering import token_revoke as run

    asyncio.run(run(chosen(), id_, shown.out()))
