"""What host operations have in common: one of two places, and idempotency keys (AD-15, AD-17)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.tagging import tagged
from graph.model.errors import InvalidRequest
from graph.model.fields import Json
from graph.services.access.commands import Command
from graph.services.idempotency import once

Kept = dict[str, Any]
"""What is kept of a result: ids and codes, never content."""

Check = Callable[[Command, Kept], Awaitable[None]]
"""Compares a request with what the first one of its key left; raises `Conflict` if it is another."""


async def run_once(
    info: Info[Any, Any],
    key: str | None,
    request: Mapping[str, Json],
    work: Callable[[Command], Awaitable[Kept]],
    check: Check | None = None,
) -> Kept:
    """Run a host operation on a session or chat as `run_kept`, its errors named as their contracts do."""
    with tagged():
        return await run_kept(info, key, request, work, check)


async def run_kept(
    info: Info[Any, Any],
    key: str | None,
    request: Mapping[str, Json],
    work: Callable[[Command], Awaitable[Kept]],
    check: Check | None = None,
) -> Kept:
    """Run a host operation, or with a key that was used before return what came of it then.

    Args:
        info: of the field, whose name is part of the request.
        key: as the host gives it; None runs the operation always.
        request: what is asked for: ids, codes and lengths of texts, for only a hash of it is kept.
        work: does it.
        check: compares what `request` does not tell, such as a text, with what a key that was used before left.

    Raises:
        Conflict: the key was used for another request.
    """
    asked = {"operation": info.field_name, **request}

    async def keyed(cmd: Command) -> Kept:
        async def again(answer: Json) -> Kept:
            kept: Kept = dict(answer)
            if check is not None:
                await check(cmd, kept)
            return kept

        return await once(cmd, key, asked, lambda: work(cmd), keep=lambda made: made, again=again)

    return await context(info).run(info, keyed)


def is_session(session_id: strawberry.ID | None, chat_id: strawberry.ID | None) -> bool:
    """Tell whether an operation is about a session; else it is about a chat.

    Raises:
        InvalidRequest: not exactly one of the two is named.
    """
    if (session_id is None) == (chat_id is None):
        raise InvalidRequest("name the session or the chat", path="sessionId")
    return session_id is not None
