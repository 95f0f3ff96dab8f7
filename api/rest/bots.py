"""The REST routes of bot memory, exactly as the contract writes them (BM-119 to BM-128, BM-136 to BM-161)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.rest.kit import Call, Handler
from graph.model.errors import InvalidRequest
from graph.model.ids import NodeId
from graph.rules.rights import ViewerFacts
from graph.services.access.commands import Command, command
from graph.services.access.session import Session, read
from graph.services.bots.commands import Changed, forget, person_bot_of, remember
from graph.services.bots.pool import Bot, bot_id, bot_of, own_bot_of
from graph.services.bots.purging import purge
from graph.services.bots.settings import MAX_INSTRUCTIONS, BotSettings, change_settings, settings_of
from graph.services.bots.view import LOG_LIMIT, MAX_LOG_LIMIT, LogChange, MemoryView, log_of, memory_of
from graph.store.port import Reader

MOST: Final = 2**63 - 1
"""The largest whole number that is kept."""

_NUMBER: Final = re.compile(r"[0-9]{1,19}")

Check = Callable[[Reader, ViewerFacts, NodeId], Awaitable[Bot]]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class RememberBody(_Shape):
    """Keep something for the caller alone."""

    tag: Literal["Remember"] = Field(alias="_tag")
    content: str
    tags: list[str] = []


class ForgetBody(_Shape):
    """Take back the caller's part of an entry."""

    tag: Literal["Forget"] = Field(alias="_tag")
    id: str


class EditBody(_Shape):
    """A command on the caller's own entries."""

    command: Annotated[RememberBody | ForgetBody, Field(discriminator="tag")]


class PurgeBody(_Shape):
    """The one tag whose entries go."""

    tag: str


class BudgetBody(_Shape):
    """A cap on confirmed cost, in micro-USD."""

    period: Literal["day", "month"]
    limit: int = Field(alias="limitMicros", ge=0, le=MOST)


class SettingsBody(_Shape):
    """Settings of the Memory Bot; null lifts or empties, a field that is not named stays."""

    expected: int = Field(ge=0)
    instructions: str | None = Field(default=None, max_length=MAX_INSTRUCTIONS)
    concurrency: int | None = Field(default=None, ge=1, le=MOST)
    budget: BudgetBody | None = None

    @property
    def changes(self) -> Mapping[str, Any]:
        """Those that were named."""
        return self.model_dump(include=self.model_fields_set - {"expected"}, by_alias=True)


def table() -> Mapping[str, Mapping[str, Handler]]:
    """Return the routes of this surface."""
    memory = "/v1/bots/{botId}/memory"
    return {
        memory: {"GET": _get_memory, "POST": _post_memory},
        f"{memory}/log": {"GET": _get_log},
        f"{memory}/purge": {"POST": _post_purge},
        f"{memory}/bot": {"GET": _get_settings, "PATCH": _patch_settings},
    }


def memory_json(view: MemoryView) -> dict[str, Any]:
    """Return the caller's view of a pool (BM-136)."""
    return {"entries": list(view.entries), "version": view.version}


def log_json(changes: tuple[LogChange, ...]) -> dict[str, Any]:
    """Return the caller's view of the log (BM-143)."""
    rows = [
        {"version": change.version, "at": change.at, "by": change.by, "entries": list(change.entries)}
        for change in changes
    ]
    return {"changes": rows}


def settings_json(settings: BotSettings) -> dict[str, Any]:
    """Return the settings of a Memory Bot (BM-127)."""
    return {
        "version": settings.version,
        "instructions": settings.instructions,
        "concurrency": settings.concurrency,
        "budget": settings.budget,
    }


async def _get_memory(call: Call) -> Any:
    tags = [part.strip() for given in call.request.query_params.getlist("tags") for part in given.split(",")]
    wanted = [tag for tag in tags if tag]
    view, _ = await read(call.deps, call.caller, lambda session: memory_of(session, _id(call), wanted))
    return memory_json(view)


async def _get_log(call: Call) -> Any:
    async def look(session: Session) -> tuple[LogChange, ...]:
        bot = await bot_of(session.reader, session.facts, _id(call))  # before the query is looked at (BM-182)
        limit, before = _query(call, "limit", 1, MAX_LOG_LIMIT), _query(call, "before", 0, MOST)
        return await log_of(session, bot.id, limit=limit or LOG_LIMIT, before=before)

    changes, _ = await read(call.deps, call.caller, look)
    return log_json(changes)


async def _post_memory(call: Call) -> Any:
    await _check(call, person_bot_of)
    given = (await call.body(EditBody)).command

    async def work(cmd: Command) -> Changed:
        if isinstance(given, RememberBody):
            return await remember(cmd, _id(call), given.content, given.tags)
        return await forget(cmd, _id(call), given.id)

    changed = await command(call.deps, call.caller, work)
    return {"entry": changed.entry, "version": changed.version}


async def _post_purge(call: Call) -> Any:
    await _check(call, own_bot_of)
    tag = (await call.body(PurgeBody)).tag
    return {"deleted": await command(call.deps, call.caller, lambda cmd: purge(cmd, _id(call), tag))}


async def _get_settings(call: Call) -> Any:
    settings, _ = await read(call.deps, call.caller, lambda session: settings_of(session, _id(call)))
    return settings_json(settings)


async def _patch_settings(call: Call) -> Any:
    await _check(call, own_bot_of)
    body = await call.body(SettingsBody)

    async def work(cmd: Command) -> BotSettings:
        return await change_settings(cmd, _id(call), expected=body.expected, changes=body.changes)

    return settings_json(await command(call.deps, call.caller, work))


async def _check(call: Call, check: Check) -> None:
    """Refuse who may not do this, before the body is looked at (BM-182)."""

    async def look(session: Session) -> None:
        await check(session.reader, session.facts, _id(call))

    await read(call.deps, call.caller, look)


def _id(call: Call) -> NodeId:
    return bot_id(call.caller.workspace, call.id("botId"))


def _query(call: Call, name: str, least: int, most: int) -> int | None:
    """Return a whole number of the query, None if it is not there."""
    given = call.request.query_params.get(name)
    if given is None:
        return None
    if not _NUMBER.fullmatch(given) or not least <= int(given) <= most:
        raise InvalidRequest(f"give a whole number from {least} to {most}", path=name)
    return int(given)
