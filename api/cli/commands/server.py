"""Commands that run a process or look after its store: serve, worker, init, migrate, settings, doctor."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from api.cli import shown
from api.cli.given import chosen


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for run in (serve, worker, init, migrate, settings, doctor):
        app.command(run.__name__)(run)


def serve(
    sample: Annotated[bool, typer.Option(help="Tell the sample story when the embedded store is new.")] = True,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Print the tokens of the sample's people also where no terminal is.")
    ] = False,
) -> None:
    """Start the server; a new store gets a workspace, an admin and a token."""
    from api.cli.serve import Serving
    from api.cli.serve import serve as run

    found = chosen()
    asked = Serving(
        settings=found.settings,
        environ=found.environ,
        sample=sample,
        tokens=tokens,
        port_given="server.port" in found.given,
        log_given="log.format" in found.given,
    )
    asyncio.run(run(asked))


def worker(
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
) -> None:
    """Do background work of a store that several processes share."""
    from api.cli.operating import work

    asyncio.run(work(chosen(), once=once, out=shown.out()))


def init(
    name: Annotated[str | None, typer.Option(help="The name of the workspace that people read.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Tell the sample story.")] = False,
) -> None:
    """Make workspace, root key, first admin and his token in an empty store."""
    from api.cli.operating import init as run

    asyncio.run(run(chosen(), display_name=name, sample=sample, out=shown.out()))


def migrate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be done.")] = False,
) -> None:
    """Bring the store to the form of this version; serve does it too."""
    from api.cli.operating import migrate as run

    asyncio.run(run(chosen(), dry_run=dry_run, out=shown.out()))


def settings() -> None:
    """Show every setting of the process with its default and where it comes from."""
    from api.cli.operating import show_settings

    show_settings(chosen(), shown.out())


def doctor() -> None:
    """Look for what is wrong with this installation; ends with 1 if something is."""
    from api.cli.doctoring import doctor as run

    raise typer.Exit(asyncio.run(run(chosen(), shown.out())))
