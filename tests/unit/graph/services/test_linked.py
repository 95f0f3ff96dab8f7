"""The condition `Linked` does not look at its targets, so no viewer may ask by it for what he does not see.

A relation is readable only where both of its ends are (KN-62), so asking for relations by their ends tells nothing of
hidden entries. Every other kind of link would; services ask by those under a system scope alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import graph.services
from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Relation
from graph.services.access.session import Session
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.query import Find, Linked
from tests.support.operations import apply, block, cite, create, made, relate
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run

ENDS = {"SUBJECT", "OBJECT"}
UNDER_SYSTEM_SCOPE = {"knowledge/state.py"}
"""Where `Linked` is asked by `find_all`, which takes no viewer: for a commit's own checks, never to be shown."""


def uses() -> Iterator[tuple[str, set[str]]]:
    """Yield each file that makes a `Linked` with the types of edges it names, also in a table beside."""
    root = Path(graph.services.__path__[0])
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "Linked"]
        for call in calls:
            named = {name.id for name in ast.walk(call.args[0]) if isinstance(name, ast.Name)} - {"EdgeType"}
            tables = [n for n in ast.walk(tree) if isinstance(n, ast.Assign | ast.AnnAssign) and _assigned(n) & named]
            parts = [call.args[0], *tables]
            types = {n.attr for part in parts for n in ast.walk(part) if isinstance(n, ast.Attribute)}
            yield str(path.relative_to(root)), types & set(EdgeType.__members__)


def _assigned(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_viewers_are_asked_for_relations_by_their_ends_alone() -> None:
    found = list(uses())
    assert len(found) >= 4
    for file, types in found:
        assert types, file
        assert types <= ENDS or file in UNDER_SYSTEM_SCOPE, file


@pytest.mark.req("KN-60", "KN-62")
async def test_a_relation_is_found_by_an_end_exactly_by_who_sees_both(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Ana likes Helio.")
    other = await world.say(world.ops, "Helio builds kilns, says Ben.", speaker=world.ben)
    result = await apply(
        world,
        create("Ana", block("Likes Helio.", cite(source, "Ana likes Helio")), ref="a"),
        create("Helio", block("Builds kilns.", cite(other, "Helio builds kilns")), ref="h"),
        relate("a", "likes", "h", source, "Ana likes Helio"),
    )
    ends = [made(result, 0), made(result, 1)]

    async def found(who: NodeId, types: list[EdgeType], end: NodeId) -> int:
        async def work(session: Session) -> int:
            query = Find(kind=Relation, where=Linked(types, [end]))
            return len((await session.reader.find(session.viewer, query)).nodes)

        return await ask(world, who, work)

    both = [EdgeType.SUBJECT, EdgeType.OBJECT]
    assert [await found(world.ben, both, end) for end in ends] == [1, 1]
    assert [await found(world.ben, [EdgeType.SUBJECT], end) for end in ends] == [1, 0]
    assert [await found(world.eve, both, end) for end in ends] == [0, 0]
    await run(world, world.host, lambda cmd: withdraw_source(cmd, source, "it was wrong"))
    assert [await found(world.ben, both, end) for end in ends] == [0, 0], "the evidence is gone, and one end"
    await run(world, world.host, lambda cmd: return_source(cmd, source, "it was right"))
    assert [await found(world.ben, both, end) for end in ends] == [1, 1]
