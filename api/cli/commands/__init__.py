"""The commands as people type them; each imports what does it when it runs, so that the short ones start at once."""

from __future__ import annotations

import typer

from api.cli.commands import administering, asking, data, keys, local_models, mcp, server, watching


def register(app: typer.Typer) -> None:
    """Add every command to the program."""
    server.register(app)
    asking.register(app)
    data.register(app)
    keys.register(app)
    watching.register(app)
    administering.register(app)
    local_models.register(app)
    mcp.register(app)
