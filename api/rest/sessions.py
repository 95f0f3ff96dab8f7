"""The REST routes of sessions and their memory, exactly as the contract writes them (SM-20 to SM-67)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.rest.kit import Call, Handler, Refused
from dreaming.sessions.refresh import refresh_session
from graph.model.errors import ModelError
from graph.model.ids import NodeId, local_part
from graph.model.nodes.sessions import Session, SessionFact
from graph.rules.session_memory import Seen
from graph.services.access.commands import Command, command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.sessions.commands import configure, forget, remember
from graph.services.sessions.finding import open_session, require_write, session_id
from graph.services.sessions.memory import SessionMemoryView, session_memory, session_view


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class RememberBody(_Shape):
    """Make a fact, or replace the one under its key."""

    tag: Literal["Remember"] = Field(alias="_tag")
    key: str
    content: str
    kind: str


class ForgetBody(_Shape):
    """Retract a fact."""

    tag: Literal["Forget"] = Field(alias="_tag")
    key: str


class ConfigureBody(_Shape):
    """Set the switches of the session; null follows the organization, a switch that is not named stays."""

    tag: Literal["Configure"] = Field(alias="_tag")
    use: bool | None = None
    generate: bool | None = None

    @property
    def switches(self) -> Mapping[str, bool | None]:
        """Those that were named."""
        return self.model_dump(include=self.model_fields_set - {"tag"})


class RefreshBody(_Shape):
    """Learn now."""

    tag: Literal["Refresh"] = Field(alias="_tag")


CommandBody = Annotated[RememberBody | ForgetBody | ConfigureBody | RefreshBody, Field(discriminator="tag")]


class EditBody(_Shape):
    """A command on a session's memory, for the state that the client last saw."""

    expected: str
    revision: int
    command: CommandBody

    @property
    def seen(self) -> Seen:
        """That state."""
        return Seen(head=self.expected, revision=self.revision)


def table() -> Mapping[str, Mapping[str, Handler]]:
    """Return the routes of this surface."""
    return {
        "/v1/sessions/{sessionId}": {"GET": _get_session},
        "/v1/sessions/{sessionId}/memory": {"GET": _get_memory, "POST": _post_memory},
    }


def session_json(session: Session) -> dict[str, Any]:
    """Return the view of a session (SM-24)."""
    return {
        "session": {
            "id": local_part(session.id),
            "agent": local_part(session.agent_id),
            "head": session.head,
            "revision": session.revision,
            "review": session.review,
            "createdAt": session.created_at,
            "updatedAt": session.updated_at,
        }
    }


def memory_json(view: SessionMemoryView) -> dict[str, Any]:
    """Return the memory of a session (SM-20)."""
    return {
        "entries": {key: _entry(fact) for key, fact in view.entries.items()},
        "processed": list(view.processed),
        "settings": view.settings.to_json(),
        "overrides": dict(view.overrides),
    }


async def _get_session(call: Call) -> Any:
    found, _ = await read(call.deps, call.caller, lambda reading: session_view(reading, _id(call)))
    return session_json(found)


async def _get_memory(call: Call) -> Any:
    view, _ = await read(call.deps, call.caller, lambda reading: session_memory(reading, _id(call)))
    return memory_json(view)


async def _post_memory(call: Call) -> Any:
    await _check_write(call)
    body = await call.body(EditBody)
    if isinstance(body.command, RefreshBody):
        return session_json(await _refresh(call))
    return session_json(await command(call.deps, call.caller, lambda cmd: _edit(cmd, _id(call), body)))


async def _check_write(call: Call) -> None:
    """Refuse who may not write, before the body is looked at (SM-67)."""

    async def look(reading: Reading) -> None:
        require_write(reading.facts, await open_session(reading, _id(call)))

    await read(call.deps, call.caller, look)


async def _edit(cmd: Command, id_: NodeId, body: EditBody) -> Session:
    given = body.command
    if isinstance(given, RememberBody):
        return await remember(cmd, id_, body.seen, key=given.key, content=given.content, kind=given.kind)
    if isinstance(given, ForgetBody):
        return await forget(cmd, id_, body.seen, key=given.key)
    assert isinstance(given, ConfigureBody), "Refresh is no edit"
    return await configure(cmd, id_, body.seen, given.switches)


async def _refresh(call: Call) -> Session:
    try:
        await refresh_session(call.deps, call.kit.models, call.caller, _id(call))
    except ModelError:
        raise Refused(502, "ModelFailed", "the model failed: nothing was learned, try again") from None
    found, _ = await read(call.deps, call.caller, lambda reading: session_view(reading, _id(call)))
    return found


def _id(call: Call) -> NodeId:
    return session_id(call.caller.workspace, call.id("sessionId"))


def _entry(fact: SessionFact) -> dict[str, Any]:
    return {
        "key": fact.key,
        "content": fact.content,
        "kind": fact.kind,
        "sources": list(fact.sources),
        "updatedAt": fact.updated_at,
        "status": fact.status,
    }
