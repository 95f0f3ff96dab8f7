"""Settings of a Memory Bot: what it is told, how much it does at once, what it may spend (BM-119 to BM-128).

They have a version of their own; a change of settings is no change of the pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from graph.model.errors import SurfaceConflict
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotPool
from graph.model.sealed import Sealed
from graph.services.access.commands import Command
from graph.services.access.session import Session
from graph.services.bots.commands import CONFLICT, own_step
from graph.services.bots.pool import find_pool, hold_pool, own_bot_of
from graph.services.bots.write import record
from graph.services.deps import Deps
from graph.store.sealing import Place

STALE: Final = "stale"
MAX_INSTRUCTIONS: Final = 8_000


@dataclass(frozen=True, kw_only=True, slots=True)
class BotSettings:
    """The settings at a version.

    Attributes:
        version: 0 for settings never changed.
        instructions: rules on privacy and sharing in plain language.
        concurrency: most tasks at once on one server; None for no limit.
        budget: ``{"period": "day" | "month", "limitMicros": n}``; None for no limit.
    """

    version: int = 0
    instructions: str = ""
    concurrency: int | None = None
    budget: Json = None


async def settings_of(session: Session, bot_id: NodeId) -> BotSettings:
    """Return the settings.

    Raises:
        MissingObject: ``BotNotFound``.
        Forbidden: no `write`, or a linked bot.
    """
    bot = await own_bot_of(session.reader, session.facts, bot_id)
    pool = await find_pool(session.reader, bot)
    return BotSettings() if pool is None else shown_settings(session.deps, pool)


async def change_settings(cmd: Command, bot_id: NodeId, *, expected: int, changes: Mapping[str, Any]) -> BotSettings:
    """Set the named settings, leave the others, and return them all; the version moves in any case (BM-127).

    Args:
        cmd: the command of the caller.
        bot_id: the bot.
        expected: the version that he saw.
        changes: some of ``instructions``, ``concurrency`` and ``budget``, checked already; None lifts or empties.

    Raises:
        MissingObject, Forbidden: as `settings_of`.
        SurfaceConflict: ``stale``: another version (BM-128).
    """
    bot = await own_bot_of(cmd.writer, cmd.facts, bot_id)
    pool = await hold_pool(cmd.writer, bot, cmd.at)
    if pool.settings_version != expected:
        raise SurfaceConflict(CONFLICT, STALE, "the settings were changed: read them again")
    version = pool.settings_version + 1
    wanted = {"instructions": shown_settings(cmd.deps, pool).instructions, **changes}
    fields = {**wanted, "settings_version": version}
    fields["instructions"] = _sealed(cmd.deps, pool, wanted["instructions"], version)
    await cmd.writer.patch_many({pool.id: fields})
    step = own_step(cmd, "bot.configure", {"settings": version, "fields": sorted(changes)})
    await record(cmd.writer, cmd.deps, pool, step, (), tx_id=cmd.tx_id, at=cmd.at)
    return shown_settings(cmd.deps, replace(pool, **fields))


def shown_settings(deps: Deps, pool: BotPool) -> BotSettings:
    """Return the settings of a pool; the instructions are opened."""
    sealed, place = pool.instructions, _place(pool, pool.settings_version)
    return BotSettings(
        version=pool.settings_version,
        instructions="" if sealed is None else deps.vault.open(place, sealed),
        concurrency=pool.concurrency,
        budget=pool.budget,
    )


def _sealed(deps: Deps, pool: BotPool, instructions: str | None, version: int) -> Sealed | None:
    return deps.vault.seal(_place(pool, version), instructions) if instructions else None


def _place(pool: BotPool, version: int) -> Place:
    """Return where the instructions stand: of the settings at a version, so that none of the past comes back."""
    return Place(workspace=pool.workspace, node=pool.id, field="instructions", version=version)
