"""`rootward keys`: what the operator of the machine does with the keys that seal; ids only, never a key (AD-30)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console

from api.adapters.keyring import FileKeyring
from api.adapters.root_key import RootKey
from api.adapters.system import SystemClock
from api.cli import exits, shown
from api.cli.given import Chosen
from api.cli.link import Link, linked
from api.cli.words import day
from api.settings import keyring_file, root_key_origin, store_file
from graph.model.errors import BadInput, BadState
from graph.model.ids import WorkspaceId
from graph.model.time import render

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from graph.services.deps import Deps

LOOK_EVERY_S = 0.25
HEAD = ("Workspace", "Key", "Made", "State")
UNFINISHED = ("queued", "running")
_PATIENCE = 80
"""After so many looks people are told if nobody does the work."""


def create(chosen: Chosen, out: Console) -> None:
    """Make the root key, if it is a file, and the first key of the workspace, ahead of the first start.

    Raises:
        BadState: there are keys, or a store, which gets its keys when it is started.
    """
    file, workspace = store_file(chosen.settings), chosen.settings.workspace
    keyring = _keyring(chosen)
    if keyring.keys(workspace):
        raise BadState(f"the workspace {workspace} has a key: `rootward keys rotate` makes a new one")
    if file is not None and file.exists():
        raise BadState(f"the store at {file} has its keys, or gets them when it is started next")
    key_id = keyring.make(workspace)
    keyring.use(workspace, key_id)
    out.print(f"{workspace}: {key_id} in {keyring.file}, under {keyring.root_id} from {keyring.root.shown}")


def list_keys(chosen: Chosen, out: Console) -> None:
    """Print the ids of all keys and which of them seals."""
    keyring = _keyring(chosen)
    rows = [row for workspace in keyring.workspaces() for row in _rows(keyring, workspace)]
    out.print(columns_of(rows) if rows else f"there are no keys in {keyring.file} yet")
    if rows:
        out.print(f"root key: {keyring.root_id} from {keyring.root.shown}")


def columns_of(rows: list[tuple[str, ...]]) -> str:
    """Return the list of keys as it is printed."""
    return shown.columns(rows, HEAD)


async def rotate(chosen: Chosen, out: Console) -> int:
    """Seal everything with a new key while the service runs, or go on where that was cut off; return the exit code."""
    async with linked(chosen) as link:
        found = await _followed(link, await _ask(link, "rotate"))
    for workspace, one in found.items():
        out.print(f"{workspace}: {_rotated(one)}")
    good = all(one["state"] == "succeeded" and not one["broken"] for one in found.values())
    return exits.DONE if good else exits.FOUND


async def retire(chosen: Chosen, out: Console) -> None:
    """Forget the keys that seal nothing any more; waits until what was under way at the rotation is over.

    Raises:
        BadState: a rotation is under way, or something cannot be sealed anew.
    """
    async with linked(chosen) as link:
        found = await _ask(link, "retire")
        with shown.bar("Waiting for what was under way") as bar:
            first = _wait_s(found)
            while (left := _wait_s(found)) > 0:
                bar(int(first - left), int(first))
                await asyncio.sleep(min(left, 1.0))
                found = await _ask(link, "retire")
    for workspace, one in found.items():
        out.print(f"{workspace}: {', '.join(one['dropped']) or 'no old keys'}{' forgotten' if one['dropped'] else ''}")


async def operate(deps: Deps, do: str) -> dict[str, dict[str, Any]]:
    """Do something with the keys of every workspace; return what came of it by workspace.

    Args:
        deps: of the process that has the store open.
        do: ``rotate``, ``progress`` or ``retire``.

    Raises:
        BadInput: something else is asked for.
        BadState, StoreKeyMissing, StoreUnavailable: as `graph.services.admin.keys`.
    """
    from graph.services.knowledge.anchors import workspaces

    return {workspace: await _operate_on(deps, workspace, do) for workspace in sorted(await workspaces(deps))}


async def _operate_on(deps: Deps, workspace: WorkspaceId, do: str) -> dict[str, Any]:
    from graph.services.admin import keys

    if do == "retire":
        retired = await keys.retire(deps, workspace)
        return {"dropped": list(retired.dropped), "waitMs": retired.wait_ms}
    if do not in ("rotate", "progress"):
        raise BadInput("ask for rotate, progress or retire", field="do")
    found = await (keys.rotate if do == "rotate" else keys.rotation)(deps, workspace)
    return {
        "key": found.key_id,
        "state": found.state,
        "done": found.done,
        "total": found.total,
        "broken": found.broken,
        "reason": found.reason,
    }


async def _ask(link: Link, do: str) -> dict[str, dict[str, Any]]:
    """Ask the running server, else do it on the store that is open here."""
    if link.address:
        return dict((await link.operate("keys", {"do": do}))["workspaces"])
    return await operate(link.deps, do)


async def _followed(link: Link, found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Show how far rotations are until they are over; return what they came to."""
    looks = 0
    with shown.bar("Sealing with the new key") as bar:
        async with _working(link):
            while any(one["state"] in UNFINISHED for one in found.values()):
                looks += 1
                if looks == _PATIENCE and all(one["state"] != "running" for one in found.values()):
                    shown.aside().print("no worker has begun yet: is `rootward worker` running?")
                bar(sum(one["done"] for one in found.values()), sum(one["total"] for one in found.values()))
                await asyncio.sleep(LOOK_EVERY_S)
                found = await _ask(link, "progress")
    return found


@asynccontextmanager
async def _working(link: Link) -> AsyncIterator[None]:
    """Do the job here, if no server runs whose worker does it."""
    if link.address:
        yield
        return
    task = asyncio.ensure_future(_work(link))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _work(link: Link) -> None:
    from api.cli.background import make_worker

    worker = make_worker(link.chosen.settings, link.deps)
    while True:
        if not await worker.step(["reseal"]):
            await asyncio.sleep(LOOK_EVERY_S)


def _wait_s(found: Mapping[str, Mapping[str, Any]]) -> float:
    return max((one["waitMs"] for one in found.values()), default=0) / 1_000


def _rotated(one: Mapping[str, Any]) -> str:
    if one["state"] != "succeeded":
        return f"{one['key']} seals what is new; the rest waits ({one['reason'] or one['state']}): rotate again"
    if one["broken"]:
        return f"{one['key']}; {one['broken']} objects hold texts that no key opens: restore them from a backup"
    return f"everything is sealed with {one['key']}; `rootward keys retire` forgets the older ones"


def _rows(keyring: FileKeyring, workspace: str) -> list[tuple[str, ...]]:
    keys = keyring.keys(workspace)
    sealing = [key.id for key in keys if key.seals_since is not None][-1:]
    return [
        (
            workspace,
            key.id,
            day(render(key.made_at)),
            "seals" if key.id in sealing else "opens what it sealed" if key.seals_since is not None else "made",
        )
        for key in keys
    ]


def _keyring(chosen: Chosen) -> FileKeyring:
    root = RootKey(root_key_origin(chosen.settings), chosen.environ)
    return FileKeyring(keyring_file(chosen.settings), root, SystemClock())
