"""Session and agent memory here, bot memory there: neither reads, writes or injects the content of the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.bots import BotEntry, Layer
from graph.services.sessions.changing import put_in
from graph.store.port import Writer
from graph.store.sealing import Place
from tests.support.session_room import SessionRoom

ROOT = Path(__file__).parents[5]
SESSIONS = ("graph/services/sessions", "graph/services/agents", "dreaming/sessions", "dreaming/agents")
BOTS = ("graph/services/bots", "dreaming/bots")


def imported(folder: str) -> Iterator[tuple[str, str]]:
    """Yield what the modules of a folder import: module and name."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.req("SM-69")
@pytest.mark.parametrize("folder", [*SESSIONS, *BOTS])
def test_neither_surface_knows_the_nodes_and_services_of_the_other(folder: str) -> None:
    found = list(imported(folder))
    assert found
    if folder in BOTS:
        others = {"Session", "SessionItem", "SessionFact", "SessionChange", "AgentMemory", "AgentEntry", "AgentChange"}
        modules = tuple(name.replace("/", ".") for name in SESSIONS)
    else:
        others = {"BotPool", "BotEntry", "BotLogRow", "Chat", "ChatItem", "Confession", "Enrichment"}
        modules = (*(name.replace("/", ".") for name in BOTS), "graph.rules.bot_")
    nodes = ("graph.model.nodes.sessions", "graph.model.nodes.bots")
    assert not [name for module, name in found if module in nodes and name in others]
    assert not [module for module, _ in found if module.startswith(modules)]


@pytest.mark.req("SM-69")
async def test_what_a_bot_remembers_is_in_no_turn_of_a_session_of_the_same_agent(room: SessionRoom) -> None:
    world = room.world
    session = await room.make()
    await room.remember("venue", "Porto.")
    id_ = world.deps.new_id(BotEntry.PREFIX)
    pool = NodeId(f"bpl_{world.name}/atlas")
    entry = BotEntry(
        id=id_,
        workspace=world.workspace,
        pool=pool,
        created_at=world.deps.now(),
        updated_at=world.deps.now(),
        bot_id=world.atlas,
        layer=Layer.PINNED,
        content=world.deps.vault.seal(Place(workspace=world.workspace, node=id_, field="content"), "a bot's secret"),
        chars=14,
        tags=("for:ana",),
        status="active",
    )

    async def work(writer: Writer) -> None:
        await put_in(writer, session, [entry])  # Ana may see both

    await world.deps.store.transact(work)
    openings = world.deps.vault.openings
    text = await room.begin("t-1")
    assert "Porto." in text
    assert "secret" not in text
    assert set((await room.memory()).entries) == {"venue"}
    assert world.deps.vault.openings == openings
