"""Idempotency keys: the same request sent again gets the first answer and does nothing more. Source: AD-17.

A key belongs to one caller in one workspace. The answer is kept in a `Receipt` that is written in the transaction of
the work, so both are there or neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from graph.model.access import SystemScope
from graph.model.errors import BadInput, Conflict
from graph.model.fields import Json
from graph.model.ids import NodeId, node_id
from graph.model.nodes.work import Receipt
from graph.rules.canonical import digest
from graph.services.access.commands import Command

RECEIPTS = SystemScope(reason="what a request with this key did")
MAX_KEY_CHARACTERS: Final = 255

T = TypeVar("T")


async def once(
    cmd: Command,
    key: str | None,
    request: Any,
    work: Callable[[], Awaitable[T]],
    *,
    keep: Callable[[T], Json],
    again: Callable[[Json], Awaitable[T]],
) -> T:
    """Run `work` unless the caller sent this key before; then return what came of it then.

    Two requests with one key that arrive together wait for each other: the receipt is locked first.

    Args:
        cmd: the command of the caller.
        key: as the caller gives it; None runs `work` always.
        request: what is asked for, as JSON; only its hash is kept.
        work: does it, through `cmd` alone.
        keep: makes JSON, without content, of the answer.
        again: makes the answer of that JSON.

    Raises:
        BadInput: the key is empty or too long.
        Conflict: the key was used for another request.
    """
    if key is None:
        return await work()
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS:
        raise BadInput(f"an idempotency key has 1 to {MAX_KEY_CHARACTERS} characters", field="idempotencyKey")
    id_ = receipt_id(cmd, key)
    await cmd.writer.lock([id_])
    found = (await cmd.writer.get(RECEIPTS, [id_])).get(id_)
    asked = digest(request)
    if isinstance(found, Receipt):
        if found.result["request"] != asked:
            raise other_request()
        return await again(found.result["answer"])
    done = await work()
    result = {"request": asked, "answer": keep(done)}
    await cmd.writer.put([Receipt(id=id_, workspace=cmd.caller.workspace, created_at=cmd.at, result=result)])
    return done


def other_request() -> Conflict:
    """Return the refusal of a key that was used before; also where only a text tells that the request is another.

    A receipt holds the lengths of texts, for a hash of a short one could be guessed. Whoever answers again compares the
    text with the one that the first request left.
    """
    return Conflict("the idempotency key was used for another request: take a new one")


def receipt_id(cmd: Command, key: str) -> NodeId:
    """Return the id of the receipt of a caller's key."""
    named = "\x00".join((cmd.caller.workspace, cmd.caller.principal, key))
    return node_id(Receipt.PREFIX, "key/" + hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest())
