"""Sessions as a host drives them in process, and their memory as a client of the REST routes sees it.

`SessionRoom` belongs to one test. The session ``ses_41`` of Atlas begins as the acceptance examples say: items ``i-01``
to ``i-10``, all of them processed, revision 11, no entries; Ana is its person.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2

from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import Organization
from graph.model.nodes.sessions import Session, SessionItem
from graph.rules.session_memory import Seen
from graph.services.access.commands import Command, command
from graph.services.access.provisioning import create_organization, set_organization
from graph.services.access.session import read
from graph.services.sessions.changing import Actor, FactState, apply_change
from graph.services.sessions.commands import configure, forget, remember
from graph.services.sessions.finding import hold_session
from graph.services.sessions.host import NewItem, append_item, create_session, fork_session, restore_version
from graph.services.sessions.memory import SessionMemoryView, session_memory
from graph.services.sessions.turns import begin_turn, complete_turn
from graph.store.port import Writer
from tests.support.world import TeamWorld

T = TypeVar("T")
Json = dict[str, Any]


@dataclass
class SessionRoom:
    """The host, the people and the sessions of one test."""

    world: TeamWorld
    heads: dict[str, str] = field(default_factory=dict)
    """Version that each item made, by its local id."""

    def id(self, local: str) -> NodeId:
        return hosted_id(Session.PREFIX, self.world.workspace, local)

    async def host(self, work: Callable[[Command], Awaitable[T]]) -> T:
        """Run a command as the host."""
        return await command(self.world.deps, self.world.caller(self.world.host), work)

    async def as_ana(self, work: Callable[[Command], Awaitable[T]]) -> T:
        """Run a command as the person of the sessions."""
        return await command(self.world.deps, self.world.caller(self.world.ana), work)

    async def make(self, local: str = "ses_41", **fields: Any) -> Session:
        """Make a session of Atlas without items; Ana is its person."""
        given = {"agent_id": self.world.atlas, "person_id": self.world.ana, **fields}
        return await self.host(lambda cmd: create_session(cmd, local_id=local, **given))

    async def start(self, **fields: Any) -> Session:
        """Make ``ses_41`` in the state that the acceptance examples start from."""
        await self.make(**fields)
        items = [f"i-{number:02}" for number in range(1, 11)]
        for item in items:
            await self.say(item)
        return await self.learn(processed=items)

    async def say(self, item: str, text: str = "Said.", *, local: str = "ses_41", **fields: Any) -> SessionItem:
        """Append an item as the host; a message of Ana unless `fields` says otherwise."""
        given = {"type": "person_message", "person_id": self.world.ana, **fields}
        new = NewItem(local_id=item, text=text, occurred_at=self.world.deps.now(), **given)
        made = await self.host(lambda cmd: append_item(cmd, self.id(local), new))
        self.heads[item] = made.head
        return made

    async def learn(self, *facts: FactState, processed: list[str] | None = None, local: str = "ses_41") -> Session:
        """Write what a consolidation learned, as the agent."""
        by = Actor(id=self.world.atlas, kind=ModifierKind.DREAMING)

        async def work(writer: Writer) -> Session:
            session = await hold_session(writer, self.id(local))
            deps = self.world.deps
            return await apply_change(
                writer, deps, session, by, facts=facts, processed=processed or (), tx_id=deps.ids.new(), at=deps.now()
            )

        return await self.world.deps.store.transact(work)

    async def session(self, local: str = "ses_41") -> Session:
        """Return the present state of a session."""
        return (await self.memory(local)).session

    async def memory(self, local: str = "ses_41", who: NodeId | None = None) -> SessionMemoryView:
        """Read the memory of a session, as Ana if nobody else is named."""
        caller = self.world.caller(who or self.world.ana)
        view, _ = await read(self.world.deps, caller, lambda reading: session_memory(reading, self.id(local)))
        return view

    async def seen(self, local: str = "ses_41") -> Seen:
        """Return what a client sees of a session now."""
        now = await self.session(local)
        return Seen(head=now.head, revision=now.revision)

    async def remember(
        self, key: str, content: str = "Porto.", *, kind: str = "decision", local: str = "ses_41"
    ) -> Session:
        """Remember a fact as Ana, with what she sees now."""
        seen = await self.seen(local)
        return await self.as_ana(lambda cmd: remember(cmd, self.id(local), seen, key=key, content=content, kind=kind))

    async def forget(self, key: str, *, local: str = "ses_41") -> Session:
        """Forget a fact as Ana, with what she sees now."""
        seen = await self.seen(local)
        return await self.as_ana(lambda cmd: forget(cmd, self.id(local), seen, key=key))

    async def configure(self, *, local: str = "ses_41", **switches: bool | None) -> Session:
        """Set switches as Ana, with what she sees now."""
        seen = await self.seen(local)
        return await self.as_ana(lambda cmd: configure(cmd, self.id(local), seen, switches))

    async def fork(self, to: str, *, at: str | None = None, local: str = "ses_41") -> Session:
        """Fork a session at a version, the present one by default."""
        head = at or (await self.session(local)).head
        return await self.host(lambda cmd: fork_session(cmd, self.id(local), head, local_id=to))

    async def restore(self, head: str, *, local: str = "ses_41") -> Session:
        """Return a session to a version."""
        return await self.host(lambda cmd: restore_version(cmd, self.id(local), head))

    async def begin(self, turn: str, *, local: str = "ses_41") -> str:
        """Begin a turn of Ana and return its instructions."""
        return await self.host(lambda cmd: begin_turn(cmd, self.id(local), turn, self.world.ana))

    async def complete(self, turn: str, model: str | None = None, *, local: str = "ses_41") -> None:
        """Complete a turn."""
        await self.host(lambda cmd: complete_turn(cmd, self.id(local), turn, model))

    async def organization(self, **settings: Any) -> Organization:
        """Make an organization with settings, as the admin."""
        dan = self.world.caller(self.world.dan)
        return await command(
            self.world.deps, dan, lambda cmd: create_organization(cmd, "Heron", settings=settings or None)
        )

    async def set_organization(self, organization: Organization, **settings: Any) -> Organization:
        """Change settings of an organization, as the admin."""
        dan = self.world.caller(self.world.dan)
        return await command(
            self.world.deps,
            dan,
            lambda cmd: set_organization(
                cmd, organization.id, expected_version=organization.version, settings=settings
            ),
        )


@dataclass
class SessionClient:
    """A client of one session's routes with a token."""

    http: httpx2.AsyncClient
    token: str
    session: str = "ses_41"

    @property
    def path(self) -> str:
        return f"/v1/sessions/{self.session}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def view(self) -> Json:
        """Return ``session`` of the session's view."""
        return dict((await self._ok(await self.http.get(self.path, headers=self.headers)))["session"])

    async def memory(self) -> Json:
        return await self._ok(await self.http.get(f"{self.path}/memory", headers=self.headers))

    async def send(self, body: Any, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        """Post a body as it is."""
        return await self.http.post(f"{self.path}/memory", json=body, headers={**self.headers, **(headers or {})})

    async def try_(self, tag: str, **fields: Any) -> httpx2.Response:
        """Post a command for the state that is seen now."""
        now = await self.view()
        command_ = {"_tag": tag, **fields}
        return await self.send({"expected": now["head"], "revision": now["revision"], "command": command_})

    async def edit(self, tag: str, **fields: Any) -> Json:
        """Post a command for the state that is seen now, which must succeed, and return the session's view."""
        return dict((await self._ok(await self.try_(tag, **fields)))["session"])

    async def _ok(self, response: httpx2.Response) -> Json:
        assert response.status_code == 200, response.text
        return dict(response.json())
