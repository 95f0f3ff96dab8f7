"""`rootward serve`: the server, its first start, its background work and its end.

The store is opened before the port is bound, so that a second process on the same store is told whose it is (AD-39)
and nobody is answered before everything is ready. On SIGTERM the server stops accepting, finishes what it is doing
within `server.shutdown_seconds` and exits 0 (AD-38).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import structlog
import uvicorn

from api.adapters.memory import collect_seldom, give_back
from api.bootstrap import Service, build, running
from api.cli import places, shown
from api.cli.background import background
from api.cli.first_start import FirstStart, ensure_workspace, prepare
from api.cli.model_choice import light_name
from api.cli.operator_routes import operator_routes
from api.cli.welcome import welcome
from api.graphql.handshake import Sockets
from api.observability import start_logging
from api.settings import Settings, store_file
from graph.model.errors import SettingsInvalid

MORE_PORTS = 50
"""So many ports above the default one are tried if it is taken and nobody asked for it."""
SECRET_BYTES = 32
CLOSING_S = 3
"""Of the time for the end, so much is left for closing the store."""
_STOPS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Serving:
    """What `serve` was asked to do.

    Attributes:
        sample: tell the sample story when the store is new.
        tokens: print the tokens of the sample's people also where no terminal is.
        port_given: somebody chose the port, so no other is taken in its place.
        log_given: somebody chose the form of the log.
    """

    settings: Settings
    environ: Mapping[str, str]
    sample: bool
    tokens: bool
    port_given: bool
    log_given: bool


class GracefulServer(uvicorn.Server):
    """A server that ends by SIGTERM or SIGINT as by a call of `stop`: the process then exits 0, not by the signal."""

    def __init__(self, config: uvicorn.Config, ending: asyncio.Event) -> None:
        super().__init__(config)
        self._ending = ending

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to `serve`."""
        yield

    def stop(self) -> None:
        """Stop accepting and finish; asked again, do not wait any longer."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._ending.set()


async def serve(asked: Serving) -> None:
    """Run the server until it is told to stop.

    Raises:
        StoreLocked, StoreUnavailable, StoreNewer: the store cannot be opened.
        SettingsInvalid: the port is taken, or an adapter does not exist.
    """
    settings = asked.settings
    start_logging(settings.log.level, _log_form(asked))
    await _first_start(asked)
    secret = secrets.token_hex(SECRET_BYTES)
    service = build(settings, more_routes=operator_routes(lambda: service.deps, secret))
    server = GracefulServer(_config(service), service.ending)
    # Before anything is said: who reads that the server runs may end it at once.
    with _stopped_by_signals(server.stop, settings.server.shutdown_seconds):
        async with running(service.deps):
            await ensure_workspace(settings, service.deps)
            listener = listen(settings, port_given=asked.port_given)
            address = address_of(listener)
            service.announce(address)
            places.write_server(settings.data_dir, address, secret)
            _greet(asked, address, light=await light_name(service.deps))
            collect_seldom()
            async with _background(service):
                await server.serve(sockets=[listener])
            places.forget_server(settings.data_dir)


def listen(settings: Settings, *, port_given: bool) -> socket.socket:
    """Return a socket that listens where the settings say, or, if nobody asked for the port, just above it.

    Raises:
        SettingsInvalid: the port is taken, or the host is none of this machine.
    """
    host, port = settings.server.host, settings.server.port
    for one in range(port, port + 1 + (0 if port_given else MORE_PORTS)):
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, one), family=family, backlog=2_048)
        except OSError as error:
            taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
            name, allowed = ("server.port", "a free port") if taken else ("server.host", "an address of this machine")
            failure = SettingsInvalid(
                f"cannot listen at {host}:{one}: set {name} to {allowed}", name=name, origin="start", allowed=allowed
            )
            if not taken:
                raise failure from error
    raise failure


def address_of(listener: socket.socket) -> str:
    """Return the address for clients on this machine."""
    host, port = listener.getsockname()[:2]
    shown_host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown_host}:{port}"


async def _first_start(asked: Serving) -> None:
    """Make what a new store needs, with a bar while the sample is told."""
    file = store_file(asked.settings)
    if file is None or (file.exists() and file.stat().st_size):
        return
    with shown.bar("Telling the sample story") as bar:
        first = FirstStart(
            sample=asked.sample,
            progress=bar if asked.sample else None,
            environ=asked.environ,
            dreaming=lambda model, done: bar.begin(f"Dreaming about it ({model})", done),
        )
        await prepare(asked.settings, first)
    give_back()


def _greet(asked: Serving, address: str, *, light: str | None) -> None:
    console = shown.out()
    said = welcome(
        asked.settings,
        address,
        environ=asked.environ,
        on_terminal=console.is_terminal,
        tokens=asked.tokens,
        light=light,
    )
    console.print("\n".join(said.lines()))
    sys.stdout.flush()
    structlog.get_logger().info("serving", address=address, pid=os.getpid(), engine=asked.settings.store.url[:8])


def _config(service: Service) -> uvicorn.Config:
    limit = service.settings.server.shutdown_seconds
    return uvicorn.Config(
        service.app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        ws=Sockets,
        ws_max_size=service.settings.graphql.max_body_bytes,
        timeout_graceful_shutdown=max(1, limit - CLOSING_S),
    )


@contextmanager
def _stopped_by_signals(stop: Callable[[], None], limit_s: int) -> Iterator[None]:
    """Call `stop` on SIGTERM and SIGINT; should the end take longer than the limit, end at once.

    Ending at once loses nothing that was acknowledged: every commit is on disk before it is answered.
    """
    loop = asyncio.get_running_loop()

    def told(name: str) -> None:
        structlog.get_logger().info("stopping", signal=name)
        stop()
        loop.call_later(limit_s, os._exit, 0)

    for one in _STOPS:
        loop.add_signal_handler(one, told, one.name)
    try:
        yield
    finally:
        for one in _STOPS:
            loop.remove_signal_handler(one)


@asynccontextmanager
async def _background(service: Service) -> AsyncIterator[None]:
    """Do the background work beside the requests, if the settings say so."""
    if not service.settings.worker.in_server:
        yield
        return
    task = asyncio.create_task(background(service.settings, service.deps))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _log_form(asked: Serving) -> str:
    """Return the form of the log: on a terminal the one for people, unless somebody chose."""
    form = asked.settings.log.format
    return form if asked.log_given or not sys.stderr.isatty() else "console"
