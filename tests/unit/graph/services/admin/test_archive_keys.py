"""Archives of sealed texts: carried as they are, loaded only where their keys are; what older versions kept plainly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.model.access import SystemScope
from graph.model.errors import ArchiveInvalid, StoreKeyMissing
from graph.model.fields import Node
from graph.model.ids import WorkspaceId
from graph.model.nodes.bots import BotEntry
from graph.model.nodes.learning import ModelCall
from graph.model.nodes.people import Workspace
from graph.services.access.workspaces import add_workspace
from graph.services.admin.archive import export_archive, import_archive
from graph.services.admin.archive_forms import of_today
from graph.services.admin.archive_keys import check_keys
from graph.services.admin.keys import rotate
from graph.services.deps import Deps
from graph.store.memory import MemoryStore
from graph.store.query import Find
from graph.store.sealing import Vault
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring, fixed_vault
from tests.support.randomness import SeededRandomness
from tests.support.sealed_nodes import sealed_nodes, texts_of

SYSTEM = SystemScope(reason="looking in a test")
NODES = 40


@pytest.fixture
async def space(deps: Deps) -> WorkspaceId:
    """A workspace with sealed texts of every kind, all under its second key."""
    workspace = (await add_workspace(deps, "main")).workspace.workspace
    await rotate(deps, workspace)
    await deps.store.transact(lambda writer: writer.put(sealed_nodes(deps.vault, workspace, NODES, str)))
    return workspace


async def empty(deps: Deps, clock: FakeClock, vault: Vault) -> Deps:
    """Return the ports on an empty store."""
    store = MemoryStore(clock=clock)
    await store.open()
    return replace(deps, store=store, vault=vault)


async def nodes_of(deps: Deps, kind: type[Node]) -> list[Any]:
    async with deps.store.reading() as reader:
        return list((await reader.find(SYSTEM, Find(kind=kind))).nodes)


@pytest.mark.req("AD-41", "BM-184")
async def test_sealed_texts_stay_sealed_in_an_archive_and_open_where_the_keys_are(
    deps: Deps, space: WorkspaceId, clock: FakeClock, tmp_path: Path
) -> None:
    await deps.store.transact(
        lambda writer: writer.put(sealed_nodes(deps.vault, space, 15, lambda n: f"canary {n}", start=500))
    )
    await export_archive(deps, tmp_path / "all")
    assert not [file for file in (tmp_path / "all").iterdir() if file.is_file() and b"canary" in file.read_bytes()]
    there = await empty(deps, clock, deps.vault)
    for _ in range(2):
        await import_archive(there, tmp_path / "all")
    before, after = await nodes_of(deps, BotEntry), await nodes_of(there, BotEntry)
    assert after == before
    assert [texts_of(deps.vault, node) for node in after] == [texts_of(deps.vault, node) for node in before]


@pytest.mark.req("AD-29", "AD-41")
async def test_an_archive_is_refused_with_the_id_of_the_key_that_is_missing(
    deps: Deps, space: WorkspaceId, clock: FakeClock, tmp_path: Path
) -> None:
    await export_archive(deps, tmp_path / "all")
    there = await empty(deps, clock, fixed_vault())
    with pytest.raises(StoreKeyMissing) as refused:
        await import_archive(there, tmp_path / "all")
    assert refused.value.details["key_id"] == "e2"
    assert await nodes_of(there, Workspace) == []


@pytest.mark.req("AD-29")
async def test_a_loaded_workspace_names_the_key_that_seals_here(
    deps: Deps, space: WorkspaceId, clock: FakeClock, tmp_path: Path
) -> None:
    await export_archive(deps, tmp_path / "all")
    newer = FixedKeyring(clock)
    for _ in range(2):
        newer.use(space, newer.make(space))
    there = await empty(deps, clock, Vault(newer, SeededRandomness()))
    await import_archive(there, tmp_path / "all")
    assert [node.key_id for node in await nodes_of(there, Workspace)] == ["e3"]


def test_a_line_whose_sealed_text_is_none_is_no_line_of_an_archive() -> None:
    for value in ("plain text", "", 7, "AAAA"):
        with pytest.raises(ArchiveInvalid):
            check_keys([{"class": "BotEntry", "workspace": "main", "content": value}], FixedKeyring())


@pytest.mark.req("BM-186", "AD-41")
def test_an_answer_that_an_older_version_kept_plainly_is_dropped() -> None:
    line = {"class": ModelCall.__name__, "id": "mcl_1", "state": "answered", "answer": "the canary sings"}
    assert "canary" not in json.dumps(of_today(line, 5))
    assert of_today(line, 5)["state"] == "unusable"
    for same in ({**line, "answer": None}, {**line, "class": "Source"}):
        assert of_today(same, 5) == same
    assert of_today(line, 6) == line
