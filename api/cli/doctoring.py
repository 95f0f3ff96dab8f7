"""`rootward doctor`: looks at everything that an installation needs, and says what to do about what is wrong."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx2
from rich.console import Console

from api.adapters.root_key import RootKey
from api.bootstrap import Ports, make_store, open_keyring
from api.cli import exits
from api.cli.given import Chosen
from api.cli.link import find_server
from api.settings import Settings, keyring_file, root_key_origin, store_file
from graph.model.errors import RootwardError

LEAST_DISK_BYTES = 1 << 30
CLOCK_OFF_S = 5.0
NEO4J_LEAST = (5, 26)


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` is empty if it is well."""

    what: str
    found: str
    advice: str = ""


async def doctor(chosen: Chosen, out: Console) -> int:
    """Print what was found; return the exit code: 1 if something is wrong."""
    findings = [one for look in LOOKS for one in await _looked(look, chosen)]
    for one in findings:
        out.print(f"{'WRONG' if one.advice else 'ok   '}  {one.what}: {one.found}")
        if one.advice:
            out.print(f"       {one.advice}")
    wrong = sum(bool(one.advice) for one in findings)
    out.print(f"{wrong} of {len(findings)} checks found something wrong" if wrong else "all is well")
    return exits.FOUND if wrong else exits.DONE


Look = Callable[[Chosen], Awaitable[list[Finding]]]


async def _looked(look: Look, chosen: Chosen) -> list[Finding]:
    try:
        return await look(chosen)
    except RootwardError as error:
        what = look.__name__.strip("_")
        return [Finding(what=what, found=error.wire_code, advice=error.message)]


async def _python(chosen: Chosen) -> list[Finding]:
    del chosen
    version = sys.version_info
    advice = "" if version >= (3, 11) else "install Python 3.11 or newer"
    return [Finding(what="python", found=f"{version.major}.{version.minor}.{version.micro}", advice=advice)]


async def _data_directory(chosen: Chosen) -> list[Finding]:
    folder = chosen.settings.data_dir
    place = folder if folder.exists() else folder.absolute().parent
    writable = os.access(place, os.W_OK | os.X_OK)
    free = shutil.disk_usage(place).free
    return [
        Finding(
            what="data directory",
            found=str(folder) if folder.exists() else f"{folder}, not there yet",
            advice="" if writable else f"let this user write in {place}, or set data_dir to another folder",
        ),
        Finding(
            what="disk",
            found=f"{free / (1 << 30):.1f} GiB free",
            advice="" if free >= LEAST_DISK_BYTES else "make room: with a full disk every write is refused",
        ),
    ]


async def _secret_files(chosen: Chosen) -> list[Finding]:
    folder = chosen.settings.data_dir
    root = RootKey(root_key_origin(chosen.settings), chosen.environ).file
    files = [*([root] if root else []), keyring_file(chosen.settings), *sorted(folder.glob("*.token"))]
    there = [file for file in files if file.is_file()]
    open_ones = [file.name for file in there if stat.S_IMODE(file.stat().st_mode) & 0o077]
    return [
        Finding(
            what="secret files",
            found=f"{len(there)} files",
            advice=f"others can read them: chmod 600 {' '.join(open_ones)}" if open_ones else "",
        )
    ]


async def _keys(chosen: Chosen) -> list[Finding]:
    """Look whether the root key opens the keyring; whether that is the store's shows at its start."""
    keyring = open_keyring(chosen.settings, Ports().clock, chosen.environ)
    workspaces = keyring.workspaces()
    newest = [keyring.newest(workspace).id for workspace in workspaces]
    if workspaces:
        return [Finding(what="keys", found=f"{keyring.root_id} opens {', '.join(newest)}")]
    return [Finding(what="keys", found="none yet: rootward serve makes them, or asks for those of the store")]


async def _server(chosen: Chosen) -> list[Finding]:
    address = await find_server(chosen)
    if not address:
        return [Finding(what="server", found="none runs"), _port(chosen.settings)]
    async with httpx2.AsyncClient(timeout=10.0, trust_env=False) as http:
        try:
            answer = await http.get(f"{address}/health/ready")
        except httpx2.HTTPError:
            return [Finding(what="server", found=f"{address} does not answer", advice="look at its log, or start it")]
    ready = answer.status_code == 200
    return [
        Finding(
            what="server", found=f"{address}, {'ready' if ready else 'not ready'}", advice="" if ready else answer.text
        )
    ]


async def _store(chosen: Chosen) -> list[Finding]:
    """Look at the store without changing it."""
    store = make_store(chosen.settings, Ports().clock)
    file = store_file(chosen.settings)
    steps = await store.migrations()
    missing = [step for step in steps if not step.applied]
    if file is not None and not file.exists():
        return [Finding(what="store", found=f"{store.engine}, not there yet: rootward serve makes it")]
    if len(missing) == len(steps):
        return [Finding(what="store", found=f"{store.engine}, empty: rootward init or serve sets it up")]
    found = f"{store.engine}, form {max(s.number for s in steps if s.applied)} of {len(steps)}"
    return [Finding(what="store", found=found, advice="run rootward migrate" if missing else "")]


async def _neo4j(chosen: Chosen) -> list[Finding]:
    settings = chosen.settings
    if store_file(settings) is not None or settings.store.url == "memory:":
        return []
    from api.adapters.neo4j_look import look

    seen = await look(settings.store.url, settings.store.user, settings.store.password.get_secret_value())
    new_enough = seen.version >= NEO4J_LEAST
    off = abs(seen.clock_s - time.time())
    return [
        Finding(what="neo4j", found=seen.text, advice="" if new_enough else "use Neo4j 5.26 or newer"),
        Finding(
            what="clock",
            found=f"{off:.1f} s from that of Neo4j",
            advice="" if off <= CLOCK_OFF_S else "let both machines keep time by NTP",
        ),
    ]


async def _clock(chosen: Chosen) -> list[Finding]:
    file = store_file(chosen.settings)
    if file is None or not file.exists():
        return []
    ahead = file.stat().st_mtime - time.time()
    advice = "the clock of this machine was set back: correct it" if ahead > CLOCK_OFF_S else ""
    return [Finding(what="clock", found="behind the store" if advice else "not behind the store", advice=advice)]


LOOKS: tuple[Look, ...] = (_python, _data_directory, _secret_files, _keys, _server, _store, _neo4j, _clock)


def _port(settings: Settings) -> Finding:
    host, port = settings.server.host, settings.server.port
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return Finding(what="port", found=f"{host}:{port} is free")
    except OSError as error:
        advice = "set server.port to a free one, or stop what listens there"
        return Finding(what="port", found=f"{host}:{port}: {error.strerror}", advice=advice)
