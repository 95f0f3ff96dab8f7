"""Commands for what brings material by itself: admin signals, admin connector …"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

import typer

from api.cli import shown
from api.cli.given import chosen

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name that people read.")]
Agent = Annotated[str, typer.Option("--agent", metavar="AGENT", help="Whose knowledge it becomes.")]
Channel = Annotated[str, typer.Option("--channel", metavar="ID", help="The channel of --base channel.")]
Local = Annotated[str | None, typer.Option("--id", help="Its local id; made by the service if not given.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="As `admin connector list` shows it.")]


class Base(StrEnum):
    """Knowledge bases that systems may report into."""

    SHARED = "shared"
    AGENT = "agent"
    CHANNEL = "channel"


Where = Annotated[Base, typer.Option("--base", help="Which knowledge base of the agent; there is no default.")]


class State(StrEnum):
    """Life of a connector."""

    ACTIVE = "active"
    PAUSED = "paused"
    REMOVED = "removed"


def register(admin: typer.Typer) -> None:
    """Add the commands to `rootward admin`."""
    admin.command("signals")(signals)
    connector = typer.Typer(no_args_is_help=True, help="Places of documents that are kept in step.")
    connector.command("folder")(folder)
    connector.command("feed")(feed)
    connector.command("list")(list_)
    connector.command("documents")(documents)
    connector.command("set")(set_)
    connector.command("sync")(sync)
    admin.add_typer(connector, name="connector")


def signals(
    name: Name,
    agent: Agent,
    base: Where,
    channel: Channel = "",
    volatile: Annotated[bool, typer.Option("--volatile", help="Its values change often: nothing is kept.")] = False,
    local: Local = None,
) -> None:
    """Make a signal source: a system whose events reach an agent."""
    from api.cli.connecting import make_signals

    given = {"displayName": name, "volatile": volatile, "localId": local}
    asyncio.run(make_signals(chosen(), shown.out(), agent=agent, base=base.value, channel=channel, **given))


def folder(
    path: Annotated[str, typer.Argument(metavar="FOLDER", help="On the server, inside one of connectors.folders.")],
    agent: Agent,
    base: Where,
    name: Annotated[str, typer.Option("--name", help="The name that people read.")],
    channel: Channel = "",
    local: Local = None,
) -> None:
    """Keep the documents of a folder in step: Markdown, text, HTML, PDF, DOCX, CSV, JSON."""
    from api.cli.connecting import make_connector

    given = {"displayName": name, "kind": "folder", "options": {"path": path}, "localId": local}
    asyncio.run(make_connector(chosen(), shown.out(), agent=agent, base=base.value, channel=channel, **given))


def feed(
    url: Annotated[str, typer.Argument(metavar="URL", help="An RSS or Atom feed of the public internet.")],
    agent: Agent,
    base: Where,
    name: Annotated[str, typer.Option("--name", help="The name that people read.")],
    pages: Annotated[bool, typer.Option("--pages", help="The pages behind its items, not what the feed says.")] = False,
    channel: Channel = "",
    local: Local = None,
) -> None:
    """Keep the items of a feed in step."""
    from api.cli.connecting import make_connector

    given = {"displayName": name, "kind": "feed", "options": {"url": url, "pages": pages}, "localId": local}
    asyncio.run(make_connector(chosen(), shown.out(), agent=agent, base=base.value, channel=channel, **given))


def list_(agent: Annotated[str, typer.Argument(metavar="AGENT")]) -> None:
    """List the connectors and signal sources of an agent."""
    from api.cli.connecting import listed

    asyncio.run(listed(chosen(), agent, shown.out()))


def documents(
    agent: Annotated[str, typer.Argument(metavar="AGENT")],
    problems: Annotated[bool, typer.Option("--problems", help="Only those that want a look.")] = False,
) -> None:
    """List the documents of an agent's connectors, and why some could not be read."""
    from api.cli.connecting import documents as run

    asyncio.run(run(chosen(), agent, problems, shown.out()))


def set_(
    id_: Id, state: Annotated[State, typer.Argument(help="removed withdraws all its documents, for good.")]
) -> None:
    """Pause a connector, let it go on, or remove it."""
    from api.cli.connecting import set_state

    asyncio.run(set_state(chosen(), id_, state.value, shown.out()))


def sync(id_: Id) -> None:
    """Let a connector be looked at at once."""
    from api.cli.connecting import notice

    asyncio.run(notice(chosen(), id_, shown.out()))
