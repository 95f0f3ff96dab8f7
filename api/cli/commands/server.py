"""Commands that run a process: serve and what belongs to it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from api.cli.given import chosen


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("serve")(serve)


def serve(
    sample: Annotated[bool, typer.Option(help="Tell the sample story when the store is new.")] = True,
) -> None:
    """Start the server; a new embedded store gets a workspace, an admin, tokens and the sample story."""
    from api.cli.serve import Serving
    from api.cli.serve import serve as run

    found = chosen()
    asked = Serving(
        settings=found.settings,
        environ=found.environ,
        sample=sample,
        port_given="server.port" in found.given,
        log_given="log.format" in found.given,
    )
    asyncio.run(run(asked))
