"""Sandbox sessions in a service, for agents that run here. Source: SB-119."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

import httpx2

from rootward.models import ModelBook
from rootward.remote.session import ServiceSandboxSession, Sleep
from rootward.remote.wire import manifest_body, refusing
from rootward.sandbox.manifest import Manifest
from rootward.service.client import TIMEOUT_S, AsyncClient
from rootward.service.failures import Forbidden
from rootward.service.retries import Retries
from rootward.service.sandboxes import SandboxSnapshot


class ServiceSandboxClient:
    """Makes and resumes sandbox sessions in a service; agents run in them as in those of `UnixLocalSandboxClient`.

    The workspace, its memory and the models that make memory are the service's; the agents' own models are asked from
    here. Two things differ from a local directory: no command is run (`NoShell` tells the model so), and models of
    `MemoryGenerateConfig` are names that the service knows.

    Args:
        base_url: such as ``https://rootward.example``.
        api_key: ``rw_…``; needs the verb ``run`` in its workspace, and ``write`` to delete.
        models: names to models of agents, or to addresses that speak OpenAI's Chat Completions (`Endpoint`).
        timeout_s: of one request; a close that takes longer is waited for all the same.
        retries: when to send again.
        http: an HTTP client of yours, for certificates and proxies; you close it.
        sleep: waits between tries.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        models: ModelBook | None = None,
        timeout_s: float = TIMEOUT_S,
        retries: Retries | None = None,
        http: httpx2.AsyncClient | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._client = AsyncClient(base_url, api_key, timeout_s=timeout_s, retries=retries, http=http, sleep=sleep)
        self._models = dict(models or {})
        self._sleep = sleep

    async def create(
        self, *, manifest: Manifest | None = None, snapshot: SandboxSnapshot | str | None = None
    ) -> ServiceSandboxSession:
        """Open a session on a new workspace.

        Args:
            manifest: files of the new workspace; without one the first agent's default manifest counts.
            snapshot: what the workspace starts as; entries of the manifest are then added where they are absent.

        Raises:
            NotFound: there is no such snapshot.
            NotThroughService: a file of the manifest is no UTF-8.
        """
        body = None if manifest is None else manifest_body(manifest)
        start = snapshot.id if isinstance(snapshot, SandboxSnapshot) else snapshot
        with refusing():
            made = await self._client.sandboxes.create(manifest=body, snapshot_id=start)
        return self._session(made.id, manifest_is_due=manifest is None and snapshot is None)

    async def resume(self, session_id: str) -> ServiceSandboxSession:
        """Go on in a session that is open; of one that was closed, in a new one over a copy of its workspace.

        The new session has another id: a service keeps what a closed one came to. Source: SB-98, SB-111.

        Raises:
            NotFound: there is none, or none that the key may read.
        """
        if not session_id.startswith("sbx_"):
            raise ValueError("the id of a sandbox session begins with sbx_")
        view = await self._client.sandboxes.read(session_id)
        if view.status == "open":
            is_empty = not (await self._client.sandboxes.files(session_id, limit=1)).items
            return self._session(session_id, manifest_is_due=is_empty)
        session = self._session(session_id, manifest_is_due=False)
        await session.close()  # waits for one that is just being closed
        copy = await session.snapshot()
        again = await self.create(snapshot=copy)
        with suppress(Forbidden):  # without `write` it stays until somebody who may deletes it
            await self.delete_snapshot(copy)
        return again

    async def delete(self, session: ServiceSandboxSession) -> None:
        """Remove a closed session with its workspace and memory; snapshots stay.

        Raises:
            ValueError: the session is not closed.
        """
        if session.status != "closed":
            raise ValueError("close the sandbox session before deleting it")
        await self._client.sandboxes.delete(session.id)

    async def delete_snapshot(self, snapshot: SandboxSnapshot | str) -> None:
        """Remove a snapshot."""
        await self._client.sandboxes.delete_snapshot(snapshot if isinstance(snapshot, str) else snapshot.id)

    async def close(self) -> None:
        """Close the connections; sessions stay as they are."""
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _session(self, session_id: str, *, manifest_is_due: bool) -> ServiceSandboxSession:
        return ServiceSandboxSession(
            self._client.sandboxes,
            session_id,
            models=self._models,
            manifest_is_due=manifest_is_due,
            sleep=self._sleep,
        )
