"""The command mcp: tools for agents on standard input and output, answered by the running server."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from api.cli.commands.asking import As
from api.cli.given import chosen

_HELP = "Tools for agents in the Model Context Protocol, on standard input and output; needs a running server."


def register(app: typer.Typer) -> None:
    """Add the commands."""
    mcp = typer.Typer(no_args_is_help=True, help=_HELP)
    for command in (knowledge, run, chat):
        mcp.command(command.__name__)(command)
    app.add_typer(mcp, name="mcp")


def knowledge(
    who: As = None,
    conversation: Annotated[str, typer.Option(metavar="ID", help="In which an agent reads; people need none.")] = "",
) -> None:
    """Search, browse and trace what you may read."""
    from api.cli.bridging import serve_stdio

    asyncio.run(serve_stdio(chosen(), "/mcp/knowledge", who=who, conversation=conversation))


def run(id_: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")], who: As = None) -> None:
    """Use the file and record tools of one run, until it ends."""
    from api.cli.bridging import serve_stdio

    asyncio.run(serve_stdio(chosen(), f"/mcp/runs/{_part(id_)}", who=who))


def chat(
    id_: Annotated[str, typer.Argument(metavar="CHAT", help="Id of the chat, as its host calls it.")],
    who: As = None,
    turn: Annotated[str, typer.Option(metavar="TURN", help="The turn; the one that runs if not given.")] = "",
) -> None:
    """Give the bot of one chat its tool; for the host of the chat."""
    from api.cli.bridging import serve_stdio

    asyncio.run(serve_stdio(chosen(), f"/mcp/chats/{_part(id_)}", who=who, query={"turn": turn} if turn else {}))


def _part(id_: str) -> str:
    from urllib.parse import quote

    return quote(id_, safe="")
