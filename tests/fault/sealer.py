"""Seals texts and rotates keys on an embedded store, in a process of its own that a test kills.

    python -m tests.fault.sealer FOLDER SCRIPT [NUMBER]

The folder holds the store, the root key and the keyring, as a data directory does. Scripts: ``fill`` writes NUMBER
nodes of all kinds with sealed fields and says ``filled``, then waits until it is killed or its input ends; ``rotate``
begins a rotation or goes on with one and says ``batch`` after each batch; the n-th process of a loop gives its NUMBER,
so that the lease of a dead one is over; ``retire`` forgets the old keys; ``read`` opens everything and says
``opened COUNT KEYS``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from api.adapters.keyring import FileKeyring
from api.adapters.root_key import RootKey
from api.adapters.system import SystemRandomness
from dreaming.resealing import reseal
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.errors import RootwardError
from graph.model.fields import Node
from graph.model.ids import WorkspaceId
from graph.services.access.workspaces import init_workspace
from graph.services.admin import resealing
from graph.services.admin.keys import retire, rotate, unlock
from graph.services.deps import Deps
from graph.store.embedded import EmbeddedStore
from graph.store.query import Find
from graph.store.sealing import Vault, key_id_of
from tests.fault.driver import RandomIds, TellingStore, say, world_on
from tests.support.held_clock import HeldClock
from tests.support.plain_texts import STEM, canary
from tests.support.sealed_nodes import sealed_nodes, texts_of

SPACE = WorkspaceId("main")
STORE = "rootward.db"
STEP = timedelta(minutes=10)
READING = SystemScope(reason="opening everything")


def keyring_of(folder: Path, clock: HeldClock) -> FileKeyring:
    """Return the keyring of a data directory."""
    return FileKeyring(folder / "keyring.json", RootKey(f"file:{folder / 'root.key'}", {}), clock)


def deps_on(folder: Path, number: int, store: type[EmbeddedStore] = TellingStore) -> Deps:
    """Return the ports of the core in the n-th process of a loop."""
    clock = HeldClock()
    clock.advance(number * STEP)
    deps = world_on(store(folder / STORE, clock=clock), clock, RandomIds(), number).deps
    return replace(deps, vault=Vault(keyring_of(folder, clock), SystemRandomness()))


async def fill(deps: Deps, number: int) -> None:
    await init_workspace(deps, SPACE)
    for start in range(0, number, 250):
        nodes = sealed_nodes(deps.vault, SPACE, min(250, number - start), canary, start=start)
        await deps.store.transact(lambda writer, found=nodes: writer.put(found))  # type: ignore[misc]
    say("filled")
    await asyncio.to_thread(sys.stdin.read)


async def turn(deps: Deps, number: int) -> None:
    """Begin a rotation or go on with one, and do its work."""
    await rotate(deps, SPACE)
    worker = Worker(deps=deps, anchor_minutes=0, handlers={"reseal": reseal})
    say(f"worked {await worker.step()}")


async def forget(deps: Deps, number: int) -> None:
    say(f"forgot {' '.join((await retire(deps, SPACE)).dropped)}")


async def read(deps: Deps, number: int) -> None:
    nodes = await all_sealed(deps)
    texts = [text for node in nodes for text in texts_of(deps.vault, node)]
    assert all(text.startswith(STEM) for text in texts)
    say(f"opened {len(set(texts))} {' '.join(sorted(keys_of(nodes)))}")


async def all_sealed(deps: Deps) -> list[Node]:
    """Return every node that has sealed fields."""
    async with deps.store.reading() as reader:
        pages = [await reader.find(READING, Find(kind=spec.node)) for spec in resealing.sealing_kinds()]
    return [node for page in pages for node in page.nodes]


def keys_of(nodes: list[Node]) -> set[str]:
    """Return the ids of the keys that seal the texts of nodes."""
    specs = {spec.node: spec for spec in resealing.sealing_kinds()}
    return {key_id_of(sealed) for node in nodes for _, sealed in resealing.sealed_fields(specs[type(node)], node)}


SCRIPTS: dict[str, Callable[[Deps, int], Awaitable[None]]] = {
    "fill": fill,
    "rotate": turn,
    "retire": forget,
    "read": read,
}


async def run(folder: Path, script: str, number: int) -> None:
    deps = deps_on(folder, number)
    await deps.store.open()
    try:
        await unlock(deps)
        await SCRIPTS[script](deps, number)
    finally:
        await deps.store.close()


def main(arguments: list[str]) -> Any:
    folder, script, number = Path(arguments[0]), arguments[1], int((arguments[2:] or ["0"])[0])
    resealing.BATCH = 20
    try:
        asyncio.run(run(folder, script, number))
    except RootwardError as error:
        say(f"error {error.wire_code} {error.details.get('key_id', '')}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
