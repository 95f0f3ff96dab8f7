"""`rootward import --bot`: old bot memory from JSON Lines, all of it in one transaction (AD-21)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.console import Console

from api.cli.given import Chosen
from api.cli.link import linked
from api.importers.bot_memory import read_bot_memory_file
from graph.services.access.caller import Caller
from graph.services.access.commands import command
from graph.services.access.tokens import authenticate
from graph.services.bots.importing import ImportCounts, import_memory
from graph.services.bots.pool import bot_id
from graph.services.deps import Deps


async def import_bot_memory(chosen: Chosen, path: Path, bot: str, out: Console) -> None:
    """Import a file with the admin's token, by the running server if there is one, and print what became of it.

    `path` is absolute.

    Raises:
        ImportInvalid: the file is damaged; nothing was written.
        AlreadyExists: an id is taken elsewhere; nothing was written.
    """
    async with linked(chosen) as link:
        token = link.token()
        if link.address:
            asked = {"bot": bot, "path": str(path)}
            counts = ImportCounts(**await link.operate("bot-memory", asked, token=token))
        else:
            counts = await load(link.deps, await authenticate(link.deps, token), bot, path)
    out.print(
        f"{path.name}: {counts.entries} entries taken in, {counts.known} known, version {counts.version} of {bot}"
    )
    out.print(f"  {counts.chats} chats, {counts.items} items, {counts.records} confessions and enrichments")


async def load(deps: Deps, caller: Caller, bot: str, path: Path) -> ImportCounts:
    """Read a file and take it into the memory of a bot of the caller's workspace."""
    old = await asyncio.to_thread(read_bot_memory_file, path)
    return await command(deps, caller, lambda cmd: import_memory(cmd, bot_id(caller.workspace, bot), old))
