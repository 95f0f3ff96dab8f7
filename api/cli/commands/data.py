"""Commands that move data: import, export, bundle, verify, anchor."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.cli import shown
from api.cli.commands.asking import As
from api.cli.given import chosen
from api.importers.read import Form
from graph.model.errors import BadInput


class Role(StrEnum):
    """What a speaker may become."""

    READER = "reader"
    CURATOR = "curator"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("import")(import_)
    for run in (export, bundle, verify, anchor):
        app.command(run.__name__)(run)


def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="An export of a chat, or with --archive an archive.")],
    form: Annotated[Form | None, typer.Option("--format", "--form", help="Found out if not given.")] = None,
    agent: Annotated[str, typer.Option(metavar="AGENT", help="Whose channels they become; made if new.")] = "",
    timezone: Annotated[str, typer.Option(metavar="ZONE", help="For dates without one, such as Asia/Shanghai.")] = "",
    sign_in: Annotated[
        list[str] | None, typer.Option(metavar="SPEAKER", help="Give a speaker a role, and a token in a file.")
    ] = None,
    role: Annotated[Role, typer.Option(help="What they become for the agent's knowledge.")] = Role.READER,
    archive: Annotated[bool, typer.Option("--archive", help="PATH is an archive of rootward export.")] = False,
    bot: Annotated[str, typer.Option(metavar="BOT", help="PATH is old memory of this bot.")] = "",
) -> None:
    """Load a chat you already have, old memory of a bot, or an archive; doing it again changes nothing."""
    if bot:
        from api.cli.importing_memory import import_bot_memory

        if form or agent or timezone or sign_in or archive:
            raise BadInput("old memory of a bot is loaded whole: leave the other options out", field="bot")
        asyncio.run(import_bot_memory(chosen(), path.absolute(), bot, shown.out()))
        return
    if archive:
        from api.cli.archiving import load_archive

        if form or agent or timezone or sign_in:
            raise BadInput("an archive is loaded whole: leave the other options out", field="archive")
        asyncio.run(load_archive(chosen(), path, shown.out()))
        return
    from api.cli.importing import import_chat
    from api.importers.dates import parse_timezone

    zone = parse_timezone(timezone) if timezone else None
    asyncio.run(
        import_chat(
            chosen(),
            path,
            form=form,
            agent=agent,
            timezone=zone,
            sign_in=sign_in or [],
            role=role.value,
            out=shown.out(),
        )
    )


def export(path: Annotated[Path, typer.Argument(help="A new folder, or a file that ends in .tar or .tar.gz.")]) -> None:
    """Write everything into one portable archive; it holds private chats, so keep it like the store."""
    from api.cli.archiving import export as run

    asyncio.run(run(chosen(), path.absolute(), shown.out()))


def bundle(
    ref: Annotated[str, typer.Argument(metavar="ID", help="A statement, an entry or a source.")],
    path: Annotated[Path, typer.Argument(help="A new folder.")],
    who: As = None,
) -> None:
    """Write the evidence for one statement, which a second person checks without any service."""
    from api.cli.archiving import bundle as run

    asyncio.run(run(chosen(), ref, path.absolute(), who, shown.out()))


def verify(
    path: Annotated[Path | None, typer.Argument(help="An archive or a bundle; the running store if not given.")] = None,
    published: Annotated[Path | None, typer.Option(help="Anchors that were kept outside the store.")] = None,
    who: As = None,
    from_seq: Annotated[int, typer.Option(min=1, help="Take what comes before as good.")] = 1,
) -> None:
    """Follow the audit chains, and of an archive check all files; ends with 1 if something is broken."""
    from api.cli import verifying

    if path is None:
        raise typer.Exit(asyncio.run(verifying.verify(chosen(), who, from_seq, shown.out())))
    raise typer.Exit(verifying.verify_files(path, published))


def anchor() -> None:
    """Bind the heads of all audit chains now, and print the anchor to be kept elsewhere."""
    from api.cli.verifying import anchor as run

    asyncio.run(run(chosen(), shown.out()))
