"""Commands for the keys that seal: keys create, list, rotate, retire."""

from __future__ import annotations

import asyncio

import typer

from api.cli import shown
from api.cli.given import chosen


def register(app: typer.Typer) -> None:
    """Add the commands."""
    keys = typer.Typer(no_args_is_help=True, help="The keys that seal texts: outside the store, by their ids.")
    keys.command("create")(keys_create)
    keys.command("list")(keys_list)
    keys.command("rotate")(keys_rotate)
    keys.command("retire")(keys_retire)
    app.add_typer(keys, name="keys")


def keys_create() -> None:
    """Make root key and keyring ahead of the first start, which makes them too."""
    from api.cli.keys import create

    create(chosen(), shown.out())


def keys_list() -> None:
    """List the ids of the keys and which of them seals."""
    from api.cli.keys import list_keys

    list_keys(chosen(), shown.out())


def keys_rotate() -> None:
    """Seal everything with a new key while the service goes on; cut off, call it again."""
    from api.cli.keys import rotate

    raise typer.Exit(asyncio.run(rotate(chosen(), shown.out())))


def keys_retire() -> None:
    """Forget old keys for good: no older copy of the store can be opened any more."""
    from api.cli.keys import retire

    asyncio.run(retire(chosen(), shown.out()))
