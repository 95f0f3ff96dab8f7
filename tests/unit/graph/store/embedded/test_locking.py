"""Ownership of a file. Source: AD-39."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from graph.model.errors import StoreLocked
from graph.store.embedded import EmbeddedStore
from graph.store.embedded.locking import Owner, Ownership, owner_of
from tests.support.clock import FakeClock
from tests.unit.graph.store.embedded.disk import damage

pytestmark = pytest.mark.req("AD-39")


async def test_a_second_store_is_told_pid_and_address_of_the_owner(
    store: EmbeddedStore, path: Path, clock: FakeClock
) -> None:
    store.announce("http://127.0.0.1:8000")
    with pytest.raises(StoreLocked, match=r"http://127\.0\.0\.1:8000") as caught:
        await EmbeddedStore(path, clock=clock).open()
    assert caught.value.details == {"pid": os.getpid(), "address": "http://127.0.0.1:8000"}


async def test_a_closed_store_can_be_owned_by_another(store: EmbeddedStore, path: Path, clock: FakeClock) -> None:
    await store.close()
    other = EmbeddedStore(path, clock=clock)
    await other.open()
    await other.close()


async def test_a_store_that_could_not_be_opened_gives_up_its_lock(path: Path, clock: FakeClock) -> None:
    damage(path)
    with pytest.raises(Exception, match="damaged"):
        await EmbeddedStore(path, clock=clock).open()
    assert owner_of(path) is None


async def test_the_owner_can_be_looked_up_without_disturbing_it(store: EmbeddedStore, path: Path) -> None:
    store.announce("unix:/run/rootward")
    assert owner_of(path) == Owner(pid=os.getpid(), address="unix:/run/rootward")
    store.announce("")
    assert owner_of(path) == Owner(pid=os.getpid())
    await store.close()
    assert owner_of(path) is None


def _own_until_killed(path: Path, pipe: Connection) -> None:
    Ownership(path).take()
    pipe.send("taken")
    pipe.recv()


def test_a_lock_ends_with_its_process(path: Path) -> None:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_own_until_killed, args=(path, there), daemon=True)
    process.start()
    assert here.recv() == "taken"
    with pytest.raises(StoreLocked) as caught:
        Ownership(path).take()
    assert caught.value.details["pid"] == process.pid
    process.kill()
    process.join()
    ownership = Ownership(path)
    ownership.take()
    ownership.release()
