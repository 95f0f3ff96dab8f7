"""How a command reaches the service: the running server if there is one, else the store itself, opened here (AD-39).

Either way the same GraphQL documents are sent with the same token, so that a command does the same things and is
refused the same things.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from api.cli import places
from api.cli.exits import ServerRefused
from api.cli.given import Chosen
from api.settings import store_file
from graph.model.errors import BadInput, BadState, StoreLocked, StoreUnavailable

if TYPE_CHECKING:
    from graph.services.deps import Deps

URL = "ROOTWARD_URL"
TOKEN = "ROOTWARD_TOKEN"
TIMEOUT_S = 120.0
_HERE = "http://rootward.here"


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A way to the service.

    Attributes:
        address: of the running server; empty if the store is open in this process.
        here: the ports of the store that is open in this process.
    """

    http: httpx2.AsyncClient
    chosen: Chosen
    address: str = ""
    here: Deps | None = None

    @property
    def deps(self) -> Deps:
        """The ports of the store in this process; only where no server runs."""
        assert self.here is not None
        return self.here

    def token(self, who: str | None = None) -> str:
        """Return the token of somebody by his file; for nobody in particular ``ROOTWARD_TOKEN``, else the admin's.

        Raises:
            BadInput: there is none.
        """
        return token_of(self.chosen, who)

    async def run(self, query: str, /, *, token: str, **variables: Any) -> Any:
        """Run an operation and return its data.

        Raises:
            ServerRefused: the service answered with an error; of several the first.
            StoreUnavailable: nobody answers there any more.
        """
        body = await self._post(
            "/graphql", {"query": query, "variables": variables}, {"Authorization": f"Bearer {token}"}
        )
        errors = body.get("errors") or []
        if errors:
            raise _refused(errors[0])
        return body["data"]

    async def operate(self, what: str, arguments: dict[str, Any], *, token: str = "") -> Any:
        """Ask the running server for what only the operator of its machine may ask, such as a whole export.

        Raises:
            ServerRefused: it was refused.
            BadInput: this process may not read the server's secret.
        """
        headers = {"Rootward-Operator": places.read_secret(self.chosen.settings.data_dir)}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        body = await self._post(f"/operator/{what}", arguments, headers)
        if body.get("errors"):
            raise _refused(body["errors"][0])
        return body

    async def _post(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        sent = _encoded(body)
        try:
            answer = await self.http.post(path, content=sent, headers={"Content-Type": "application/json", **headers})
            found = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise StoreUnavailable(f"the server at {self.address or 'this process'} does not answer") from error
        if not isinstance(found, dict):
            raise StoreUnavailable(f"what answers at {self.address} is no Rootward server")
        return found


def _encoded(body: dict[str, Any]) -> bytes:
    """Return a body as it is sent.

    Raises:
        BadInput: an argument is no UTF-8, or a number that JSON has no word for.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError:
        raise BadInput("what is given cannot be sent: write texts in UTF-8, and numbers with bounds") from None


@asynccontextmanager
async def linked(chosen: Chosen) -> AsyncIterator[Link]:
    """Give the way to the service.

    Raises:
        StoreLocked: another process has the store open and is no server.
        StoreUnavailable, StoreNewer: the store cannot be opened.
    """
    address = await find_server(chosen)
    if address:
        async with httpx2.AsyncClient(base_url=address, timeout=TIMEOUT_S, trust_env=False) as http:
            yield Link(http=http, chosen=chosen, address=address)
        return
    require_store(chosen)
    # Only now: a command that talks to a server starts in a tenth of the time.
    from api.bootstrap import build
    from api.observability import start_logging

    start_logging("error", "json")
    service = build(chosen.settings)
    app = service.app
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url=_HERE, timeout=TIMEOUT_S) as http:
            yield Link(http=http, chosen=chosen, here=service.deps)


def token_of(chosen: Chosen, who: str | None = None) -> str:
    """Return the token of somebody by his file; for nobody in particular ``ROOTWARD_TOKEN``, else the admin's.

    Raises:
        BadInput: there is none.
    """
    given = chosen.environ.get(TOKEN, "")
    if who is None and given:
        return given
    return places.read_token(places.token_file(chosen.settings.data_dir, who or places.ADMIN))


def require_store(chosen: Chosen) -> None:
    """Refuse to work on an embedded store that is not there, rather than make an empty one.

    Raises:
        BadState: there is none.
    """
    file = store_file(chosen.settings)
    if file is not None and not file.exists():
        raise BadState(f"no server runs, and there is no store at {file}: start with rootward serve")


async def find_server(chosen: Chosen) -> str:
    """Return the address of the running server; empty if there is none.

    Raises:
        StoreLocked: a process that is no server owns the store.
    """
    if chosen.environ.get(URL):
        return chosen.environ[URL].rstrip("/")
    if chosen.settings.store.url.startswith("embedded:"):
        return _owner_address(chosen)
    running = places.read_server(chosen.settings.data_dir)
    return running if running and await _answers(running) else ""


def _owner_address(chosen: Chosen) -> str:
    from graph.store.embedded.locking import owner_of  # reads one small file; imports no engine of ours

    file = store_file(chosen.settings)
    owner = None if file is None else owner_of(file)
    if owner is not None and not owner.address:
        message = f"process {owner.pid} is using this store: wait for its end, or stop it"
        raise StoreLocked(message, pid=owner.pid, address="")
    return owner.address if owner else ""


async def _answers(address: str) -> bool:
    try:
        async with httpx2.AsyncClient(timeout=2.0, trust_env=False) as http:
            return (await http.get(f"{address}/health/live")).status_code == 200
    except httpx2.HTTPError:
        return False


def _refused(error: dict[str, Any]) -> ServerRefused:
    extensions = error.get("extensions") or {}
    status = extensions.get("status")
    return ServerRefused(
        str(error.get("message", "the server refused")),
        code=str(extensions.get("code", "INTERNAL")),
        status=status if isinstance(status, int) else 500,
    )
